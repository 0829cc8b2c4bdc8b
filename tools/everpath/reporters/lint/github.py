"""Annotations for GitHub Actions: findings appear beside the lines of the pull request."""

from __future__ import annotations

__all__ = ["render", "workflow_command"]

from collections.abc import Iterable, Iterator
from typing import Final

from everpath.model import SourcePosition
from everpath.reporters.formatting import printable
from everpath.reporters.lint.lint_report import LintReport, Workspace, one_line_message
from everpath.rules.findings import Severity
from everpath.wording import join_names

_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: LintReport) -> Iterator[str]:
    """Yield a workflow command for each finding, then the summary.

    All text of the catalog is escaped, so that a name cannot contain a workflow command.
    """
    for finding, channels in report.shown_findings:
        # The annotation shows only the line, which may be in several channels.
        several = f" (in the channels {join_names(channels, limit=None)})" if len(channels) > 1 else ""
        lines = [one_line_message(finding) + several]
        lines += (f"because: {line}" for reason in finding.because for line in reason.splitlines())
        lines += [f"fix: {finding.fix}"] if finding.fix else []
        title = f"{finding.rule} {finding.name}"
        yield workflow_command(finding.severity, title, finding.position, report.workspace, lines)
    if not report.brief:
        yield f"{report.summary}\n"


def workflow_command(
    severity: Severity,
    title: str,
    position: SourcePosition | None,
    workspace: Workspace,
    lines: Iterable[str],
) -> str:
    """Return one workflow command, with the position if that is in a file."""
    fields: dict[str, str | int | None] = {"title": title}
    if position is not None and position.file not in ("", "-"):
        file = workspace.relative(position.file)
        fields = {"file": file, "line": position.line, "col": position.column, **fields}
    properties = ",".join(f"{key}={_escape_property(str(value))}" for key, value in fields.items() if value)
    return f"::{_COMMANDS[severity]} {properties}::{'%0A'.join(map(_escape_data, lines))}\n"


def _escape_data(text: str) -> str:
    """Escape a message as actions/toolkit does; control characters are made visible first."""
    return printable(text).replace("%", "%25")


def _escape_property(text: str) -> str:
    """Escape a property as actions/toolkit does: also the characters that separate properties."""
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")
