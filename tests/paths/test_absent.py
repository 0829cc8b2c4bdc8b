"""Demands count who is in no channel: users of what was pruned, or that another channel has."""

from __future__ import annotations

import pytest

from everpath.paths.bundle_selector import subject
from everpath.paths.constraints import Demand, DemandKind
from everpath.paths.hop_graph import POLICIES, Policy
from everpath.paths.report import Question, Verdict, roadbook
from everpath.ranges import Range, sample_versions
from everpath.resolvers.resolution import InstalledBundle
from everpath.versions import parse
from graphs import package_graph

NAMED = "op.v2.1.0@2.1.0: op.v2.0.0 / op.v1.0.0\nop.v2.0.0@2.0.0: op.v1.0.0"
RANGED = "op.v2.1.0@2.1.0: op.v2.0.0 / - / >=1.0.0 <2.1.0\nop.v2.0.0@2.0.0"


def _asked(
    drawing: str,
    kind: DemandKind,
    text: str,
    policy: Policy = "any",
    channel: str | None = None,
    start: InstalledBundle | None = None,
) -> Verdict:
    package = package_graph(drawing)
    channels = tuple(graph for graph in package.channels if channel in (None, graph.name))
    demand = Demand(kind, subject(package, text, ranges=kind is DemandKind.NEVER))
    [verdict] = roadbook(Question(package, channels, policy, demands=(demand,), start=start)).verdicts
    return verdict


def _roads(verdict: Verdict) -> list[tuple[str, ...]]:
    return [offence.road for _, offence in verdict.offences]


@pytest.mark.parametrize("policy", POLICIES)
def test_whom_an_entry_skips_is_counted_without_being_an_entry(policy: Policy) -> None:
    verdict = _asked(NAMED, DemandKind.MUST_PASS, "2.0.0", policy)
    assert _roads(verdict) == [("op.v1.0.0", "op.v2.1.0")]
    [(net, _)] = verdict.offences
    assert set(net.absent) == {"op.v1.0.0"}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_version_that_only_a_range_holds_is_counted(policy: Policy) -> None:
    assert _roads(_asked(RANGED, DemandKind.MUST_PASS, "2.0.0", policy)) == [("op.v1.0.0", "op.v2.1.0")]
    narrow = RANGED.replace(">=1.0.0", ">=2.0.0")
    assert _asked(narrow, DemandKind.MUST_PASS, "2.0.0", policy).holds


def test_what_only_another_channel_has_is_counted() -> None:
    drawing = "[stable]\nb\na\n[fast]\nd: c / b\nc"
    assert _roads(_asked(drawing, DemandKind.MUST_PASS, "c", channel="fast")) == [("b", "d")]


def test_whoever_is_named_may_land_where_nobody_should() -> None:
    drawing = "op.v2.1.0@2.1.0: - / op.v2.0.0\nop.v2.0.0@2.0.0: op.v1.0.0"
    assert _roads(_asked(drawing, DemandKind.NEVER, "2.0.0", "v1")) == [("op.v1.0.0", "op.v2.0.0")]
    assert _asked(drawing, DemandKind.NEVER, "2.0.0", "v0").holds


def test_with_a_start_nobody_else_is_counted() -> None:
    start = InstalledBundle("op.v2.0.0", parse("2.0.0"))
    assert _asked(NAMED, DemandKind.MUST_PASS, "2.1.0", start=start).holds
    assert _asked(RANGED, DemandKind.NEVER, "2.0.0", start=start).holds


def test_whose_version_nobody_can_tell_is_below_unless_one_comes_there_from_x() -> None:
    assert _roads(_asked("c: b / old\nb", DemandKind.MUST_PASS, "b")) == [("old", "c")]
    assert _asked("d: c\nc?: b\nb: a\na", DemandKind.MUST_PASS, "b").holds


def test_a_failure_of_the_channel_is_told_of_its_entries_alone() -> None:
    assert set(_asked("c: x\nb: a\na: y", DemandKind.MUST_PASS, "b", "v0").stuck) == {"a"}
    assert set(_asked("c: x\nb: y", DemandKind.MUST_PASS, "b", "v0").stuck) == {"x", "y"}


def test_somebody_without_an_offer_stays_which_breaks_nothing() -> None:
    """c has no bundle that OLM v1 could install, so that x, whom it skips, stays."""
    assert _asked("c?: b / x\nb: a\na", DemandKind.MUST_PASS, "b", "v1").holds


def test_a_sample_stands_for_every_run_of_versions_that_the_same_ranges_hold() -> None:
    spans = [Range.parse(text).intervals for text in (">=1.0.0 <2.0.0", ">=1.5.0 <3.0.0", "=4.0.0")]
    assert list(map(str, sample_versions(spans))) == ["1.0.0", "1.5.0", "2.0.0", "4.0.0"]
    taken = {parse("1.0.0"), parse("4.0.0")}
    assert list(map(str, sample_versions(spans, taken))) == ["1.0.1", "1.5.0", "2.0.0"]
    assert list(map(str, sample_versions(spans[:1], boundaries=[parse("1.2.0")]))) == ["1.0.0", "1.2.0"]
    narrow = [Range.parse("<1.0.0-alpha").intervals, Range.parse(">1.0.0-alpha <1.0.0").intervals]
    assert list(map(str, sample_versions(narrow))) == ["0.0.0", "1.0.0-alpha.0"]
