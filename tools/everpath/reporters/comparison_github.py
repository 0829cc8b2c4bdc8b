"""Annotations for GitHub Actions: whom a pull request strands, beside the line that does it."""

from __future__ import annotations

__all__ = ["render"]

from collections.abc import Iterator

from everpath.compare.changes import Change
from everpath.reporters.comparison import ToldComparison, ToldMatrix, cut, since
from everpath.reporters.github import workflow_command


def render(told: ToldComparison | ToldMatrix) -> Iterator[str]:
    """A workflow command for each change, then the summary. Only lines of the new catalog are annotated."""
    moves = [told.comparison] if isinstance(told, ToldComparison) else told.matrix.moves
    for move in moves:
        yield from (_command(told, change) for change in told.shown(move.changes))
    if not told.brief:
        yield f"{told.summary}\n"


def _command(told: ToldComparison | ToldMatrix, change: Change) -> str:
    location = told.locate(change.place) if change.place is not None and not change.in_old else None
    subject = "/".join(part for part in (change.package, change.channel) if part)
    lines = [f"{subject}: {change.message}"]
    lines += [f"before: {cut(change.was)}"] if change.was else []
    lines += [f"now: {cut(change.now)}"] if change.now else []
    lines += [f"because: {cut(reason)}" for reason in change.because]
    lines += [f"since: {line}" for line in since(change.edits)]
    lines += [f"fix: {change.fix}"] if change.fix else []
    return workflow_command(change.severity, f"compare {change.kind.value}", location, told.workspace, lines)
