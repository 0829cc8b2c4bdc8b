"""Selections of rules, packages and channels."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.loaders.notation import parse
from everpath.model import Catalog, Place, Problem, ProblemKind
from everpath.rules.lint import CATALOG_SUBJECTS, Report, Selection, lint
from everpath.rules.registry import rules_for_subjects
from tests.support.everpath.documents import catalog, channel, deprecations, package
from tests.support.everpath.graphs import parse_report

#: A fork in each of two channels.
TWO_CHANNELS = "[stable]\nc: a\nb: a\na\n[fast]\nc: a\nb: a\na"


def asked(drawing: str, **selection: Any) -> Report:
    """Return the findings of a graph. The options of the selection may be sets."""
    frozen: dict[str, Any] = {field: frozenset(names) for field, names in selection.items()}
    return lint(parse(drawing), Selection(**frozen))


def rules(report: Report) -> set[str]:
    return {finding.rule for finding in report.findings}


def test_empty_selection_runs_all_rules() -> None:
    assert lint(parse(TWO_CHANNELS)) == lint(parse(TWO_CHANNELS), Selection())
    assert {"EP202", "EP203"} <= rules(asked(TWO_CHANNELS))


def test_only_selected_rules_run() -> None:
    assert rules(asked(TWO_CHANNELS, rules={"EP203"})) == {"EP203"}


def test_ignored_rule_does_not_run_even_if_selected() -> None:
    assert "EP203" not in rules(asked(TWO_CHANNELS, ignored={"EP203"}))
    assert rules(asked(TWO_CHANNELS, rules={"EP202", "EP203"}, ignored={"EP203"})) == {"EP202"}


@pytest.mark.parametrize(("resolver", "left_out"), [("v0", "v1"), ("v1", "v0"), (None, "")])
def test_resolver_excludes_rules_of_the_other_one(resolver: Any, left_out: str) -> None:
    rules = rules_for_subjects(CATALOG_SUBJECTS)
    kept = {rule.id for rule in rules if Selection(resolver=resolver).has_rule(rule)}
    assert kept == {rule.id for rule in rules if rule.resolver != (left_out or "no other")}


def test_only_selected_channels_are_checked_and_counted() -> None:
    report = asked(TWO_CHANNELS, rules={"EP203"}, channels={"fast"})
    assert [finding.channel for finding in report.findings] == ["fast"]
    assert (report.packages, report.channels, report.entries) == (1, 1, 3)


def test_a_finding_of_a_package_about_another_channel_is_left_out() -> None:
    drawing = "[stable]\nb3: b2\nb2\n[old]\nb1"
    assert [f.channel for f in asked(drawing, rules={"EP233"}).findings] == ["stable"]
    assert asked(drawing, rules={"EP233"}, channels={"old"}).findings == ()
    assert len(asked(drawing, rules={"EP233"}, channels={"stable"}).findings) == 1


def test_finding_about_a_package_is_reported_for_any_channel() -> None:
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


def test_only_selected_packages_are_checked_and_counted() -> None:
    report = lint(two_packages(), Selection(rules=frozenset({"EP104"}), packages=frozenset({"two"})))
    assert [finding.package for finding in report.findings] == ["two"]
    assert (report.packages, report.channels, report.entries) == (1, 1, 1)


def test_a_finding_of_the_catalog_about_another_package_is_left_out() -> None:
    asked_all = lint(two_packages(), Selection(rules=frozenset({"EP501"}))).findings
    asked_one = lint(two_packages(), Selection(frozenset({"EP501"}), packages=frozenset({"two"}))).findings
    assert [f.package for f in asked_all] == ["one", "two"]
    assert [f.package for f in asked_one] == ["two"]


def problem(kind: str, package: str | None) -> Catalog:
    return Catalog(
        "test", problems=(Problem(ProblemKind(kind), Place("0.yaml"), "something", package=package),)
    )


def test_unreadable_document_is_reported_for_any_selection() -> None:
    selection = Selection(packages=frozenset({"two"}))
    report = lint(problem("unreadable-document", "one"), selection)
    assert rules(report) == {"EP001"}
    assert report.unreadable
    assert lint(problem("duplicate-key", "one"), selection).findings == ()


def test_finding_without_a_package_is_reported_for_any_selection() -> None:
    report = lint(problem("duplicate-key", None), Selection(packages=frozenset({"two"})))
    assert rules(report) == {"EP002"}
    assert not report.unreadable


def test_bundles_are_checked_for_any_channel() -> None:
    assert [f.entry for f in parse_report("a@x: b\nb@y", "EP406")] == ["a", "b"]
    assert rules(asked("[stable]\na@x", channels={"fast"})) >= {"EP406"}


def test_progress_has_each_package_before_it_is_checked() -> None:
    steps: list[tuple[int, int, str]] = []

    def progress(*step: Any) -> None:
        steps.append(step)

    lint(two_packages(), progress=progress)
    assert steps == [(0, 2, "one"), (1, 2, "two")]


def test_progress_counts_only_selected_packages() -> None:
    steps: list[tuple[int, int, str]] = []
    lint(
        two_packages(),
        Selection(packages=frozenset({"two"})),
        progress=lambda *step: steps.append(step),
    )
    assert steps == [(0, 1, "two")]
