"""What operator-controller's preflight takes for a change, keyword by keyword."""

from __future__ import annotations

from typing import Any

import pytest

from crd_changes import definition_with
from everpath.contents import Manifest
from everpath.crds.definitions import definition
from everpath.crds.preflight import Refusal, refusals
from everpath.model import Place

LOCATION = "spec.a"


def refused(old: dict[str, Any], new: dict[str, Any]) -> list[Refusal]:
    """What is refused of a field `spec.a` that has one schema and is given another."""
    before, after = (definition(Manifest(Place("crd.yaml"), definition_with(s))) for s in (old, new))
    return list(refusals(before, after))


TEXTS = [
    "id",
    "$schema",
    "$ref",
    "description",
    "type",
    "format",
    "title",
    "pattern",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
]
SWITCHES = [
    "exclusiveMaximum",
    "exclusiveMinimum",
    "uniqueItems",
    "nullable",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
]
UPPER = ["maximum", "maxLength", "maxItems", "maxProperties"]
LOWER = ["minimum", "minLength", "minItems", "minProperties"]
MAPPINGS = ["patternProperties", "dependencies", "definitions", "externalDocs"]
CHANGED: dict[str, tuple[Any, Any]] = {
    **dict.fromkeys(TEXTS, ("a", "b")),
    **dict.fromkeys(SWITCHES, (False, True)),
    **dict.fromkeys(UPPER, (3, 2)),
    **dict.fromkeys(LOWER, (2, 3)),
    **dict.fromkeys(MAPPINGS, ({"a": 1}, {"a": 2})),
    "multipleOf": (4, 2),
    "default": (1, 2),
    "example": (1, True),
    "enum": (["a", "b"], ["a"]),
    "required": ([], ["a"]),
    "additionalItems": (True, False),
    "x-kubernetes-list-map-keys": (["a"], ["b"]),
    "x-kubernetes-validations": ([{"rule": "a"}], [{"rule": "b"}]),
}


@pytest.mark.parametrize("key", CHANGED)
def test_another_value_of_a_keyword_is_refused(key: str) -> None:
    old, new = CHANGED[key]
    assert refused({key: old}, {key: new}) == [Refusal("v1", LOCATION, (key,))]


@pytest.mark.parametrize("key", ["x-other", "Maximum", "const"])
def test_what_no_definition_may_state_is_dropped(key: str) -> None:
    assert refused({key: 3}, {key: 2}) == []


@pytest.mark.parametrize(
    ("key", "empty"),
    [
        ("title", ""),
        ("nullable", False),
        ("uniqueItems", False),
        ("enum", []),
        ("required", []),
        ("allOf", []),
        ("x-kubernetes-list-map-keys", []),
        ("properties", {}),
        ("externalDocs", {}),
        ("maximum", None),
        ("maximum", "3"),
        ("minimum", True),
        ("enum", "a"),
    ],
)
def test_a_keyword_that_says_nothing_or_has_a_wrong_shape_might_as_well_be_absent(
    key: str, empty: object
) -> None:
    assert refused({"type": "string"}, {"type": "string", key: empty}) == []


@pytest.mark.parametrize(
    ("key", "empty"), [("default", ""), ("default", False), ("items", {}), ("additionalProperties", {})]
)
def test_an_empty_value_of_some_keywords_says_something(key: str, empty: object) -> None:
    assert Refusal("v1", LOCATION, (key,)) in refused({}, {key: empty})


def test_values_in_another_order_are_no_change() -> None:
    assert refused({"enum": ["a", "b"]}, {"enum": ["b", "a"]}) == []
    assert refused({"required": ["a", "b"]}, {"required": ["b", "a"]}) == []


def test_a_refusal_of_items_and_entries_alone_is_inside() -> None:
    assert Refusal("v1", LOCATION, ("additionalProperties", "items")).is_inside
    assert Refusal("v1", LOCATION, ("additionalProperties",)).is_inside
    assert Refusal("v1", LOCATION, ("items",)).is_inside
    assert not Refusal("v1", LOCATION, ("items", "title")).is_inside
    assert not Refusal("v1", LOCATION, ()).is_inside
