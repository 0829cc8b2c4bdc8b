"""Annotations for GitHub Actions: findings appear beside the lines of the pull request."""

from __future__ import annotations

__all__ = ["render", "workflow_command"]

from collections.abc import Iterable, Iterator
from typing import Final

from everpath.loaders.location import SourcePosition
from everpath.reporters.formatting import join_names, printable
from everpath.reporters.lint_report import LintReport, LocatedFinding, Workspace, one_line_message
from everpath.rules.findings import Severity

_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(outcome: LintReport) -> Iterator[str]:
    """A workflow command for each finding, then the summary.

    Everything that comes from the catalog is escaped: a name must not be able to give the runner orders.
    """
    for sighting in outcome.sights(outcome.shown):
        yield _command(sighting, outcome.workspace)
    if not outcome.brief:
        yield f"{outcome.summary}\n"


def _command(sighting: LocatedFinding, workspace: Workspace) -> str:
    finding = sighting.finding
    title = f"{finding.rule} {finding.name}"
    return workflow_command(finding.severity, title, sighting.location, workspace, _message(sighting))


def workflow_command(
    severity: Severity,
    title: str,
    location: SourcePosition | None,
    workspace: Workspace,
    lines: Iterable[str],
) -> str:
    """One workflow command, with the place it is about if that is in a file."""
    fields: dict[str, str | int | None] = {"title": title}
    if location is not None and location.file not in ("", "-"):
        file = workspace.relative(location.file)
        fields = {"file": file, "line": location.line, "col": location.column, **fields}
    properties = ",".join(f"{key}={_property(str(value))}" for key, value in fields.items() if value)
    return f"::{_COMMANDS[severity]} {properties}::{'%0A'.join(map(_data, lines))}\n"


def _message(sighting: LocatedFinding) -> list[str]:
    finding = sighting.finding
    lines = [one_line_message(finding) + _of_channels(sighting)]
    lines += (f"because: {line}" for reason in finding.because for line in reason.splitlines())
    if finding.fix:
        lines.append(f"fix: {finding.fix}")
    return lines


def _of_channels(sighting: LocatedFinding) -> str:
    """An annotation stands at a line and says nothing of channels, unless they are several."""
    several = sighting.channels[1:]
    return f" (in the channels {join_names(list(sighting.channels))})" if several else ""


def _data(text: str) -> str:
    """As actions/toolkit escapes the message of a command; control characters are spelled out first."""
    return printable(text).replace("%", "%25")


def _property(text: str) -> str:
    """As actions/toolkit escapes a property: also what separates properties."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
