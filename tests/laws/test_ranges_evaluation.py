"""A range answers the same whether it is evaluated term by term or as a set of versions."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from everpath.ranges import HazardKind, Range, RangeError, RangePanic
from everpath.ranges.explain import explain_range
from everpath.versions import Version
from version_strategies import any_text, range_texts, versions

_SPELLED_OUT = {HazardKind.IGNORED_BUILD, HazardKind.LENIENT_NUMBER, HazardKind.X_AS_ZERO}


def _parsed(text: str) -> Range:
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


ranges = range_texts().map(_parsed)


@given(ranges, versions())
def test_a_range_contains_exactly_the_versions_of_its_intervals(span: Range, version: Version) -> None:
    assume(not span.panics_on(version))
    assert span.contains(version) == (version in span.intervals)


@given(ranges, versions())
def test_a_panic_is_foretold(span: Range, version: Version) -> None:
    if span.panics_on(version):
        assert span.can_panic
        with pytest.raises(RangePanic):
            span.contains(version)
    else:
        assert span.contains(version) in (True, False)


@given(ranges)
def test_a_range_that_panics_says_so_among_its_hazards(span: Range) -> None:
    assert span.can_panic == (HazardKind.EMPTY_ARM in {hazard.kind for hazard in span.hazards})


@given(ranges)
def test_a_range_that_is_never_true_says_so_among_its_hazards(span: Range) -> None:
    assert not span.intervals.is_empty or HazardKind.NEVER in {hazard.kind for hazard in span.hazards}


@given(ranges)
def test_hazards_stand_in_the_text_and_their_fixes_parse(span: Range) -> None:
    for hazard in span.hazards:
        start, end = hazard.span
        assert 0 <= start < end <= len(span.text)
        if hazard.fix is not None:
            assert Range.parse(hazard.fix).text != span.text
    assert list(span.hazards) == sorted(span.hazards, key=lambda hazard: hazard.span)


@given(ranges)
def test_a_fix_that_only_spells_out_the_reading_keeps_the_meaning(span: Range) -> None:
    for hazard in span.hazards:
        if hazard.kind in _SPELLED_OUT and hazard.fix is not None:
            assert Range.parse(hazard.fix).intervals == span.intervals


@given(any_text())
def test_an_error_points_into_the_text_and_its_fix_parses(text: str) -> None:
    error = _error(text)
    if error is not None:
        start, end = error.span
        assert 0 <= start <= end <= len(text) + 1
        assert error.reason in error.pretty()
        assert error.fix is None or not Range.parse(error.fix).intervals.is_empty


@given(any_text())
def test_a_text_is_read_the_same_each_time(text: str) -> None:
    first, second = _error(text), _error(text)
    if first is None or second is None:
        assert first is second is None
        assert Range.parse(text) is Range.parse(text)
    else:
        assert first.args == second.args


@given(ranges, st.lists(versions(), max_size=8))
def test_an_explanation_sorts_every_published_version_once(span: Range, some: list[Version]) -> None:
    published = explain_range(span, some).published
    assert published is not None
    assert all(map(span.contains, published.matched))
    assert not any(map(span.contains, published.unmatched))
    assert all(map(span.panics_on, published.crashing))
    assert sorted(published.matched + published.unmatched + published.crashing) == sorted(some)
