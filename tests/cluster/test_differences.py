"""What differs between what is there and what is wanted: only what is wanted counts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everpath.olm.differences import differences, told

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=3)
    | st.lists(st.text(max_size=2), max_size=2),
    lambda inner: st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=2), VALUES, max_size=4)


def merged(there: Any, wanted: Any) -> Any:
    if not isinstance(wanted, dict):
        return wanted
    base = there if isinstance(there, dict) else {}
    return base | {key: merged(base.get(key), value) for key, value in wanted.items()}


@given(OBJECTS)
def test_nothing_differs_from_itself(thing: dict[str, Any]) -> None:
    assert differences(thing, thing) == []


@given(OBJECTS, OBJECTS)
def test_what_was_made_as_wanted_differs_no_more(there: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert differences(merged(there, wanted), wanted) == []


@given(OBJECTS)
def test_what_is_there_beyond_what_is_wanted_is_no_difference(there: dict[str, Any]) -> None:
    assert differences(there, {}) == []


@pytest.mark.parametrize(
    ("there", "wanted", "sentence"),
    [
        ("alpha", "stable", "spec.a is alpha, not stable"),
        (None, "stable", "spec.a is not set, not stable"),
        (["x", "y"], [], "spec.a is x, y, not empty"),
        ("", "x", "spec.a is empty, not x"),
    ],
)
def test_a_difference_in_words(there: Any, wanted: Any, sentence: str) -> None:
    (one,) = differences({"spec": {"a": there}}, {"spec": {"a": wanted}}, "spec")
    assert told(one) == sentence
