"""Channels in the language of Graphviz: one graph, a cluster for each channel."""

from __future__ import annotations

__all__ = ["render"]

from collections.abc import Iterator, Sequence
from typing import Final

from everpath.layout.picture import Node, Picture, Reach
from everpath.layout.scene import Scene
from everpath.layout.words import heading, remarks, roads_told, runs, titled
from everpath.reporters.formatting import one_line
from everpath.rules.findings import Severity

_ROADS: Final = {"v0": "#c2410c", "v1": "#1d4ed8"}
#: Of longer roads the label shows the beginning and the end.
_MOST_HOPS: Final = 8


def render(scenes: Sequence[Scene]) -> Iterator[str]:
    """`dot -Tsvg` draws it. Edges go from the older to the newer."""
    package = scenes[0].picture.package if scenes else ""
    yield f"digraph {_quoted(package)} {{\n"
    yield '  graph [rankdir=LR, fontname="Helvetica"];\n'
    yield '  node [shape=box, style="rounded", fontname="Helvetica", fontsize=11];\n'
    yield '  edge [fontname="Helvetica", fontsize=9];\n'
    for number, scene in enumerate(scenes):
        yield f"  subgraph cluster_{number} {{\n"
        yield f"    label={_quoted(heading(scene), *roads_told(scene, _MOST_HOPS))};\n"
        yield from (f"    {line}\n" for line in _channel(scene, f"c{number}_"))
        yield "  }\n"
    yield "}\n"


def _channel(scene: Scene, mark: str) -> Iterator[str]:
    picture = scene.picture
    for column, node in enumerate(picture.nodes):
        yield f"{mark}n{column} [label={_label(scene, node)}{_look(scene, node)}];"
    for new, old in picture.replaces.items():
        yield f"{mark}n{old} -> {mark}n{new};"
    for skips in picture.skips:
        for old in skips.targets:
            yield f'{mark}n{old} -> {mark}n{skips.successor} [style=dashed, color="#8250df", label="skips"];'
    for reach in picture.reaches:
        yield from _range(picture, reach, mark)
    for drawn in scene.paths:
        look = f'color="{_ROADS[drawn.resolver]}", penwidth=3, fontcolor="{_ROADS[drawn.resolver]}"'
        for old, new in scene.lit_hops(drawn):
            yield f'{mark}n{old} -> {mark}n{new} [{look}, label="OLM {drawn.resolver}"];'


def _label(scene: Scene, node: Node) -> str:
    said = ", ".join(remarks(scene, node))
    rules = ", ".join(dict.fromkeys(s.finding.rule for s in scene.hurting(node.name)))
    return _quoted(*(part for part in (titled(node), said, rules) if part))


def _look(scene: Scene, node: Node) -> str:
    colours = {Severity.ERROR: "#c81e3a", Severity.WARNING: "#b7791f"}
    worst = scene.worst(node.name)
    look = f', color="{colours[worst]}", penwidth=2' if worst else ""
    if node.is_head:
        look += ', style="rounded,bold"'
    elif node.entry is None:
        look += ', style="rounded,dotted", fontcolor="#808080"'
    elif node.is_skipped or node.deprecated is not None:
        look += ', style="rounded,dashed", fontcolor="#808080"'
    return look


def _range(picture: Picture, reach: Reach, mark: str) -> Iterator[str]:
    """A note of its own for the range: an edge for each entry it covers would be n² of them."""
    name = f"{mark}r{reach.successor}"
    text = _quoted(f"skipRange {reach.text}", runs(picture, reach))
    yield f'{name} [shape=note, style="", color="#0a7f88", fontsize=9, label={text}];'
    look = "penwidth=2" if reach.is_read else "style=dotted, arrowhead=none"
    yield f'{name} -> {mark}n{reach.successor} [color="#0a7f88", {look}];'
    ends = dict.fromkeys(column for run in reach.runs for column in run)
    for column in ends:
        if column != reach.successor:
            yield f'{mark}n{column} -> {name} [style=dotted, color="#0a7f88", arrowhead=none];'


def _quoted(*lines: str) -> str:
    """A string of the language, its lines apart. A backslash of ours would be an escape of Graphviz'."""
    safe = (one_line(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(safe) + '"'
