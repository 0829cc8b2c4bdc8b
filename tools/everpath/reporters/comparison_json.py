"""A comparison as JSON: the contract other tools build on (docs/schemas/compare.schema.json)."""

from __future__ import annotations

__all__ = ["VERSION", "render"]

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from everpath.compare.changes import Change
from everpath.compare.channel_paths import Road
from everpath.compare.differences import Difference
from everpath.compare.matrix import MatrixRow
from everpath.compare.outcomes import Outcome, Row
from everpath.model import Entry, Place
from everpath.reporters.comparison import ToldComparison, ToldMatrix

#: Raised when a field changes its meaning or goes away; new fields may come at any time.
VERSION: Final = 1


def render(told: ToldComparison | ToldMatrix) -> Iterator[str]:
    """One JSON object, a line for each change and each row, all of them whatever is shown to people."""
    return _comparison(told) if isinstance(told, ToldComparison) else _matrix(told)


def _comparison(told: ToldComparison) -> Iterator[str]:
    comparison = told.comparison
    yield f'{{"version": {VERSION},\n "old": {_json(told.old)},\n "new": {_json(told.new)},\n'
    yield f' "policies": {_json(told.policies)},\n "summary": {_json(_summary(told))},\n'
    yield f' "properties": {_json(_properties(told))},\n "changes": ['
    yield from _lines(_change(told, change) for change in comparison.changes)
    yield '],\n "rows": ['
    yield from _lines(map(_row, comparison.rows))
    yield '],\n "withoutChannels": ['
    yield from _lines(map(_row, comparison.unnamed))
    yield from _unread(told)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _lines(documents: Iterable[dict[str, Any]]) -> Iterator[str]:
    separator = "\n  "
    for document in documents:
        yield separator + _json(document)
        separator = ",\n  "
    yield "\n "


def _summary(told: ToldComparison) -> dict[str, int]:
    comparison = told.comparison
    counts = {outcome.value: comparison.counts.get(outcome, 0) for outcome in Outcome}
    sizes = {"packages": comparison.packages, "channels": comparison.channels, "rows": len(comparison.rows)}
    return sizes | counts


def _properties(told: ToldComparison) -> dict[str, Any]:
    names = ("foundInOld", "foundInNew", "zStreams")
    held = told.comparison.properties
    return {
        name: {"holds": p.holds, "asked": p.asked, "broken": p.broken}
        for name, p in zip(names, held, strict=True)
    }


def _change(told: ToldComparison | ToldMatrix, change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind.value,
        "severity": change.severity.word,
        "package": change.package,
        "channel": change.channel,
        "policies": list(change.policies),
        "installed": list(change.installed),
        "message": change.message,
        "before": change.was or None,
        "now": change.now or None,
        "because": list(change.because),
        "edits": [_edit(e) for e in change.edits],
        "fix": change.fix,
        "fixEntries": [_entry(entry) for entry in change.mended],
        **_located(told, change.place),
    }


def _located(told: ToldComparison | ToldMatrix, place: Place | None) -> dict[str, Any]:
    location = told.locate(place) if place is not None else None
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
    return {"kind": edit.kind.value, "entry": edit.entry, "words": edit.words, "undo": edit.undo}


def _row(row: Row) -> dict[str, Any]:
    return {
        "package": row.package,
        "channel": row.channel,
        "installed": row.installed,
        "version": str(row.version) if row.version is not None else None,
        "policy": row.policy,
        "outcome": row.outcome.value,
        "old": _road(row.old),
        "new": _road(row.new),
    }


def _road(road: Road) -> dict[str, Any]:
    failure = road.failure
    return {
        "next": road.next,
        "hops": road.hops,
        "end": road.end.value,
        "stop": road.stop,
        "reason": (failure.message or failure.kind.value) if failure is not None else None,
    }


def _matrix(told: ToldMatrix) -> Iterator[str]:
    yield f'{{"version": {VERSION},\n "catalogs": {_json(told.catalogs)},\n'
    yield f' "policies": {_json(told.policies)},\n "moves": ['
    pairs = zip(told.catalogs, told.catalogs[1:], strict=False)
    yield from _lines(
        {
            "old": old,
            "new": new,
            "stranded": move.stranded,
            "surprised": move.surprised,
            "changes": [_change(told, change) for change in move.changes],
        }
        for (old, new), move in zip(pairs, told.matrix.moves, strict=True)
    )
    yield '],\n "rows": ['
    yield from _lines(map(_matrix_row, told.matrix.rows))
    yield '],\n "withoutChannels": ['
    yield from _lines(map(_matrix_row, told.matrix.unnamed))
    yield from _unread(told)


def _unread(told: ToldComparison | ToldMatrix) -> Iterator[str]:
    yield '],\n "unread": ['
    yield from _lines(
        {"catalog": part.catalog, "message": part.message, **_located(told, part.place)}
        for part in told.unread
    )
    yield "]}\n"


def _matrix_row(row: MatrixRow) -> dict[str, Any]:
    return {
        "package": row.package,
        "channel": row.channel,
        "installed": row.installed,
        "version": str(row.version) if row.version is not None else None,
        "policy": row.policy,
        "roads": [_road(road) if road is not None else None for road in row.roads],
        "outcomes": [outcome.value if outcome is not None else None for outcome in row.outcomes],
    }
