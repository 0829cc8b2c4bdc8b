"""JUnit XML: a suite for each package and a test case for each finding, for CI servers."""

from __future__ import annotations

__all__ = ["render"]

from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, tostring

from everpath.reporters.formatting import one_line, printable
from everpath.reporters.lint_report import LintReport, LocatedFinding, one_line_message
from everpath.rules.findings import Finding


def render(outcome: LintReport) -> Iterator[str]:
    """Findings at or above --fail-on are failures; the others are passed cases that say what they know.

    XML cannot hold most control characters at all, not even escaped: they are spelled out.
    """
    findings = sorted(outcome.report.findings, key=lambda f: f.package or "")
    failures = sum(map(outcome.fails, findings))
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    tests = max(1, len(findings))
    yield f'<testsuites name="everpath {outcome.command}" tests="{tests}" failures="{failures}">\n'
    for package, members in groupby(findings, key=lambda f: f.package or ""):
        yield _xml(_suite(outcome, package, list(members)))
    if not findings:
        yield _xml(_all_is_well(outcome))
    yield "</testsuites>\n"


def _xml(element: Element) -> str:
    return f"{tostring(element, encoding='unicode')}\n"


def _suite(outcome: LintReport, package: str, findings: Sequence[Finding]) -> Element:
    failures = sum(map(outcome.fails, findings))
    name = one_line(package) or "catalog"
    suite = Element("testsuite", name=name, tests=str(len(findings)), failures=str(failures), errors="0")
    for sighting in outcome.sightings(findings):
        _case(suite, sighting, outcome.fails(sighting.finding))
    return suite


def _case(suite: Element, sighting: LocatedFinding, fails: bool) -> None:
    finding = sighting.finding
    owner = ".".join(part for part in (finding.package, finding.channel) if part)
    attributes = {
        "classname": one_line(owner) or "catalog",
        "name": one_line(f"{finding.rule} {finding.name} {finding.entry or ''}".strip()),
    }
    if sighting.location.file:
        attributes["file"] = one_line(sighting.location.file)
    if sighting.location.line:
        attributes["line"] = str(sighting.location.line)
    case = SubElement(suite, "testcase", attributes)
    if fails:
        failure = SubElement(case, "failure", type=finding.severity.word, message=one_line_message(finding))
        failure.text = _story(sighting)
    else:
        SubElement(case, "system-out").text = f"{finding.severity.word}: {_story(sighting)}"


def _story(sighting: LocatedFinding) -> str:
    """Everything the finding says, a line for each part."""
    finding = sighting.finding
    parts = [sighting.where, one_line_message(finding), *(f"because: {reason}" for reason in finding.because)]
    if finding.fix:
        parts.append(f"fix: {finding.fix}")
    return "\n".join(printable(line) for part in parts for line in part.splitlines())


def _all_is_well(outcome: LintReport) -> Element:
    suite = Element("testsuite", name="catalog", tests="1", failures="0", errors="0")
    SubElement(suite, "testcase", classname="catalog", name=outcome.verdict)
    return suite
