"""What OLM v0 and v1 do with each change of a CRD; tests/everpath/conformance asks OLM itself."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.crd_upgrade_safety import UnsafeChange, Upgrade, find_unsafe_changes
from everpath.crd_upgrade_safety.crd import parse_crd
from everpath.crd_upgrade_safety.unsafe_changes import OlmResponse
from everpath.model import Place
from everpath.model.bundle_contents import Manifest
from everpath.rules.registry import rules_for_subjects
from tests.support.commandline import ROOT
from tests.support.everpath.crd_changes import CHANGES, FieldChange, crd_with, table_row

UPGRADES, REFUSES = OlmResponse.UPGRADES, OlmResponse.REFUSES


def find_changes(old: dict[str, Any], new: dict[str, Any]) -> list[UnsafeChange]:
    before, after = (parse_crd(Manifest(Place("crd.yaml"), body)) for body in (old, new))
    return list(find_unsafe_changes([before], [after], {before.name: frozenset({"v1"})}))


def reporting_rules(reported: list[UnsafeChange]) -> set[str]:
    upgrade = Upgrade("a", "b", tuple(reported), (("v0", "stable"), ("v1", "stable")))
    return {rule.id for rule in rules_for_subjects({"upgrade"}) if any(rule.check(upgrade))}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.title)
def test_each_field_change_has_its_responses_and_its_rule(change: FieldChange) -> None:
    reported = find_changes(crd_with(change.old), crd_with(change.new))
    v0, v1 = ({getattr(found.responses, olm) for found in reported} for olm in ("v0", "v1"))
    assert (OlmResponse.REFUSES_INVALID_OBJECTS in v0) == change.is_refused_by_v0
    assert (REFUSES in v1) == change.is_refused_by_v1
    assert ({change.rule} if change.rule else set()) <= reporting_rules(reported)
    assert bool(reported) == bool(change.rule)


def test_the_page_contains_the_table() -> None:
    page = (ROOT / "docs" / "crds.md").read_text(encoding="utf-8")
    assert [line for line in map(table_row, CHANGES) if line not in page] == []


def two_versions(second: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A CRD that serves v1 and v2, which may differ in one field."""
    body = crd_with({"type": "string"})
    [other] = crd_with(second)["spec"]["versions"]
    body["spec"]["versions"].append({**other, "name": "v2", "storage": False})
    body["spec"].update(spec)
    return body


def test_different_served_versions_are_refused_even_without_a_change() -> None:
    body = two_versions({"type": "string", "description": "d"})
    [reported] = find_changes(body, body)
    assert reported.kind == "served-versions-refused"
    assert reported.message == "widgets.acme.io serves v1 and v2, which differ in spec.a (description)"
    assert reported.responses == (UPGRADES, REFUSES)


def test_different_served_versions_are_accepted_with_a_conversion_webhook() -> None:
    body = two_versions({"type": "integer"}, conversion={"strategy": "Webhook"})
    assert find_changes(body, body) == []


def test_served_versions_are_compared_in_kubernetes_order() -> None:
    """An enum value is added from v1 to v2, which is safe, and removed from v2 to v1."""
    body = two_versions({"type": "string"})
    older, newer = (v["schema"]["openAPIV3Schema"]["properties"]["spec"] for v in body["spec"]["versions"])
    older["properties"] = {"a": {"type": "string", "enum": ["a"]}}
    newer["properties"] = {"a": {"type": "string", "enum": ["a", "b"]}}
    body["spec"]["versions"].reverse()
    assert find_changes(body, body) == []
    body["spec"]["versions"][0]["name"] = "v1beta1"
    assert [reported.kind for reported in find_changes(body, body)] == ["served-versions-refused"]


@pytest.mark.parametrize(
    ("names", "is_older"),
    [
        (("z", "v1alpha1"), True),
        (("ab", "a"), True),
        (("a", "ab"), False),
        (("v1", "a"), False),
        (("v1beta2", "v1"), True),
        (("v2alpha1", "v1beta1"), True),
        (("v10", "v2"), False),
        (("v1beta2", "v1beta1"), False),
        (("v1beta10", "v1beta9"), False),
        (("v1x", "v1alpha1"), True),
    ],
)
def test_other_version_names_are_older_and_sorted_from_z_to_a(names: tuple[str, str], is_older: bool) -> None:
    """A field that only the older version has is refused; one that only the newer has is not."""
    body = two_versions({"type": "string"})
    first, second = body["spec"]["versions"]
    first["schema"]["openAPIV3Schema"]["properties"]["b"] = {"type": "string"}
    first["name"], second["name"] = names
    assert ("served-versions-refused" in {reported.kind for reported in find_changes(body, body)}) == is_older


