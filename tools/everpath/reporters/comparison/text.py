"""A comparison as text: regressions with old and new path, cause and fix."""

from __future__ import annotations

__all__ = ["render"]

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final

from everpath.comparison.changes import Change
from everpath.comparison.matrix import MatrixCell, MatrixRow
from everpath.reporters.colour import Paint
from everpath.reporters.comparison.report import (
    ComparisonReport,
    DisplayOptions,
    MatrixReport,
    describe_edits,
    position_text,
    truncate,
)
from everpath.reporters.formatting import columns, one_line
from everpath.rules.findings import Severity
from everpath.upgrade_path.hops import PathEnd
from everpath.wording import MAX_NAMES, count

_MAX_REASONS: Final = 10
_MAX_ROWS: Final = 2_000


def render(report: ComparisonReport | MatrixReport, options: DisplayOptions) -> Iterator[str]:
    """Yield the changes by package and channel, then the summary."""
    if isinstance(report, ComparisonReport):
        return _comparison(report, options)
    return _matrix(report, options)


def _comparison(report: ComparisonReport, options: DisplayOptions) -> Iterator[str]:
    paint, comparison = Paint(options.colour), report.comparison
    shown = options.visible_changes(comparison.changes)
    for (package, channel), members in groupby(shown, key=lambda c: (c.package, c.channel or "")):
        title = f"package {package}" + (f", channel {channel}" if channel else "")
        yield f"{paint('bold', one_line(title))}\n\n"
        for change in members:
            yield from _change(change, paint)
    if options.is_brief:
        return
    for text, each in report.properties:
        if each.checked:
            holds = paint("green", "yes") if each.holds else paint("yellow", "no")
            failed = "" if each.holds else f", {each.failed:,} of {each.checked:,} do not"
            yield f"{text}: {holds}{failed}\n"
    colour = "red" if comparison.errors else "yellow" if comparison.changed_path_count else "green"
    yield f"{paint(colour, report.summary)}\n"
    if hidden := len(comparison.changes) - len(shown):
        yield f"{count(hidden, 'note')} not shown (--all lists them).\n"
    yield from _abbreviation_note(shown)


def _change(change: Change, paint: Paint) -> Iterator[str]:
    label = f"{change.severity.word}[{change.kind.value}]"
    yield f"{paint.severity(change.severity, label)}{paint('bold', f': {one_line(change.message)}')}\n"
    if position := position_text(change):
        yield f"  {paint('dim', '-->')} {one_line(position)}\n"
    details: dict[str, Sequence[str]] = {
        "before: ": [truncate(change.old_path)] if change.old_path else [],
        "now: ": [truncate(change.new_path)] if change.new_path else [],
        "reason: ": [truncate(reason) for reason in change.reasons[:_MAX_REASONS]],
        "caused by: ": describe_edits(change.edits),
        "fix: ": [change.fix] if change.fix else [],
    }
    for heading, lines in details.items():
        for number, line in enumerate(lines):
            start = f"   {paint('dim', '=')} {paint('bold', heading)}"
            yield f"{start if number == 0 else ' ' * (5 + len(heading))}{one_line(line)}\n"
    yield "\n"


def _abbreviation_note(changes: Sequence[Change]) -> Iterator[str]:
    if any(max(len(change.installed), len(change.edits)) > MAX_NAMES for change in changes):
        yield "Long lists of names are abbreviated; -o json has all.\n"


def _matrix(report: MatrixReport, options: DisplayOptions) -> Iterator[str]:
    paint, updates = Paint(options.colour), report.matrix.updates
    show_all = options.show is Severity.NOTE
    rows = [row for row in report.matrix.distinct_rows if show_all or row.is_notable]
    if rows:
        title = ("PACKAGE", "CHANNEL", "INSTALLED", "OLM", *report.catalogs)
        yield from columns([title, *_table(rows)][: _MAX_ROWS + 1])
        yield "\n"
    if len(rows) > _MAX_ROWS:
        yield f"The table is cut off after {_MAX_ROWS:,} rows; -o json has all.\n\n"
    for (old, new), update in zip(pairwise(report.catalogs), updates, strict=True):
        if shown := options.visible_changes(update.changes):
            title_of_update = f"from {old} to {new}: {update.cut_off_count:,} cut off"
            yield f"{paint('bold', one_line(title_of_update))}\n\n"
            for change in shown:
                subject = "/".join(part for part in (change.package, change.channel) if part)
                yield from _change(change._replace(message=f"{subject}: {change.message}"), paint)
    if not options.is_brief:
        yield f"{paint('red' if report.matrix.errors else 'green', report.summary)}\n"
        yield from _abbreviation_note(
            [c for update in updates for c in options.visible_changes(update.changes)]
        )


def _table(rows: Sequence[MatrixRow]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of rows; equal rows of both resolvers are merged."""

    def key(row: MatrixRow) -> tuple[str, ...]:
        channel = row.channel if row.channel is not None else "(none)"
        return (row.package, channel, row.installed, *map(_cell_text, row.cells))

    for (package, channel, installed, *cells), members in groupby(rows, key):
        yield (package, channel, installed, " ".join(row.resolver for row in members), *cells)


def _cell_text(cell: MatrixCell | None) -> str:
    if cell is None:
        return ""
    match cell.end:
        case PathEnd.ERROR:
            text = "fails"
        case PathEnd.LOOP:
            text = "loop"
        case PathEnd.STRANDED:
            text = "stranded" if cell.last is None else f"stranded at {cell.last}"
        case PathEnd.HEAD:
            text = "head" if cell.last is None else f"→ {cell.last}"
    return f"! {text}" if cell.is_regression else text
