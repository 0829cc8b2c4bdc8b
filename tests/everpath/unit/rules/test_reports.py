"""Reports: contents, order and counts of findings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from everpath.graph import ChannelGraph, Edge, EdgeKind
from everpath.loaders.notation import parse
from everpath.model import Bundle, Catalog, Channel, Package, Place, SourcePosition
from everpath.rules import lint as checking
from everpath.rules.findings import Finding, Flaw, RelatedPlace, Severity
from everpath.rules.lint import Report, Selection, build_report, lint, lint_catalog
from everpath.rules.registry import Rule
from tests.support.everpath.graphs import parse_report


def rule(*flaws: Flaw, id: str = "EP000", severity: Severity = Severity.WARNING) -> Rule:  # noqa: A002
    """A rule that finds the same in every channel."""

    def found(_: ChannelGraph) -> Iterator[Flaw]:
        return iter(flaws)

    return Rule(id, f"name-of-{id}", severity, "channel", "A law.", check=found)


def report(monkeypatch: pytest.MonkeyPatch, *rules: Rule) -> Report:
    monkeypatch.setattr(checking, "rules_for_subjects", lambda _: rules)
    return lint(parse("[stable]\na"))


HERE = Place("here.yaml", 7)


def test_finding_has_the_place_of_the_related_document(monkeypatch: pytest.MonkeyPatch) -> None:
    there = RelatedPlace("also in", Place("there.yaml", 3))
    (finding,) = report(monkeypatch, rule(Flaw(HERE, "twice", related=there))).findings
    assert finding.related == there


def test_finding_has_the_rule_and_its_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    edge = Edge("b", "a", EdgeKind.REPLACES)
    flaw = Flaw(HERE, "something", because=(edge, "and so"), fix="do this", entry="a")
    assert report(monkeypatch, rule(flaw)).findings == (
        Finding(
            rule="EP000",
            name="name-of-EP000",
            severity=Severity.WARNING,
            place=HERE,
            message="something",
            package="p",
            channel="stable",
            entry="a",
            evidence=("b replaces a", "and so"),
            fix="do this",
            names_entry=True,
        ),
    )


def test_flaw_can_have_another_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    [finding] = report(monkeypatch, rule(Flaw(HERE, "x", package="q", channel="fast"))).findings
    assert (finding.package, finding.channel) == ("q", "fast")


def test_flaw_without_a_fix_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    [finding] = report(monkeypatch, rule(Flaw(HERE, "x"))).findings
    assert finding.fix is None


@pytest.mark.parametrize(
    ("own", "stamped"),
    [
        (None, Severity.WARNING),
        (Severity.NOTE, Severity.NOTE),
        (Severity.ERROR, Severity.WARNING),
    ],
)
def test_flaw_can_have_a_lower_severity_than_its_rule_but_not_a_higher(
    monkeypatch: pytest.MonkeyPatch, own: Severity | None, stamped: Severity
) -> None:
    [finding] = report(monkeypatch, rule(Flaw(HERE, "x", severity=own))).findings
    assert finding.severity is stamped


def test_a_finding_about_a_bundle_names_the_bundle() -> None:
    [finding] = parse_report("a@x", "EP406")
    assert (finding.package, finding.channel, finding.entry) == ("p", None, "a")


#: Each sorts before the next by one field, and after it by all that follow.
SORTED = (
    Finding("EP002", "", Severity.NOTE, Place("a", 2), "", "q", "d", "f"),
    Finding("EP002", "", Severity.NOTE, Place("b", 1), "", "q", "d", "f"),
    Finding("EP002", "", Severity.NOTE, Place("b", 2), "", "p", "d", "f"),
    Finding("EP002", "", Severity.NOTE, Place("b", 2), "", "q", "c", "f"),
    Finding("EP002", "", Severity.ERROR, Place("b", 2), "", "q", "d", "f"),
    Finding("EP001", "", Severity.NOTE, Place("b", 2), "", "q", "d", "f"),
    Finding("EP002", "", Severity.NOTE, Place("b", 2), "", "q", "d", "e"),
    Finding("EP002", "", Severity.NOTE, Place("b", 2), "", "q", "d", "f"),
)


def test_findings_sort_by_place_then_subject_then_severity_then_rule() -> None:
    assert all(one.sort_key < other.sort_key for one, other in pairwise(SORTED))


@pytest.mark.parametrize("subject", ["package", "channel", "entry"])
def test_findings_without_a_channel_sort_first(subject: str) -> None:
    whole = Finding("EP001", "", Severity.NOTE, HERE, "")
    named: dict[str, Any] = {subject: "a"}
    part = Finding("EP001", "", Severity.NOTE, HERE, "", **named)
    assert whole.sort_key < part.sort_key


def test_a_report_is_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    late, early = Flaw(Place("b"), "x"), Flaw(Place("a"), "x")
    found = report(monkeypatch, rule(late), rule(early, id="EP001")).findings
    assert [finding.place.file for finding in found] == ["a", "b"]


def test_report_has_counts_and_the_highest_severity(monkeypatch: pytest.MonkeyPatch) -> None:
    found = report(
        monkeypatch,
        rule(Flaw(HERE, "x"), Flaw(HERE, "y")),
        rule(Flaw(HERE, "x"), id="EP001", severity=Severity.NOTE),
    )
    assert [found.count(severity) for severity in Severity] == [1, 2, 0]
    assert found.worst is Severity.WARNING


def test_report_without_findings_has_no_highest_severity(monkeypatch: pytest.MonkeyPatch) -> None:
    found = report(monkeypatch)
    assert (found.findings, found.worst, found.unreadable) == ((), None, False)


def lint_all(*catalogs: Catalog) -> Report:
    return build_report([lint_catalog(catalog, Selection()) for catalog in catalogs], Selection())


def test_report_has_the_totals_of_all_catalogs() -> None:
    one, two = parse("[stable]\nb: a\na\n[fast]\na"), parse("a", "q")
    seen = lint_all(one, two)
    assert (seen.packages, seen.channels, seen.entries) == (2, 3, 4)


def test_catalogs_are_checked_independently() -> None:
    def declared() -> Catalog:
        return parse("a")

    assert lint_all(declared(), declared()).findings == ()


def test_all_bundles_of_a_package_are_checked() -> None:
    bundles = tuple(Bundle(name, "p", "x", HERE) for name in "ab")
    catalog = Catalog("test", (Package("p", channels=(Channel("c", "p", HERE),), bundles=bundles),))
    assert [f.entry for f in parse_report(catalog, "EP421")] == ["a", "b"]


@pytest.mark.parametrize(("severity", "word"), [(1, "note"), (2, "warning"), (3, "error")])
def test_severities_are_ordered_and_have_words(severity: int, word: str) -> None:
    assert Severity(severity).word == word


def positioned_report(*findings: Finding, lowest: Severity = Severity.NOTE) -> tuple[Report, list[Place]]:
    """The report with positions, and the places that were located. The line is the offset of the place."""
    located: list[Place] = []

    def locate(place: Place) -> SourcePosition:
        located.append(place)
        return SourcePosition(f"shown/{place.file}", place.offset, 2, 5, "- name: a")

    return Report(findings, 1, 1, 1).with_positions(locate, lowest), located


WARNING = Finding("EP000", "name", Severity.WARNING, HERE, "a message")


def test_a_finding_without_a_position_has_the_file_of_its_place() -> None:
    assert (WARNING.file, WARNING.line, WARNING.column) == ("here.yaml", 0, 0)


def test_a_located_finding_has_file_line_and_column() -> None:
    [finding] = positioned_report(WARNING)[0].findings
    assert (finding.file, finding.line, finding.column) == ("shown/here.yaml", 7, 2)
    assert finding.position is not None
    assert (finding.position.end_column, finding.position.source_line) == (5, "- name: a")


def test_every_place_is_located_once() -> None:
    there = Place("there.yaml", 3)
    report, located = positioned_report(
        WARNING, WARNING._replace(rule="EP001"), WARNING._replace(place=there)
    )
    assert located == [HERE, there]
    assert [finding.line for finding in report.findings] == [7, 7, 3]


def test_findings_below_the_lowest_severity_are_not_located() -> None:
    note = WARNING._replace(severity=Severity.NOTE, place=Place("there.yaml", 3))
    report, located = positioned_report(WARNING, note, lowest=Severity.WARNING)
    assert located == [HERE]
    assert report.findings[1] is note


def test_a_clean_report_locates_nothing() -> None:
    assert positioned_report() == (Report((), 1, 1, 1), [])


@pytest.mark.parametrize(
    ("line", "sentence"), [(3, "also in shown/there.yaml:3"), (0, "also in shown/there.yaml")]
)
def test_the_related_place_is_the_first_reason_with_its_line_if_known(line: int, sentence: str) -> None:
    there = RelatedPlace("also in", Place("there.yaml", line))
    related = WARNING._replace(evidence=("a", "b"), related=there)
    assert related.because == ("also in there.yaml", "a", "b")
    assert positioned_report(related)[0].findings[0].because == (sentence, "a", "b")
