"""The changes that operator-controller's preflight refuses, keyword by keyword."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.crd_upgrade_safety.crd import CustomResourceDefinition, parse_crd
from everpath.crd_upgrade_safety.preflight import RefusedChange, refused_changes, served_version_differences
from everpath.model import Place
from everpath.model.bundle_contents import Manifest
from tests.support.everpath.crd_changes import crd_with

LOCATION = "spec.a"


def refused(old: dict[str, Any], new: dict[str, Any]) -> list[RefusedChange]:
    """The refused changes of a field `spec.a` whose schema changes."""
    before, after = (parse_crd(Manifest(Place("crd.yaml"), crd_with(s))) for s in (old, new))
    return list(refused_changes(before, after))


STRINGS = [
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
CHANGED_VALUES: dict[str, tuple[Any, Any]] = {
    **dict.fromkeys(STRINGS, ("a", "b")),
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


@pytest.mark.parametrize("key", CHANGED_VALUES)
def test_a_changed_keyword_is_refused(key: str) -> None:
    old, new = CHANGED_VALUES[key]
    assert refused({key: old}, {key: new}) == [RefusedChange("v1", LOCATION, (key,))]


@pytest.mark.parametrize("key", ["x-other", "Maximum", "const"])
def test_an_unknown_keyword_is_ignored(key: str) -> None:
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
def test_an_empty_or_malformed_keyword_counts_as_absent(key: str, empty: object) -> None:
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
def test_an_empty_value_of_some_keywords_counts(key: str, empty: object) -> None:
    assert RefusedChange("v1", LOCATION, (key,)) in refused({}, {key: empty})


def test_the_order_of_enum_and_required_is_ignored() -> None:
    assert refused({"enum": ["a", "b"]}, {"enum": ["b", "a"]}) == []
    assert refused({"required": ["a", "b"]}, {"required": ["b", "a"]}) == []


def test_a_change_of_items_and_entries_alone_is_of_items() -> None:
    assert RefusedChange("v1", LOCATION, ("additionalProperties", "items")).is_of_items
    assert RefusedChange("v1", LOCATION, ("additionalProperties",)).is_of_items
    assert RefusedChange("v1", LOCATION, ("items",)).is_of_items
    assert not RefusedChange("v1", LOCATION, ("items", "title")).is_of_items
    assert not RefusedChange("v1", LOCATION, ()).is_of_items


def crd(*versions: tuple[str, dict[str, Any]], **spec: Any) -> CustomResourceDefinition:
    """A CRD with these served versions and schemas."""
    listed = [
        {"name": name, "served": True, "storage": False, "schema": {"openAPIV3Schema": schema}}
        for name, schema in versions
    ]
    body = {"metadata": {"name": "widgets.acme.io"}, "spec": {"versions": listed, **spec}}
    return parse_crd(Manifest(Place("crd.yaml"), body))


@pytest.mark.parametrize("key", UPPER)
def test_an_upper_bound_may_be_raised_or_removed(key: str) -> None:
    is_accepted = [
        not refused(old, new) for old, new in (({key: 3}, {key: 4}), ({key: 3}, {}), ({}, {key: 3}))
    ]
    assert is_accepted == [True, True, False]


@pytest.mark.parametrize("key", LOWER)
def test_a_lower_bound_may_be_lowered_or_removed(key: str) -> None:
    is_accepted = [
        not refused(old, new) for old, new in (({key: 3}, {key: 2}), ({key: 3}, {}), ({}, {key: 3}))
    ]
    assert is_accepted == [True, True, False]


def test_a_bound_may_be_a_fraction() -> None:
    assert refused({"maximum": 1.5}, {"maximum": 2.5}) == []
    assert refused({"maximum": 1.5}, {"maximum": 0.5}) == [RefusedChange("v1", LOCATION, ("maximum",))]


@pytest.mark.parametrize(
    ("key", "old", "new", "is_accepted"),
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
def test_an_enum_may_grow_and_required_may_shrink(key: str, old: Any, new: Any, is_accepted: bool) -> None:
    assert (refused({key: old}, {key: new}) == []) is is_accepted


@pytest.mark.parametrize("key", ["allOf", "anyOf", "oneOf"])
def test_the_last_combined_schema_replaces_that_of_the_field(key: str) -> None:
    def combined(beside: int, first: int, last: int) -> dict[str, Any]:
        return {"maxLength": beside, key: [{"minLength": first}, {"maxItems": last}]}

    assert refused(combined(3, 1, 3), combined(2, 2, 3)) == []
    assert refused(combined(3, 1, 3), combined(3, 1, 2)) == [RefusedChange("v1", LOCATION, ("maxItems",))]


def test_not_replaces_all_other_combined_schemas() -> None:
    def combined(*bounds: int) -> dict[str, Any]:
        every = dict(zip(("allOf", "anyOf", "oneOf"), ([{"maximum": b}] for b in bounds[:3]), strict=True))
        return {**every, "not": {"maximum": bounds[3]}}

    assert refused(combined(3, 3, 3, 3), combined(2, 2, 2, 3)) == []
    assert refused(combined(3, 3, 3, 3), combined(3, 3, 3, 2)) == [
        RefusedChange("v1", LOCATION, ("maximum",))
    ]


@pytest.mark.parametrize(
    ("wrap", "location"),
    [
        (lambda inner: {"properties": {"b": inner}}, "spec.a.b"),
        (lambda inner: {"items": inner}, "spec.a[*]"),
        (lambda inner: {"additionalProperties": inner}, "spec.a[*]"),
        (lambda inner: {"items": {"properties": {"b": inner}}}, "spec.a[*].b"),
    ],
)
def test_a_nested_change_is_found_at_its_location(wrap: Any, location: str) -> None:
    changed = refused(wrap({"maximum": 3}), wrap({"maximum": 2}))
    assert RefusedChange("v1", location, ("maximum",)) in changed
    # Lists and maps change with their items and entries; objects do not change with their fields.
    assert (RefusedChange("v1", LOCATION, ("items",)) in changed) == ("items" in wrap({}))
    assert (RefusedChange("v1", LOCATION, ("additionalProperties",)) in changed) == (
        "additionalProperties" in wrap({})
    )
    removed = refused(wrap({"maximum": 3}), {})
    assert RefusedChange("v1", location, ()) in removed


@pytest.mark.parametrize("key", ["items", "additionalProperties", "not"])
def test_unknown_keywords_are_ignored_in_nested_schemas(key: str) -> None:
    assert refused({key: {"x-other": 1, "title": ""}}, {key: {"x-other": 2}}) == []


@pytest.mark.parametrize("key", ["allOf", "anyOf", "oneOf"])
def test_unknown_keywords_are_ignored_in_combined_schemas(key: str) -> None:
    one, other = ({key: [{"x-other": n}, {"type": "string"}]} for n in (1, 2))
    assert refused({"items": one}, {"items": other}) == []


def test_a_malformed_schema_counts_as_empty() -> None:
    assert refused({"properties": {"b": "string"}}, {"properties": {"b": {}}}) == []
    assert refused({"properties": "b"}, {"properties": {}}) == []


def test_a_change_of_the_top_level_schema_has_an_empty_location() -> None:
    old, new = crd(("v1", {})), crd(("v1", {"title": "t"}))
    assert list(refused_changes(old, new)) == [RefusedChange("v1", "", ("title",))]


def test_only_versions_of_both_crds_are_compared() -> None:
    plain, changed = {"maximum": 3}, {"maximum": 2}
    old = crd(("v1", plain), ("v2", plain), ("v3", plain))
    new = crd(("v4", changed), ("v3", changed), ("v2", changed))
    assert [refusal.version for refusal in refused_changes(old, new)] == ["v2", "v3"]


def test_locations_and_keywords_are_sorted_and_complete() -> None:
    old: dict[str, Any] = {"properties": {"c": {}, "b": {"properties": {"z": {}}}}}
    keys = {"title": "t", "maximum": 1, "format": "f", "id": "i", "default": 1, "nullable": True}
    new = {"properties": {"c": keys}}
    assert refused(old, new) == [
        RefusedChange("v1", "spec.a.b", ()),
        RefusedChange("v1", "spec.a.b.z", ()),
        RefusedChange("v1", "spec.a.c", tuple(sorted(keys))),
    ]


def test_each_served_version_is_compared_with_every_newer_one() -> None:
    """Each version is stricter than the one before it, in Kubernetes' order."""
    versions = [(name, {"maximum": bound}) for name, bound in (("v1", 1), ("v1alpha1", 3), ("v1beta1", 2))]
    assert [(found[0].version, newer) for newer, found in served_version_differences(crd(*versions))] == [
        ("v1alpha1", "v1beta1"),
        ("v1alpha1", "v1"),
        ("v1beta1", "v1"),
    ]


def test_unserved_and_webhook_converted_versions_are_not_compared() -> None:
    versions = ("v1", {"maximum": 3}), ("v2", {"maximum": 2})
    crd_ = crd(*versions)
    hidden = crd_._replace(versions={**crd_.versions, "v2": crd_.versions["v2"]._replace(is_served=False)})
    assert len(list(served_version_differences(crd_))) == 1
    assert list(served_version_differences(hidden)) == []
    assert list(served_version_differences(crd(*versions, conversion={"strategy": "Webhook"}))) == []