def test_a_crd_without_served_versions_is_refused_by_v1() -> None:
    body = crd_with({"type": "string"})
    body["spec"]["versions"][0]["served"] = False
    [reported] = find_changes(body, body)
    assert reported.message == "widgets.acme.io serves no version"
    assert (reported.kind, reported.version) == ("served-versions-refused", "")
    assert (reported.place.pointer, reported.responses) == (("spec", "versions"), (UPGRADES, REFUSES))
    assert find_changes(body, {**body, "spec": {**body["spec"], **WEBHOOK}}) == []


def test_a_change_of_an_unserved_version_is_only_refused_by_v1() -> None:
    old, new = two_versions({"type": "string"}), two_versions({"type": "integer"})
    for body in (old, new):
        body["spec"]["versions"][1]["served"] = False
    [reported] = find_changes(old, new)
    assert (reported.kind, reported.version) == ("change-refused", "v2")


def test_v0_validates_no_objects_with_a_webhook_or_of_unserved_versions() -> None:
    old = crd_with({"type": "string"})
    for change in ({"conversion": {"strategy": "Webhook"}}, {"served": False}):
        new = crd_with({"type": "integer"})
        new["spec"].update({k: v for k, v in change.items() if k == "conversion"})
        new["spec"]["versions"][0].update({k: v for k, v in change.items() if k == "served"})
        [reported] = [change for change in find_changes(old, new) if change.kind == "field-retyped"]
        assert reported.responses == (UPGRADES, REFUSES)


LIST = {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "string"}}}}
MAP = {"type": "object", "additionalProperties": LIST["items"]}
NESTED = {"type": "object", "properties": {"b": LIST, "c": {"type": "string"}}}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "string"}, {"type": "integer"}),
        (LIST, {"type": "array", "items": {"type": "string"}}),
        (MAP, {"type": "object", "additionalProperties": {"type": "string"}}),
        (LIST, {"type": "array", "items": {"type": "object"}}),
        (MAP, {"type": "object", "additionalProperties": {"type": "object"}}),
        (NESTED, {"type": "object", "properties": {"c": {"type": "string"}}}),
    ],
)
def test_a_change_that_breaks_objects_is_reported_once(old: dict[str, Any], new: dict[str, Any]) -> None:
    reported = find_changes(crd_with(old), crd_with(new))
    assert {change.responses.v1 for change in reported} == {REFUSES}
    assert "change-refused" not in {change.kind for change in reported}


