"""What is in the pictures, as JSON: for programs that draw or ask (docs/schemas/graph.schema.json)."""

from __future__ import annotations

__all__ = ["VERSION", "render"]

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from everpath.layout.paths import DrawnPaths
from everpath.layout.picture import Node, Picture, Reach
from everpath.layout.scene import Scene, Sighted
from everpath.reporters.lint_report import full_message
from everpath.simulate import InstalledVersion
from everpath.upgrade_paths import UpgradePath

#: Raised when a field changes its meaning or goes away; new fields may come at any time.
VERSION: Final = 1

Json = Mapping[str, Any]

_encode = json.JSONEncoder(ensure_ascii=False).encode


def render(scenes: Sequence[Scene]) -> Iterator[str]:
    """One JSON object, a line for each node, edge, finding and road. As large as the channels."""
    package = scenes[0].picture.package if scenes else ""
    yield f'{{"version": {VERSION}, "package": {_encode(package)},\n "channels": ['
    separator = "\n  "
    for scene in scenes:
        yield separator
        yield from _channel(scene)
        separator = ",\n  "
    yield "\n ]}\n"


def _channel(scene: Scene) -> Iterator[str]:
    picture = scene.picture
    yield f'{{"channel": {_encode(picture.channel)}, "isDefault": {_encode(picture.is_default)}'
    yield from _rows("nodes", map(_node, picture.nodes))
    yield from _rows("replaces", _replaces(picture))
    yield from _rows("skips", _skips(picture))
    yield from _rows("skipRanges", (_range(picture, reach) for reach in picture.reaches))
    yield from _rows("findings", map(_finding, scene.findings))
    yield from _rows("failures", (_failure(drawn) for drawn in scene.paths if drawn.is_broken))
    yield from _rows("roads", (path for drawn in scene.paths for path in _paths(picture, drawn)))
    yield from _rows("fresh", (_spelled(drawn.path(None)) for drawn in scene.paths))
    yield from _rows("installed", (_asked(scene, d, a) for d in scene.paths for a in scene.installed))
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
        "prohibited": node.prohibited,
    }


def _replaces(picture: Picture) -> Iterator[Json]:
    names = [node.name for node in picture.nodes]
    return ({"from": names[old], "to": names[new]} for new, old in picture.replaces.items())


def _skips(picture: Picture) -> Iterator[Json]:
    names = [node.name for node in picture.nodes]
    for successor, targets in picture.skips:
        yield from ({"from": names[target], "to": names[successor]} for target in targets)


def _range(picture: Picture, reach: Reach) -> Json:
    """A range as the runs of nodes that it covers: all edges of all ranges would be quadratic."""
    names = [picture.nodes[column].name for run in reach.runs for column in run]
    sizes = [last - first + 1 for first, last in reach.runs]
    covers = [
        {"first": first, "last": last, "entries": size}
        for first, last, size in zip(names[::2], names[1::2], sizes, strict=True)
    ]
    return {
        "to": picture.nodes[reach.successor].name,
        "range": reach.text,
        "isIgnored": not reach.is_read,
        "covers": covers,
    }


def _finding(sighted: Sighted) -> Json:
    finding = sighted.finding
    return {
        "rule": finding.rule,
        "name": finding.name,
        "severity": finding.severity.word,
        "entry": finding.entry,
        "file": sighted.file or None,
        "line": sighted.line or None,
        "column": sighted.column or None,
        "message": full_message(finding),
        "because": list(finding.because),
        "fix": finding.fix,
    }


def _paths(picture: Picture, drawn: DrawnPaths) -> Iterator[Json]:
    """A row an entry. Only its next hop: the rest of its road is in the rows of those that it meets."""
    for node in picture.nodes:
        if node.entry is not None:
            path = drawn.by_entry[node.name]
            yield {
                "policy": drawn.resolver,
                "installed": node.name,
                "next": path.next,
                "last": path.last,
                "end": path.end.value,
                "reason": None if drawn.is_broken else path.reason,
            }


def _failure(drawn: DrawnPaths) -> Json:
    """Said once: the words hold the name of every head, and would be said of every entry."""
    return {"policy": drawn.resolver, "reason": drawn.path(None).reason}


def _spelled(path: UpgradePath) -> Json:
    return {"policy": path.resolver, "path": list(path.hops), "end": path.end.value, "reason": path.reason}


def _asked(scene: Scene, drawn: DrawnPaths, asked: InstalledVersion) -> Json:
    return {
        "installed": asked.name,
        "installedVersion": asked.version,
        "isEntry": asked.name in scene.picture.graph.entries,
        **_spelled(drawn.path(asked)),
    }
