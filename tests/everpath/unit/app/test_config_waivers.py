"""Waivers: which findings they accept, and findings about waivers."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from everpath.loaders.notation import parse
from everpath.model import Place
from everpath.rules.lint import Report, Selection, build_report, lint, lint_catalog
from everpath.rules.registry import find_rules
from everpath.rules.waivers import Waiver

FORKED = parse("[stable]\nc: a\nb: a\na\n[fast]\nc: a\nb: a\na")
CLEAN = parse("b: a\na", package="q")
TODAY = date(2026, 11, 16)


def waiver(**fields: Any) -> Waiver:
    return Waiver(
        **{
            "rule": "EP203",
            "reason": "known",
            "place": Place("everpath.yaml", pointer=("waivers", 0)),
            **fields,
        }
    )


def lint_with_waivers(*waivers: Waiver, **selected: Any) -> Report:
    selection = Selection(rules=find_rules(["fork", "EP9"]), **selected)
    return lint(FORKED, selection, waivers=waivers, today=TODAY)


def rules_and_channels(report: Report) -> list[tuple[str, str | None]]:
    return [(finding.rule, finding.channel) for finding in report.findings]


def test_waiver_accepts_only_the_findings_that_it_matches() -> None:
    report = lint_with_waivers(waiver(channel="stable"))
    assert rules_and_channels(report) == [("EP203", "fast")]
    assert [finding.channel for finding in report.waived] == ["stable"]


@pytest.mark.parametrize("limits", [{}, {"package": "p"}, {"channel": "*a*"}, {"entry": "[ab]"}])
def test_patterns_limit_a_waiver(limits: dict[str, str]) -> None:
    assert rules_and_channels(lint_with_waivers(waiver(**limits))) == []


def test_an_unused_waiver_is_reported_at_its_line() -> None:
    [*_, finding] = sorted(lint_with_waivers(waiver(package="zzz")).findings, key=lambda f: f.rule)
    assert (finding.rule, finding.name, finding.place.pointer) == ("EP901", "unused-waiver", ("waivers", 0))
    assert finding.message == "the waiver of EP203 for package zzz matches no finding"


def test_a_waiver_used_in_one_of_several_catalogs_is_used() -> None:
    selection = Selection(rules=find_rules(["fork", "EP9"]))
    report = build_report(
        [lint_catalog(catalog, selection) for catalog in (CLEAN, FORKED, CLEAN)],
        selection,
        waivers=[waiver()],
    )
    assert rules_and_channels(report) == []
    assert report.packages == 3


def test_expired_waiver_is_reported_and_accepts_nothing() -> None:
    report = lint_with_waivers(waiver(expires=date(2026, 11, 15)))
    assert {rule for rule, _ in rules_and_channels(report)} == {"EP203", "EP902"}
    [expired] = [f for f in report.findings if f.rule == "EP902"]
    assert expired.message == "the waiver of EP203 expired on 2026-11-15"
    assert expired.place.pointer == ("waivers", 0, "expires")


def test_waiver_applies_on_its_last_day() -> None:
    assert rules_and_channels(lint_with_waivers(waiver(expires=TODAY))) == []


def test_without_a_date_of_today_nothing_expires() -> None:
    report = lint(FORKED, Selection(rules=find_rules(["fork"])), waivers=[waiver(expires=date(2000, 1, 1))])
    assert rules_and_channels(report) == []


def unused(**selected: Any) -> bool:
    rules = selected.pop("rules", ["fork", "EP9"])
    limits = selected.pop("limits", {"entry": "zzz"})
    report = lint(
        FORKED, Selection(rules=find_rules(rules), **selected), waivers=[waiver(**limits)], today=TODAY
    )
    return any(finding.rule == "EP901" for finding in report.findings)


def test_waiver_is_not_unused_if_its_rule_was_not_run() -> None:
    assert unused()
    assert not unused(rules=["EP202", "EP9"])
    assert not unused(ignored=find_rules(["fork"]))


def test_waiver_is_not_unused_if_its_packages_were_left_out() -> None:
    assert not unused(packages=frozenset({"p"}))
    assert unused(packages=frozenset({"p"}), limits={"package": "p", "entry": "zzz"})
    assert not unused(packages=frozenset({"p"}), limits={"package": "p*", "entry": "zzz"})


def test_waiver_is_not_unused_if_its_channels_were_left_out() -> None:
    assert not unused(channels=frozenset({"stable"}))
    assert unused(channels=frozenset({"stable"}), limits={"channel": "stable", "entry": "zzz"})


def test_rules_about_waivers_can_be_ignored() -> None:
    assert not unused(ignored=find_rules(["unused-waiver"]))
