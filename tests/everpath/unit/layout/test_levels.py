"""Items over the same columns have different levels: as low as possible, and outside what they enclose."""

from __future__ import annotations

from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from everpath.layout.levels import Levels

Span = tuple[int, int]

_COLUMNS = st.integers(0, 12)
_SPANS = st.lists(st.tuples(_COLUMNS, _COLUMNS).map(lambda p: (min(p), max(p))), max_size=20)


@given(_SPANS)
def test_each_takes_the_lowest_level_that_is_free_over_its_columns(spans: list[Span]) -> None:
    stack, placed = Levels(13), list[tuple[int, int, int]]()
    for first, last in spans:
        taken = {level for a, b, level in placed if a <= last and first <= b}
        placed.append((first, last, stack.place(first, last)))
        assert placed[-1][2] == next(level for level in count() if level not in taken)
    assert stack.height == max((level for *_, level in placed), default=-1) + 1


@given(_SPANS)
def test_from_the_shortest_to_the_longest_nothing_lies_below_what_it_encloses(spans: list[Span]) -> None:
    stack = Levels(13)
    placed = [(span, stack.place(*span)) for span in sorted(spans, key=lambda s: s[1] - s[0])]
    for number, (outer, level) in enumerate(placed):
        inside = [lower for inner, lower in placed[:number] if outer[0] <= inner[0] and inner[1] <= outer[1]]
        assert all(lower < level for lower in inside)


def test_a_staircase_needs_two_levels() -> None:
    stack = Levels(100)
    assert {stack.place(step, step + 1) for step in range(99)} == {0, 1}


def test_a_stack_over_nothing_is_flat() -> None:
    assert Levels(0).height == 0
