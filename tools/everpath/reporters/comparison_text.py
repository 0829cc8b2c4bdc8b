"""A comparison for people: who is hurt, what they did before, what did it, and what mends it."""

from __future__ import annotations

__all__ = ["render"]

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final

from everpath.compare.changes import Change, cut_off_unnamed
from everpath.compare.channel_paths import Road
from everpath.compare.matrix import Matrix, MatrixRow
from everpath.compare.outcomes import Outcome
from everpath.reporters.colour import Paint
from everpath.reporters.comparison import ToldComparison, ToldMatrix, cut, since
from everpath.reporters.formatting import columns, one_line
from everpath.resolvers.resolution import FailureKind
from everpath.rules.findings import Severity
from everpath.upgrade_paths.hops import PathEnd

_MOST_REASONS: Final = 10
_MOST_ROWS: Final = 2_000

#: How a list of names ends that is cut short.
_CUT: Final = re.compile(r" and \d+ more\b")


def render(told: ToldComparison | ToldMatrix) -> Iterator[str]:
    """Changes by package and channel, then what it comes to."""
    return _comparison(told) if isinstance(told, ToldComparison) else _matrix(told)


def _comparison(told: ToldComparison) -> Iterator[str]:
    paint = Paint(told.colour)
    shown = told.shown(told.comparison.changes)
    for (package, channel), members in groupby(shown, key=lambda c: (c.package, c.channel or "")):
        title = f"package {package}" + (f", channel {channel}" if channel else "")
        yield f"{paint('bold', one_line(title))}\n\n"
        for change in members:
            yield from _change(told, change, paint)
    if not told.brief:
        yield from _closing(told, paint)


def _change(told: ToldComparison | ToldMatrix, change: Change, paint: Paint) -> Iterator[str]:
    label = f"{change.severity.word}[{change.kind.value}]"
    yield f"{paint.severity(change.severity, label)}{paint('bold', f': {one_line(change.message)}')}\n"
    if where := told.where(change):
        yield f"  {paint('dim', '-->')} {one_line(where)}\n"
    for heading, lines in _remarks(change):
        yield f"   {paint('dim', '=')} {paint('bold', heading)}{one_line(lines[0])}\n"
        yield from (f"     {' ' * len(heading)}{one_line(line)}\n" for line in lines[1:])
    yield "\n"


def _remarks(change: Change) -> Iterator[tuple[str, Sequence[str]]]:
    if change.was:
        yield "before: ", [cut(change.was)]
    if change.now:
        yield "now: ", [cut(change.now)]
    if change.because:
        yield "because: ", [cut(reason) for reason in change.because[:_MOST_REASONS]]
    if change.edits:
        yield "since: ", since(change.edits)
    if change.fix:
        yield "fix: ", [change.fix]


def _closing(told: ToldComparison, paint: Paint) -> Iterator[str]:
    for words, held in told.properties:
        if held.asked:
            verdict = paint("green", "yes") if held.holds else paint("yellow", "no")
            broken = "" if held.holds else f", {held.broken:,} of {held.asked:,} do not"
            yield f"{words}: {verdict}{broken}\n"
    comparison = told.comparison
    colour = "red" if comparison.errors else "yellow" if comparison.surprised else "green"
    yield f"{paint(colour, told.summary)}\n"
    if told.unsaid:
        yield f"{told.unsaid}\n"
    yield from _shortened(told.shown(comparison.changes))


def _shortened(changes: Sequence[Change]) -> Iterator[str]:
    if any(_CUT.search(f"{change.message}\n{change.fix}") for change in changes):
        yield "Lists of names are cut short; -o json has all.\n"


def _matrix(told: ToldMatrix) -> Iterator[str]:
    paint = Paint(told.colour)
    is_all = told.show is Severity.NOTE
    rows = [row for row in _rows(told.matrix) if is_all or row.differs]
    if rows:
        title = ("PACKAGE", "CHANNEL", "INSTALLED", "OLM", *told.catalogs)
        yield from columns([title, *_merged(rows)][: _MOST_ROWS + 1])
        yield "\n"
    if len(rows) > _MOST_ROWS:
        yield f"The table ends here, after {_MOST_ROWS:,} rows; -o json has all.\n\n"
    for (old, new), move in zip(_pairs(told.catalogs), told.matrix.moves, strict=True):
        if shown := told.shown(move.changes):
            number = move.stranded + cut_off_unnamed(move.changes)
            yield f"{paint('bold', one_line(f'from {old} to {new}: {number:,} cut off'))}\n\n"
            for change in shown:
                subject = "/".join(part for part in (change.package, change.channel) if part)
                yield from _change(told, change._replace(message=f"{subject}: {change.message}"), paint)
    if not told.brief:
        yield f"{paint('red' if told.matrix.errors else 'green', told.summary)}\n"
        yield from _shortened([c for move in told.matrix.moves for c in told.shown(move.changes)])


def _rows(matrix: Matrix) -> list[MatrixRow]:
    """All rows, and of whoever names no channel those that are not as in one of them."""
    known = {(row.package, row.installed, *_cells(row)) for row in matrix.rows if row.policy == "v1"}
    news = [row for row in matrix.unnamed if (row.package, row.installed, *_cells(row)) not in known]
    return sorted((*matrix.rows, *news), key=lambda row: row.package) if news else list(matrix.rows)


def _pairs(names: Sequence[str]) -> list[tuple[str, str]]:
    return list(pairwise(names))


def _merged(rows: Sequence[MatrixRow]) -> Iterator[tuple[str, ...]]:
    """Rows as cells; what is the same under both policies is told once."""
    cells = [(_subject(row), row.policy, tuple(_cells(row))) for row in rows]
    for (subject, texts), members in groupby(cells, key=lambda c: (c[0], c[2])):
        yield (*subject, " ".join(policy for _, policy, _ in members), *texts)


def _subject(row: MatrixRow) -> tuple[str, str, str]:
    return row.package, row.channel if row.channel is not None else "(none)", row.installed


def _cells(row: MatrixRow) -> Iterator[str]:
    outcomes: tuple[Outcome | None, ...] = (None, *row.outcomes)
    for road, outcome in zip(row.roads, outcomes, strict=True):
        hurts = outcome is not None and outcome.hurts
        # A road may end well in itself, at the head of a channel, say, and short of where it went before.
        short = road is not None and hurts and road.arrives
        cell = f"stranded at {road.stop}" if road is not None and short else _cell(road) if road else ""
        yield f"! {cell}" if hurts else cell


def _cell(road: Road) -> str:
    # OLM v1 has nothing for a version, and says so; that leaves it where it is, as v0 does in silence.
    if road.failure is not None and road.failure.kind is not FailureKind.NO_BUNDLES:
        return "fails"
    if road.end is PathEnd.LOOP:
        return "in a circle"
    if not road.arrives:
        return "stranded" if not road.hops else f"stranded at {road.stop}"
    return f"→ {road.stop}" if road.hops else "head"
