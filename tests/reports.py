"""Reports for tests of the views, made of findings that no rule had to find."""

from __future__ import annotations

__all__ = ["SOURCE", "finding", "outcome", "rendered"]

from typing import Any

from everpath.loaders.source_positions import SourcePosition
from everpath.model import Place
from everpath.reporters import reporter
from everpath.reporters.lint_report import LintReport
from everpath.rules.findings import Finding, Severity
from everpath.rules.lint import Report

#: What the file of every finding says.
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
    because=("c replaces a", "b replaces a"),
    fix="add b to the skips of c",
)


def finding(**changes: Any) -> Finding:
    """A fork, but for the given fields. Its place's pointer is line, column and end column."""
    return _FORK._replace(**changes)


def _locate(place: Place) -> SourcePosition:
    line, column, end = (int(step) for step in place.pointer) if place.pointer else (0, 0, 0)
    return SourcePosition(place.file, line, column, end, SOURCE.splitlines()[line - 1] if line else "")


def outcome(*findings: Finding, waived: tuple[Finding, ...] = (), **options: Any) -> LintReport:
    """An outcome over one package, two channels and three entries."""
    report = Report(findings, packages=1, channels=2, entries=3, waived=waived)
    return LintReport(**{"report": report, "locate": _locate, **options})


def rendered(name: str, *findings: Finding, **options: Any) -> str:
    """What one view says of some findings."""
    return "".join(reporter(name)(outcome(*findings, **options)))
