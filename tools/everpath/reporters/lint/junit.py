"""JUnit XML for CI servers: a suite for each package and a test case for each finding."""

from __future__ import annotations

__all__ = ["render"]

from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, tostring

from everpath.reporters.formatting import one_line, printable
from everpath.reporters.lint.lint_report import LintReport, one_line_message, position_text
from everpath.rules.findings import Finding


def render(report: LintReport) -> Iterator[str]:
    """Yield the suites. Findings at or above --fail-on are failures, others are passed cases with output.

    XML cannot contain most control characters, not even escaped: they are made visible.
    """
    findings = sorted(report.report.findings, key=lambda f: f.package or "")
    failures = sum(finding.fails(report.fail_on) for finding in findings)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    tests = max(1, len(findings))
    yield f'<testsuites name="everpath {report.command}" tests="{tests}" failures="{failures}">\n'
    for package, members in groupby(findings, key=lambda f: f.package or ""):
        yield _xml(_suite(report, package, list(members)))
    if not findings:
        suite = Element("testsuite", name="catalog", tests="1", failures="0", errors="0")
        SubElement(suite, "testcase", classname="catalog", name=report.shown_counts)
        yield _xml(suite)
    yield "</testsuites>\n"


def _xml(element: Element) -> str:
    return f"{tostring(element, encoding='unicode')}\n"


def _suite(report: LintReport, package: str, findings: Sequence[Finding]) -> Element:
    failures = sum(finding.fails(report.fail_on) for finding in findings)
    name = one_line(package) or "catalog"
    suite = Element("testsuite", name=name, tests=str(len(findings)), failures=str(failures), errors="0")
    for finding in findings:
        owner = ".".join(part for part in (finding.package, finding.channel) if part)
        attributes = {
            "classname": one_line(owner) or "catalog",
            "name": one_line(f"{finding.rule} {finding.name} {finding.entry or ''}".strip()),
        }
        if finding.file:
            attributes["file"] = one_line(finding.file)
        if finding.line:
            attributes["line"] = str(finding.line)
        case = SubElement(suite, "testcase", attributes)
        word, text = finding.severity.word, _full_text(finding)
        if finding.fails(report.fail_on):
            SubElement(case, "failure", type=word, message=one_line_message(finding)).text = text
        else:
            SubElement(case, "system-out").text = f"{word}: {text}"
    return suite


def _full_text(finding: Finding) -> str:
    """Return position, message, evidence and fix, each on its own lines."""
    reasons = (f"because: {reason}" for reason in finding.because)
    parts = [position_text(finding), one_line_message(finding), *reasons]
    if finding.fix:
        parts.append(f"fix: {finding.fix}")
    return "\n".join(printable(line) for part in parts for line in part.splitlines())
