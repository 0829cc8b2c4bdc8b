"""Channels as trees of text, from the head down.

    ◉ op.v1.3.0  head                     a line: each replaces the one below it
    │ ├ skipRange >=1.0.0 <1.3.0 covers op.v1.0.0 … op.v1.2.0 (3 entries)
    │ └ skips op.v1.2.0  skipped          what stands beside the line hangs on whoever skips it
    │     └ replaces op.v1.1.0
    ● op.v1.1.0
    ● op.v1.0.0

Entries with nothing to say of them but their name are folded, six or more at a time: all names are there,
on a few lines.
"""

from __future__ import annotations

__all__ = ["render"]

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from everpath.layout.replaces_chains import Line
from everpath.layout.diagram import Node
from everpath.layout.drawing import Scene
from everpath.layout.captions import covered, heading, remarks, roads_told, titled
from everpath.reporters.colour import Paint
from everpath.reporters.formatting import count, one_line
from everpath.rules.findings import Finding, Severity

_SHORTEST_FOLD: Final = 6
#: Lines that hang deeper than this are drawn by themselves, at the margin.
_DEEPEST: Final = 3
_WIDTH: Final = 100


def render(scenes: Sequence[Scene], *, colour: bool = False) -> Iterator[str]:
    """A tree for each channel, a blank line between them."""
    for number, scene in enumerate(scenes):
        yield "\n" if number else ""
        yield from (f"{line.rstrip()}\n" for line in _Tree(scene, Paint(colour)).drawn())


class _Tree:
    """One channel while it is drawn; remembers which lines have been."""

    def __init__(self, scene: Scene, paint: Paint) -> None:
        self.scene, self.paint = scene, paint
        self.picture = scene.picture
        self.tops = {line.columns[0]: line for line in self.picture.lines}
        self.skips = {skips.successor: skips.targets for skips in self.picture.skips}

    def drawn(self) -> Iterator[str]:
        yield self.paint("bold", one_line(f"package {self.picture.package}, channel {heading(self.scene)}"))
        for sighted in self.scene.general:
            if sighted.finding.severity > Severity.NOTE:
                yield self._finding(sighted.finding)
        for line in self.picture.lines:
            if self.tops.pop(line.columns[0], None):
                yield ""
                yield from self._line(line, self._mark(line.columns[0]), "", 0)
        yield from self._roads()

    def _line(self, line: Line, first: str, rest: str, depth: int) -> Iterator[str]:
        """One line downwards; `first` stands before its first name, `rest` before everything after."""
        done = 0
        for is_plain, group in groupby(line.columns, self._is_plain):
            columns = list(group)
            done += len(columns)
            if is_plain and len(columns) >= _SHORTEST_FOLD and columns[0] != line.columns[0]:
                yield from self._fold(columns, rest)
                continue
            for column in columns:
                start = first if column == line.columns[0] else f"{rest}{self._mark(column)}"
                yield f"{start}{self._named(column)}"
                rail = "  " if column == line.columns[-1] else "│ "
                yield from self._details(line, column, rest + rail, depth)

    def _fold(self, columns: list[int], rest: str) -> Iterator[str]:
        names = [one_line(self.picture.nodes[column].name) for column in columns]
        cut = self.picture.prefix
        shared = f": {names[0][:cut]}…" if cut else ""
        text = f"⋮ {count(len(columns), 'entry')}, each replaces the next{shared}"
        yield rest + self.paint("dim", text)
        # A name is never torn, however long: who searches for it must find it.
        joined = " ".join(name[cut:].replace(" ", "\N{NO-BREAK SPACE}") for name in names)
        for row in textwrap.wrap(joined, _WIDTH, break_long_words=False, break_on_hyphens=False):
            yield f"{rest}│   {row}"

    def _is_plain(self, column: int) -> bool:
        node = self.picture.nodes[column]
        lone = column in self.picture.replaces and column not in self.skips
        return lone and column not in self.picture.reach_of and not any(self._said(node))

    def _said(self, node: Node) -> Iterator[object]:
        yield from remarks(self.scene, node)
        yield from self.scene.hurting(node.name)

    def _mark(self, column: int) -> str:
        node = self.picture.nodes[column]
        if node.is_head:
            return self.paint("green", "◉") + " "
        return "○ " if node.is_skipped or node.entry is None else "● "

    def _named(self, column: int) -> str:
        node = self.picture.nodes[column]
        said = ", ".join(remarks(self.scene, node))
        grey = node.is_skipped or node.deprecated is not None or node.entry is None
        text = one_line(titled(node))
        return f"{self.paint('dim', text) if grey else text}{f'  {one_line(said)}' if said else ''}"

    def _details(self, line: Line, column: int, prefix: str, depth: int) -> Iterator[str]:
        """What hangs on an entry: findings, its range, what it skips, and a replaces that leaves the line."""
        node = self.picture.nodes[column]
        for sighted in self.scene.hurting(node.name):
            yield prefix + self._finding(sighted.finding)
        texts = [*self._ranges(column)]
        hanging, told = self._skipped(column, depth)
        texts += [one_line(f"skips {', '.join(told)}")] if told else []
        edges = [*(("skips", target) for target in hanging), *self._leaving(line, column)]
        left = len(texts) + len(edges)
        for text in texts:
            left -= 1
            yield f"{prefix}{'├' if left else '└'} {text}"
        for kind, target in edges:
            left -= 1
            yield from self._edge(kind, target, prefix, is_last=not left, depth=depth)

    def _skipped(self, column: int, depth: int) -> tuple[list[int], list[str]]:
        """What an entry skips: whose line has yet to be drawn, and the names of the others."""
        targets = self.skips.get(column, ())
        hanging = [t for t in targets if depth < _DEEPEST and t in self.tops]
        return hanging, [self.picture.nodes[t].name for t in targets if t not in hanging]

    def _ranges(self, column: int) -> Iterator[str]:
        reach = self.picture.reach_of.get(column)
        if reach is not None:
            yield one_line(f"skipRange {covered(self.picture, reach)}")

    def _leaving(self, line: Line, column: int) -> Iterator[tuple[str, int]]:
        below = self.picture.replaces.get(column)
        if below is not None and column == line.columns[-1]:
            yield "replaces", below

    def _edge(self, kind: str, target: int, prefix: str, *, is_last: bool, depth: int) -> Iterator[str]:
        start = f"{prefix}{'└' if is_last else '├'} {kind} "
        line = self.tops.pop(target, None) if depth < _DEEPEST else None
        if line is None:
            yield f"{start}{one_line(self.picture.nodes[target].name)}"
        else:
            yield from self._line(line, start, f"{prefix}{' ' if is_last else '│'}   ", depth + 1)

    def _finding(self, finding: Finding) -> str:
        word = f"! {finding.severity.word} {finding.rule}"
        return f"{self.paint.severity(finding.severity, word)}: {one_line(finding.message)}"

    def _roads(self) -> Iterator[str]:
        """The roads of what is installed, here or elsewhere."""
        for number, text in enumerate(roads_told(self.scene)):
            policy, _, rest = one_line(text).partition(":")
            if not number:
                yield ""
            yield f"{self.paint('bold', policy)}:{rest}"
