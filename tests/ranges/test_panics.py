"""Ranges that parse and crash OLM's resolver when they are asked."""

from __future__ import annotations

import pickle

import pytest

from everpath.ranges import Range, RangePanic
from everpath.versions import parse

SPAN = Range.parse("<1.0.0 || || >2.0.0")


def test_a_version_matched_before_the_empty_arm_is_answered() -> None:
    assert SPAN.contains(parse("0.5.0"))
    assert not SPAN.panics_on(parse("0.5.0"))


@pytest.mark.parametrize("version", ["1.5.0", "3.0.0"])
def test_any_other_version_panics_even_if_a_later_arm_matches_it(version: str) -> None:
    assert SPAN.panics_on(parse(version))
    with pytest.raises(RangePanic) as caught:
        SPAN.contains(parse(version))
    assert caught.value.span == (7, 12)
    assert str(caught.value).startswith(f"'<1.0.0 || || >2.0.0' crashes OLM for version {version}")


def test_arms_behind_the_empty_one_are_not_in_its_intervals() -> None:
    assert SPAN.intervals == Range.parse("<1.0.0").intervals


def test_an_empty_arm_matches_nothing() -> None:
    assert SPAN.expression.arms[1].intervals.is_empty


def test_a_range_panics_if_any_arm_is_empty() -> None:
    assert SPAN.can_panic
    assert Range.parse("1.0.0 || x || 2.0.0").can_panic
    assert not Range.parse("1.0.0 || 2.0.0").can_panic
    assert not Range.parse("1.0.0 || 2.0.0").panics_on(parse("3.0.0"))


def test_a_panic_survives_pickling() -> None:
    with pytest.raises(RangePanic) as caught:
        SPAN.contains(parse("1.5.0"))
    assert pickle.loads(pickle.dumps(caught.value)).version == parse("1.5.0")
