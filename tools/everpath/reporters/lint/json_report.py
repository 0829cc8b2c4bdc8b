"""The report as JSON, whose format is stable (docs/schemas)."""

from __future__ import annotations

__all__ = ["VERSION", "findings", "render", "summary"]

import json
from collections.abc import Iterator
from typing import Final

from everpath.reporters.lint.lint_report import LintReport, full_message
from everpath.rules.findings import Severity
from everpath.rules.lint import Report
from everpath.wording import plural

#: Raised when the meaning of a field changes or a field is removed. New fields do not raise it.
VERSION: Final = 1


def render(report: LintReport) -> Iterator[str]:
    """Yield one JSON object, with a line for each finding."""
    yield f'{{"version": {VERSION},\n "summary": {json.dumps(summary(report))},\n "findings": ['
    separator = "\n  "
    for finding in findings(report.report):
        yield separator + finding
        separator = ",\n  "
    yield "\n ]}\n"


def findings(report: Report) -> Iterator[str]:
    """Yield a JSON object for each finding."""
    for finding in report.findings:
        fields = {
            "rule": finding.rule,
            "name": finding.name,
            "severity": finding.severity.word,
            "package": finding.package,
            "channel": finding.channel,
            "entry": finding.entry,
            "file": finding.file or None,
            "line": finding.line or None,
            "column": finding.column or None,
            "message": full_message(finding),
            "because": list(finding.because),
            "fix": finding.fix,
        }
        yield json.dumps(fields, ensure_ascii=False)


def summary(report: LintReport) -> dict[str, int]:
    """Return the numbers of linted objects and of findings."""
    lint = report.report
    return {
        **{plural(noun): number for number, noun in report.sizes},
        "errors": lint.count(Severity.ERROR),
        "warnings": lint.count(Severity.WARNING),
        "notes": lint.count(Severity.NOTE),
        "waived": len(lint.waived),
    }
