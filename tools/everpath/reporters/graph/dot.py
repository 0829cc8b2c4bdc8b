"""The upgrade graph in DOT for Graphviz: one cluster for each channel."""

from __future__ import annotations

__all__ = ["render"]

from collections.abc import Iterator, Sequence
from typing import Final

from everpath.layout.captions import covered_text, heading, label_parts, path_texts
from everpath.layout.diagram import CoveredRange, Diagram, Node
from everpath.layout.drawing import ChannelDrawing
from everpath.reporters.formatting import one_line
from everpath.rules.findings import Severity

_PATH_COLOURS: Final = {"v0": "#c2410c", "v1": "#1d4ed8"}
#: Longer paths are shortened in the label.
_MAX_NAMES: Final = 8


def render(drawings: Sequence[ChannelDrawing]) -> Iterator[str]:
    """Yield a digraph. Edges lead from the older entry to the newer one."""
    package = drawings[0].diagram.package if drawings else ""
    yield f"digraph {_quote(package)} {{\n"
    yield '  graph [rankdir=LR, fontname="Helvetica"];\n'
    yield '  node [shape=box, style="rounded", fontname="Helvetica", fontsize=11];\n'
    yield '  edge [fontname="Helvetica", fontsize=9];\n'
    for number, drawing in enumerate(drawings):
        yield f"  subgraph cluster_{number} {{\n"
        yield f"    label={_quote(heading(drawing), *path_texts(drawing, _MAX_NAMES))};\n"
        yield from (f"    {line}\n" for line in _channel(drawing, f"c{number}_"))
        yield "  }\n"
    yield "}\n"


def _channel(drawing: ChannelDrawing, prefix: str) -> Iterator[str]:
    diagram = drawing.diagram
    for column, node in enumerate(diagram.nodes):
        label = _quote(*label_parts(drawing, node))
        yield f"{prefix}n{column} [label={label}{_style(drawing, node)}];"
    for new, old in diagram.replaces.items():
        yield f"{prefix}n{old} -> {prefix}n{new};"
    for skips in diagram.skips:
        for old in skips.targets:
            style = 'style=dashed, color="#8250df", label="skips"'
            yield f"{prefix}n{old} -> {prefix}n{skips.successor} [{style}];"
    for covered in diagram.covered_ranges:
        yield from _range(diagram, covered, prefix)
    for drawn in drawing.paths:
        colour = _PATH_COLOURS[drawn.resolver]
        style = f'color="{colour}", penwidth=3, fontcolor="{colour}"'
        for old, new in drawing.hops_of_installed(drawn):
            yield f'{prefix}n{old} -> {prefix}n{new} [{style}, label="OLM {drawn.resolver}"];'


def _style(drawing: ChannelDrawing, node: Node) -> str:
    colours = {Severity.ERROR: "#c81e3a", Severity.WARNING: "#b7791f"}
    worst_severity = drawing.worst_severity(node.name)
    style = f', color="{colours[worst_severity]}", penwidth=2' if worst_severity else ""
    if node.is_head:
        style += ', style="rounded,bold"'
    elif node.entry is None:
        style += ', style="rounded,dotted", fontcolor="#808080"'
    elif node.is_skipped or node.deprecated is not None:
        style += ', style="rounded,dashed", fontcolor="#808080"'
    return style


def _range(diagram: Diagram, covered: CoveredRange, prefix: str) -> Iterator[str]:
    """Yield a note for a range. Edges from all entries that it covers would be n²."""
    name = f"{prefix}r{covered.successor}"
    text = _quote(f"skipRange {covered.text}", covered_text(diagram, covered))
    yield f'{name} [shape=note, style="", color="#0a7f88", fontsize=9, label={text}];'
    style = "penwidth=2" if covered.is_valid else "style=dotted, arrowhead=none"
    yield f'{name} -> {prefix}n{covered.successor} [color="#0a7f88", {style}];'
    ends = dict.fromkeys(column for run in covered.runs for column in run)
    for column in ends:
        if column != covered.successor:
            yield f'{prefix}n{column} -> {name} [style=dotted, color="#0a7f88", arrowhead=none];'


def _quote(*lines: str) -> str:
    """Quote lines as one DOT string. Backslashes are escaped, because Graphviz interprets them."""
    safe = (one_line(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(safe) + '"'
