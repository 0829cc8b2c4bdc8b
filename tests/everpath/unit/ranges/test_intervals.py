"""IntervalSet: exact at bounds between consecutive versions."""

from __future__ import annotations

from collections import UserList

import pytest

from everpath.ranges import Bound, Interval, IntervalSet, Range
from everpath.versions import Version, parse

LARGEST = str(2**64 - 1)


def matched(text: str) -> IntervalSet:
    return Range.parse(text).intervals


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (">1.0.0", ">=1.0.1-0"),
        ("<=1.0.0", "<1.0.1-0"),
        (">1.0.0-a", ">=1.0.0-a.0"),
        ("<=1.0.0-a", "<1.0.0-a.0"),
        ("=1.0.0-a", ">=1.0.0-a <1.0.0-a.0"),
        (f">1.2.{LARGEST}", ">=1.3.0-0"),
        (f">1.{LARGEST}.{LARGEST}", ">=2.0.0-0"),
        ("<1.0.0 || >=1.0.0", ">=0.0.0-0"),
        ("!=1.0.0", "<1.0.0 || >1.0.0"),
        ("<1.0.0 || 1.0.0 || >1.0.0 <2.0.0", "<2.0.0"),
        (">=1.0.0+a", ">=1.0.0+b"),
        ("1.2.x", ">=1.2.0 <1.3.0"),
    ],
)
def test_sets_of_the_same_versions_are_equal(one: str, other: str) -> None:
    assert matched(one) == matched(other)
    assert hash(matched(one)) == hash(matched(other))
    assert matched(one).is_subset(matched(other))


@pytest.mark.parametrize(
    "text",
    [
        ">1.0.0 <1.0.0",
        ">=1.7.0 <1.7.0",
        ">1.0.0 <1.0.1-0",
        ">1.0.0-a <1.0.0-a.0",
        "<0.0.0-0",
        f">{LARGEST}.{LARGEST}.{LARGEST}",
        "1.0.0 2.0.0",
        "!=1.0.0 1.0.0",
    ],
)
def test_set_without_possible_versions_is_empty(text: str) -> None:
    assert matched(text).is_empty
    assert list(matched(text)) == []


@pytest.mark.parametrize(
    "text", ["1.0.0", ">1.0.0 <1.0.1-1", ">=1.0.0 <=1.0.0", "<=0.0.0-0", ">1.0.0 <1.0.1"]
)
def test_set_of_one_version_is_not_empty(text: str) -> None:
    assert not matched(text).is_empty


def test_intervals_have_the_bounds_as_written() -> None:
    one, two = parse("1.0.0"), parse("2.0.0")
    assert list(matched(">1.0.0 <=2.0.0")) == [Interval(one, False, two, True)]
    assert list(matched(">=1.0.0 <2.0.0")) == [Interval(one, True, two, False)]
    assert list(matched("<1.0.0 || >2.0.0")) == [
        Interval(None, False, one, False),
        Interval(two, False, None, False),
    ]
    assert list(matched("1.0.0")) == [Interval(one, True, one, True)]


def test_bounds_are_inclusive_or_exclusive() -> None:
    one, two = parse("1.0.0"), parse("2.0.0")
    assert matched(">1.0.0 <=2.0.0").lower_bound == Bound(one, False)
    assert matched(">1.0.0 <=2.0.0").upper_bound == Bound(two, True)
    assert matched(">=1.0.0 <2.0.0 || 0.1.0").lower_bound == Bound(parse("0.1.0"), True)
    assert matched(">=1.0.0 <2.0.0").upper_bound == Bound(two, False)


def test_unbounded_set_has_no_bound() -> None:
    assert matched(">=1.0.0").is_unbounded_above
    assert matched(">=1.0.0").upper_bound is None
    assert not matched(">=1.0.0").is_unbounded_below
    assert matched("<1.0.0").is_unbounded_below
    assert matched("<1.0.0").lower_bound is None
    assert not matched("<1.0.0").is_unbounded_above


def test_bound_at_the_lowest_or_highest_version_is_none() -> None:
    assert matched(f"<={LARGEST}.{LARGEST}.{LARGEST}").is_unbounded_above
    assert matched(">=0.0.0-0").is_unbounded_below
    assert matched(">=0.0.0-0").lower_bound is None
    assert IntervalSet.from_comparison(">=", parse("0.0.0-0")).lower_bound is None
    assert IntervalSet.from_comparison("<=", parse(f"{LARGEST}.{LARGEST}.{LARGEST}")).upper_bound is None


def test_empty_set_has_no_bounds_and_is_not_unbounded() -> None:
    nothing = IntervalSet()
    assert nothing.upper_bound is nothing.lower_bound is None
    assert not nothing.is_unbounded_above
    assert not nothing.is_unbounded_below


def test_subset_considers_every_possible_version() -> None:
    assert matched(">=1.1.0 <1.2.0").is_subset(matched("1.x"))
    assert not matched("1.2.x").is_subset(matched(">=1.2.0 <1.3.0-0"))
    assert IntervalSet().is_subset(matched("1.0.0"))


def test_index_ranges_of_ascending_versions() -> None:
    versions = [parse(f"1.{minor}.0") for minor in range(10)]
    assert matched("<1.2.0 || 1.4.0 || >=1.8.0").index_ranges(versions) == [(0, 2), (4, 5), (8, 10)]
    assert matched(">2.0.0 || =1.4.1").index_ranges(versions) == []
    assert matched(">=1.0.0").index_ranges([]) == []


def test_equal_versions_are_in_the_same_index_range() -> None:
    twins = [parse("1.0.0+a"), parse("1.0.0+b"), parse("1.1.0")]
    assert matched("=1.0.0").index_ranges(twins) == [(0, 2)]


class _CountingList(UserList[Version]):
    """A list that counts accesses."""

    accesses = 0

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        self.accesses += 1
        return super().__getitem__(index)


def test_index_ranges_use_binary_search() -> None:
    versions = _CountingList(parse(f"1.{minor}.0") for minor in range(4096))
    assert matched(">=1.7.0 <1.4000.0").index_ranges(versions) == [(7, 4000)]
    assert 0 < versions.accesses <= 2 * 13


def test_unknown_operator_raises_value_error() -> None:
    with pytest.raises(ValueError, match="~"):
        IntervalSet.from_comparison("~", parse("1.0.0"))
