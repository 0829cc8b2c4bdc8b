"""The upgrade graph as JSON (docs/schemas/graph.schema.json)."""

from __future__ import annotations

__all__ = ["VERSION", "render"]

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from everpath.layout.diagram import CoveredRange, Diagram, Node
from everpath.layout.drawing import ChannelDrawing
from everpath.layout.paths import DrawnPaths
from everpath.reporters.lint.lint_report import full_message
from everpath.rules.findings import Finding
from everpath.simulate import InstalledVersion
from everpath.upgrade_path.path import UpgradePath

#: Raised when a field changes its meaning or is removed; new fields may be added at any time.
VERSION: Final = 2

Json = Mapping[str, Any]

_encode = json.JSONEncoder(ensure_ascii=False).encode


def render(drawings: Sequence[ChannelDrawing]) -> Iterator[str]:
    """Yield one JSON object with a line for each node, edge, finding and path."""
    package = drawings[0].diagram.package if drawings else ""
    yield f'{{"version": {VERSION}, "package": {_encode(package)},\n "channels": ['
    separator = "\n  "
    for drawing in drawings:
        yield separator
        yield from _channel(drawing)
        separator = ",\n  "
    yield "\n ]}\n"


def _channel(drawing: ChannelDrawing) -> Iterator[str]:
    diagram = drawing.diagram
    names = [node.name for node in diagram.nodes]
    replaces = ({"from": names[old], "to": names[new]} for new, old in diagram.replaces.items())
    skips = ({"from": names[t], "to": names[entry]} for entry, targets in diagram.skips for t in targets)
    # The failure of a resolver is listed once for the channel: its message names every head.
    failures = (
        {"resolver": drawn.resolver, "reason": drawn.path(None).reason}
        for drawn in drawing.paths
        if drawn.is_broken
    )
    yield f'{{"channel": {_encode(diagram.channel)}, "isDefault": {_encode(diagram.is_default)}'
    yield from _rows("nodes", map(_node, diagram.nodes))
    yield from _rows("replaces", replaces)
    yield from _rows("skips", skips)
    yield from _rows("skipRanges", (_range(diagram, covered) for covered in diagram.covered_ranges))
    yield from _rows("findings", map(_finding, drawing.findings))
    yield from _rows("failures", failures)
    yield from _rows("paths", (path for drawn in drawing.paths for path in _paths(diagram, drawn)))
    yield from _rows("newInstallation", (_path_data(drawn.path(None)) for drawn in drawing.paths))
    yield from _rows(
        "installed", (_installed_path(drawing, d, i) for d in drawing.paths for i in drawing.installed)
    )
    yield "}"


def _rows(key: str, rows: Iterable[Json]) -> Iterator[str]:
    lines = ",\n    ".join(map(_encode, rows))
    yield f',\n   "{key}": [\n    {lines}]' if lines else f',\n   "{key}": []'


def _node(node: Node) -> Json:
    return {
        "name": node.name,
        "version": node.version,
        "isEntry": node.entry is not None,
        "isHead": node.is_head,
        "isSkipped": node.is_skipped,
        "hasBundle": node.has_bundle,
        "deprecated": node.deprecated,
        "prohibited": node.uninstallable,
    }


def _range(diagram: Diagram, covered: CoveredRange) -> Json:
    """Return a range as the runs of nodes that it covers. Its edges would be quadratic."""
    names = [diagram.nodes[column].name for run in covered.runs for column in run]
    sizes = [last - first + 1 for first, last in covered.runs]
    covers = [
        {"first": first, "last": last, "entries": size}
        for first, last, size in zip(names[::2], names[1::2], sizes, strict=True)
    ]
    return {
        "to": diagram.nodes[covered.successor].name,
        "range": covered.text,
        "isIgnored": not covered.is_valid,
        "covers": covers,
    }


def _finding(finding: Finding) -> Json:
    return {
        "rule": finding.rule,
        "name": finding.name,
        "severity": finding.severity.word,
        "entry": finding.entry,
        "file": finding.file or None,
        "line": finding.line or None,
        "column": finding.column or None,
        "message": full_message(finding),
        "because": list(finding.because),
        "fix": finding.fix,
    }


def _paths(diagram: Diagram, drawn: DrawnPaths) -> Iterator[Json]:
    """Yield the next hop and the end of the path of every entry. All hops would be quadratic."""
    for node in diagram.nodes:
        if node.entry is not None:
            path = drawn.by_entry[node.name]
            yield {
                "resolver": drawn.resolver,
                "installed": node.name,
                "next": path.next,
                "last": path.last,
                "end": path.end.value,
                "reason": None if drawn.is_broken else path.reason,
            }


def _path_data(path: UpgradePath) -> Json:
    return {"resolver": path.resolver, "hops": list(path.hops), "end": path.end.value, "reason": path.reason}


def _installed_path(drawing: ChannelDrawing, drawn: DrawnPaths, installed: InstalledVersion) -> Json:
    return {
        "installed": installed.name,
        "installedVersion": installed.version,
        "isEntry": installed.name in drawing.diagram.graph.entries,
        **_path_data(drawn.path(installed)),
    }
