"""A comparison as a table for a pull request, or for the summary page of a CI job."""

from __future__ import annotations

__all__ = ["render", "table"]

from collections.abc import Iterator, Sequence

from everpath.compare.changes import Change
from everpath.reporters.comparison import ToldComparison, ToldMatrix, since
from everpath.reporters.formatting import count
from everpath.reporters.markdown import escape_markdown


def render(told: ToldComparison | ToldMatrix) -> Iterator[str]:
    """A heading, the summary and all changes as a table."""
    return table(told, None)


def table(told: ToldComparison | ToldMatrix, most: int | None) -> Iterator[str]:
    """The same with at most that many rows: GitHub refuses a summary of more than a mebibyte."""
    yield f"### everpath compare\n\n{told.summary}\n"
    if isinstance(told, ToldComparison):
        yield from _properties(told)
    rows = list(_rows(told))
    if rows:
        yield "\n| | change | where | who | since | fix |\n|---|---|---|---|---|---|\n"
        yield from rows[:most]
    if most is not None and len(rows) > most:
        yield f"\nThe table ends here; {count(len(rows) - most, 'more change')} not shown.\n"


def _properties(told: ToldComparison) -> Iterator[str]:
    asked = [(words, held) for words, held in told.properties if held.asked]
    if asked:
        yield "\n"
    for words, held in asked:
        verdict = "yes" if held.holds else f"no, {held.broken:,} of {held.asked:,} do not"
        yield f"- {words}: **{verdict}**\n"


def _rows(told: ToldComparison | ToldMatrix) -> Iterator[str]:
    if isinstance(told, ToldComparison):
        for change in told.shown(told.comparison.changes):
            yield _row(told, change, ())
        return
    pairs = zip(told.catalogs, told.catalogs[1:], strict=False)
    for (old, new), move in zip(pairs, told.matrix.moves, strict=True):
        for change in told.shown(move.changes):
            yield _row(told, change, (f"from {old} to {new}",))


def _row(told: ToldComparison | ToldMatrix, change: Change, before: Sequence[str]) -> str:
    subject = "/".join(part for part in (change.package, change.channel) if part)
    where = [part for part in (*before, subject, told.where(change)) if part]
    cells = (
        change.severity.word,
        change.kind.value,
        "<br>".join(map(escape_markdown, where)),
        escape_markdown(change.message),
        "<br>".join(map(escape_markdown, since(change.edits, 5))),
        escape_markdown(change.fix or ""),
    )
    return f"| {' | '.join(cells)} |\n"
