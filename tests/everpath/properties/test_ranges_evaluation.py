"""Evaluation of ranges agrees with their intervals; hazards, errors and explanations are consistent."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from everpath.ranges import HazardKind, Range, RangeError, RangePanic
from everpath.ranges.explain import explain_range
from everpath.versions import Version
from tests.support.everpath.version_strategies import any_text, range_texts, versions

_SPELLED_OUT = {HazardKind.IGNORED_BUILD, HazardKind.LENIENT_NUMBER, HazardKind.X_AS_ZERO}


def _parse_or_reject(text: str) -> Range:
    try:
        return Range.parse(text)
    except RangeError:
        assume(False)
        raise


def _error(text: str) -> RangeError | None:
    try:
        Range.parse(text)
    except RangeError as error:
        return error
    return None


ranges = range_texts().map(_parse_or_reject)


@given(ranges, versions())
def test_range_contains_exactly_the_versions_of_its_intervals(version_range: Range, version: Version) -> None:
    assume(not version_range.panics_on(version))
    assert version_range.contains(version) == (version in version_range.intervals)


@given(ranges, versions())
def test_contains_panics_if_and_only_if_predicted(version_range: Range, version: Version) -> None:
    if version_range.panics_on(version):
        assert version_range.can_panic
        with pytest.raises(RangePanic):
            version_range.contains(version)
    else:
        assert version_range.contains(version) in (True, False)


@given(ranges)
def test_range_that_can_panic_has_a_hazard(version_range: Range) -> None:
    assert version_range.can_panic == (
        HazardKind.EMPTY_ARM in {hazard.kind for hazard in version_range.hazards}
    )


@given(ranges)
def test_range_that_matches_nothing_has_a_hazard(version_range: Range) -> None:
    assert not version_range.intervals.is_empty or HazardKind.NEVER in {
        hazard.kind for hazard in version_range.hazards
    }


@given(ranges)
def test_hazards_have_a_span_in_the_text_and_fixes_that_parse(version_range: Range) -> None:
    for hazard in version_range.hazards:
        start, end = hazard.span
        assert 0 <= start < end <= len(version_range.text)
        if hazard.fix is not None:
            assert Range.parse(hazard.fix).text != version_range.text
    assert list(version_range.hazards) == sorted(version_range.hazards, key=lambda hazard: hazard.span)


@given(ranges)
def test_fix_that_spells_out_the_meaning_matches_the_same_versions(version_range: Range) -> None:
    for hazard in version_range.hazards:
        if hazard.kind in _SPELLED_OUT and hazard.fix is not None:
            assert Range.parse(hazard.fix).intervals == version_range.intervals


@given(any_text())
def test_error_has_a_span_in_the_text_and_a_fix_that_parses(text: str) -> None:
    error = _error(text)
    if error is not None:
        start, end = error.span
        assert 0 <= start <= end <= len(text) + 1
        assert error.reason in error.pretty()
        assert error.fix is None or not Range.parse(error.fix).intervals.is_empty


@given(any_text())
def test_parsing_twice_has_the_same_result(text: str) -> None:
    first, second = _error(text), _error(text)
    if first is None or second is None:
        assert first is second is None
        assert Range.parse(text) is Range.parse(text)
    else:
        assert first.args == second.args


@given(ranges, st.lists(versions(), max_size=8))
def test_explanation_has_every_published_version_in_one_group(
    version_range: Range, some: list[Version]
) -> None:
    published = explain_range(version_range, some).published
    assert published is not None
    assert all(map(version_range.contains, published.matched))
    assert not any(map(version_range.contains, published.unmatched))
    assert all(map(version_range.panics_on, published.crashing))
    assert sorted(published.matched + published.unmatched + published.crashing) == sorted(some)
