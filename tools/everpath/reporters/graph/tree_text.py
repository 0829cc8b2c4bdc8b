"""The upgrade graph as text trees, from the head down.

    ◉ op.v1.3.0  head                     a chain: each entry replaces the next
    │ ├ skipRange >=1.0.0 <1.3.0 covers op.v1.0.0 … op.v1.2.0 (3 entries)
    │ └ skips op.v1.2.0  skipped          a chain beside it is attached to the entry that skips it
    │     └ replaces op.v1.1.0
    ● op.v1.1.0
    ● op.v1.0.0

Six or more consecutive entries without anything but a name are folded into a few lines with all their names.
"""

from __future__ import annotations

__all__ = ["render"]

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from everpath.layout.captions import heading, node_states, node_title, path_texts, range_text
from everpath.layout.drawing import ChannelDrawing
from everpath.layout.replaces_chains import ReplacesChain
from everpath.reporters.colour import Paint
from everpath.reporters.formatting import one_line
from everpath.rules.findings import Finding, Severity
from everpath.wording import count

_MIN_FOLDED: Final = 6
#: Chains that would be attached deeper are drawn separately.
_MAX_DEPTH: Final = 3
_WIDTH: Final = 100


def render(drawings: Sequence[ChannelDrawing], *, colour: bool = False) -> Iterator[str]:
    """Yield a tree for each channel, separated by blank lines."""
    for number, drawing in enumerate(drawings):
        yield "\n" if number else ""
        yield from (f"{line.rstrip()}\n" for line in _Tree(drawing, Paint(colour)).lines())


class _Tree:
    """The tree of one channel. `undrawn` has the chains that are not drawn yet, by their first column."""

    def __init__(self, drawing: ChannelDrawing, paint: Paint) -> None:
        self.drawing, self.paint = drawing, paint
        self.diagram = drawing.diagram
        self.undrawn = {chain.columns[0]: chain for chain in self.diagram.chains}
        self.skips = {skips.successor: skips.targets for skips in self.diagram.skips}

    def lines(self) -> Iterator[str]:
        title = f"package {self.diagram.package}, channel {heading(self.drawing)}"
        yield self.paint("bold", one_line(title))
        for finding in self.drawing.channel_findings:
            if finding.severity > Severity.NOTE:
                yield self._finding(finding)
        for chain in self.diagram.chains:
            if self.undrawn.pop(chain.columns[0], None):
                yield ""
                yield from self._chain(chain, self._symbol(chain.columns[0]), "", 0)
        for number, text in enumerate(path_texts(self.drawing)):
            resolver, _, rest = one_line(text).partition(":")
            if not number:
                yield ""
            yield f"{self.paint('bold', resolver)}:{rest}"

    def _chain(self, chain: ReplacesChain, first: str, rest: str, depth: int) -> Iterator[str]:
        """Yield one chain. `first` precedes its first name, `rest` all following lines."""
        for is_plain, group in groupby(chain.columns, self._is_plain):
            columns = list(group)
            if is_plain and len(columns) >= _MIN_FOLDED and columns[0] != chain.columns[0]:
                yield from self._fold(columns, rest)
                continue
            for column in columns:
                start = first if column == chain.columns[0] else f"{rest}{self._symbol(column)}"
                yield f"{start}{self._title(column)}"
                rail = "  " if column == chain.columns[-1] else "│ "
                yield from self._details(chain, column, rest + rail, depth)

    def _fold(self, columns: list[int], rest: str) -> Iterator[str]:
        names = [one_line(self.diagram.nodes[column].name) for column in columns]
        cut = self.diagram.prefix
        prefix = f": {names[0][:cut]}…" if cut else ""
        text = f"⋮ {count(len(columns), 'entry')}, each replaces the next{prefix}"
        yield rest + self.paint("dim", text)
        # A name is never broken, however long, so that it can be searched.
        joined = " ".join(name[cut:].replace(" ", "\N{NO-BREAK SPACE}") for name in names)
        for row in textwrap.wrap(joined, _WIDTH, break_long_words=False, break_on_hyphens=False):
            yield f"{rest}│   {row}"

    def _is_plain(self, column: int) -> bool:
        """Whether an entry has nothing but a name and a replaces."""
        node = self.diagram.nodes[column]
        if column not in self.diagram.replaces or column in self.skips or column in self.diagram.range_of:
            return False
        return not any(node_states(self.drawing, node)) and not self.drawing.problems(node.name)

    def _symbol(self, column: int) -> str:
        node = self.diagram.nodes[column]
        if node.is_head:
            return self.paint("green", "◉") + " "
        return "○ " if node.is_skipped or node.entry is None else "● "

    def _title(self, column: int) -> str:
        node = self.diagram.nodes[column]
        states = ", ".join(node_states(self.drawing, node))
        is_dim = node.is_skipped or node.deprecated is not None or node.entry is None
        title = one_line(node_title(node))
        return f"{self.paint('dim', title) if is_dim else title}{f'  {one_line(states)}' if states else ''}"

    def _details(self, chain: ReplacesChain, column: int, prefix: str, depth: int) -> Iterator[str]:
        """Yield what belongs to an entry: findings, range, skips, and a replaces that leaves the chain."""
        for finding in self.drawing.problems(self.diagram.nodes[column].name):
            yield prefix + self._finding(finding)
        texts = []
        if (covered := self.diagram.range_of.get(column)) is not None:
            texts.append(one_line(f"skipRange {range_text(self.diagram, covered)}"))
        skipped = self.skips.get(column, ())
        # Chains of skipped entries that are not drawn yet are attached here; the others are only named.
        attached = [target for target in skipped if depth < _MAX_DEPTH and target in self.undrawn]
        named = [self.diagram.nodes[target].name for target in skipped if target not in attached]
        texts += [one_line(f"skips {', '.join(named)}")] if named else []
        edges = [("skips", target) for target in attached]
        below = self.diagram.replaces.get(column)
        if below is not None and column == chain.columns[-1]:
            edges.append(("replaces", below))
        left = len(texts) + len(edges)
        for text in texts:
            left -= 1
            yield f"{prefix}{'├' if left else '└'} {text}"
        for kind, target in edges:
            left -= 1
            start = f"{prefix}{'├' if left else '└'} {kind} "
            other = self.undrawn.pop(target, None) if depth < _MAX_DEPTH else None
            if other is None:
                yield f"{start}{one_line(self.diagram.nodes[target].name)}"
            else:
                yield from self._chain(other, start, f"{prefix}{'│' if left else ' '}   ", depth + 1)

    def _finding(self, finding: Finding) -> str:
        word = f"! {finding.severity.word} {finding.rule}"
        return f"{self.paint.severity(finding.severity, word)}: {one_line(finding.message)}"
