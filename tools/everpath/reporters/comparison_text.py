"""A comparison as text: regressions with old and new path, cause and fix."""

from __future__ import annotations

__all__ = ["render"]

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final

from everpath.compare.changes import Change
from everpath.compare.matrix import Matrix, MatrixRow
from everpath.compare.outcomes import PathOutcome
from everpath.reporters.colour import Paint
from everpath.reporters.comparison import ComparisonReport, MatrixReport, describe_edits, truncate
from everpath.reporters.formatting import columns, one_line
from everpath.resolvers.resolution import FailureKind
from everpath.rules.findings import Severity
from everpath.upgrade_paths import UpgradePath
from everpath.upgrade_paths.hops import PathEnd

_MOST_REASONS: Final = 10
_MOST_ROWS: Final = 2_000

#: How a list of names ends that is cut short.
_CUT: Final = re.compile(r" and \d+ more\b")


def render(report: ComparisonReport | MatrixReport) -> Iterator[str]:
    """Yield the changes by package and channel, then the summary."""
    return _comparison(report) if isinstance(report, ComparisonReport) else _matrix(report)


def _comparison(report: ComparisonReport) -> Iterator[str]:
    paint = Paint(report.colour)
    shown = report.shown(report.comparison.changes)
    for (package, channel), members in groupby(shown, key=lambda c: (c.package, c.channel or "")):
        title = f"package {package}" + (f", channel {channel}" if channel else "")
        yield f"{paint('bold', one_line(title))}\n\n"
        for change in members:
            yield from _change(report, change, paint)
    if not report.is_brief:
        yield from _closing(report, paint)


def _change(report: ComparisonReport | MatrixReport, change: Change, paint: Paint) -> Iterator[str]:
    label = f"{change.severity.word}[{change.kind.value}]"
    yield f"{paint.severity(change.severity, label)}{paint('bold', f': {one_line(change.message)}')}\n"
    if where := report.where(change):
        yield f"  {paint('dim', '-->')} {one_line(where)}\n"
    for heading, lines in _remarks(change):
        yield f"   {paint('dim', '=')} {paint('bold', heading)}{one_line(lines[0])}\n"
        yield from (f"     {' ' * len(heading)}{one_line(line)}\n" for line in lines[1:])
    yield "\n"


def _remarks(change: Change) -> Iterator[tuple[str, Sequence[str]]]:
    if change.old_path:
        yield "before: ", [truncate(change.old_path)]
    if change.new_path:
        yield "now: ", [truncate(change.new_path)]
    if change.reasons:
        yield "reason: ", [truncate(reason) for reason in change.reasons[:_MOST_REASONS]]
    if change.edits:
        yield "caused by: ", describe_edits(change.edits)
    if change.fix:
        yield "fix: ", [change.fix]


def _closing(report: ComparisonReport, paint: Paint) -> Iterator[str]:
    for text, held in report.properties:
        if held.checked:
            verdict = paint("green", "yes") if held.holds else paint("yellow", "no")
            failed = "" if held.holds else f", {held.failed:,} of {held.checked:,} do not"
            yield f"{text}: {verdict}{failed}\n"
    comparison = report.comparison
    colour = "red" if comparison.errors else "yellow" if comparison.changed_paths else "green"
    yield f"{paint(colour, report.summary)}\n"
    if report.hidden_notes:
        yield f"{report.hidden_notes}\n"
    yield from _shortened(report.shown(comparison.changes))


def _shortened(changes: Sequence[Change]) -> Iterator[str]:
    if any(_CUT.search(f"{change.message}\n{change.fix}") for change in changes):
        yield "Long lists of names are abbreviated; -o json has all.\n"


def _matrix(report: MatrixReport) -> Iterator[str]:
    paint = Paint(report.colour)
    is_all = report.show is Severity.NOTE
    rows = [row for row in _rows(report.matrix) if is_all or row.is_notable]
    if rows:
        title = ("PACKAGE", "CHANNEL", "INSTALLED", "OLM", *report.catalogs)
        yield from columns([title, *_merged(rows)][: _MOST_ROWS + 1])
        yield "\n"
    if len(rows) > _MOST_ROWS:
        yield f"The table is cut off after {_MOST_ROWS:,} rows; -o json has all.\n\n"
    for (old, new), update in zip(_pairs(report.catalogs), report.matrix.updates, strict=True):
        if shown := report.shown(update.changes):
            number = update.cut_off
            yield f"{paint('bold', one_line(f'from {old} to {new}: {number:,} cut off'))}\n\n"
            for change in shown:
                subject = "/".join(part for part in (change.package, change.channel) if part)
                yield from _change(report, change._replace(message=f"{subject}: {change.message}"), paint)
    if not report.is_brief:
        yield f"{paint('red' if report.matrix.errors else 'green', report.summary)}\n"
        yield from _shortened([c for update in report.matrix.updates for c in report.shown(update.changes)])


def _rows(matrix: Matrix) -> list[MatrixRow]:
    """Return all rows, and those without channels that differ from all rows of channels."""
    known = {(row.package, row.installed, *_cells(row)) for row in matrix.rows if row.resolver == "v1"}
    additional = [
        row for row in matrix.without_channels if (row.package, row.installed, *_cells(row)) not in known
    ]
    return (
        sorted((*matrix.rows, *additional), key=lambda row: row.package) if additional else list(matrix.rows)
    )


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    return list(pairwise(names))


def _merged(rows: Sequence[MatrixRow]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of rows; equal rows of both resolvers are merged."""
    cells = [(_subject(row), row.resolver, tuple(_cells(row))) for row in rows]
    for (subject, texts), members in groupby(cells, key=lambda c: (c[0], c[2])):
        yield (*subject, " ".join(policy for _, policy, _ in members), *texts)


def _subject(row: MatrixRow) -> tuple[str, str, str]:
    return row.package, row.channel if row.channel is not None else "(none)", row.installed


def _cells(row: MatrixRow) -> Iterator[str]:
    outcomes: tuple[PathOutcome | None, ...] = (None, *row.outcomes)
    for path, outcome in zip(row.paths, outcomes, strict=True):
        is_regression = outcome is not None and outcome.is_regression
        # A path may end at a goal, such as the head of another channel, that is lower than before.
        is_short = path is not None and is_regression and path.reaches_goal
        cell = f"stranded at {path.last}" if path is not None and is_short else _cell(path) if path else ""
        yield f"! {cell}" if is_regression else cell


def _cell(path: UpgradePath) -> str:
    # Without an update OLM v1 reports an error and keeps what is installed; OLM v0 only keeps it.
    if path.failure is not None and path.failure.kind is not FailureKind.NO_BUNDLES:
        return "fails"
    if path.end is PathEnd.LOOP:
        return "loop"
    if not path.reaches_goal:
        return "stranded" if not path.hops else f"stranded at {path.last}"
    return f"→ {path.last}" if path.hops else "head"
