"""What operator-controller's preflight takes for a change, keyword by keyword."""

from __future__ import annotations

from typing import Any

import pytest

from crd_changes import definition_with
from everpath.crd_upgrade_safety.definitions import Definition, definition
from everpath.crd_upgrade_safety.preflight import Refusal, between_served, refusals
from everpath.model import Place
from everpath.model.bundle_contents import Manifest

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
        ("default", None),
        ("maximum", None),
        ("maximum", "3"),
        ("minimum", True),
        ("enum", "a"),
        ("required", "a"),
    ],
)
def test_a_keyword_that_says_nothing_or_has_a_wrong_shape_might_as_well_be_absent(
    key: str, empty: object
) -> None:
    assert refused({"type": "string"}, {"type": "string", key: empty}) == []


@pytest.mark.parametrize(
    ("key", "empty"),
    [
        ("default", ""),
        ("default", False),
        ("example", ""),
        ("example", []),
        ("items", {}),
        ("additionalProperties", {}),
        ("additionalProperties", False),
        ("x-kubernetes-preserve-unknown-fields", False),
    ],
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


def whole(*versions: tuple[str, dict[str, Any]], **spec: Any) -> Definition:
    """A definition of served versions, each with its whole schema."""
    listed = [
        {"name": name, "served": True, "storage": False, "schema": {"openAPIV3Schema": schema}}
        for name, schema in versions
    ]
    body = {"metadata": {"name": "widgets.acme.io"}, "spec": {"versions": listed, **spec}}
    return definition(Manifest(Place("crd.yaml"), body))


@pytest.mark.parametrize("key", UPPER)
def test_an_upper_bound_may_rise_or_go(key: str) -> None:
    taken = [not refused(old, new) for old, new in (({key: 3}, {key: 4}), ({key: 3}, {}), ({}, {key: 3}))]
    assert taken == [True, True, False]


@pytest.mark.parametrize("key", LOWER)
def test_a_lower_bound_may_fall_or_go(key: str) -> None:
    taken = [not refused(old, new) for old, new in (({key: 3}, {key: 2}), ({key: 3}, {}), ({}, {key: 3}))]
    assert taken == [True, True, False]


def test_a_bound_may_be_a_fraction() -> None:
    assert refused({"maximum": 1.5}, {"maximum": 2.5}) == []
    assert refused({"maximum": 1.5}, {"maximum": 0.5}) == [Refusal("v1", LOCATION, ("maximum",))]


@pytest.mark.parametrize(
    ("key", "old", "new", "is_taken"),
    [
        ("enum", ["a"], ["b", "a"], True),
        ("enum", ["a"], [], False),
        ("enum", [], ["a"], False),
        ("enum", [1], [1.0, 2], True),
        ("enum", [{"a": 1.0}], [{"a": 1}], True),
        ("enum", [1], [True, 2], False),
        ("required", ["a", "b"], ["b"], True),
        ("required", ["a"], [], True),
        ("required", ["a"], ["b"], False),
        ("default", 1, 1.0, True),
        ("default", [1], [1.0], True),
        ("default", 1, True, False),
    ],
)
def test_a_list_of_values_may_grow_and_one_of_demands_may_shrink(
    key: str, old: Any, new: Any, is_taken: bool
) -> None:
    assert (refused({key: old}, {key: new}) == []) is is_taken


@pytest.mark.parametrize("key", ["allOf", "anyOf", "oneOf"])
def test_the_last_of_combined_schemas_stands_for_the_field(key: str) -> None:
    def combined(beside: int, first: int, last: int) -> dict[str, Any]:
        return {"maxLength": beside, key: [{"minLength": first}, {"maxItems": last}]}

    assert refused(combined(3, 1, 3), combined(2, 2, 3)) == []
    assert refused(combined(3, 1, 3), combined(3, 1, 2)) == [Refusal("v1", LOCATION, ("maxItems",))]


def test_of_several_ways_to_combine_the_last_stands_for_the_field() -> None:
    def combined(*bounds: int) -> dict[str, Any]:
        every = dict(zip(("allOf", "anyOf", "oneOf"), ([{"maximum": b}] for b in bounds[:3]), strict=True))
        return {**every, "not": {"maximum": bounds[3]}}

    assert refused(combined(3, 3, 3, 3), combined(2, 2, 2, 3)) == []
    assert refused(combined(3, 3, 3, 3), combined(3, 3, 3, 2)) == [Refusal("v1", LOCATION, ("maximum",))]


@pytest.mark.parametrize(
    ("around", "location"),
    [
        (lambda inner: {"properties": {"b": inner}}, "spec.a.b"),
        (lambda inner: {"items": inner}, "spec.a[*]"),
        (lambda inner: {"additionalProperties": inner}, "spec.a[*]"),
        (lambda inner: {"items": {"properties": {"b": inner}}}, "spec.a[*].b"),
    ],
)
def test_a_change_is_found_wherever_in_a_field_it_is(around: Any, location: str) -> None:
    changed = refused(around({"maximum": 3}), around({"maximum": 2}))
    assert Refusal("v1", location, ("maximum",)) in changed
    # What holds items or entries has changed with them; what holds fields has not.
    assert (Refusal("v1", LOCATION, ("items",)) in changed) == ("items" in around({}))
    assert (Refusal("v1", LOCATION, ("additionalProperties",)) in changed) == (
        "additionalProperties" in around({})
    )
    gone = refused(around({"maximum": 3}), {})
    assert Refusal("v1", location, ()) in gone


@pytest.mark.parametrize("key", ["items", "additionalProperties", "not"])
def test_what_go_does_not_read_is_dropped_below_a_field_too(key: str) -> None:
    assert refused({key: {"x-other": 1, "title": ""}}, {key: {"x-other": 2}}) == []


@pytest.mark.parametrize("key", ["allOf", "anyOf", "oneOf"])
def test_what_go_does_not_read_is_dropped_in_combined_schemas_too(key: str) -> None:
    one, other = ({key: [{"x-other": n}, {"type": "string"}]} for n in (1, 2))
    assert refused({"items": one}, {"items": other}) == []


def test_a_schema_of_a_wrong_shape_is_an_empty_one() -> None:
    assert refused({"properties": {"b": "string"}}, {"properties": {"b": {}}}) == []
    assert refused({"properties": "b"}, {"properties": {}}) == []


def test_a_change_of_the_whole_object_has_no_location() -> None:
    old, new = whole(("v1", {})), whole(("v1", {"title": "t"}))
    assert list(refusals(old, new)) == [Refusal("v1", "", ("title",))]


def test_every_version_that_both_have_is_compared_and_no_other() -> None:
    plain, changed = {"maximum": 3}, {"maximum": 2}
    old = whole(("v1", plain), ("v2", plain), ("v3", plain))
    new = whole(("v4", changed), ("v3", changed), ("v2", changed))
    assert [refusal.version for refusal in refusals(old, new)] == ["v2", "v3"]


def test_locations_and_keywords_come_in_order_and_none_is_left_out() -> None:
    old: dict[str, Any] = {"properties": {"c": {}, "b": {"properties": {"z": {}}}}}
    keys = {"title": "t", "maximum": 1, "format": "f", "id": "i", "default": 1, "nullable": True}
    new = {"properties": {"c": keys}}
    assert refused(old, new) == [
        Refusal("v1", "spec.a.b", ()),
        Refusal("v1", "spec.a.b.z", ()),
        Refusal("v1", "spec.a.c", tuple(sorted(keys))),
    ]


def test_each_two_served_versions_are_compared_the_older_with_the_newer() -> None:
    """Each asks for more than the one before it, in the order of Kubernetes."""
    versions = [(name, {"maximum": bound}) for name, bound in (("v1", 1), ("v1alpha1", 3), ("v1beta1", 2))]
    assert [(found[0].version, newer) for newer, found in between_served(whole(*versions))] == [
        ("v1alpha1", "v1beta1"),
        ("v1alpha1", "v1"),
        ("v1beta1", "v1"),
    ]


def test_versions_that_are_not_served_or_that_a_webhook_converts_are_not_compared() -> None:
    versions = ("v1", {"maximum": 3}), ("v2", {"maximum": 2})
    made = whole(*versions)
    hidden = made._replace(versions={**made.versions, "v2": made.versions["v2"]._replace(is_served=False)})
    assert len(list(between_served(made))) == 1
    assert list(between_served(hidden)) == []
    assert list(between_served(whole(*versions, conversion={"strategy": "Webhook"}))) == []
