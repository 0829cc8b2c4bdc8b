"""Comparisons as annotations of GitHub Actions, at the line that causes a change."""

from __future__ import annotations

__all__ = ["render"]

from collections.abc import Iterator

from everpath.compare.changes import Change
from everpath.reporters.comparison import ComparisonReport, MatrixReport, describe_edits, truncate
from everpath.reporters.github import workflow_command


def render(report: ComparisonReport | MatrixReport) -> Iterator[str]:
    """Yield a workflow command for each change, then the summary. Only the new catalog is annotated."""
    updates = [report.comparison] if isinstance(report, ComparisonReport) else report.matrix.updates
    for update in updates:
        yield from (_command(report, change) for change in report.shown(update.changes))
    if not report.is_brief:
        yield f"{report.summary}\n"


def _command(report: ComparisonReport | MatrixReport, change: Change) -> str:
    location = report.locate(change.place) if change.place is not None and not change.in_old else None
    subject = "/".join(part for part in (change.package, change.channel) if part)
    lines = [f"{subject}: {change.message}"]
    lines += [f"before: {truncate(change.old_path)}"] if change.old_path else []
    lines += [f"now: {truncate(change.new_path)}"] if change.new_path else []
    lines += [f"because: {truncate(reason)}" for reason in change.reasons]
    lines += [f"caused by: {line}" for line in describe_edits(change.edits)]
    lines += [f"fix: {change.fix}"] if change.fix else []
    return workflow_command(
        change.severity, f"compare {change.kind.value}", location, report.workspace, lines
    )
