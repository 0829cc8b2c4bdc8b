"""What breaks when a release's definitions take the place of an earlier one's."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.crd_upgrade_safety import breaches
from everpath.crd_upgrade_safety.definitions import definition
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


def told(old: Manifest, new: Manifest, stored: str = "v1") -> list[str]:
    """What objects and clients suffer; what OLM v1 refuses besides is in test_fates."""
    kept = {"widgets.acme.io": frozenset(stored.split())}
    found = breaches([definition(old)], [definition(new)], kept)
    return [f"{b.kind} {b.sentence}" for b in found if "refused" not in b.kind]


def narrowed(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    return told(crd(version(size=old)), crd(version(size=new)))


def test_the_same_definitions_break_nothing() -> None:
    assert told(crd(version(size={"type": "string"})), crd(version(size={"type": "string"}))) == []


def test_a_definition_that_is_gone_leaves_its_objects_alone() -> None:
    [found] = breaches([definition(crd(version()))], [], {})
    assert (found.kind, found.version) == ("definition-removed", "")


def test_what_is_dropped_is_pointed_at_where_versions_are_listed() -> None:
    old, new = crd(version("v1beta1"), version("v1alpha1", storage=False)), crd(version("v1"))
    found = list(breaches([definition(old)], [definition(new)], {"widgets.acme.io": frozenset({"v1beta1"})}))
    assert [(breach.kind, breach.version) for breach in found] == [
        ("served-removed", "v1alpha1"),
        ("stored-removed", "v1beta1"),
    ]
    assert {breach.place.pointer for breach in found} == {("spec", "versions")}


def test_a_conversion_that_is_lost_is_of_no_version() -> None:
    both = version("v1"), version("v2", storage=False)
    old, new = crd(*both, conversion={"strategy": "Webhook"}), crd(*both)
    [found] = breaches([definition(old)], [definition(new)], {})
    assert (found.kind, found.version, found.place.pointer) == ("conversion-lost", "", ("spec",))


def test_a_scope_cannot_change() -> None:
    [found] = told(crd(version()), crd(version(), scope="Cluster"))
    assert found.startswith("scope-changed widgets.acme.io was Namespaced and is Cluster")


def test_dropping_a_version_that_objects_are_stored_in_is_refused_by_olm() -> None:
    old, new = crd(version("v1beta1")), crd(version("v1"))
    assert [line.split()[0] for line in told(old, new, "v1beta1")] == ["stored-removed"]


def test_a_version_stored_by_an_earlier_release_still_counts() -> None:
    """The cluster remembers v1alpha1 although the release before this one stores v1."""
    assert [line.split()[0] for line in told(crd(version()), crd(version()), "v1alpha1 v1")] == [
        "stored-removed"
    ]


def test_dropping_a_version_that_is_only_served_breaks_clients() -> None:
    old = crd(version("v1"), version("v1beta1", storage=False))
    assert [line.split()[0] for line in told(old, crd(version("v1")))] == ["served-removed"]
    hidden = crd(version("v1"), version("v1beta1", storage=False, served=False))
    assert [line.split()[0] for line in told(old, hidden)] == ["served-removed"]


def test_versions_that_are_converted_no_longer_lose_their_fields() -> None:
    both = version("v1"), version("v2", storage=False)
    old = crd(*both, conversion={"strategy": "Webhook"})
    assert [line.split()[0] for line in told(old, crd(*both))] == ["conversion-lost"]


def test_one_served_version_needs_no_conversion() -> None:
    old = crd(version("v1"), conversion={"strategy": "Webhook"})
    assert told(old, crd(version("v1"))) == []


def test_a_schema_of_before_v1_is_read_too() -> None:
    old = crd(version="v1", validation={"openAPIV3Schema": {"properties": {"size": {"type": "string"}}}})
    assert [line.split()[0] for line in told(old, crd(version()))] == ["field-removed"]


TIGHTER = [
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


@pytest.mark.parametrize(("old", "new", "kind"), TIGHTER)
def test_a_schema_that_narrows_is_told(old: dict[str, Any], new: dict[str, Any], kind: str) -> None:
    assert [line.split()[0] for line in narrowed(old, new)] == [kind]


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
def test_a_schema_that_widens_is_not(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert narrowed(old, new) == []


def test_a_path_names_lists_and_maps_on_the_way() -> None:
    def nested(leaf: str) -> dict[str, Any]:
        return {"items": {"additionalProperties": {"properties": {"leaf": {"type": leaf}}}}}

    [found] = narrowed(nested("string"), nested("integer"))
    assert "size[].*.leaf was of type string and is of type integer" in found


#: Every keyword that limits values of one type, with a limit.
LIMITS: dict[str, dict[str, Any]] = {
    "integer": {"maximum": 3, "minimum": 3, "multipleOf": 2},
    "string": {"maxLength": 3, "minLength": 3, "pattern": "^a"},
    "array": {"maxItems": 3, "minItems": 3, "uniqueItems": True},
    "object": {"maxProperties": 3, "minProperties": 3, "required": ["a"]},
}
LIMITED = [(kind, key, limit) for kind, limits in LIMITS.items() for key, limit in limits.items()]


@pytest.mark.parametrize(("kind", "key", "limit"), LIMITED)
def test_a_limit_narrows_values_of_its_type_and_no_others(kind: str, key: str, limit: Any) -> None:
    assert len(narrowed({"type": kind}, {"type": kind, key: limit})) == 1
    for other in LIMITS.keys() - {kind}:
        assert narrowed({"type": other}, {"type": other, key: limit}) == []


@pytest.mark.parametrize("key", ["exclusiveMaximum", "exclusiveMinimum"])
def test_a_text_has_no_bound_that_could_become_exclusive(key: str) -> None:
    bounds = {"type": "string", "maximum": 3, "minimum": 3}
    assert narrowed(bounds, {**bounds, key: True}) == []


FORMATS = (
    "bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard "
    "ssn hexcolor rgbcolor byte date duration date-time k8s-short-name k8s-long-name"
)


@pytest.mark.parametrize("form", FORMATS.split())
def test_a_format_that_the_api_server_checks_narrows(form: str) -> None:
    assert len(narrowed({"type": "string"}, {"type": "string", "format": form})) == 1


@pytest.mark.parametrize(("key", "old", "new"), [("pattern", "^a", "^b"), ("format", "uuid", "uri")])
def test_what_a_text_had_to_match_before_is_told(key: str, old: str, new: str) -> None:
    [found] = narrowed({"type": "string", key: old}, {"type": "string", key: new})
    assert found.endswith(f"must match the {key} {new} (before: {old})")


def test_null_that_stays_allowed_is_not_told() -> None:
    assert narrowed({"nullable": True, "title": "a"}, {"nullable": True}) == []


def test_an_integer_or_string_may_be_narrowed_by_any_of() -> None:
    either = {"x-kubernetes-int-or-string": True}
    assert len(narrowed(either, {**either, "anyOf": [{"type": "integer"}]})) == 1


def test_a_map_of_other_keys_may_hold_an_item_twice() -> None:
    def keyed(key: str) -> dict[str, Any]:
        return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}

    assert len(narrowed(keyed("a"), keyed("b"))) == 1
    assert narrowed({**keyed("a"), "title": "t"}, keyed("a")) == []


def test_fields_are_told_in_order_of_name_and_none_is_left_out() -> None:
    gone = narrowed({"properties": {"b": {}, "a": {}}}, {"properties": {}})
    assert [line.split("the field ")[1].split()[0] for line in gone] == ["size.a", "size.b"]
    limited = {"properties": {name: {"maximum": 1} for name in "fbdaec"}}
    narrower = narrowed({"additionalProperties": {}}, {**limited, "additionalProperties": {}})
    assert [line.split()[1].rstrip(":") for line in narrower] == ["widgets.acme.io"] * 6
    assert [line.split()[3] for line in narrower] == [f"size.{name}" for name in "abcdef"]


def test_a_field_that_a_map_names_is_compared_with_itself_and_not_with_the_entries() -> None:
    named = {"properties": {"a": {"maximum": 1}}, "additionalProperties": {}}
    assert narrowed({**named, "title": "t"}, named) == []


def test_the_entries_of_a_map_that_keeps_what_it_does_not_know_are_not_lost() -> None:
    kept = {"x-kubernetes-preserve-unknown-fields": True}
    assert narrowed({"additionalProperties": {"type": "string"}}, kept) == []


def test_a_map_that_names_its_entries_is_compared_by_them() -> None:
    old = {"additionalProperties": {"maximum": 3}, "x-kubernetes-preserve-unknown-fields": True}
    assert narrowed(old, {"additionalProperties": {"maximum": 3}, "title": "t"}) == []


def test_a_default_is_told_with_what_it_is() -> None:
    [other] = narrowed({"default": 1}, {"default": 2})
    assert other.endswith("size was 1 where nobody wrote it; that default is 2")
    [gone] = narrowed({"default": 1}, {})
    assert gone.endswith("size was 1 where nobody wrote it; that default is gone")


def test_a_change_of_the_whole_is_told_of_the_object() -> None:
    tighter = version()
    tighter["schema"]["openAPIV3Schema"]["maxProperties"] = 3
    [found] = told(crd(version()), crd(tighter))
    assert "v1: the object must have maxProperties at most 3" in found


@pytest.mark.parametrize(("old", "new", "kind"), TIGHTER)
def test_what_was_asked_for_before_is_not_told_again(
    old: dict[str, Any], new: dict[str, Any], kind: str
) -> None:
    assert narrowed({**new, "title": "t"}, new) == []


@pytest.mark.parametrize("kind", LIMITS)
def test_limits_are_told_each_by_itself_however_many_there_are(kind: str) -> None:
    limits = LIMITS[kind]
    assert len(narrowed({"type": kind}, {"type": kind, **limits})) == len(limits)


@pytest.mark.parametrize("key", ["maximum", "maxLength", "maxItems", "maxProperties"])
def test_an_upper_bound_narrows_where_it_is_lowered(key: str) -> None:
    assert [bool(narrowed({key: 3}, {key: now, "title": "t"})) for now in (2, 3, 4)] == [True, False, False]


@pytest.mark.parametrize("key", ["minimum", "minLength", "minItems", "minProperties"])
def test_a_lower_bound_narrows_where_it_is_raised(key: str) -> None:
    assert [bool(narrowed({key: 3}, {key: now, "title": "t"})) for now in (2, 3, 4)] == [False, False, True]


@pytest.mark.parametrize("key", ["minLength", "minItems", "minProperties"])
def test_nothing_is_shorter_than_empty(key: str) -> None:
    assert [len(narrowed({}, {key: least})) for least in (0, 1)] == [0, 1]


@pytest.mark.parametrize(
    ("old", "new", "before"),
    [
        ({}, {"maximum": 3}, ", and had no limit before"),
        ({"maximum": 4}, {"maximum": 3}, " (before: 4)"),
        ({}, {"minimum": 3}, ", and had no limit before"),
        ({"minLength": 2}, {"minLength": 3}, " (before: 2)"),
        ({}, {"minLength": 3}, ", and had no limit before"),
        ({"multipleOf": 3}, {"multipleOf": 2}, " (before: 3)"),
        ({}, {"multipleOf": 2}, ", and had no limit before"),
    ],
)
def test_a_limit_is_told_with_the_one_of_before(
    old: dict[str, Any], new: dict[str, Any], before: str
) -> None:
    [found] = narrowed(old, new)
    assert found.endswith(before)


@pytest.mark.parametrize("key", ["maximum", "minimum", "multipleOf"])
@pytest.mark.parametrize(
    "kind", [{"type": "integer"}, {"type": "number"}, {"x-kubernetes-int-or-string": True}]
)
def test_a_limit_of_numbers_narrows_whatever_may_be_one(key: str, kind: dict[str, Any]) -> None:
    assert len(narrowed(kind, {**kind, key: 3})) == 1


@pytest.mark.parametrize("kind", [{"type": "integer"}, {"type": "number"}, {}])
@pytest.mark.parametrize("end", ["Maximum", "Minimum"])
def test_a_bound_that_is_new_and_exclusive_is_two_demands(kind: dict[str, Any], end: str) -> None:
    exclusive, bound = f"exclusive{end}", f"{end.lower()}"
    new = {**kind, bound: 3, exclusive: True}
    assert len(narrowed(kind, new)) == len(narrowed({**kind, exclusive: True}, new)) == 2
    assert narrowed(new, {**kind, bound: 3}) == []


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
def test_a_keyword_of_a_wrong_shape_asks_for_nothing(new: dict[str, Any]) -> None:
    assert narrowed({}, new) == []


def test_every_demand_of_a_list_of_them_is_told_in_order() -> None:
    required = narrowed({"required": ["b"]}, {"required": ["c", "b", "a"]})
    assert [line.split("requires ")[1].split(",")[0] for line in required] == ["a", "c"]
    stated = [{"rule": rule} for rule in ("b", "c", "a")]
    rules = narrowed({"x-kubernetes-validations": stated[:1]}, {"x-kubernetes-validations": stated})
    assert [line.split("satisfy ")[1].split(",")[0] for line in rules] == ["c", "a"]


def test_what_has_a_wrong_shape_was_no_demand_before() -> None:
    assert len(narrowed({"required": [{}, ["a"]]}, {"required": ["a"]})) == 1
    assert narrowed({"properties": {"a": "string"}}, {"properties": {}}) == []


@pytest.mark.parametrize("key", ["maximum", "minimum", "multipleOf"])
def test_a_limit_may_be_a_fraction(key: str) -> None:
    assert len(narrowed({}, {key: 1.5})) == 1


def test_both_ends_of_a_bound_may_become_exclusive_at_once() -> None:
    bounds = {"maximum": 3, "minimum": 1}
    assert len(narrowed(bounds, {**bounds, "exclusiveMaximum": True, "exclusiveMinimum": True})) == 2


EITHER: dict[str, Any] = {"anyOf": [{"type": "integer"}, {"type": "string"}]}


def test_an_integer_or_string_is_only_said_once_more_by_any_of() -> None:
    marked = {"x-kubernetes-int-or-string": True}
    assert narrowed(marked, {**marked, **EITHER}) == []
    assert len(narrowed({}, EITHER)) == 1


@pytest.mark.parametrize(
    ("old", "new"), [(1, 1.0), ([1], [1.0]), ({"a": 1}, {"a": 1.0}), ({"a": [1]}, {"a": [1.0]})]
)
def test_a_whole_number_may_be_written_as_a_fraction(old: Any, new: Any) -> None:
    assert narrowed({"default": old}, {"default": new}) == []
    assert narrowed({"enum": [old]}, {"enum": [new]}) == []
    assert narrowed({"not": {"enum": [old]}}, {"not": {"enum": [new]}}) == []
    assert len(narrowed({"default": 1.5}, {"default": 1})) == 1


def test_the_order_of_keys_is_no_matter() -> None:
    assert narrowed({"default": {"a": 1, "b": 2}}, {"default": {"b": 2, "a": 1}}) == []


def test_an_enumeration_is_told_with_its_values_or_with_those_that_are_gone() -> None:
    [first] = narrowed({}, {"enum": ["a", 1]})
    assert first.endswith("must be one of 'a', 1, and could be anything before")
    [fewer] = narrowed({"enum": ["a", "b", 1]}, {"enum": ["b", "c"]})
    assert fewer.endswith("may not be 'a', 1 any more")


@pytest.mark.parametrize("kind", ["set", "map"])
def test_a_list_that_must_not_hold_an_item_twice_says_what_it_is(kind: str) -> None:
    [found] = narrowed({}, {"x-kubernetes-list-type": kind})
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
def test_what_took_any_field_narrows_where_it_takes_fewer(new: dict[str, Any], kinds: list[str]) -> None:
    assert [line.split()[0] for line in narrowed(OPEN, new)] == kinds


def test_the_object_itself_was_always_one() -> None:
    untyped = version()
    del untyped["schema"]["openAPIV3Schema"]["type"]
    assert told(crd(untyped), crd(version())) == []


def test_items_of_which_nothing_is_said_any_more_may_be_anything() -> None:
    assert narrowed({"type": "array", "items": {"maximum": 3}}, {"type": "array"}) == []


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
def test_what_narrows_below_a_field_is_told_by_its_path(
    old: dict[str, Any], new: dict[str, Any], path: str
) -> None:
    [found] = narrowed(old, new)
    assert f"v1: {path} must have maximum at most 1" in found
