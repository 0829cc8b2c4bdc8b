"""Coordinates: nothing lies on anything else, every edge is drawn, and the cost is that of the channel."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import combinations, pairwise

import pytest
from hypothesis import given

from everpath.graph import ChannelGraph, EdgeKind
from everpath.layout.diagram import Diagram
from everpath.layout.geometry import RADIUS, Layout, Point, Stroke, compute_layout
from tests.support.everpath.graphs import channel_graph
from tests.support.everpath.operation_counts import lines_run
from tests.support.everpath.strategies import channel_graphs


def drawn(drawing: str) -> Layout:
    return compute_layout(Diagram(channel_graph(drawing)))


@given(channel_graphs())
def test_no_two_nodes_lie_on_each_other(graph: ChannelGraph) -> None:
    spots = compute_layout(Diagram(graph)).spots
    assert all(math.dist(a, b) > 2 * RADIUS for a, b in combinations(spots, 2))


@given(channel_graphs())
def test_everything_lies_inside_the_drawing(graph: ChannelGraph) -> None:
    plan = compute_layout(Diagram(graph))
    points = [*plan.spots, *(p for s in plan.strokes for path in (*s.paths, *s.bars) for p in path)]
    assert all(0 <= x <= plan.width and plan.axis <= y <= plan.height for x, y in points)


@given(channel_graphs())
def test_every_edge_has_one_stroke(graph: ChannelGraph) -> None:
    picture = Diagram(graph)
    strokes = Counter(edge for stroke in compute_layout(picture).strokes for edge in edges(stroke))
    assert strokes == Counter(picture.edges())


def edges(stroke: Stroke) -> list[tuple[int, int, str]]:
    columns = stroke.targets
    if stroke.kind is EdgeKind.RANGE:
        runs = zip(columns[::2], columns[1::2], strict=True)
        columns = tuple(column for first, last in runs for column in range(first, last + 1))
    return [(stroke.successor, column, stroke.kind.value) for column in columns]


@given(channel_graphs())
def test_no_stroke_runs_through_a_node_that_it_does_not_concern(graph: ChannelGraph) -> None:
    plan = compute_layout(Diagram(graph))
    for stroke in plan.strokes:
        strangers = [s for i, s in enumerate(plan.spots) if i not in (stroke.successor, *stroke.targets)]
        for start, end in (side for path in stroke.paths for side in pairwise(path)):
            assert all(_distance(node, start, end) > RADIUS for node in strangers)


def _distance(node: Point, start: Point, end: Point) -> float:
    """From a node to a stretch that is level or upright, as all are."""
    assert start.x == end.x or start.y == end.y
    x = min(max(node.x, min(start.x, end.x)), max(start.x, end.x))
    y = min(max(node.y, min(start.y, end.y)), max(start.y, end.y))
    return math.dist(node, (x, y))


@given(channel_graphs())
def test_no_two_lines_of_one_kind_share_a_stretch(graph: ChannelGraph) -> None:
    """Level stretches at one height have at most their ends in common."""
    for kind in EdgeKind:
        strokes = [s for s in compute_layout(Diagram(graph)).strokes if s.kind is kind]
        for one, other in combinations(strokes, 2):
            assert not any(_overlap(a, b) for a in _levels(one) for b in _levels(other))


def _levels(stroke: Stroke) -> set[tuple[float, float, float]]:
    sides = [side for path in stroke.paths for side in pairwise(path)]
    return {(a.y, min(a.x, b.x), max(a.x, b.x)) for a, b in sides if a.y == b.y and a.x != b.x}


def _overlap(one: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    return one[0] == other[0] and one[1] < other[2] and other[1] < one[2]


def test_a_chain_is_a_straight_line() -> None:
    assert len({spot.y for spot in drawn("c: b\nb: a\na").spots}) == 1


def test_a_withdrawn_release_is_beside_the_main_chain() -> None:
    a, b, c = drawn("c: a / b\nb: a\na").spots
    assert a.y == c.y < b.y


def test_a_branch_turns_in_the_column_where_it_leaves_the_line() -> None:
    plan = drawn("c: a / b\nb: a\na")
    [branch] = [s for s in plan.strokes if s.kind is EdgeKind.REPLACES and s.successor == 1]
    a, b, _ = plan.spots
    assert branch.paths == ((a, Point(a.x, b.y), b),)


def test_what_one_entry_skips_is_one_comb() -> None:
    [comb] = [s for s in drawn("d: a / b, c\nc: a\nb: a\na").strokes if s.kind is EdgeKind.SKIPS]
    assert comb.targets == (1, 2)
    assert len(comb.paths) == 2


def test_a_minor_version_is_a_band() -> None:
    plan = drawn("1.1.0: 1.0.1\n1.0.1: 1.0.0\n1.0.0")
    assert len(plan.bands) == 2
    assert plan.bands[0].right == plan.bands[1].left


def test_many_entries_stand_closer_with_slanted_labels() -> None:
    few, many = (drawn("\n".join(f"1.{i}.0" for i in range(n))) for n in (12, 13))
    assert not few.is_slanted
    assert many.is_slanted
    assert many.spots[1].x - many.spots[0].x < few.spots[1].x - few.spots[0].x


def test_hundreds_of_ranges_do_not_make_the_drawing_taller_than_a_screen() -> None:
    assert drawn("\n".join(f"b{i}@1.{i}.0: - / - / <1.{i}.0" for i in range(300))).height < 600


def test_an_empty_channel_is_an_empty_drawing() -> None:
    plan = drawn("[stable]")
    assert (plan.spots, plan.strokes, plan.bands) == ((), (), ())


_SHAPES: dict[str, Callable[[int], str]] = {
    "a chain": lambda i: f"b{i}@1.{i}.0: b{i - 1}",
    "ranges over all below": lambda i: f"b{i}@1.{i}.0: b{i - 1} / - / <1.{i}.0",
    "forks": lambda i: f"b{i}@1.{i}.0: b{(i - 1) // 2}",
    "each skips the one below": lambda i: f"b{i}@1.{i}.0: b{i - 2} / b{i - 1}",
}


@pytest.mark.parametrize("shape", _SHAPES)
def test_ten_times_as_many_entries_are_at_most_eighteen_times_the_work(shape: str) -> None:
    """n · log n is fifteen times; n² would be a hundred."""
    small, large = (
        channel_graph("\n".join(_SHAPES[shape](i) for i in range(1, n + 1))) for n in (100, 1_000)
    )
    assert lines_run(lambda: compute_layout(Diagram(large))) < 18 * lines_run(
        lambda: compute_layout(Diagram(small))
    )
