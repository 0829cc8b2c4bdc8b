"""A comparison as JSON (docs/schemas/compare.schema.json)."""

from __future__ import annotations

__all__ = ["VERSION", "render"]

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Final

from everpath.comparison.changes import Change
from everpath.comparison.matrix import MatrixRow
from everpath.comparison.outcomes import PathOutcome, VersionOutcome
from everpath.model import SourcePosition
from everpath.reporters.comparison.report import ComparisonReport, DisplayOptions, MatrixReport
from everpath.upgrade_path.path import UpgradePath

#: Raised when a field changes its meaning or is removed; fields may be added at any time.
VERSION: Final = 2


def render(report: ComparisonReport | MatrixReport, _options: DisplayOptions) -> Iterator[str]:
    """Yield one JSON object with a line for each change and row. It contains all of them."""
    return _comparison(report) if isinstance(report, ComparisonReport) else _matrix(report)


def _comparison(report: ComparisonReport) -> Iterator[str]:
    comparison = report.comparison
    sizes = {"packages": comparison.packages, "channels": comparison.channels, "rows": len(comparison.rows)}
    counts = {outcome.value: comparison.counts.get(outcome, 0) for outcome in PathOutcome}
    properties = {
        name: {"holds": each.holds, "checked": each.checked, "failed": each.failed}
        for name, each in zip(("foundInOld", "foundInNew", "zStreams"), comparison.properties, strict=True)
    }
    yield f'{{"version": {VERSION},\n "old": {_json(report.old)},\n "new": {_json(report.new)},\n'
    yield f' "resolvers": {_json(report.resolvers)},\n "summary": {_json(sizes | counts)},\n'
    yield f' "properties": {_json(properties)},\n "changes": ['
    yield from _lines(map(_change, comparison.changes))
    yield '],\n "rows": ['
    yield from _lines(map(_row, comparison.rows))
    yield '],\n "withoutChannels": ['
    yield from _lines(map(_row, comparison.without_channels))
    yield from _unread_parts(report)


def _matrix(report: MatrixReport) -> Iterator[str]:
    yield f'{{"version": {VERSION},\n "catalogs": {_json(report.catalogs)},\n'
    yield f' "resolvers": {_json(report.resolvers)},\n "updates": ['
    yield from _lines(
        {
            "old": old,
            "new": new,
            "stranded": update.regression_count,
            "changedPaths": update.changed_path_count,
            "changes": [_change(change) for change in update.changes],
        }
        for (old, new), update in zip(pairwise(report.catalogs), report.matrix.updates, strict=True)
    )
    yield '],\n "rows": ['
    yield from _lines(map(_matrix_row, report.matrix.rows))
    yield '],\n "withoutChannels": ['
    yield from _lines(map(_matrix_row, report.matrix.without_channels))
    yield from _unread_parts(report)


def _unread_parts(report: ComparisonReport | MatrixReport) -> Iterator[str]:
    yield '],\n "unread": ['
    yield from _lines(
        {"catalog": part.catalog, "message": part.message, **_position(part.position)}
        for part in report.unread_parts
    )
    yield "]}\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _lines(documents: Iterable[dict[str, Any]]) -> Iterator[str]:
    separator = "\n  "
    for document in documents:
        yield separator + _json(document)
        separator = ",\n  "
    yield "\n "


def _change(change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind.value,
        "severity": change.severity.word,
        "package": change.package,
        "channel": change.channel,
        "resolvers": list(change.resolvers),
        "installed": list(change.installed),
        "message": change.message,
        "before": change.old_path or None,
        "now": change.new_path or None,
        "because": list(change.reasons),
        "edits": [
            {
                "kind": edit.kind.value,
                "entry": edit.entry,
                "description": edit.description,
                "undo": edit.undo,
            }
            for edit in change.edits
        ],
        "fix": change.fix,
        "fixEntries": [
            {
                "name": entry.name,
                "replaces": entry.replaces or None,
                "skips": list(entry.skips),
                "skipRange": entry.skip_range or None,
            }
            for entry in change.fix_entries
        ],
        **_position(change.position),
    }


def _position(position: SourcePosition | None) -> dict[str, Any]:
    return {
        "file": (position.file or None) if position else None,
        "line": (position.line or None) if position else None,
        "column": (position.column or None) if position else None,
    }


def _row(row: VersionOutcome) -> dict[str, Any]:
    return {
        "package": row.package,
        "channel": row.channel,
        "installed": row.installed,
        "version": str(row.version) if row.version is not None else None,
        "resolver": row.resolver,
        "outcome": row.outcome.value,
        "old": _path(row.old),
        "new": _path(row.new),
    }


def _matrix_row(row: MatrixRow) -> dict[str, Any]:
    return {
        "package": row.package,
        "channel": row.channel,
        "installed": row.installed,
        "version": str(row.version) if row.version is not None else None,
        "resolver": row.resolver,
        "paths": [_path(path) if path is not None else None for path in row.paths],
        "outcomes": [outcome.value if outcome is not None else None for outcome in row.outcomes],
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
