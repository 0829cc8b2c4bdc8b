"""The data of the page of `-o html`: everything that its script shows, by channel."""

from __future__ import annotations

__all__ = ["embedded_json", "tab_names"]

import json
from collections.abc import Sequence
from itertools import count
from typing import Any

from everpath.layout.captions import declared_edges, node_states
from everpath.layout.diagram import Node
from everpath.layout.drawing import ChannelDrawing
from everpath.layout.paths import DrawnPaths
from everpath.reporters.formatting import one_line
from everpath.reporters.lint.lint_report import full_message, rule_url
from everpath.rules.findings import Finding
from everpath.upgrade_path.path import UpgradePath


def embedded_json(drawings: Sequence[ChannelDrawing]) -> str:
    """Return the data as JSON that cannot close its <script> element."""
    channels = [_channel(drawing, name) for drawing, name in zip(drawings, tab_names(drawings), strict=True)]
    # Each rule with findings is stored once: a large channel may have thousands of findings.
    names = {finding.rule: finding.name for drawing in drawings for finding in drawing.findings}
    rules = {rule: {"name": name, "url": rule_url(rule)} for rule, name in sorted(names.items())}
    text = json.dumps({"rules": rules, "channels": channels}, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def tab_names(drawings: Sequence[ChannelDrawing]) -> list[str]:
    """Return unique names of channels for tabs and addresses: a repeated name gets a number."""
    names = [one_line(drawing.diagram.channel) for drawing in drawings]
    taken = set(names)
    seen, unique = set[str](), list[str]()
    for name in names:
        numbered = (f"{name} ({number})" for number in count(2))
        unique.append(next(each for each in numbered if each not in taken) if name in seen else name)
        seen.add(name)
        taken.add(unique[-1])
    return unique


def _channel(drawing: ChannelDrawing, name: str) -> dict[str, Any]:
    columns = drawing.diagram.columns
    reasons = dict[str, int]()
    broken = [drawn.path(None).reason for drawn in drawing.paths if drawn.is_broken]
    return {
        "name": name,
        "newInstallation": [_path_data(drawing, drawn.path(None)) for drawn in drawing.paths],
        "axis": drawing.layout.axis,
        "broken": one_line(broken[0]) if broken else None,
        "nodes": [_node_data(drawing, column, reasons) for column in range(len(drawing.diagram.nodes))],
        "reasons": list(reasons),
        "findings": [_finding(drawing, finding) for finding in drawing.findings],
        "installedElsewhere": [
            {
                "name": one_line(installed.name),
                "version": one_line(installed.version or ""),
                "paths": [_path_data(drawing, drawn.path(installed)) for drawn in drawing.paths],
            }
            for installed in drawing.installed_elsewhere
        ],
        "installed": [columns[name] for name in drawing.installed_entries],
    }


def _node_data(drawing: ChannelDrawing, column: int, reasons: dict[str, int]) -> dict[str, Any]:
    node = drawing.diagram.nodes[column]
    states = [*node_states(drawing, node)]
    states += [f"deprecation message: {node.deprecated}"] if node.deprecated else []
    return {
        "name": one_line(node.name),
        "version": one_line(node.version or ""),
        "at": drawing.layout.spots[column],
        "states": [one_line(state) for state in states],
        "edges": [one_line(text) for text in declared_edges(drawing.diagram, column)],
        "paths": [_entry_path(drawing, drawn, node, reasons) for drawn in drawing.paths]
        if node.entry
        else None,
    }


def _entry_path(drawing: ChannelDrawing, drawn: DrawnPaths, node: Node, reasons: dict[str, int]) -> list[Any]:
    """Return the next hop, the end and the index of the reason; the script follows the hops.

    Each reason is stored once: a failing resolver names every head of the channel for each of its entries.
    """
    path = drawn.by_entry[node.name]
    reason = reasons.setdefault(one_line(path.reason), len(reasons))
    return [None if path.next is None else drawing.diagram.columns[path.next], path.end.value, reason]


def _path_data(drawing: ChannelDrawing, path: UpgradePath) -> dict[str, Any]:
    hops = [drawing.diagram.columns[name] for name in path.hops]
    return {"hops": hops, "end": path.end.value, "reason": one_line(path.reason)}


def _finding(drawing: ChannelDrawing, finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.word,
        "entry": drawing.diagram.columns.get(finding.entry or ""),
        "message": one_line(full_message(finding)),
        "because": [one_line(reason) for reason in finding.because],
        "fix": None if finding.fix is None else one_line(finding.fix),
        "where": one_line(f"{finding.file}:{finding.line}" if finding.line else finding.file),
    }
