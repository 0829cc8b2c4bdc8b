"""Constraints: every path passes X, no path lands on Y."""

from __future__ import annotations

from everpath.graph import PackageGraph
from everpath.paths.bundle_selector import select_bundles
from everpath.paths.constraints import (
    ConstraintKind,
    ConstraintViolation,
    PathConstraint,
    check_must_pass,
    check_never,
)
from everpath.paths.hop_graph import PathResolver, build_hop_graph
from tests.support.everpath.graphs import package_graph

CHAIN = """
    d: c / - / >=2.0.0 <3.0.0
    c: b
    b: a
    a
"""


def _pass(
    drawing: str, x: str, goal: str, start: str | None = None, resolver: PathResolver = "any"
) -> ConstraintViolation | None:
    package = package_graph(drawing)
    demand = PathConstraint(ConstraintKind.MUST_PASS, select_bundles(package, x))
    return check_must_pass(build_hop_graph(package.channels[:1], resolver), demand, goal, start)


def _never(drawing: str, y: str, resolver: PathResolver = "any", **limits: str) -> ConstraintViolation | None:
    package: PackageGraph = package_graph(drawing)
    demand = PathConstraint(ConstraintKind.NEVER, select_bundles(package, y, allow_range=True))
    return check_never(
        build_hop_graph(package.channels[:1], resolver), demand, limits.get("goal"), limits.get("start")
    )


def test_the_shortest_path_past_x_is_shown_with_the_edge_that_leads_past() -> None:
    violation = _pass(CHAIN, "c", "d")
    assert violation is not None
    assert violation.path == ("b", "d")
    assert violation.hop == ("b", "d")
    assert violation.starts == ("a", "b")


def test_a_path_from_one_start_is_blamed_on_the_hop_over_x() -> None:
    violation = _pass(CHAIN, "3.0.0", "d", "a")
    assert violation is not None
    assert violation.path == ("a", "b", "d")
    assert violation.hop == ("b", "d")


def test_a_path_through_the_version_is_no_violation() -> None:
    assert _pass(CHAIN, "b", "d") is None
    assert _pass(CHAIN, "c", "d", "c") is None
    assert _pass(CHAIN, "d", "d") is None


def test_a_goal_below_x_needs_no_passing() -> None:
    assert _pass("a: b / c\nb: c\nc", "b", "a") is None


def test_where_no_version_is_passed_the_hop_that_leaves_x_behind_is_blamed() -> None:
    """x is the newest of all, but one may come back from it."""
    violation = _pass("e: d\nd: c / x\nc: b\nx@9.0.0: b\nb: a\na", "x", "e", "a")
    assert violation is not None
    assert violation.path == ("a", "b", "c", "d", "e")
    assert violation.hop == ("b", "c")


def test_must_pass_without_a_version_is_for_versions_that_can_reach_it() -> None:
    violation = _pass("d: c / - / <3.0.0\nc?: b\nb", "c", "d")
    assert violation is not None
    assert violation.starts == ("b",)


def test_only_what_a_resolver_does_counts_under_its_policy() -> None:
    drawing = "d: c / - / <2.0.0\nc: b\nb: a\na"
    assert _pass(drawing, "c", "d", resolver="v0") is not None
    assert _pass("d: c\nc: b / a\nb: a\na", "b", "d", resolver="v0") is not None
    assert _pass("d: c\nc: b\nb: a\na", "b", "d", resolver="v0") is None


def test_landing_on_y_shows_the_hop_onto_it() -> None:
    violation = _never(CHAIN, "c")
    assert violation is not None
    assert violation.path == ("b", "c")
    assert violation.hop == ("b", "c")
    assert violation.starts == ("b",)


def test_a_range_means_everything_in_it() -> None:
    violation = _never(CHAIN, ">=2.0.0 <4.0.0", start="a")
    assert violation is not None
    assert violation.path == ("a", "b")
    assert _never(CHAIN, ">=7.0.0") is None


def test_y_is_landed_on_only_on_the_paths_asked_for() -> None:
    assert _never(CHAIN, "c", start="a", goal="b") is None
    assert _never(CHAIN, "c", start="d") is None
    assert _never(CHAIN, "c", start="a", goal="d") is not None


def test_what_one_has_is_not_landed_on() -> None:
    assert _never(CHAIN, "a") is None
    assert _never(CHAIN, "b", start="b") is None


def test_a_new_install_violates_never_without_a_hop() -> None:
    violation = _never("a", "a")
    assert violation is not None
    assert (violation.path, violation.hop) == (("a",), None)
    assert _never("a", "a", start="a") is None


def test_v0_never_lands_on_what_is_skipped_but_v1_does() -> None:
    drawing = "d: c / c\nc: b\nb: a\na"
    assert _never(drawing, "c", "v0") is None
    assert _never(drawing, "c", "v1") is not None
    assert _never(drawing, "c") is not None


def test_an_entry_whose_own_range_holds_it_still_goes_on() -> None:
    violation = _never("c: b\nb: - / - / >=0.0.1\na", ">=2.0.0 <4.0.0")
    assert violation is not None
    assert set(violation.starts) == {"a", "b", "c"}
