"""The report for people: findings by package and channel, each with its line, evidence and fix."""

from __future__ import annotations

__all__ = ["render"]

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from everpath.reporters.colour import Paint
from everpath.reporters.formatting import one_line, printable
from everpath.reporters.lint.lint_report import GroupedFinding, LintReport, one_line_message, position_text
from everpath.reporters.lint.snippet import snippet
from everpath.rules.findings import Finding, Severity
from everpath.versions import Version, parse_or_none
from everpath.wording import count, join_names

_VERSION: Final = re.compile(r"\d+\.\d+\.\d.*")

#: A finding may have thousands of edges as evidence.
_MAX_REASONS: Final = 10


def render(report: LintReport) -> Iterator[str]:
    """Yield the findings by package and channel, the summary, and a hint at the rules."""
    paint = Paint(report.colour)
    shown = sorted(report.shown_findings, key=_order)
    for (package, channels), members in groupby(shown, key=_package_and_channels):
        group = list(members)
        noun = "channel" if len(channels) == 1 else "channels"
        title = [f"package {package}"] if package else []
        title += [f"{noun} {join_names(channels, limit=None)}"] if channels else []
        if title:
            counts = Counter(each.severity for each in group)
            numbers = join_names([count(counts[s], s.word) for s in reversed(Severity) if counts[s]])
            yield f"{paint('bold', one_line(', '.join(title)))}: {numbers}\n\n"
        for each in group:
            yield from _finding_lines(each.finding, paint)
    if report.brief:
        return
    worst = max((s.severity for s in shown), default=None)
    yield f"{paint.severity(worst, report.summary) if worst else paint('green', report.summary)}\n"
    if shown:
        first = min((-s.severity, s.finding.rule) for s in shown)[1]
        explains = "explains the rule: what it means, which users it protects, how to waive it"
        yield f"`everpath rules {first}` {explains}.\n"


def _package_and_channels(shown: GroupedFinding) -> tuple[str, tuple[str, ...]]:
    return shown.finding.package or "", shown.channels


def _order(shown: GroupedFinding) -> tuple[str, tuple[str, ...], int, bool, Version | None]:
    """Sort by package and channel, the worst first, then by version; names without a version first."""
    found = _VERSION.search(shown.finding.entry or "")
    version = parse_or_none(found[0]) if found else None
    # Versions are compared only with versions: the flag before differs otherwise.
    return *_package_and_channels(shown), -shown.severity, version is not None, version


def _finding_lines(finding: Finding, paint: Paint) -> Iterator[str]:
    label = f"{finding.severity.word}[{finding.rule} {finding.name}]"
    yield f"{paint.severity(finding.severity, label)}{paint('bold', f': {one_line_message(finding)}')}\n"
    indent = " " * len(str(finding.line))
    if position := position_text(finding):
        yield f"{indent}{paint('dim', '-->')} {position}\n"
    if finding.position is not None and (shown := snippet(finding.position)) is not None:
        bar = paint("dim", "|")
        caret = paint.severity(finding.severity, "^" * shown.length)
        yield f"{indent} {bar}\n"
        yield f"{paint('dim', str(finding.line))} {bar} {shown.line}\n"
        yield f"{indent} {bar} {' ' * shown.indent}{caret}\n"
    for heading, lines in _evidence_and_fix(finding):
        yield f"{indent} {paint('dim', '=')} {paint('bold', heading)}{lines[0]}\n"
        yield from (f"{indent}   {' ' * len(heading)}{line}\n" for line in lines[1:])
    yield "\n"


def _evidence_and_fix(finding: Finding) -> Iterator[tuple[str, list[str]]]:
    """Yield each as a heading and lines that are safe to print."""
    if reasons := [line for reason in finding.because[:_MAX_REASONS] for line in _printable_lines(reason)]:
        if (more := len(finding.because) - _MAX_REASONS) > 0:
            reasons.append(f"and {more:,} more (-o json lists them)")
        yield "because: ", reasons
    if finding.fix:
        yield "fix: ", _printable_lines(finding.fix)


def _printable_lines(text: str) -> list[str]:
    return [printable(line) for line in text.splitlines()] or [""]
