"""The report a person reads: grouped by package and channel, each finding with its line, proof and remedy."""

from __future__ import annotations

__all__ = ["render"]

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from everpath.reporters.colour import Paint
from everpath.reporters.formatting import count, join_names, one_line, printable
from everpath.reporters.lint_report import GroupedFinding, LintReport, LocatedFinding, one_line_message
from everpath.reporters.snippet import snippet
from everpath.rules.findings import Finding, Severity
from everpath.versions import Version, parse_or_none

_VERSION: Final = re.compile(r"\d+\.\d+\.\d.*")

# (False, None) or (True, a version): the first decides between them.
_Release = tuple[bool, Version | None]

# A channel where everything accepts everything proves a point with thousands of edges; ten make it.
_MOST_REASONS: Final = 10


def render(outcome: LintReport) -> Iterator[str]:
    """Findings by package and channel, then one line that sums up, then where to read on."""
    paint = Paint(outcome.colour)
    shown = sorted(outcome.shown, key=_order)
    for (package, channels), members in groupby(shown, key=_group):
        group = list(members)
        if title := _title(package, channels):
            yield f"{paint('bold', title)}: {_tally(group)}\n\n"
        for sighting in outcome.sights(group):
            yield from _finding(sighting, paint)
    if not outcome.brief:
        yield from _closing(outcome, shown, paint)


def _group(shown: GroupedFinding) -> tuple[str, tuple[str, ...]]:
    return shown.finding.package or "", shown.channels


def _order(shown: GroupedFinding) -> tuple[str, tuple[str, ...], int, _Release]:
    """By package and channel, the worst first, then by version: 1.10.0 follows 1.9.0."""
    return *_group(shown), -shown.severity, _release(shown.finding.entry or "")


def _release(entry: str) -> _Release:
    """A name by its version; names without one come first, in the order of the input."""
    found = _VERSION.search(entry)
    version = parse_or_none(found[0]) if found else None
    return (False, None) if version is None else (True, version)


def _title(package: str, channels: tuple[str, ...]) -> str:
    """What a group is about; nothing for findings that are about no package."""
    noun = "channel" if len(channels) == 1 else "channels"
    words = (f"package {package}" if package else "", f"{noun} {join_names(channels)}" if channels else "")
    return one_line(", ".join(word for word in words if word))


def _tally(shown: Sequence[GroupedFinding]) -> str:
    counts = ((sum(s.severity is severity for s in shown), severity) for severity in reversed(Severity))
    return join_names([count(number, severity.word) for number, severity in counts if number])


def _finding(sighting: LocatedFinding, paint: Paint) -> Iterator[str]:
    finding = sighting.finding
    label = f"{finding.severity.word}[{finding.rule} {finding.name}]"
    yield f"{paint.severity(finding.severity, label)}{paint('bold', f': {one_line_message(finding)}')}\n"
    indent = " " * len(str(sighting.location.line))
    if sighting.where:
        yield f"{indent}{paint('dim', '-->')} {sighting.where}\n"
    yield from _source(sighting, indent, paint)
    for heading, lines in _remarks(finding):
        yield f"{indent} {paint('dim', '=')} {paint('bold', heading)}{lines[0]}\n"
        yield from (f"{indent}   {' ' * len(heading)}{line}\n" for line in lines[1:])
    yield "\n"


def _source(sighting: LocatedFinding, indent: str, paint: Paint) -> Iterator[str]:
    """The line itself with a caret below."""
    shown = snippet(sighting.location)
    if shown is None:
        return
    bar = paint("dim", "|")
    caret = paint.severity(sighting.finding.severity, "^" * shown.length)
    yield f"{indent} {bar}\n"
    yield f"{paint('dim', str(sighting.location.line))} {bar} {shown.line}\n"
    yield f"{indent} {bar} {' ' * shown.indent}{caret}\n"


def _remarks(finding: Finding) -> Iterator[tuple[str, list[str]]]:
    """The proof and the remedy, each as lines that are safe to print."""
    if reasons := [line for reason in finding.because[:_MOST_REASONS] for line in _lines(reason)]:
        if (more := len(finding.because) - _MOST_REASONS) > 0:
            reasons.append(f"and {more:,} more (-o json lists them)")
        yield "because: ", reasons
    if finding.fix:
        yield "fix: ", _lines(finding.fix)


def _lines(text: str) -> list[str]:
    return [printable(line) for line in text.splitlines()] or [""]


def _closing(outcome: LintReport, shown: Sequence[GroupedFinding], paint: Paint) -> Iterator[str]:
    worst = max((s.severity for s in shown), default=None)
    yield f"{paint.severity(worst, outcome.summary) if worst else paint('green', outcome.summary)}\n"
    if shown:
        first = min((-s.severity, s.finding.rule) for s in shown)[1]
        yield f"`everpath rules {first}` says what a rule means, whom it protects and how to waive it.\n"
