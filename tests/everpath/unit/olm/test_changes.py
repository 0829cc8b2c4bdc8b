"""Differences between objects: only requested fields count."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everpath.olm.changes import differences

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


def merge(actual: Any, requested: Any) -> Any:
    if not isinstance(requested, dict):
        return requested
    base = actual if isinstance(actual, dict) else {}
    return base | {key: merge(base.get(key), value) for key, value in requested.items()}


@given(OBJECTS)
def test_object_does_not_differ_from_itself(obj: dict[str, Any]) -> None:
    assert differences(obj, obj) == []


@given(OBJECTS, OBJECTS)
def test_applied_object_does_not_differ(actual: dict[str, Any], requested: dict[str, Any]) -> None:
    assert differences(merge(actual, requested), requested) == []


@given(OBJECTS)
def test_fields_that_are_not_requested_are_ignored(actual: dict[str, Any]) -> None:
    assert differences(actual, {}) == []


@pytest.mark.parametrize(
    ("actual", "requested", "text"),
    [
        ("alpha", "stable", "spec.a is alpha, not stable"),
        (None, "stable", "spec.a is not set, not stable"),
        (["x", "y"], [], "spec.a is x, y, not empty"),
        ("", "x", "spec.a is empty, not x"),
    ],
)
def test_difference_is_formatted_for_messages(actual: Any, requested: Any, text: str) -> None:
    (difference,) = differences({"spec": {"a": actual}}, {"spec": {"a": requested}}, "spec")
    assert str(difference) == text
