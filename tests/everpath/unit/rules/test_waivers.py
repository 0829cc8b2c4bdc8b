"""Waivers: matching, expiry and unused ones."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from everpath.loaders.notation import parse
from everpath.model import Place
from everpath.rules.findings import Finding, Severity
from everpath.rules.lint import Report, Selection, lint
from everpath.rules.waivers import Waiver, apply_waivers

FORK = "[stable]\nc: a\nb: a\na"
TWO_FORKS = f"{FORK}\n[fast]\nc: a\nb: a\na"
TODAY = date(2030, 6, 15)


def waiver(rule: str = "EP203", **limits: Any) -> Waiver:
    return Waiver(rule, "agreed with the users", Place("everpath.yaml", pointer=("waivers", 0)), **limits)


def lint_with(drawing: str, *waivers: Waiver, **options: Any) -> Report:
    asked = frozenset({"EP203", "EP901", "EP902"}) | options.pop("also", frozenset())
    return lint(parse(drawing), Selection(asked, **options), waivers=waivers, today=TODAY)


def rules(report: Report) -> list[str]:
    return [finding.rule for finding in report.findings]


@pytest.mark.parametrize("rule", ["EP203", "fork"])
def test_waiver_matches_its_rule_by_id_and_by_name(rule: str) -> None:
    report = lint_with(FORK, waiver(rule))
    assert report.findings == ()
    assert [finding.rule for finding in report.waived] == ["EP203"]


def test_waiver_does_not_match_another_rule() -> None:
    assert rules(lint_with(FORK, waiver("EP202"), also=frozenset({"EP202"}))) == ["EP203"]


@pytest.mark.parametrize(
    "limits",
    [
        {"package": "p", "channel": "stable", "entry": "a"},
        {"package": "p"},
        {"channel": "sta*"},
        {"entry": "[ab]"},
        {"package": "?"},
    ],
)
def test_waiver_matches_if_all_patterns_do(limits: dict[str, str]) -> None:
    assert rules(lint_with(FORK, waiver(**limits))) == []


@pytest.mark.parametrize(
    "limits",
    [
        {"package": "q"},
        {"channel": "fast"},
        {"entry": "b"},
        {"package": "p", "channel": "stable", "entry": "b"},
        {"channel": "STABLE"},
        {"channel": "stab"},
    ],
)
def test_waiver_does_not_match_if_one_pattern_does_not(limits: dict[str, str]) -> None:
    assert sorted(rules(lint_with(FORK, waiver(**limits)))) == ["EP203", "EP901"]


def test_pattern_does_not_match_a_missing_subject() -> None:
    finding = Finding("EP104", "x", Severity.ERROR, Place("a"), "", package="p")
    assert not waiver("EP104", channel="?*").matches(finding)
    assert waiver("EP104", channel="*").matches(finding)
    assert waiver("EP104", package="p").matches(finding)
    assert not waiver("EP104", package="q").matches(finding)
    assert not waiver("EP105", package="p").matches(finding)


@pytest.mark.parametrize("limits", [{}, {"package": "*"}, {"channel": "*", "entry": "*"}])
def test_finding_without_a_subject_can_be_waived(limits: dict[str, str]) -> None:
    finding = Finding("EP001", "x", Severity.ERROR, Place("a"), "")
    kept, excused, [standing] = apply_waivers([finding], (waiver("EP001", **limits),), TODAY, lambda _: True)
    assert (kept, excused, standing.is_unused) == ([], [finding], False)


def test_waived_findings_are_sorted() -> None:
    report = lint_with("f: e\ne: c\nd: c\nc: a\nb: a\na", waiver())
    assert [finding.entry for finding in report.waived] == ["a", "c"]


def test_other_findings_of_the_rule_remain() -> None:
    report = lint_with(TWO_FORKS, waiver(channel="fast"))
    assert [finding.channel for finding in report.findings] == ["stable"]
    assert [finding.channel for finding in report.waived] == ["fast"]


def test_waiver_can_match_several_findings() -> None:
    report = lint_with(TWO_FORKS, waiver())
    assert report.findings == ()
    assert len(report.waived) == 2


def test_unused_waiver_is_reported() -> None:
    [finding] = lint_with("b: a\na", waiver(package="p", entry="a")).findings
    assert (finding.rule, finding.severity) == ("EP901", Severity.WARNING)
    assert finding.message == "the waiver of EP203 for package p, entry a matches no finding"
    assert finding.because == ("its reason was: agreed with the users",)
    assert finding.fix == "delete the waiver"
    assert finding.place == Place("everpath.yaml", pointer=("waivers", 0))
    assert (finding.package, finding.channel, finding.entry) == (None, None, None)


def test_first_matching_waiver_is_used() -> None:
    [finding] = lint_with(FORK, waiver("fork"), waiver("EP203")).findings
    assert finding.message == "the waiver of EP203 matches no finding"


def test_every_unused_waiver_is_reported() -> None:
    report = lint_with(FORK, waiver(channel="fast"), waiver(), waiver(entry="z"))
    assert [finding.message for finding in report.findings] == [
        "the waiver of EP203 for channel fast matches no finding",
        "the waiver of EP203 for entry z matches no finding",
    ]


def test_waiver_of_a_rule_that_did_not_run_is_not_unused() -> None:
    assert rules(lint_with("b: a\na", waiver("EP202"))) == []
    assert rules(lint_with("b: a\na", waiver("several-heads"), also=frozenset({"EP202"}))) == ["EP901"]


@pytest.mark.parametrize(
    ("selected", "limits", "is_reported"),
    [
        ({"packages": frozenset("p")}, {}, False),
        ({"packages": frozenset("p")}, {"package": "p"}, True),
        ({"packages": frozenset("p")}, {"package": "q"}, False),
        ({"packages": frozenset("p")}, {"package": "*"}, False),
        ({"packages": frozenset("p")}, {"package": "p", "channel": "fast"}, True),
        ({"channels": frozenset({"stable"})}, {}, False),
        ({"channels": frozenset({"stable"})}, {"channel": "stable"}, True),
        ({"channels": frozenset({"stable"})}, {"channel": "fast"}, False),
        (
            {"packages": frozenset("p"), "channels": frozenset({"stable"})},
            {"package": "p", "channel": "stable"},
            True,
        ),
        ({"packages": frozenset("p"), "channels": frozenset({"stable"})}, {"package": "p"}, False),
    ],
)
def test_waiver_of_an_excluded_subject_is_not_unused(
    selected: dict[str, frozenset[str]], limits: dict[str, str], is_reported: bool
) -> None:
    assert rules(lint_with("b: a\na", waiver(**limits), **selected)) == ["EP901"] * is_reported


def test_expired_waiver_does_not_match_and_is_reported() -> None:
    report = lint_with(FORK, waiver(expires=date(2030, 6, 14)))
    fork, expired = sorted(report.findings, key=lambda finding: finding.rule)
    assert (fork.rule, expired.rule) == ("EP203", "EP902")
    assert expired.severity is Severity.ERROR
    assert expired.message == "the waiver of EP203 expired on 2030-06-14"
    assert expired.because == ("its reason was: agreed with the users",)
    assert expired.fix == "fix the findings, or set a new date and reason"
    assert expired.place.pointer == ("waivers", 0, "expires")
    assert report.waived == ()


@pytest.mark.parametrize("expires", [None, TODAY, date(2031, 1, 1)])
def test_waiver_matches_on_its_last_day(expires: date | None) -> None:
    assert rules(lint_with(FORK, waiver(expires=expires))) == []


def test_without_a_date_no_waiver_has_expired() -> None:
    report = lint(parse(FORK), waivers=[waiver(expires=date(1999, 1, 1))])
    assert [finding.rule for finding in report.waived] == ["EP203"]


def test_expired_waiver_is_not_reported_as_unused() -> None:
    assert rules(lint_with("b: a\na", waiver(expires=date(2030, 6, 14)))) == ["EP902"]


def test_rules_about_waivers_can_be_excluded() -> None:
    report = lint(
        parse("b: a\na"),
        Selection(ignored=frozenset({"EP901"})),
        waivers=[waiver()],
        today=TODAY,
    )
    assert report.findings == ()


@pytest.mark.parametrize(
    ("limits", "subject"),
    [
        ({}, "EP203"),
        ({"channel": "fast"}, "EP203 for channel fast"),
        (
            {"package": "p", "channel": "fast", "entry": "a.*"},
            "EP203 for package p, channel fast, entry a.*",
        ),
    ],
)
def test_waiver_has_a_subject_for_messages(limits: dict[str, str], subject: str) -> None:
    assert waiver(**limits).subject == subject


@pytest.mark.parametrize("first", ["a", "a*", "*", "[a]", ""])
@pytest.mark.parametrize("second", ["a", "?", "*a"])
def test_second_matching_waiver_is_unused(first: str, second: str) -> None:
    waivers = (waiver(entry=first), waiver("fork", entry=second))
    [unused] = lint_with(FORK, *waivers).findings
    assert unused.message == f"the waiver of fork for entry {second} matches no finding"


def test_waiver_of_a_similar_name_does_not_match() -> None:
    assert (
        rules(lint_with(FORK, waiver(entry="aa"), waiver(entry="a?"), waiver(entry="[!a]"))).count("EP203")
        == 1
    )
