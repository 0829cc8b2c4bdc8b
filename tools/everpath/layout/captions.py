"""The texts of a drawing: titles, tooltips, descriptions for screen readers.

Names are as in the catalog; reporters escape them.
"""

from __future__ import annotations

__all__ = [
    "covered_text",
    "declared_edges",
    "edge_text",
    "finding_counts",
    "heading",
    "label_parts",
    "node_states",
    "node_text",
    "node_title",
    "path_texts",
    "range_text",
]

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from everpath.graph import EdgeKind
from everpath.layout.diagram import CoveredRange, Diagram, Node
from everpath.layout.drawing import ChannelDrawing
from everpath.layout.geometry import Stroke
from everpath.rules.findings import Severity
from everpath.upgrade_path.hops import PathEnd
from everpath.wording import count

#: What a resolver does with a version that has no next hop and is not the head.
_END_TEXTS: Final = {
    PathEnd.ERROR: "OLM {} fails",
    PathEnd.HEAD: "OLM {} stays here",
    PathEnd.STRANDED: "no further updates under OLM {}",
}


def heading(drawing: ChannelDrawing) -> str:
    """Return `stable (default): 12 entries, head op.v3; 1 error, 2 warnings`."""
    diagram = drawing.diagram
    heads = [node.name for node in reversed(diagram.nodes) if node.is_head]
    if len(heads) == 1:
        head = f"head {heads[0]}"
    else:
        more = ", …" if len(heads) > 4 else ""
        head = f"{len(heads):,} heads: {', '.join(heads[:4])}{more}" if heads else "no head"
    default = " (default)" if diagram.is_default else ""
    entries = count(len(diagram.graph.entries), "entry")
    problems = finding_counts(drawing)
    return f"{diagram.channel}{default}: {entries}, {head}{f'; {problems}' if problems else ''}"


def label_parts(drawing: ChannelDrawing, node: Node) -> list[str]:
    """Return the title of a node, its states and the rules of its problems, each if there are any."""
    states = ", ".join(node_states(drawing, node))
    rules = ", ".join(dict.fromkeys(finding.rule for finding in drawing.problems(node.name)))
    return [part for part in (node_title(node), states, rules) if part]


def finding_counts(drawing: ChannelDrawing) -> str:
    """Return `1 error, 2 warnings`; empty without errors and warnings."""
    counts = Counter(finding.severity for finding in drawing.findings)
    return ", ".join(count(counts[s], s.word) for s in (Severity.ERROR, Severity.WARNING) if counts[s])


def node_text(drawing: ChannelDrawing, column: int) -> str:
    """Return the title, the states and the findings of a node."""
    node = drawing.diagram.nodes[column]
    problems = (f"{finding.rule} {finding.name}" for finding in drawing.problems(node.name))
    states = [*node_states(drawing, node), *problems]
    return f"{node_title(node)}{': ' if states else ''}{'; '.join(states)}"


def node_title(node: Node) -> str:
    """Return the name, with the version unless the name contains it: `op.latest (1.2.3)`."""
    return f"{node.name} ({node.version})" if node.version and node.version not in node.name else node.name


def node_states(drawing: ChannelDrawing, node: Node) -> Iterator[str]:
    """Yield what is special about a node besides its edges."""
    if node.entry is None:
        yield "not in this channel"
        return
    if node.is_head:
        yield "head"
    if node.is_skipped:
        yield "skipped"
    if node.deprecated is not None:
        yield "deprecated"
    if node.uninstallable is not None:
        yield f"{node.uninstallable}, OLM v0 does not install it"
    if not node.has_bundle:
        yield "has no bundle"
    for drawn in drawing.paths:
        path = drawn.by_entry[node.name]
        if not node.is_head and path.next is None and not drawn.is_broken:
            yield _END_TEXTS[path.end].format(drawn.resolver)


def path_texts(drawing: ChannelDrawing, max_names: int | None = None) -> Iterator[str]:
    """Yield the paths of what is installed: `OLM v0: op.v1 → op.v3: reaches the head in 1 hop`.

    With `max_names`, a longer path is shortened in the middle.
    """
    for drawn in drawing.paths:
        for installed in drawing.installed:
            path = drawn.path(installed)
            names: Sequence[str] = (installed.name, *path.hops)
            if max_names is not None and len(names) > max_names:
                names = [*names[: max_names - 2], f"({len(names) - max_names:,} more)", *names[-2:]]
            yield f"OLM {drawn.resolver}: {' → '.join(names)}: {path.reason}"


def declared_edges(diagram: Diagram, column: int) -> Iterator[str]:
    """Yield the edges of an entry: `replaces op.v1`, `skips op.v2, op.v3`, `skipRange … covers …`."""
    node, covered = diagram.nodes[column], diagram.range_of.get(column)
    if node.entry is not None and node.entry.replaces:
        yield f"replaces {node.entry.replaces}"
    if node.entry is not None and node.entry.skips:
        yield f"skips {', '.join(node.entry.skips)}"
    if covered is not None:
        yield f"skipRange {range_text(diagram, covered)}"


def edge_text(diagram: Diagram, stroke: Stroke) -> str:
    """Return the edge, or the edges of one entry, that a stroke draws."""
    successor = diagram.nodes[stroke.successor].name
    if stroke.kind is EdgeKind.RANGE:
        return f"{successor} skipRange {range_text(diagram, diagram.range_of[stroke.successor])}"
    names = ", ".join(diagram.nodes[target].name for target in stroke.targets)
    return f"{successor} {stroke.kind.value} {names}"


def range_text(diagram: Diagram, covered: CoveredRange) -> str:
    """Return `>=1.0.0 <3.0.0 covers op.v1 … op.v2 (7 entries)`."""
    verb = " covers" if covered.is_valid else ""
    return f"{covered.text}{verb} {covered_text(diagram, covered)}"


def covered_text(diagram: Diagram, covered: CoveredRange) -> str:
    """Return the entries in a range, run by run: `op.v1 … op.v2 (7 entries), op.v4`."""
    if not covered.is_valid:
        return "does not parse, OLM ignores it"
    runs = []
    for first, last in covered.runs:
        oldest, newest = diagram.nodes[first].name, diagram.nodes[last].name
        size = count(last - first + 1, "entry")
        runs.append(oldest if first == last else f"{oldest} … {newest} ({size})")
    return ", ".join(runs) or "no entry of this channel"
