"""IntervalSet obeys the laws of set algebra for all possible versions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from everpath.ranges import IntervalSet
from everpath.versions import Version, parse
from tests.support.everpath.version_strategies import interval_sets, versions

EVERYTHING = IntervalSet.all()
NOTHING = IntervalSet()


@given(interval_sets(), interval_sets(), versions())
def test_membership_agrees_with_set_operations(a: IntervalSet, b: IntervalSet, version: Version) -> None:
    assert (version in a | b) == (version in a or version in b)
    assert (version in a & b) == (version in a and version in b)
    assert (version in ~a) == (version not in a)


@given(interval_sets())
def test_complement_is_an_involution(a: IntervalSet) -> None:
    assert ~~a == a


@given(interval_sets())
def test_set_and_complement_are_disjoint_and_exhaustive(a: IntervalSet) -> None:
    assert a & ~a == NOTHING
    assert a | ~a == EVERYTHING


@given(interval_sets(), interval_sets())
def test_de_morgan(a: IntervalSet, b: IntervalSet) -> None:
    assert ~(a | b) == ~a & ~b
    assert ~(a & b) == ~a | ~b


@given(interval_sets(), interval_sets(), interval_sets())
def test_union_and_intersection_form_a_distributive_lattice(
    a: IntervalSet, b: IntervalSet, c: IntervalSet
) -> None:
    assert a | b == b | a
    assert a & b == b & a
    assert (a | b) | c == a | (b | c)
    assert (a & b) & c == a & (b & c)
    assert a & (b | c) == (a & b) | (a & c)
    assert a | (a & b) == a == a & (a | b)


@given(interval_sets(), interval_sets())
def test_subset_is_antisymmetric(a: IntervalSet, b: IntervalSet) -> None:
    assert (a.is_subset(b) and b.is_subset(a)) == (a == b)


@given(interval_sets(), interval_sets())
def test_subset_agrees_with_the_operations(a: IntervalSet, b: IntervalSet) -> None:
    assert a.is_subset(b) == (a & b == a) == (a | b == b)
    assert (a & b).is_subset(a)
    assert a.is_subset(a | b)


@given(st.lists(interval_sets(), max_size=5))
def test_union_and_intersection_of_many_equal_repeated_operations(sets: list[IntervalSet]) -> None:
    union, intersection = NOTHING, EVERYTHING
    for one in sets:
        union, intersection = union | one, intersection & one
    assert IntervalSet.union(sets) == union
    assert IntervalSet.intersection(sets) == intersection


@given(interval_sets(), st.lists(versions(), max_size=12))
def test_index_ranges_agree_with_membership(a: IntervalSet, some: list[Version]) -> None:
    ordered = sorted(some)
    found = a.index_ranges(ordered)
    assert [i for start, end in found for i in range(start, end)] == [
        i for i, version in enumerate(ordered) if version in a
    ]
    assert all(start < end for start, end in found)


@given(interval_sets())
def test_set_is_empty_if_and_only_if_it_has_no_member(a: IntervalSet) -> None:
    assert a.is_empty == (not any(_lowest(low, inclusive) in a for low, inclusive, _, _ in a))


@given(interval_sets(), versions())
def test_no_version_of_a_set_is_outside_its_bounds(a: IntervalSet, version: Version) -> None:
    lower, upper = a.lower_bound, a.upper_bound
    if version in a:
        assert lower is None or version > lower.version or (lower.inclusive and version == lower.version)
        assert upper is None or version < upper.version or (upper.inclusive and version == upper.version)
    assert (upper is None) == (a.is_empty or a.is_unbounded_above)
    assert (lower is None) == (a.is_empty or a.is_unbounded_below)


@given(interval_sets(), versions())
def test_intervals_agree_with_membership(a: IntervalSet, version: Version) -> None:
    def holds(low: Version | None, low_in: bool, high: Version | None, high_in: bool) -> bool:
        above = low is None or version > low or (low_in and version == low)
        below = high is None or version < high or (high_in and version == high)
        return above and below

    assert (version in a) == any(holds(*interval) for interval in a)


def _lowest(low: Version | None, inclusive: bool) -> Version:
    """Return the lowest version of an interval with this lower bound."""
    if low is None:
        return parse("0.0.0-0")
    return low if inclusive else _next(low)


def _next(version: Version) -> Version:
    text = version.text.partition("+")[0]
    if version.is_prerelease:
        return parse(f"{text}.0")
    numbers = [version.major, version.minor, version.patch]
    for place in (2, 1, 0):
        if numbers[place] < 2**64 - 1:
            numbers[place] += 1
            break
        numbers[place] = 0
    return parse("{}.{}.{}-0".format(*numbers))
