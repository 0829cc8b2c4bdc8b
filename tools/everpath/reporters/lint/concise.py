"""One line for each finding, for editors, grep and long logs."""

from __future__ import annotations

__all__ = ["render"]

from collections.abc import Iterator

from everpath.reporters.formatting import one_line
from everpath.reporters.lint.lint_report import LintReport, position_text


def render(report: LintReport) -> Iterator[str]:
    """Yield `file:line:column: ID severity name: subject: message`, in the order of the input."""
    for shown in report.shown_findings:
        finding, position = shown.finding, position_text(shown.finding)
        place = f"{position}: " if position else ""
        subject = f"{one_line(shown.subject)}: " if finding.package else ""
        rule = f"{finding.rule} {finding.severity.word} {finding.name}"
        yield f"{place}{rule}: {subject}{one_line(finding.message)}\n"
    if not report.brief:
        yield f"{report.summary}\n"
