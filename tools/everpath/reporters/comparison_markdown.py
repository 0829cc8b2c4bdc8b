"""A comparison as a Markdown table for a pull request or the summary of a CI job."""

from __future__ import annotations

__all__ = ["render", "table"]

from collections.abc import Iterator, Sequence

from everpath.compare.changes import Change
from everpath.reporters.comparison import ComparisonReport, MatrixReport, describe_edits
from everpath.reporters.formatting import count
from everpath.reporters.markdown import escape_markdown


def render(report: ComparisonReport | MatrixReport) -> Iterator[str]:
    """Yield a heading, the summary and a table of all changes."""
    return table(report, None)


def table(report: ComparisonReport | MatrixReport, most: int | None) -> Iterator[str]:
    """Yield the same with at most `most` rows: GitHub rejects a summary of more than 1 MiB."""
    yield f"### everpath compare\n\n{report.summary}\n"
    if isinstance(report, ComparisonReport):
        yield from _properties(report)
    rows = list(_rows(report))
    if rows:
        yield "\n| | change | where | effect | caused by | fix |\n|---|---|---|---|---|---|\n"
        yield from rows[:most]
    if most is not None and len(rows) > most:
        yield f"\nThe table ends here; {count(len(rows) - most, 'more change')} not shown.\n"


def _properties(report: ComparisonReport) -> Iterator[str]:
    checked = [(text, held) for text, held in report.properties if held.checked]
    if checked:
        yield "\n"
    for text, held in checked:
        verdict = "yes" if held.holds else f"no, {held.failed:,} of {held.checked:,} do not"
        yield f"- {text}: **{verdict}**\n"


def _rows(report: ComparisonReport | MatrixReport) -> Iterator[str]:
    if isinstance(report, ComparisonReport):
        for change in report.shown(report.comparison.changes):
            yield _row(report, change, ())
        return
    pairs = zip(report.catalogs, report.catalogs[1:], strict=False)
    for (old, new), update in zip(pairs, report.matrix.updates, strict=True):
        for change in report.shown(update.changes):
            yield _row(report, change, (f"from {old} to {new}",))


def _row(report: ComparisonReport | MatrixReport, change: Change, before: Sequence[str]) -> str:
    subject = "/".join(part for part in (change.package, change.channel) if part)
    where = [part for part in (*before, subject, report.where(change)) if part]
    cells = (
        change.severity.word,
        change.kind.value,
        "<br>".join(map(escape_markdown, where)),
        escape_markdown(change.message),
        "<br>".join(map(escape_markdown, describe_edits(change.edits, 5))),
        escape_markdown(change.fix or ""),
    )
    return f"| {' | '.join(cells)} |\n"
