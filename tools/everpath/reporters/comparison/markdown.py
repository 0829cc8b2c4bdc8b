"""A comparison as a Markdown table for a pull request or the summary of a CI job."""

from __future__ import annotations

__all__ = ["render", "table"]

from collections.abc import Iterator
from itertools import pairwise

from everpath.comparison.changes import Change
from everpath.reporters.comparison.report import (
    ComparisonReport,
    DisplayOptions,
    MatrixReport,
    describe_edits,
    position_text,
)
from everpath.reporters.lint.markdown import escape_markdown
from everpath.wording import count


def render(report: ComparisonReport | MatrixReport, options: DisplayOptions) -> Iterator[str]:
    """Yield a heading, the summary and a table of all changes."""
    return table(report, options, None)


def table(
    report: ComparisonReport | MatrixReport, options: DisplayOptions, most: int | None
) -> Iterator[str]:
    """Yield the same with at most `most` rows: GitHub rejects a summary of more than 1 MiB."""
    yield f"### everpath compare\n\n{report.summary}\n"
    if isinstance(report, ComparisonReport):
        yield from _properties(report)
        rows = [_row(change) for change in options.visible_changes(report.comparison.changes)]
    else:
        updates = zip(pairwise(report.catalogs), report.matrix.updates, strict=True)
        rows = [
            _row(change, f"from {old} to {new}")
            for (old, new), update in updates
            for change in options.visible_changes(update.changes)
        ]
    if rows:
        yield "\n| | change | where | effect | caused by | fix |\n|---|---|---|---|---|---|\n"
        yield from rows[:most]
    if most is not None and len(rows) > most:
        yield f"\nThe table ends here; {count(len(rows) - most, 'more change')} not shown.\n"


def _properties(report: ComparisonReport) -> Iterator[str]:
    checked = [(text, each) for text, each in report.properties if each.checked]
    if checked:
        yield "\n"
    for text, each in checked:
        holds = "yes" if each.holds else f"no, {each.failed:,} of {each.checked:,} do not"
        yield f"- {text}: **{holds}**\n"


def _row(change: Change, update: str = "") -> str:
    subject = "/".join(part for part in (change.package, change.channel) if part)
    where = [part for part in (update, subject, position_text(change)) if part]
    cells = (
        change.severity.word,
        change.kind.value,
        "<br>".join(map(escape_markdown, where)),
        escape_markdown(change.message),
        "<br>".join(map(escape_markdown, describe_edits(change.edits, 5))),
        escape_markdown(change.fix or ""),
    )
    return f"| {' | '.join(cells)} |\n"
