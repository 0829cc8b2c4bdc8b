"""Demands count who is in no channel: users of what was pruned, or that another channel has."""

from __future__ import annotations

import pytest

from everpath.paths.bundle_selector import select_bundles
from everpath.paths.constraints import ConstraintKind, PathConstraint
from everpath.paths.hop_graph import PATH_RESOLVERS, PathResolver
from everpath.paths.report import ConstraintResult, PathsQuery, report_paths
from everpath.ranges import Range, sample_versions
from everpath.resolvers.resolution import InstalledBundle
from everpath.versions import parse
from tests.support.everpath.graphs import package_graph

NAMED = "op.v2.1.0@2.1.0: op.v2.0.0 / op.v1.0.0\nop.v2.0.0@2.0.0: op.v1.0.0"
RANGED = "op.v2.1.0@2.1.0: op.v2.0.0 / - / >=1.0.0 <2.1.0\nop.v2.0.0@2.0.0"


def _asked(
    drawing: str,
    kind: ConstraintKind,
    text: str,
    resolver: PathResolver = "any",
    channel: str | None = None,
    start: InstalledBundle | None = None,
) -> ConstraintResult:
    package = package_graph(drawing)
    channels = tuple(graph for graph in package.channels if channel in (None, graph.name))
    demand = PathConstraint(kind, select_bundles(package, text, allow_range=kind is ConstraintKind.NEVER))
    [verdict] = report_paths(
        PathsQuery(package, channels, resolver, constraints=(demand,), start=start)
    ).constraint_results
    return verdict


def _roads(verdict: ConstraintResult) -> list[tuple[str, ...]]:
    return [violation.path for _, violation in verdict.violations]


@pytest.mark.parametrize("resolver", PATH_RESOLVERS)
def test_a_skipped_name_is_counted_without_being_an_entry(resolver: PathResolver) -> None:
    verdict = _asked(NAMED, ConstraintKind.MUST_PASS, "2.0.0", resolver)
    assert _roads(verdict) == [("op.v1.0.0", "op.v2.1.0")]
    [(hop_graph, _)] = verdict.violations
    assert set(hop_graph.outside) == {"op.v1.0.0"}


@pytest.mark.parametrize("resolver", PATH_RESOLVERS)
def test_a_version_that_only_a_range_holds_is_counted(resolver: PathResolver) -> None:
    assert _roads(_asked(RANGED, ConstraintKind.MUST_PASS, "2.0.0", resolver)) == [("op.v1.0.0", "op.v2.1.0")]
    narrow = RANGED.replace(">=1.0.0", ">=2.0.0")
    assert _asked(narrow, ConstraintKind.MUST_PASS, "2.0.0", resolver).holds


def test_what_only_another_channel_has_is_counted() -> None:
    drawing = "[stable]\nb\na\n[fast]\nd: c / b\nc"
    assert _roads(_asked(drawing, ConstraintKind.MUST_PASS, "c", channel="fast")) == [("b", "d")]


def test_a_named_version_may_violate_never() -> None:
    drawing = "op.v2.1.0@2.1.0: - / op.v2.0.0\nop.v2.0.0@2.0.0: op.v1.0.0"
    assert _roads(_asked(drawing, ConstraintKind.NEVER, "2.0.0", "v1")) == [("op.v1.0.0", "op.v2.0.0")]
    assert _asked(drawing, ConstraintKind.NEVER, "2.0.0", "v0").holds


def test_with_a_start_no_version_else_is_counted() -> None:
    start = InstalledBundle("op.v2.0.0", parse("2.0.0"))
    assert _asked(NAMED, ConstraintKind.MUST_PASS, "2.1.0", start=start).holds
    assert _asked(RANGED, ConstraintKind.NEVER, "2.0.0", start=start).holds


def test_whose_version_no_version_can_tell_is_below_unless_one_comes_there_from_x() -> None:
    assert _roads(_asked("c: b / old\nb", ConstraintKind.MUST_PASS, "b")) == [("old", "c")]
    assert _asked("d: c\nc?: b\nb: a\na", ConstraintKind.MUST_PASS, "b").holds


def test_a_failure_of_the_channel_is_reported_of_its_entries_alone() -> None:
    assert set(_asked("c: x\nb: a\na: y", ConstraintKind.MUST_PASS, "b", "v0").failing) == {"a"}
    assert set(_asked("c: x\nb: y", ConstraintKind.MUST_PASS, "b", "v0").failing) == {"x", "y"}


def test_an_outside_version_without_an_update_violates_nothing() -> None:
    """c has no bundle that OLM v1 could install, so that x, which it skips, stays."""
    assert _asked("c?: b / x\nb: a\na", ConstraintKind.MUST_PASS, "b", "v1").holds


def test_one_version_is_sampled_for_each_combination_of_ranges() -> None:
    spans = [Range.parse(text).intervals for text in (">=1.0.0 <2.0.0", ">=1.5.0 <3.0.0", "=4.0.0")]
    assert list(map(str, sample_versions(spans))) == ["1.0.0", "1.5.0", "2.0.0", "4.0.0"]
    taken = {parse("1.0.0"), parse("4.0.0")}
    assert list(map(str, sample_versions(spans, taken))) == ["1.0.1", "1.5.0", "2.0.0"]
    assert list(map(str, sample_versions(spans[:1], boundaries=[parse("1.2.0")]))) == ["1.0.0", "1.2.0"]
    narrow = [Range.parse("<1.0.0-alpha").intervals, Range.parse(">1.0.0-alpha <1.0.0").intervals]
    assert list(map(str, sample_versions(narrow))) == ["0.0.0", "1.0.0-alpha.0"]
