"""A selection decides which rules are asked, and about what."""

from __future__ import annotations

from typing import Any

import pytest

from documents import catalog, channel, deprecations, package
from everpath.loaders.notation import parse
from everpath.model import Catalog, Place, Problem
from everpath.rules.lint import CATALOG_SUBJECTS, Report, Selection, lint
from everpath.rules.registry import rules_for_subjects
from graphs import parse_report

#: A fork in each of two channels.
TWO_CHANNELS = "[stable]\nc: a\nb: a\na\n[fast]\nc: a\nb: a\na"


def asked(drawing: str, **selection: Any) -> Report:
    """What is said of a drawing; sets may be given where a Selection has frozen ones."""
    frozen: dict[str, Any] = {field: frozenset(names) for field, names in selection.items()}
    return lint(parse(drawing), Selection(**frozen))


def rules(report: Report) -> set[str]:
    return {finding.rule for finding in report.findings}


def test_an_empty_selection_asks_everything() -> None:
    assert lint(parse(TWO_CHANNELS)) == lint(parse(TWO_CHANNELS), Selection())
    assert {"EP202", "EP203"} <= rules(asked(TWO_CHANNELS))


def test_only_the_selected_rules_are_asked() -> None:
    assert rules(asked(TWO_CHANNELS, rules={"EP203"})) == {"EP203"}


def test_an_ignored_rule_is_not_asked_even_if_it_is_selected() -> None:
    assert "EP203" not in rules(asked(TWO_CHANNELS, ignored={"EP203"}))
    assert rules(asked(TWO_CHANNELS, rules={"EP202", "EP203"}, ignored={"EP203"})) == {"EP202"}


@pytest.mark.parametrize(("policy", "left_out"), [("v0", "v1"), ("v1", "v0"), (None, "")])
def test_a_policy_leaves_out_the_rules_that_hurt_only_the_other(policy: Any, left_out: str) -> None:
    rules = rules_for_subjects(CATALOG_SUBJECTS)
    kept = {rule.id for rule in rules if Selection(policy=policy).has_rule(rule)}
    assert kept == {rule.id for rule in rules if rule.policy != (left_out or "no other")}


def test_only_the_selected_channels_are_judged_and_counted() -> None:
    report = asked(TWO_CHANNELS, rules={"EP203"}, channels={"fast"})
    assert [finding.channel for finding in report.findings] == ["fast"]
    assert (report.packages, report.channels, report.entries) == (1, 1, 3)


def test_a_finding_of_a_package_about_another_channel_is_left_out() -> None:
    drawing = "[stable]\nb3: b2\nb2\n[old]\nb1"
    assert [f.channel for f in asked(drawing, rules={"EP233"}).findings] == ["stable"]
    assert asked(drawing, rules={"EP233"}, channels={"old"}).findings == ()
    assert len(asked(drawing, rules={"EP233"}, channels={"stable"}).findings) == 1


def test_a_finding_about_a_whole_package_concerns_every_channel_of_it() -> None:
    drawing = "%default nowhere\n[stable]\na"
    assert rules(asked(drawing, channels={"other"})) == {"EP104"}


def two_packages() -> Catalog:
    """Each has a default channel that does not exist, and deprecates a bundle that does not exist."""
    documents = [
        document
        for name in ("one", "two")
        for document in (
            package(name, "nowhere"),
            channel({"name": f"{name}.v1.0.0"}, package=name),
            deprecations(("olm.bundle", "gone", "old"), package=name),
        )
    ]
    return catalog(*documents)


def test_only_the_selected_packages_are_judged_and_counted() -> None:
    report = lint(two_packages(), Selection(rules=frozenset({"EP104"}), packages=frozenset({"two"})))
    assert [finding.package for finding in report.findings] == ["two"]
    assert (report.packages, report.channels, report.entries) == (1, 1, 1)


def test_a_finding_of_the_catalog_about_another_package_is_left_out() -> None:
    asked_all = lint(two_packages(), Selection(rules=frozenset({"EP501"}))).findings
    asked_one = lint(two_packages(), Selection(frozenset({"EP501"}), packages=frozenset({"two"}))).findings
    assert [f.package for f in asked_all] == ["one", "two"]
    assert [f.package for f in asked_one] == ["two"]


def problem(kind: str, package: str | None) -> Catalog:
    return Catalog("test", problems=(Problem(kind, Place("0.yaml"), "something", package=package),))


def test_what_could_not_be_read_concerns_everybody() -> None:
    selection = Selection(packages=frozenset({"two"}))
    report = lint(problem("unreadable-document", "one"), selection)
    assert rules(report) == {"EP001"}
    assert report.unreadable
    assert lint(problem("duplicate-key", "one"), selection).findings == ()


def test_a_finding_about_no_package_concerns_everybody() -> None:
    report = lint(problem("duplicate-key", None), Selection(packages=frozenset({"two"})))
    assert rules(report) == {"EP002"}
    assert not report.unreadable


def test_bundles_are_judged_whatever_channel_is_selected() -> None:
    assert [f.entry for f in parse_report("a@x: b\nb@y", "EP406")] == ["a", "b"]
    assert rules(asked("[stable]\na@x", channels={"fast"})) >= {"EP406"}


def test_progress_names_each_package_before_it_is_judged() -> None:
    told: list[tuple[int, int, str]] = []

    def progress(*step: Any) -> None:
        told.append(step)

    lint(two_packages(), progress=progress)
    assert told == [(0, 2, "one"), (1, 2, "two")]


def test_progress_counts_the_selected_packages_alone() -> None:
    told: list[tuple[int, int, str]] = []
    lint(
        two_packages(),
        Selection(packages=frozenset({"two"})),
        progress=lambda *step: told.append(step),
    )
    assert told == [(0, 1, "two")]
