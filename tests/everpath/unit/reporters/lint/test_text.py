"""The report for people."""

from __future__ import annotations

import re

import pytest

from everpath.model import Place
from everpath.rules.findings import Severity
from tests.support.everpath.reports import finding, rendered


def test_a_finding_shows_its_line_its_proof_and_its_remedy() -> None:
    assert rendered("text", finding()) == (
        "package p, channel stable: 1 error\n"
        "\n"
        "error[EP203 fork]: a: b and c both replace it\n"
        " --> catalog/p.yaml:5:5\n"
        "  |\n"
        "5 |   - name: a\n"
        "  |     ^^^^^^^\n"
        "  = because: c replaces a\n"
        "             b replaces a\n"
        "  = fix: add b to the skips of c\n"
        "\n"
        "1 error in 1 package, 2 channels and 3 entries.\n"
        "`everpath rules EP203` explains the rule: what it means, which users it protects, how to waive it.\n"
    )


def test_an_entry_the_message_names_is_not_named_twice() -> None:
    text = rendered("text", finding(message="nothing replaces a", entry="a", names_entry=True))
    assert "error[EP203 fork]: nothing replaces a\n" in text


def test_the_entry_is_in_front_of_a_message_that_does_not_name_it() -> None:
    assert "]: b.v1: it has no CSV\n" in rendered("text", finding(message="it has no CSV", entry="b.v1"))


def test_findings_of_one_channel_stand_together_wherever_they_are_written() -> None:
    first = finding(package="q", place=Place("1.yaml"))
    between = finding(package="p", place=Place("2.yaml"))
    last = finding(package="q", place=Place("3.yaml"), severity=Severity.WARNING)
    text = rendered("text", first, between, last)
    assert re.findall("^package.*$", text, re.MULTILINE) == [
        "package p, channel stable: 1 error",
        "package q, channel stable: 1 error and 1 warning",
    ]


def test_a_finding_about_no_package_has_no_heading() -> None:
    text = rendered("text", finding(package=None, channel=None, entry=None, place=Place("x.yaml")))
    assert text.startswith("error[EP203 fork]: b and c both replace it\n --> x.yaml\n")


def test_notes_are_counted_and_not_listed_until_asked_for() -> None:
    note = finding(severity=Severity.NOTE, message="by the way")
    text = rendered("text", note, note)
    assert text == (
        "Nothing wrong in 1 package, 2 channels and 3 entries; and 2 notes (--show note lists them).\n"
    )
    assert "by the way" in rendered("text", note, show=Severity.NOTE)


def test_the_summary_counts_the_worst_first_and_what_is_shown_apart_from_what_is_not() -> None:
    findings = [finding(severity=severity) for severity in Severity]

    def summary(show: Severity) -> str:
        return rendered("concise", *findings, show=show).splitlines()[-1]

    where = "in 1 package, 2 channels and 3 entries"
    assert summary(Severity.NOTE) == f"1 error, 1 warning and 1 note {where}."
    assert summary(Severity.WARNING) == f"1 error and 1 warning {where}; and 1 note (--show note lists them)."
    assert summary(Severity.ERROR) == f"1 error {where}; and 1 warning and 1 note (--show note lists them)."


def test_what_was_waived_is_counted() -> None:
    assert rendered("text", waived=(finding(),)) == (
        "Nothing wrong in 1 package, 2 channels and 3 entries; and 1 waived.\n"
    )


def test_quiet_leaves_only_the_findings() -> None:
    assert rendered("text", brief=True) == ""
    assert rendered("text", finding(), brief=True).endswith("= fix: add b to the skips of c\n\n")


def test_a_long_proof_is_cut_and_counted() -> None:
    text = rendered("text", finding(evidence=tuple(f"x{i} replaces a" for i in range(1200))))
    assert "x9 replaces a\n" in text
    assert "x10 replaces a\n" not in text
    assert "and 1,190 more (-o json lists them)\n" in text


def test_a_proof_that_just_fits_is_not_cut() -> None:
    assert "more (" not in rendered("text", finding(evidence=tuple(f"x{i} replaces a" for i in range(10))))


def test_a_proof_of_several_lines_keeps_its_carets_in_place() -> None:
    text = rendered("text", finding(evidence=("<v1.0.0\n ^ a digit",)))
    assert "  = because: <v1.0.0\n              ^ a digit\n" in text


def test_there_is_no_colour_unless_wanted() -> None:
    assert "\x1b" not in rendered("text", finding())
    coloured = rendered("text", finding(), colour=True)
    assert "\x1b[1;31merror[EP203 fork]\x1b[0m" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == rendered("text", finding())


@pytest.mark.parametrize("view", ["text", "concise", "github", "markdown", "junit"])
@pytest.mark.parametrize("field", ["message", "fix", "entry", "package", "channel"])
def test_no_control_character_of_a_catalog_reaches_the_reader(view: str, field: str) -> None:
    evil = "\x1b[2J\x07 \u202e reversed \x00 \udc80"
    report = rendered(view, finding(**{field: evil}, evidence=(evil,), place=Place(f"{evil}.yaml")))
    assert all(c.isprintable() or c == "\n" for c in report)


def test_a_line_break_in_a_message_makes_no_line_of_its_own() -> None:
    text = rendered("text", finding(message="one\nerror: forged"))
    assert "\nerror: forged" not in text


def test_findings_of_a_channel_are_in_order_of_severity_then_of_version() -> None:
    entries = ["op.v1.10.0", "op.v1.9.0", "op.v1.10.0-rc.1", "op", "op.v2"]
    findings = [
        finding(entry=entry, message=entry, place=Place(entry), names_entry=True) for entry in entries
    ]
    worst_last = finding(entry="op.v0.1.0", message="warning", severity=Severity.WARNING, place=Place("0"))
    text = rendered("text", worst_last, *findings)
    assert re.findall(r"^\w+\[EP203 fork\]: (.*)$", text, re.MULTILINE) == [
        "op",
        "op.v2",
        "op.v1.9.0",
        "op.v1.10.0-rc.1",
        "op.v1.10.0",
        "op.v0.1.0: warning",
    ]
