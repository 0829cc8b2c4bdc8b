"""JUnit XML for CI servers."""

from __future__ import annotations

from xml.etree import ElementTree

from everpath.model import Place
from everpath.rules.findings import Severity
from tests.support.everpath.reports import finding, rendered


def test_findings_from_fail_on_are_failures_and_the_others_pass() -> None:
    note = finding(severity=Severity.NOTE, package="q")
    root = ElementTree.fromstring(rendered("junit", finding(), note))
    assert root.attrib == {"name": "everpath validate-graph", "tests": "2", "failures": "1"}
    failed, passed = root.iter("testcase")
    assert failed.attrib == {
        "classname": "p.stable",
        "name": "EP203 fork a",
        "file": "catalog/p.yaml",
        "line": "5",
    }
    assert failed.findtext("failure") == (
        "catalog/p.yaml:5:5\na: b and c both replace it\nbecause: c replaces a\nbecause: b replaces a\n"
        "fix: add b to the skips of c"
    )
    assert passed.find("failure") is None
    assert (passed.findtext("system-out") or "").startswith("note: ")


def test_what_is_a_failure_follows_fail_on() -> None:
    warning = finding(severity=Severity.WARNING)
    assert "<failure" in rendered("junit", warning, fail_on=Severity.WARNING)
    assert "<failure" not in rendered("junit", finding(), fail_on=None)


def test_unreadable_input_is_a_failure_whatever_fail_on_is() -> None:
    assert "<failure" in rendered("junit", finding(unreadable=True), fail_on=None)


def test_suites_are_packages() -> None:
    root = ElementTree.fromstring(
        rendered(
            "junit", finding(package="q"), finding(package=None), finding(package="p"), finding(package="q")
        )
    )
    assert [case.get("classname") for case in root.iter("testcase")] == [
        "stable",
        "p.stable",
        "q.stable",
        "q.stable",
    ]
    assert [(s.get("name"), s.get("tests")) for s in root] == [("catalog", "1"), ("p", "1"), ("q", "2")]


def test_a_finding_about_nothing_in_particular_is_the_catalogs() -> None:
    bare = finding(package=None, channel=None, entry=None, place=Place(""))
    [case] = ElementTree.fromstring(rendered("junit", bare)).iter("testcase")
    assert case.attrib == {"classname": "catalog", "name": "EP203 fork"}


def test_a_clean_catalog_is_one_passed_test() -> None:
    root = ElementTree.fromstring(rendered("junit"))
    [case] = root.iter("testcase")
    assert case.get("name") == "nothing wrong in 1 package, 2 channels and 3 entries"
    assert root.get("tests") == "1"


def test_characters_that_xml_cannot_hold_are_spelled_out() -> None:
    report = rendered("junit", finding(message='\x00\x1b\ufffe <&"', place=Place("\x01.yaml")))
    root = ElementTree.fromstring(report)
    assert '\\x00\\x1b\\ufffe <&"' in "".join(root.itertext())
