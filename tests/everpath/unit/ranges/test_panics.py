"""Ranges that parse and crash OLM's resolver when they are evaluated."""

from __future__ import annotations

import pickle

import pytest

from everpath.ranges import Range, RangePanic
from everpath.versions import parse

RANGE = Range.parse("<1.0.0 || || >2.0.0")


def test_version_matched_before_the_empty_arm_does_not_panic() -> None:
    assert RANGE.contains(parse("0.5.0"))
    assert not RANGE.panics_on(parse("0.5.0"))


@pytest.mark.parametrize("version", ["1.5.0", "3.0.0"])
def test_other_versions_panic_even_if_a_later_arm_matches(version: str) -> None:
    assert RANGE.panics_on(parse(version))
    with pytest.raises(RangePanic) as caught:
        RANGE.contains(parse(version))
    assert caught.value.span == (7, 12)
    assert str(caught.value).startswith(f"'<1.0.0 || || >2.0.0' crashes OLM for version {version}")


def test_arms_after_the_empty_one_are_not_in_the_intervals() -> None:
    assert RANGE.intervals == Range.parse("<1.0.0").intervals


def test_empty_arm_matches_nothing() -> None:
    assert RANGE.expression.arms[1].intervals.is_empty


def test_range_can_panic_if_any_arm_is_empty() -> None:
    assert RANGE.can_panic
    assert Range.parse("1.0.0 || x || 2.0.0").can_panic
    assert not Range.parse("1.0.0 || 2.0.0").can_panic
    assert not Range.parse("1.0.0 || 2.0.0").panics_on(parse("3.0.0"))


def test_panic_can_be_pickled() -> None:
    with pytest.raises(RangePanic) as caught:
        RANGE.contains(parse("1.5.0"))
    assert pickle.loads(pickle.dumps(caught.value)).version == parse("1.5.0")
