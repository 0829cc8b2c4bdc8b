"""A comparison as JSON (docs/schemas/compare.schema.json)."""

from __future__ import annotations

__all__ = ["VERSION", "render"]

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from everpath.compare.changes import Change
from everpath.compare.differences import Difference
from everpath.compare.matrix import MatrixRow
from everpath.compare.outcomes import PathOutcome, VersionOutcome
from everpath.model import Entry, Place
from everpath.reporters.comparison import ComparisonReport, MatrixReport
from everpath.upgrade_paths import UpgradePath

#: Raised when a field changes its meaning or is removed; fields may be added at any time.
VERSION: Final = 2


def render(report: ComparisonReport | MatrixReport) -> Iterator[str]:
    """Yield one JSON object with a line for each change and row. It contains all of them."""
    return _comparison(report) if isinstance(report, ComparisonReport) else _matrix(report)


def _comparison(report: ComparisonReport) -> Iterator[str]:
    comparison = report.comparison
    yield f'{{"version": {VERSION},\n "old": {_json(report.old)},\n "new": {_json(report.new)},\n'
    yield f' "policies": {_json(report.resolvers)},\n "summary": {_json(_summary(report))},\n'
    yield f' "properties": {_json(_properties(report))},\n "changes": ['
    yield from _lines(_change(report, change) for change in comparison.changes)
    yield '],\n "rows": ['
    yield from _lines(map(_row, comparison.rows))
    yield '],\n "withoutChannels": ['
    yield from _lines(map(_row, comparison.without_channels))
    yield from _unread(report)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _lines(documents: Iterable[dict[str, Any]]) -> Iterator[str]:
    separator = "\n  "
    for document in documents:
        yield separator + _json(document)
        separator = ",\n  "
    yield "\n "


def _summary(report: ComparisonReport) -> dict[str, int]:
    comparison = report.comparison
    counts = {outcome.value: comparison.counts.get(outcome, 0) for outcome in PathOutcome}
    sizes = {"packages": comparison.packages, "channels": comparison.channels, "rows": len(comparison.rows)}
    return sizes | counts


def _properties(report: ComparisonReport) -> dict[str, Any]:
    names = ("foundInOld", "foundInNew", "zStreams")
    held = report.comparison.properties
    return {
        name: {"holds": p.holds, "checked": p.checked, "failed": p.failed}
        for name, p in zip(names, held, strict=True)
    }


def _change(report: ComparisonReport | MatrixReport, change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind.value,
        "severity": change.severity.word,
        "package": change.package,
        "channel": change.channel,
        "policies": list(change.resolvers),
        "installed": list(change.installed),
        "message": change.message,
        "before": change.old_path or None,
        "now": change.new_path or None,
        "because": list(change.reasons),
        "edits": [_edit(e) for e in change.edits],
        "fix": change.fix,
        "fixEntries": [_entry(entry) for entry in change.fix_entries],
        **_located(report, change.place),
    }


def _located(report: ComparisonReport | MatrixReport, place: Place | None) -> dict[str, Any]:
    location = report.locate(place) if place is not None else None
    return {
        "file": (location.file or None) if location else None,
        "line": (location.line or None) if location else None,
        "column": (location.column or None) if location else None,
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "replaces": entry.replaces or None,
        "skips": list(entry.skips),
        "skipRange": entry.skip_range or None,
    }


def _edit(edit: Difference) -> dict[str, str]:
    return {"kind": edit.kind.value, "entry": edit.entry, "description": edit.description, "undo": edit.undo}


def _row(row: VersionOutcome) -> dict[str, Any]:
    return {
        "package": row.package,
        "channel": row.channel,
        "installed": row.installed,
        "version": str(row.version) if row.version is not None else None,
        "policy": row.resolver,
        "outcome": row.outcome.value,
        "old": _path(row.old),
        "new": _path(row.new),
    }


def _path(path: UpgradePath) -> dict[str, Any]:
    failure = path.failure
    return {
        "next": path.next,
        "hops": len(path.hops),
        "end": path.end.value,
        "last": path.last,
        "reason": (failure.message or failure.kind.value) if failure is not None else None,
    }


def _matrix(report: MatrixReport) -> Iterator[str]:
    yield f'{{"version": {VERSION},\n "catalogs": {_json(report.catalogs)},\n'
    yield f' "policies": {_json(report.resolvers)},\n "updates": ['
    pairs = zip(report.catalogs, report.catalogs[1:], strict=False)
    yield from _lines(
        {
            "old": old,
            "new": new,
            "stranded": update.stranded,
            "changedPaths": update.changed_paths,
            "changes": [_change(report, change) for change in update.changes],
        }
        for (old, new), update in zip(pairs, report.matrix.updates, strict=True)
    )
    yield '],\n "rows": ['
    yield from _lines(map(_matrix_row, report.matrix.rows))
    yield '],\n "withoutChannels": ['
    yield from _lines(map(_matrix_row, report.matrix.without_channels))
    yield from _unread(report)


def _unread(report: ComparisonReport | MatrixReport) -> Iterator[str]:
    yield '],\n "unread": ['
    yield from _lines(
        {"catalog": part.catalog, "message": part.message, **_located(report, part.place)}
        for part in report.unread_parts
    )
    yield "]}\n"


def _matrix_row(row: MatrixRow) -> dict[str, Any]:
    return {
        "package": row.package,
        "channel": row.channel,
        "installed": row.installed,
        "version": str(row.version) if row.version is not None else None,
        "policy": row.resolver,
        "paths": [_path(path) if path is not None else None for path in row.paths],
        "outcomes": [outcome.value if outcome is not None else None for outcome in row.outcomes],
    }