@pytest.mark.parametrize("removed", [NESTED, LIST, MAP])
def test_a_removed_field_is_reported_once_with_everything_below_it(removed: dict[str, Any]) -> None:
    new = crd_with({})
    del new["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["a"]
    [reported] = find_changes(crd_with(removed), new)
    assert (reported.kind, reported.responses.v1) == ("field-removed", REFUSES)
    assert reported.message.startswith("widgets.acme.io v1: the field spec.a is removed")


def test_a_removed_field_does_not_cover_fields_with_the_same_prefix() -> None:
    """spec.a is removed and the description of spec.ab changes: only the first affects objects."""
    old, new = crd_with(NESTED), crd_with(NESTED)
    before, after = (
        body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        for body in (old, new)
    )
    before["ab"], after["ab"] = {"type": "string"}, {"type": "string", "description": "d"}
    del after["a"]
    assert [reported.kind for reported in find_changes(old, new)] == ["field-removed", "change-refused"]


def test_every_change_of_a_version_is_reported() -> None:
    def crd_of_type(kind: str) -> dict[str, Any]:
        return crd_with({"type": "object", "properties": {name: {"type": kind} for name in "bc"}})

    messages = [reported.message for reported in find_changes(crd_of_type("integer"), crd_of_type("string"))]
    assert [message.split()[2] for message in messages] == ["spec.a.b", "spec.a.c"]


def test_a_refusal_by_v1_is_assigned_to_its_version() -> None:
    either = {"type": "string", "anyOf": [{"maxLength": 3}]}
    webhook = {"conversion": {"strategy": "Webhook"}}
    old, new = two_versions({"type": "string"}, **webhook), two_versions({"type": "integer"}, **webhook)
    for body, schema in ((old, either), (new, {**either, "minLength": 2})):
        [first, _] = body["spec"]["versions"]
        first["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["a"] = schema
    assert {reported.version: reported.responses.v1 for reported in find_changes(old, new)} == {
        "v1": UPGRADES,
        "v2": REFUSES,
    }


def test_many_refused_fields_are_one_change_that_names_the_first_three() -> None:
    names = ["a", "b", "c", "d", "e"]
    plain, titled = ({"type": "object", "properties": dict.fromkeys(names, s)} for s in ({}, {"title": "t"}))
    [change] = find_changes(crd_with(plain), crd_with(titled))
    assert change.message.endswith("safe: spec.a.a (title), spec.a.b (title), spec.a.c (title) and 2 more")


def test_a_list_is_not_named_in_addition_to_its_items() -> None:
    def listed(**more: Any) -> dict[str, Any]:
        return {"type": "array", "items": {"type": "string", **more}}

    [change] = find_changes(crd_with(listed()), crd_with(listed(description="d")))
    assert change.message.endswith("safe: spec.a[*] (description)")


def test_a_hop_that_only_v0_takes_has_no_v1_finding() -> None:
    reported = find_changes(crd_with({"type": "string"}), crd_with({"type": "string", "title": "t"}))
    [rule] = [rule for rule in rules_for_subjects({"upgrade"}) if rule.id == "EP710"]
    assert not list(rule.check(Upgrade("a", "b", tuple(reported), (("v0", "stable"),))))
    [flaw] = rule.check(Upgrade("a", "b", tuple(reported), (("v0", "stable"), ("v1", "fast"))))
    assert flaw.because == ("OLM v1 selects this hop in fast, and refuses it",)


def crd(**spec: Any) -> dict[str, Any]:
    """A CRD with other fields in its spec."""
    body = crd_with({"type": "string"})
    body["spec"].update(spec)
    return body


WEBHOOK = {"conversion": {"strategy": "Webhook"}}
SCHEMA = ("spec", "versions", 0, "schema")


@pytest.mark.parametrize(
    ("old", "new", "kind", "version", "pointer", "responses"),
    [
        (
            crd(),
            crd(scope="Cluster"),
            "scope-changed",
            "",
            ("spec", "scope"),
            (OlmResponse.NEVER_COMPLETES, REFUSES),
        ),
        (
            crd(),
            crd(versions=two_versions({})["spec"]["versions"][1:]),
            "stored-removed",
            "v1",
            ("spec", "versions"),
            (REFUSES, REFUSES),
        ),
        (
            two_versions({"type": "string"}),
            crd(),
            "served-removed",
            "v2",
            ("spec", "versions"),
            (UPGRADES, UPGRADES),
        ),
        (
            two_versions({"type": "string"}, **WEBHOOK),
            two_versions({"type": "string"}),
            "conversion-lost",
            "",
            ("spec",),
            (UPGRADES, UPGRADES),
        ),
        (
            crd(),
            crd_with({"type": "integer"}),
            "field-retyped",
            "v1",
            SCHEMA,
            (OlmResponse.REFUSES_INVALID_OBJECTS, REFUSES),
        ),
        (
            crd(),
            crd_with({"type": "string", "title": "t"}),
            "change-refused",
            "v1",
            SCHEMA,
            (UPGRADES, REFUSES),
        ),
        (
            two_versions({}),
            two_versions({}),
            "served-versions-refused",
            "v2",
            ("spec", "versions", 1, "schema"),
            (UPGRADES, REFUSES),
        ),
    ],
)
def test_a_change_has_a_version_a_place_and_olm_responses(
    old: dict[str, Any],
    new: dict[str, Any],
    kind: str,
    version: str,
    pointer: tuple[str | int, ...],
    responses: tuple[str, str],
) -> None:
    [reported] = find_changes(old, new)
    assert (reported.kind, reported.crd, reported.version) == (kind, "widgets.acme.io", version)
    assert (reported.place.pointer, reported.responses) == (pointer, responses)


def test_a_missing_crd_is_reported_at_its_old_place_and_accepted_by_olm() -> None:
    removed = parse_crd(Manifest(Place("crd.yaml"), crd()))
    [reported] = find_unsafe_changes([removed], [], {})
    assert (reported.crd, reported.place) == ("widgets.acme.io", removed.place)
    assert reported.responses == (UPGRADES, UPGRADES)


def test_a_missing_scope_is_not_reported() -> None:
    assert find_changes(crd(), crd(scope="")) == []


def test_a_crd_without_conversion_loses_none() -> None:
    assert find_changes(two_versions({"type": "string"}), two_versions({"type": "string"})) == []


def test_a_new_conversion_webhook_is_not_reported() -> None:
    assert find_changes(two_versions({"type": "string"}), two_versions({"type": "string"}, **WEBHOOK)) == []


def test_every_missing_crd_is_reported() -> None:
    removed = parse_crd(Manifest(Place("crd.yaml"), crd()))
    crds = [removed, removed._replace(name="gears.acme.io")]
    assert [reported.crd for reported in find_unsafe_changes(crds, [], {})] == [
        "widgets.acme.io",
        "gears.acme.io",
    ]


def crd_with_versions(**schemas: dict[str, Any]) -> dict[str, Any]:
    """A CRD with these versions, each with a schema for spec.a, and a conversion webhook."""
    versions = [{**crd_with(schema)["spec"]["versions"][0], "name": name} for name, schema in schemas.items()]
    return crd(versions=versions, **WEBHOOK)


def test_breaking_changes_are_reported_for_every_version() -> None:
    text, number = {"type": "string"}, {"type": "integer"}
    reported = find_changes(crd_with_versions(v1=text, v2=text), crd_with_versions(v1=number, v2=number))
    assert [(change.kind, change.version) for change in reported] == [
        ("field-retyped", "v1"),
        ("field-retyped", "v2"),
    ]


def test_refused_changes_are_reported_per_version_in_order_of_name() -> None:
    keys = {"v3": "title", "v1": "description", "v4": "format", "v2": "id", "v5": "$ref"}
    reported = find_changes(
        crd_with_versions(**{name: {"type": "string"} for name in keys}),
        crd_with_versions(**{name: {"type": "string", key: "t"} for name, key in keys.items()}),
    )
    assert [change.version for change in reported] == sorted(keys)
    for change in reported:
        assert change.message.endswith(f"safe: spec.a ({keys[change.version]})")


def test_each_pair_of_different_served_versions_is_reported() -> None:
    body = crd(
        versions=crd_with_versions(v1={"title": "a"}, v2={"title": "b"}, v3={"title": "c"})["spec"][
            "versions"
        ]
    )
    assert [change.message.split(",")[0].split("serves ")[1] for change in find_changes(body, body)] == [
        "v1 and v2",
        "v1 and v3",
        "v2 and v3",
    ]


def test_a_refused_change_below_a_breaking_one_is_reported() -> None:
    """The bound affects objects; the title only makes v1 refuse the upgrade."""
    old = {"type": "object", "properties": {"b": {"type": "string"}}}
    new = {"type": "object", "properties": {"b": {"type": "string", "title": "t"}}, "maxProperties": 1}
    reported = find_changes(crd_with(old), crd_with(new))
    assert [change.kind for change in reported] == ["validation-tightened", "change-refused"]


PRESERVED = {"x-kubernetes-preserve-unknown-fields": True}


@pytest.mark.parametrize(
    ("old", "new", "fields"),
    [
        ({"items": {"maximum": 3}}, {"items": {"maximum": 4}}, "spec.a (items)"),
        (
            {"properties": {"b": {}}, **PRESERVED},
            {**PRESERVED, "title": "t"},
            "spec.a (title), spec.a.b (removed)",
        ),
        ({"items": {}}, {"items": {"title": "t"}, "title": "t"}, "spec.a (items, title), spec.a[*] (title)"),
    ],
)
def test_a_field_is_named_with_its_changed_keywords_or_as_removed(
    old: dict[str, Any], new: dict[str, Any], fields: str
) -> None:
    """A list is named if its items have only a change that the preflight accepts."""
    [reported] = find_changes(crd_with(old), crd_with(new))
    assert reported.message.endswith(f"safe: {fields}")


def test_a_refused_change_of_the_top_level_schema_names_the_object() -> None:
    new = crd()
    new["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["title"] = "t"
    [reported] = find_changes(crd(), new)
    assert reported.message.endswith("safe: the object (title)")
