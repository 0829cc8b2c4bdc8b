"""What the page of `-o html` knows about each channel: the answers, ready to be shown."""

from __future__ import annotations

__all__ = ["called", "embedded"]

import json
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from everpath.layout.paths import DrawnPaths
from everpath.layout.picture import Node
from everpath.layout.scene import Scene, Sighted
from everpath.layout.words import accepted, remarks
from everpath.reporters.formatting import one_line
from everpath.reporters.lint_report import full_message, rule_url
from everpath.upgrade_paths import UpgradePath


def embedded(scenes: Sequence[Scene]) -> str:
    """The data as JSON in which nothing can end the element it stands in."""
    channels = [_channel(scene, name) for scene, name in zip(scenes, called(scenes), strict=True)]
    text = json.dumps({"rules": _rules(scenes), "channels": channels}, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def called(scenes: Sequence[Scene]) -> list[str]:
    """What tabs and addresses call the channels: one name twice gets a number, which no channel is called."""
    names = [one_line(scene.picture.channel) for scene in scenes]
    taken = set(names)
    seen, told = set[str](), list[str]()
    for name in names:
        numbered = (f"{name} ({number})" for number in count(2))
        told.append(next(each for each in numbered if each not in taken) if name in seen else name)
        seen.add(name)
        taken.add(told[-1])
    return told


def _rules(scenes: Sequence[Scene]) -> dict[str, Any]:
    """The rules that found something, once: a large channel may have thousands of findings."""
    names = {sighted.finding.rule: sighted.finding.name for scene in scenes for sighted in scene.findings}
    return {rule: {"name": name, "url": rule_url(rule)} for rule, name in sorted(names.items())}


def _channel(scene: Scene, name: str) -> dict[str, Any]:
    columns = scene.picture.columns
    reasons = dict[str, int]()
    broken = [drawn.path(None).reason for drawn in scene.paths if drawn.is_broken]
    return {
        "name": name,
        "fresh": [_spelled(scene, drawn.path(None)) for drawn in scene.paths],
        "axis": scene.layout.axis,
        "broken": one_line(broken[0]) if broken else None,
        "nodes": [_data(scene, column, reasons) for column in range(len(scene.picture.nodes))],
        "reasons": list(reasons),
        "findings": [_finding(scene, sighted) for sighted in scene.findings],
        "visitors": [
            {
                "name": one_line(asked.name),
                "version": one_line(asked.version or ""),
                "roads": [_spelled(scene, drawn.path(asked)) for drawn in scene.paths],
            }
            for asked in scene.visitors
        ],
        "lit": [columns[name] for name in scene.lit],
    }


def _data(scene: Scene, column: int, reasons: dict[str, int]) -> dict[str, Any]:
    node = scene.picture.nodes[column]
    return {
        "name": one_line(node.name),
        "version": one_line(node.version or ""),
        "at": scene.layout.spots[column],
        "remarks": [one_line(remark) for remark in (*remarks(scene, node), *_notices(node))],
        "edges": [one_line(text) for text in accepted(scene.picture, column)],
        "roads": [_path(scene, drawn, node, reasons) for drawn in scene.paths] if node.entry else None,
    }


def _notices(node: Node) -> Iterator[str]:
    if node.deprecated:
        yield f"the catalog says: {node.deprecated}"


def _path(scene: Scene, drawn: DrawnPaths, node: Node, reasons: dict[str, int]) -> list[Any]:
    """The next hop, how the road ends and the number of the reason: the script goes from hop to hop.

    Each reason is said once. A failing resolver names every head of the channel, to each of its entries.
    """
    path = drawn.by_entry[node.name]
    reason = reasons.setdefault(one_line(path.reason), len(reasons))
    return [None if path.next is None else scene.picture.columns[path.next], path.end.value, reason]


def _spelled(scene: Scene, path: UpgradePath) -> dict[str, Any]:
    hops = [scene.picture.columns[name] for name in path.hops]
    return {"path": hops, "kind": path.end.value, "end": one_line(path.reason)}


def _finding(scene: Scene, sighted: Sighted) -> dict[str, Any]:
    finding = sighted.finding
    return {
        "rule": finding.rule,
        "severity": finding.severity.word,
        "entry": scene.picture.columns.get(finding.entry or ""),
        "message": one_line(full_message(finding)),
        "because": [one_line(reason) for reason in finding.because],
        "fix": None if finding.fix is None else one_line(finding.fix),
        "where": one_line(sighted.where),
    }
