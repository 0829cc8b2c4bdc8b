"""One line a finding, for editors, grep and long logs."""

from __future__ import annotations

__all__ = ["render"]

from collections.abc import Iterator

from everpath.reporters.formatting import one_line
from everpath.reporters.lint_report import LintReport, LocatedFinding


def render(outcome: LintReport) -> Iterator[str]:
    """`file:line:column: ID severity name: subject: message`, in the order of the input."""
    yield from map(_line, outcome.sights(outcome.shown))
    if not outcome.brief:
        yield f"{outcome.summary}\n"


def _line(sighting: LocatedFinding) -> str:
    finding = sighting.finding
    place = f"{sighting.where}: " if sighting.where else ""
    about = f"{one_line(sighting.subject)}: " if finding.package else ""
    return (
        f"{place}{finding.rule} {finding.severity.word} {finding.name}: {about}{one_line(finding.message)}\n"
    )
