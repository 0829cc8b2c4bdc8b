"""Sets of versions: exact at the edges, where one version follows another without a gap."""

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
def test_two_ways_to_write_one_set_are_equal(one: str, other: str) -> None:
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
def test_a_set_is_empty_when_no_version_can_be_in_it(text: str) -> None:
    assert matched(text).is_empty
    assert list(matched(text)) == []


@pytest.mark.parametrize(
    "text", ["1.0.0", ">1.0.0 <1.0.1-1", ">=1.0.0 <=1.0.0", "<=0.0.0-0", ">1.0.0 <1.0.1"]
)
def test_a_set_with_a_single_version_is_not_empty(text: str) -> None:
    assert not matched(text).is_empty


def test_intervals_keep_the_bounds_as_they_were_written() -> None:
    one, two = parse("1.0.0"), parse("2.0.0")
    assert list(matched(">1.0.0 <=2.0.0")) == [Interval(one, False, two, True)]
    assert list(matched(">=1.0.0 <2.0.0")) == [Interval(one, True, two, False)]
    assert list(matched("<1.0.0 || >2.0.0")) == [
        Interval(None, False, one, False),
        Interval(two, False, None, False),
    ]
    assert list(matched("1.0.0")) == [Interval(one, True, one, True)]


def test_bounds_say_whether_their_version_is_in() -> None:
    one, two = parse("1.0.0"), parse("2.0.0")
    assert matched(">1.0.0 <=2.0.0").lower_bound == Bound(one, False)
    assert matched(">1.0.0 <=2.0.0").upper_bound == Bound(two, True)
    assert matched(">=1.0.0 <2.0.0 || 0.1.0").lower_bound == Bound(parse("0.1.0"), True)
    assert matched(">=1.0.0 <2.0.0").upper_bound == Bound(two, False)


def test_a_set_without_an_end_has_no_bound_there() -> None:
    assert matched(">=1.0.0").is_unbounded_above
    assert matched(">=1.0.0").upper_bound is None
    assert not matched(">=1.0.0").is_unbounded_below
    assert matched("<1.0.0").is_unbounded_below
    assert matched("<1.0.0").lower_bound is None
    assert not matched("<1.0.0").is_unbounded_above


def test_a_bound_at_the_very_end_is_none() -> None:
    assert matched(f"<={LARGEST}.{LARGEST}.{LARGEST}").is_unbounded_above
    assert matched(">=0.0.0-0").is_unbounded_below
    assert matched(">=0.0.0-0").lower_bound is None
    assert IntervalSet.from_comparison(">=", parse("0.0.0-0")).lower_bound is None
    assert IntervalSet.from_comparison("<=", parse(f"{LARGEST}.{LARGEST}.{LARGEST}")).upper_bound is None


def test_an_empty_set_has_neither_bounds_nor_lack_of_them() -> None:
    nothing = IntervalSet()
    assert nothing.upper_bound is nothing.lower_bound is None
    assert not nothing.is_unbounded_above
    assert not nothing.is_unbounded_below


def test_subset_is_about_every_version_not_the_published_ones() -> None:
    assert matched(">=1.1.0 <1.2.0").is_subset(matched("1.x"))
    assert not matched("1.2.x").is_subset(matched(">=1.2.0 <1.3.0-0"))
    assert IntervalSet().is_subset(matched("1.0.0"))


def test_spans_are_index_ranges_of_ascending_versions() -> None:
    versions = [parse(f"1.{minor}.0") for minor in range(10)]
    assert matched("<1.2.0 || 1.4.0 || >=1.8.0").index_ranges(versions) == [(0, 2), (4, 5), (8, 10)]
    assert matched(">2.0.0 || =1.4.1").index_ranges(versions) == []
    assert matched(">=1.0.0").index_ranges([]) == []


def test_versions_that_are_equal_fall_into_one_span() -> None:
    twins = [parse("1.0.0+a"), parse("1.0.0+b"), parse("1.1.0")]
    assert matched("=1.0.0").index_ranges(twins) == [(0, 2)]


class _Counted(UserList[Version]):
    """A list that counts how often it is asked."""

    looked_at = 0

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        self.looked_at += 1
        return super().__getitem__(index)


def test_spans_look_at_few_versions() -> None:
    versions = _Counted(parse(f"1.{minor}.0") for minor in range(4096))
    assert matched(">=1.7.0 <1.4000.0").index_ranges(versions) == [(7, 4000)]
    assert 0 < versions.looked_at <= 2 * 13


def test_an_operator_nobody_knows_makes_no_set() -> None:
    with pytest.raises(ValueError, match="~"):
        IntervalSet.from_comparison("~", parse("1.0.0"))
