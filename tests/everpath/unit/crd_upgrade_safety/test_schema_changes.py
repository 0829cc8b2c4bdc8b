"""Changes of CRDs and their schemas that break objects or clients."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.crd_upgrade_safety import find_unsafe_changes
from everpath.crd_upgrade_safety.crd import parse_crd
from everpath.model import Place
from everpath.model.bundle_contents import Manifest


def crd(*versions: dict[str, Any], scope: str = "Namespaced", **spec: Any) -> Manifest:
    body = {
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.acme.io"},
        "spec": {"names": {"kind": "Widget"}, "scope": scope, "versions": list(versions), **spec},
    }
    return Manifest(Place("crd.yaml"), body)


def version(name: str = "v1", *, served: bool = True, storage: bool = True, **fields: Any) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "properties": fields}}
    return {"name": name, "served": served, "storage": storage, "schema": schema}


def breaking_changes(old: Manifest, new: Manifest, stored: str = "v1") -> list[str]:
    """Kind and message of the changes that break something; see test_olm_responses for the others."""
    stored_versions = {"widgets.acme.io": frozenset(stored.split())}
    found = find_unsafe_changes([parse_crd(old)], [parse_crd(new)], stored_versions)
    return [f"{change.kind} {change.message}" for change in found if "refused" not in change.kind]


def field_changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    return breaking_changes(crd(version(size=old)), crd(version(size=new)))


def test_identical_crds_have_no_changes() -> None:
    assert (
        breaking_changes(crd(version(size={"type": "string"})), crd(version(size={"type": "string"}))) == []
    )


def test_a_crd_missing_from_the_new_bundle_is_reported() -> None:
    [found] = find_unsafe_changes([parse_crd(crd(version()))], [], {})
    assert (found.kind, found.version) == ("definition-removed", "")


def test_a_removed_version_is_reported_at_spec_versions() -> None:
    old, new = crd(version("v1beta1"), version("v1alpha1", storage=False)), crd(version("v1"))
    found = list(
        find_unsafe_changes([parse_crd(old)], [parse_crd(new)], {"widgets.acme.io": frozenset({"v1beta1"})})
    )
    assert [(change.kind, change.version) for change in found] == [
        ("served-removed", "v1alpha1"),
        ("stored-removed", "v1beta1"),
    ]
    assert {change.place.pointer for change in found} == {("spec", "versions")}


def test_a_lost_conversion_is_reported_at_the_spec() -> None:
    versions = version("v1"), version("v2", storage=False)
    old, new = crd(*versions, conversion={"strategy": "Webhook"}), crd(*versions)
    [found] = find_unsafe_changes([parse_crd(old)], [parse_crd(new)], {})
    assert (found.kind, found.version, found.place.pointer) == ("conversion-lost", "", ("spec",))


def test_a_changed_scope_is_reported() -> None:
    [found] = breaking_changes(crd(version()), crd(version(), scope="Cluster"))
    assert found.startswith("scope-changed the scope of widgets.acme.io changes from Namespaced to Cluster")


def test_removing_a_stored_version_is_reported() -> None:
    old, new = crd(version("v1beta1")), crd(version("v1"))
    assert [line.split()[0] for line in breaking_changes(old, new, "v1beta1")] == ["stored-removed"]


def test_removing_a_version_stored_by_an_earlier_bundle_is_reported() -> None:
    """The installed bundle stores v1, and an earlier one stored v1alpha1."""
    assert [line.split()[0] for line in breaking_changes(crd(version()), crd(version()), "v1alpha1 v1")] == [
        "stored-removed"
    ]


def test_a_version_that_is_no_longer_served_is_reported() -> None:
    old = crd(version("v1"), version("v1beta1", storage=False))
    assert [line.split()[0] for line in breaking_changes(old, crd(version("v1")))] == ["served-removed"]
    unserved = crd(version("v1"), version("v1beta1", storage=False, served=False))
    assert [line.split()[0] for line in breaking_changes(old, unserved)] == ["served-removed"]


def test_removing_the_conversion_of_several_versions_is_reported() -> None:
    versions = version("v1"), version("v2", storage=False)
    old = crd(*versions, conversion={"strategy": "Webhook"})
    assert [line.split()[0] for line in breaking_changes(old, crd(*versions))] == ["conversion-lost"]


def test_removing_the_conversion_of_one_version_is_not_reported() -> None:
    old = crd(version("v1"), conversion={"strategy": "Webhook"})
    assert breaking_changes(old, crd(version("v1"))) == []


def test_a_v1beta1_schema_is_compared() -> None:
    old = crd(version="v1", validation={"openAPIV3Schema": {"properties": {"size": {"type": "string"}}}})
    assert [line.split()[0] for line in breaking_changes(old, crd(version()))] == ["field-removed"]


BREAKING = [
    ({"type": "integer"}, {"type": "string"}, "field-retyped"),
    ({"type": "integer"}, {"type": "integer", "maximum": 3}, "validation-tightened"),
    ({"type": "integer", "maximum": 4}, {"type": "integer", "maximum": 3}, "validation-tightened"),
    ({"type": "integer"}, {"type": "integer", "minimum": 1}, "validation-tightened"),
    ({"type": "integer"}, {"type": "integer", "minimum": 0}, "validation-tightened"),
    ({"maximum": 3}, {"maximum": 3, "exclusiveMaximum": True}, "validation-tightened"),
    ({"minimum": 3}, {"minimum": 3, "exclusiveMinimum": True}, "validation-tightened"),
    ({"multipleOf": 2}, {"multipleOf": 4}, "validation-tightened"),
    ({}, {"type": "string"}, "validation-tightened"),
    ({"enum": [1]}, {"enum": [True]}, "validation-tightened"),
    ({}, {"allOf": [{"minimum": 1}]}, "validation-tightened"),
    ({"anyOf": [{"minimum": 1}, {"enum": [0]}]}, {"anyOf": [{"minimum": 1}]}, "validation-tightened"),
    ({"oneOf": [{"minimum": 1}]}, {"oneOf": [{"minimum": 1}, {"enum": [0]}]}, "validation-tightened"),
    ({"oneOf": [{"minimum": 1}]}, {"oneOf": [{"minimum": 1}, {"minimum": 1}]}, "validation-tightened"),
    ({}, {"not": {"enum": [0]}}, "validation-tightened"),
    ({}, {"x-kubernetes-list-type": "set"}, "validation-tightened"),
    ({}, {"x-kubernetes-embedded-resource": True}, "validation-tightened"),
    ({"additionalProperties": True}, {"additionalProperties": {"maximum": 1}}, "validation-tightened"),
    ({"additionalProperties": {}}, {"properties": {}}, "field-removed"),
    ({"default": 1}, {"default": True}, "default-changed"),
    ({"type": "string"}, {"type": "string", "enum": ["a"]}, "validation-tightened"),
    ({"enum": ["a", "b"]}, {"enum": ["a"]}, "validation-tightened"),
    ({"type": "string"}, {"type": "string", "pattern": "^a"}, "validation-tightened"),
    ({"type": "string"}, {"type": "string", "format": "uuid"}, "validation-tightened"),
    ({"type": "integer"}, {"type": "integer", "format": "int32"}, "validation-tightened"),
    ({"type": "number"}, {"type": "number", "format": "float"}, "validation-tightened"),
    ({"format": "uuid"}, {"format": "uri"}, "validation-tightened"),
    ({"nullable": True}, {}, "validation-tightened"),
    ({}, {"required": ["a"]}, "validation-tightened"),
    ({}, {"x-kubernetes-validations": [{"rule": "self > 1"}]}, "validation-tightened"),
    ({"x-kubernetes-preserve-unknown-fields": True}, {"type": "object"}, "validation-tightened"),
    ({"default": 1}, {"default": 2}, "default-changed"),
    ({"default": 1}, {}, "default-changed"),
    ({"properties": {"a": {}}}, {"properties": {}}, "field-removed"),
    ({"items": {"type": "integer"}}, {"items": {"type": "string"}}, "field-retyped"),
    (
        {"additionalProperties": {"type": "integer"}},
        {"additionalProperties": {"type": "string"}},
        "field-retyped",
    ),
]


@pytest.mark.parametrize(("old", "new", "kind"), BREAKING)
def test_a_stricter_schema_is_reported(old: dict[str, Any], new: dict[str, Any], kind: str) -> None:
    assert [line.split()[0] for line in field_changes(old, new)] == [kind]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "integer"}, {"type": "number"}),
        ({"type": "integer"}, {"x-kubernetes-int-or-string": True}),
        (
            {"type": "string"},
            {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        ),
        ({"type": "integer"}, {}),
        (
            {"type": "string"},
            {"type": "string", "maximum": 3, "multipleOf": 2, "maxItems": 1, "required": ["a"]},
        ),
        ({"type": "object"}, {"type": "object", "maxLength": 3, "pattern": "a", "uniqueItems": True}),
        ({"type": "integer"}, {"type": "integer", "minProperties": 1}),
        ({"maximum": 3}, {"maximum": 4}),
        ({"maximum": 3}, {"maximum": 3.0}),
        ({}, {"exclusiveMaximum": True}),
        ({"multipleOf": 4}, {"multipleOf": 2}),
        ({"anyOf": [{"minimum": 1}]}, {"anyOf": [{"minimum": 1}, {"enum": [0]}]}),
        ({"allOf": [{"minimum": 1}]}, {}),
        ({"oneOf": [{"minimum": 1}]}, {}),
        ({"oneOf": [{"minimum": 1}, {"enum": [0]}]}, {"oneOf": [{"enum": [0]}, {"minimum": 1}]}),
        ({"not": {"minimum": 1}}, {}),
        ({"x-kubernetes-list-type": "set"}, {"x-kubernetes-list-type": "atomic"}),
        ({"default": 1}, {"default": 1.0}),
        ({}, {"default": None}),
        ({"properties": {"a": {}}}, {"additionalProperties": {}}),
        ({"minLength": 2}, {"minLength": 1}),
        ({}, {"minItems": 0}),
        ({"enum": ["a"]}, {"enum": ["a", "b"]}),
        ({"required": ["a"]}, {}),
        ({"pattern": "^a"}, {}),
        ({"format": "date-time"}, {"format": "datetime"}),
        ({"type": "number", "format": "float"}, {"type": "number", "format": "double"}),
        ({"type": "integer"}, {"type": "integer", "format": "uuid"}),
        ({}, {"default": 1}),
        ({}, {"nullable": True}),
        ({"properties": {"a": {}}}, {"x-kubernetes-preserve-unknown-fields": True}),
    ],
)
def test_a_wider_schema_is_not_reported(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert field_changes(old, new) == []


def test_a_path_contains_lists_and_maps() -> None:
    def nested(leaf: str) -> dict[str, Any]:
        return {"items": {"additionalProperties": {"properties": {"leaf": {"type": leaf}}}}}

    [found] = field_changes(nested("string"), nested("integer"))
    assert "size[].*.leaf changes type from string to integer" in found


#: The keywords that limit values of one type.
LIMITS: dict[str, dict[str, Any]] = {
    "integer": {"maximum": 3, "minimum": 3, "multipleOf": 2},
    "string": {"maxLength": 3, "minLength": 3, "pattern": "^a"},
    "array": {"maxItems": 3, "minItems": 3, "uniqueItems": True},
    "object": {"maxProperties": 3, "minProperties": 3, "required": ["a"]},
}
LIMITED = [(kind, key, limit) for kind, limits in LIMITS.items() for key, limit in limits.items()]


@pytest.mark.parametrize(("kind", "key", "limit"), LIMITED)
def test_a_limit_is_reported_only_for_its_type(kind: str, key: str, limit: Any) -> None:
    assert len(field_changes({"type": kind}, {"type": kind, key: limit})) == 1
    for other in LIMITS.keys() - {kind}:
        assert field_changes({"type": other}, {"type": other, key: limit}) == []


@pytest.mark.parametrize("key", ["exclusiveMaximum", "exclusiveMinimum"])
def test_an_exclusive_bound_of_a_string_is_not_reported(key: str) -> None:
    bounds = {"type": "string", "maximum": 3, "minimum": 3}
    assert field_changes(bounds, {**bounds, key: True}) == []


FORMATS = (
    "bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard "
    "ssn hexcolor rgbcolor byte date duration date-time k8s-short-name k8s-long-name"
)


@pytest.mark.parametrize("format_", FORMATS.split())
def test_a_new_validated_format_is_reported(format_: str) -> None:
    assert len(field_changes({"type": "string"}, {"type": "string", "format": format_})) == 1


@pytest.mark.parametrize(("key", "old", "new"), [("pattern", "^a", "^b"), ("format", "uuid", "uri")])
def test_a_changed_pattern_or_format_is_reported_with_the_old_one(key: str, old: str, new: str) -> None:
    [found] = field_changes({"type": "string", key: old}, {"type": "string", key: new})
    assert found.endswith(f"must match the {key} {new} (before: {old})")


def test_an_unchanged_nullable_is_not_reported() -> None:
    assert field_changes({"nullable": True, "title": "a"}, {"nullable": True}) == []


def test_a_new_any_of_of_an_integer_or_string_is_reported() -> None:
    either = {"x-kubernetes-int-or-string": True}
    assert len(field_changes(either, {**either, "anyOf": [{"type": "integer"}]})) == 1


def test_changed_list_map_keys_are_reported() -> None:
    def list_map(key: str) -> dict[str, Any]:
        return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}

    assert len(field_changes(list_map("a"), list_map("b"))) == 1
    assert field_changes({**list_map("a"), "title": "t"}, list_map("a")) == []


def test_changed_fields_are_reported_in_order_of_name() -> None:
    removed = field_changes({"properties": {"b": {}, "a": {}}}, {"properties": {}})
    assert [line.split("the field ")[1].split()[0] for line in removed] == ["size.a", "size.b"]
    limited = {"properties": {name: {"maximum": 1} for name in "fbdaec"}}
    limited_changes = field_changes({"additionalProperties": {}}, {**limited, "additionalProperties": {}})
    assert [line.split()[1].rstrip(":") for line in limited_changes] == ["widgets.acme.io"] * 6
    assert [line.split()[3] for line in limited_changes] == [f"size.{name}" for name in "abcdef"]


def test_a_declared_field_of_a_map_is_not_compared_with_its_entries() -> None:
    named = {"properties": {"a": {"maximum": 1}}, "additionalProperties": {}}
    assert field_changes({**named, "title": "t"}, named) == []


def test_removed_entries_are_not_reported_if_unknown_fields_are_preserved() -> None:
    open_map = {"x-kubernetes-preserve-unknown-fields": True}
    assert field_changes({"additionalProperties": {"type": "string"}}, open_map) == []


def test_entries_of_a_map_that_preserves_unknown_fields_are_compared() -> None:
    old = {"additionalProperties": {"maximum": 3}, "x-kubernetes-preserve-unknown-fields": True}
    assert field_changes(old, {"additionalProperties": {"maximum": 3}, "title": "t"}) == []


def test_a_changed_default_is_reported_with_both_values() -> None:
    [other] = field_changes({"default": 1}, {"default": 2})
    assert other.endswith("the default of size changes from 1 to 2")
    [removed] = field_changes({"default": 1}, {})
    assert removed.endswith("the default 1 of size is removed")


def test_a_change_of_the_top_level_schema_names_the_object() -> None:
    tighter = version()
    tighter["schema"]["openAPIV3Schema"]["maxProperties"] = 3
    [found] = breaking_changes(crd(version()), crd(tighter))
    assert "v1: the object must have maxProperties at most 3" in found


@pytest.mark.parametrize(("old", "new", "kind"), BREAKING)
def test_an_unchanged_constraint_is_not_reported(old: dict[str, Any], new: dict[str, Any], kind: str) -> None:
    assert field_changes({**new, "title": "t"}, new) == []


@pytest.mark.parametrize("kind", LIMITS)
def test_each_new_limit_is_reported(kind: str) -> None:
    limits = LIMITS[kind]
    assert len(field_changes({"type": kind}, {"type": kind, **limits})) == len(limits)


@pytest.mark.parametrize("key", ["maximum", "maxLength", "maxItems", "maxProperties"])
def test_a_lowered_upper_bound_is_reported(key: str) -> None:
    assert [bool(field_changes({key: 3}, {key: now, "title": "t"})) for now in (2, 3, 4)] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("key", ["minimum", "minLength", "minItems", "minProperties"])
def test_a_raised_lower_bound_is_reported(key: str) -> None:
    assert [bool(field_changes({key: 3}, {key: now, "title": "t"})) for now in (2, 3, 4)] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("key", ["minLength", "minItems", "minProperties"])
def test_a_new_lower_bound_of_zero_is_not_reported_for_sizes(key: str) -> None:
    assert [len(field_changes({}, {key: least})) for least in (0, 1)] == [0, 1]


@pytest.mark.parametrize(
    ("old", "new", "before"),
    [
        ({}, {"maximum": 3}, "(before: none)"),
        ({"maximum": 4}, {"maximum": 3}, " (before: 4)"),
        ({}, {"minimum": 3}, "(before: none)"),
        ({"minLength": 2}, {"minLength": 3}, " (before: 2)"),
        ({}, {"minLength": 3}, "(before: none)"),
        ({"multipleOf": 3}, {"multipleOf": 2}, " (before: 3)"),
        ({}, {"multipleOf": 2}, "(before: none)"),
    ],
)
def test_a_changed_limit_is_reported_with_the_old_one(
    old: dict[str, Any], new: dict[str, Any], before: str
) -> None:
    [found] = field_changes(old, new)
    assert found.endswith(before)


@pytest.mark.parametrize("key", ["maximum", "minimum", "multipleOf"])
@pytest.mark.parametrize(
    "kind", [{"type": "integer"}, {"type": "number"}, {"x-kubernetes-int-or-string": True}]
)
def test_a_numeric_limit_is_reported_for_every_numeric_type(key: str, kind: dict[str, Any]) -> None:
    assert len(field_changes(kind, {**kind, key: 3})) == 1


@pytest.mark.parametrize("kind", [{"type": "integer"}, {"type": "number"}, {}])
@pytest.mark.parametrize("end", ["Maximum", "Minimum"])
def test_a_new_exclusive_bound_is_reported_twice(kind: dict[str, Any], end: str) -> None:
    exclusive, bound = f"exclusive{end}", f"{end.lower()}"
    new = {**kind, bound: 3, exclusive: True}
    assert len(field_changes(kind, new)) == len(field_changes({**kind, exclusive: True}, new)) == 2
    assert field_changes(new, {**kind, bound: 3}) == []


@pytest.mark.parametrize(
    "new",
    [
        {"maximum": True},
        {"maximum": "3"},
        {"minimum": True},
        {"multipleOf": 0},
        {"uniqueItems": "yes"},
        {"enum": "a"},
        {"enum": []},
        {"pattern": ""},
        {"format": 3},
        {"type": ["string"]},
        {"required": "a"},
        {"required": [1]},
        {"not": "a"},
        {"anyOf": {}},
        {"properties": ["a"]},
        {"properties": {"a": "string"}},
        {"x-kubernetes-validations": ["a"]},
        {"x-kubernetes-validations": [{"rule": 1}]},
        {"x-kubernetes-validations": [{"rule": ""}]},
        {"x-kubernetes-list-type": "atomic"},
        {"x-kubernetes-embedded-resource": "yes"},
        {"x-kubernetes-int-or-string": "yes"},
    ],
    ids=str,
)
def test_a_malformed_keyword_is_not_reported(new: dict[str, Any]) -> None:
    assert field_changes({}, new) == []


def test_new_required_fields_and_rules_are_reported_in_order() -> None:
    required = field_changes({"required": ["b"]}, {"required": ["c", "b", "a"]})
    assert [line.split("requires the field ")[1].split(",")[0] for line in required] == ["a", "c"]
    stated = [{"rule": rule} for rule in ("b", "c", "a")]
    rules = field_changes({"x-kubernetes-validations": stated[:1]}, {"x-kubernetes-validations": stated})
    assert [line.split("CEL rule ")[1] for line in rules] == ["c", "a"]


def test_a_malformed_old_keyword_counts_as_absent() -> None:
    assert len(field_changes({"required": [{}, ["a"]]}, {"required": ["a"]})) == 1
    assert field_changes({"properties": {"a": "string"}}, {"properties": {}}) == []


@pytest.mark.parametrize("key", ["maximum", "minimum", "multipleOf"])
def test_a_fractional_limit_is_reported(key: str) -> None:
    assert len(field_changes({}, {key: 1.5})) == 1


def test_two_bounds_that_become_exclusive_are_both_reported() -> None:
    bounds = {"maximum": 3, "minimum": 1}
    assert len(field_changes(bounds, {**bounds, "exclusiveMaximum": True, "exclusiveMinimum": True})) == 2


EITHER: dict[str, Any] = {"anyOf": [{"type": "integer"}, {"type": "string"}]}


def test_any_of_that_repeats_int_or_string_is_not_reported() -> None:
    marked = {"x-kubernetes-int-or-string": True}
    assert field_changes(marked, {**marked, **EITHER}) == []
    assert len(field_changes({}, EITHER)) == 1


@pytest.mark.parametrize(
    ("old", "new"), [(1, 1.0), ([1], [1.0]), ({"a": 1}, {"a": 1.0}), ({"a": [1]}, {"a": [1.0]})]
)
def test_an_integer_equals_the_same_float(old: Any, new: Any) -> None:
    assert field_changes({"default": old}, {"default": new}) == []
    assert field_changes({"enum": [old]}, {"enum": [new]}) == []
    assert field_changes({"not": {"enum": [old]}}, {"not": {"enum": [new]}}) == []
    assert len(field_changes({"default": 1.5}, {"default": 1})) == 1


def test_the_order_of_keys_is_ignored() -> None:
    assert field_changes({"default": {"a": 1, "b": 2}}, {"default": {"b": 2, "a": 1}}) == []


def test_an_enum_is_reported_with_its_new_or_removed_values() -> None:
    [first] = field_changes({}, {"enum": ["a", 1]})
    assert first.endswith("must be one of 'a', 1 (before: any value)")
    [fewer] = field_changes({"enum": ["a", "b", 1]}, {"enum": ["b", "c"]})
    assert fewer.endswith("may no longer be 'a', 1")


@pytest.mark.parametrize("kind", ["set", "map"])
def test_a_new_list_type_is_named(kind: str) -> None:
    [found] = field_changes({}, {"x-kubernetes-list-type": kind})
    assert f"must be a {kind}" in found


OPEN: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@pytest.mark.parametrize(
    ("new", "kinds"),
    [
        ({"type": "object"}, ["validation-tightened"]),
        ({}, ["validation-tightened"]),
        ({"type": "string"}, ["field-retyped"]),
        ({"type": "object", "additionalProperties": True}, []),
        ({"type": "object", "additionalProperties": {}}, []),
        ({"type": "object", "additionalProperties": {"type": "string"}}, ["validation-tightened"]),
        ({**OPEN, "properties": {"a": {"type": "string"}}}, ["validation-tightened"]),
        ({**OPEN, "properties": {"a": {}}}, []),
    ],
    ids=str,
)
def test_no_longer_preserving_unknown_fields_is_reported(new: dict[str, Any], kinds: list[str]) -> None:
    assert [line.split()[0] for line in field_changes(OPEN, new)] == kinds


def test_a_new_type_at_the_top_is_not_reported() -> None:
    untyped = version()
    del untyped["schema"]["openAPIV3Schema"]["type"]
    assert breaking_changes(crd(untyped), crd(version())) == []


def test_a_removed_items_schema_is_not_reported() -> None:
    assert field_changes({"type": "array", "items": {"maximum": 3}}, {"type": "array"}) == []


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ({"properties": {"a": {}}}, {"properties": {"a": {"maximum": 1}}}, "size.a"),
        ({"properties": {"a": {}}}, {"additionalProperties": {"maximum": 1}}, "size.a"),
        ({"additionalProperties": {}}, {"additionalProperties": {"maximum": 1}}, "size.*"),
        (
            {"additionalProperties": True},
            {"additionalProperties": True, "properties": {"a": {"maximum": 1}}},
            "size.a",
        ),
        ({"items": {}}, {"items": {"maximum": 1}}, "size[]"),
    ],
)
def test_a_nested_change_is_reported_with_its_path(
    old: dict[str, Any], new: dict[str, Any], path: str
) -> None:
    [found] = field_changes(old, new)
    assert f"v1: {path} must have maximum at most 1" in found
