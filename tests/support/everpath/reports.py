"""Reports for tests of reporters, with findings that no rule had to find."""

from __future__ import annotations

__all__ = ["SOURCE", "finding", "outcome", "rendered"]

from typing import Any

from everpath.model import Place, SourcePosition
from everpath.reporters import reporter
from everpath.reporters.lint.lint_report import LintReport
from everpath.rules.findings import Finding, Severity
from everpath.rules.lint import Report

#: The content of the file of every finding.
SOURCE = """\
schema: olm.channel
package: p
name: stable
entries:
  - name: a
  - name: b
    replaces: a
  - name: c
    replaces: a
"""

_FORK = Finding(
    rule="EP203",
    name="fork",
    severity=Severity.ERROR,
    place=Place("catalog/p.yaml", pointer=(5, 5, 12)),
    message="b and c both replace it",
    package="p",
    channel="stable",
    entry="a",
    evidence=("c replaces a", "b replaces a"),
    fix="add b to the skips of c",
)


def finding(**changes: Any) -> Finding:
    """Return a finding of the rule fork. The pointer of its place is line, column and end column."""
    return _FORK._replace(**changes)


def _locate(place: Place) -> SourcePosition:
    line, column, end = (int(step) for step in place.pointer) if place.pointer else (0, 0, 0)
    return SourcePosition(place.file, line, column, end, SOURCE.splitlines()[line - 1] if line else "")


def outcome(*findings: Finding, waived: tuple[Finding, ...] = (), **options: Any) -> LintReport:
    """A lint report of one package, two channels and three entries."""
    report = Report(findings, packages=1, channels=2, entries=3, waived=waived).with_positions(_locate)
    return LintReport(**{"report": report, **options})


def rendered(name: str, *findings: Finding, **options: Any) -> str:
    """The output of one reporter for some findings."""
    return "".join(reporter(name)(outcome(*findings, **options)))
