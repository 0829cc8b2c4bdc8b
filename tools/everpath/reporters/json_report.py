"""The report as JSON: the contract other tools build on (docs/schemas)."""

from __future__ import annotations

__all__ = ["VERSION", "findings", "render"]

import json
from collections.abc import Iterator
from typing import Any, Final

from everpath.reporters.lint_report import LintReport, LocatedFinding, full_message
from everpath.rules.findings import Severity

#: Raised when a field changes its meaning or goes away; new fields may come at any time.
VERSION: Final = 1


def render(outcome: LintReport) -> Iterator[str]:
    """One JSON object, a line for each finding, written as the findings are located."""
    yield f'{{"version": {VERSION},\n "summary": {json.dumps(summary(outcome))},\n "findings": ['
    separator = "\n  "
    for finding in findings(outcome):
        yield separator + finding
        separator = ",\n  "
    yield "\n ]}\n"


def findings(outcome: LintReport) -> Iterator[str]:
    """A JSON object for each finding."""
    for sighting in outcome.sightings(outcome.report.findings):
        yield json.dumps(_finding(sighting), ensure_ascii=False)


def summary(outcome: LintReport) -> dict[str, int]:
    """How much was looked at and how much was found."""
    report = outcome.report
    return {
        **{f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s": number for number, noun in outcome.sizes},
        "errors": report.count(Severity.ERROR),
        "warnings": report.count(Severity.WARNING),
        "notes": report.count(Severity.NOTE),
        "waived": len(report.waived),
    }


def _finding(sighting: LocatedFinding) -> dict[str, Any]:
    finding, location = sighting.finding, sighting.location
    return {
        "rule": finding.rule,
        "name": finding.name,
        "severity": finding.severity.word,
        "package": finding.package,
        "channel": finding.channel,
        "entry": finding.entry,
        "file": location.file or None,
        "line": location.line or None,
        "column": location.column or None,
        "message": full_message(finding),
        "because": list(finding.because),
        "fix": finding.fix,
    }
