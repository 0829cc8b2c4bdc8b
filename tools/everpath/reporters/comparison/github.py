"""Comparisons as annotations of GitHub Actions, at the line that causes a change."""

from __future__ import annotations

__all__ = ["render"]

from collections.abc import Iterator

from everpath.comparison.changes import Change
from everpath.reporters.comparison.report import (
    ComparisonReport,
    DisplayOptions,
    MatrixReport,
    describe_edits,
    truncate,
)
from everpath.reporters.lint.github import workflow_command


def render(report: ComparisonReport | MatrixReport, options: DisplayOptions) -> Iterator[str]:
    """Yield a workflow command for each change, then the summary. Only the new catalog is annotated."""
    updates = [report.comparison] if isinstance(report, ComparisonReport) else report.matrix.updates
    for change in (change for update in updates for change in options.visible_changes(update.changes)):
        position = None if change.in_old else change.position
        title = f"compare {change.kind.value}"
        yield workflow_command(change.severity, title, position, options.workspace, _message(change))
    if not options.is_brief:
        yield f"{report.summary}\n"


def _message(change: Change) -> Iterator[str]:
    subject = "/".join(part for part in (change.package, change.channel) if part)
    yield f"{subject}: {change.message}"
    if change.old_path:
        yield f"before: {truncate(change.old_path)}"
    if change.new_path:
        yield f"now: {truncate(change.new_path)}"
    yield from (f"because: {truncate(reason)}" for reason in change.reasons)
    yield from (f"caused by: {line}" for line in describe_edits(change.edits))
    if change.fix:
        yield f"fix: {change.fix}"
