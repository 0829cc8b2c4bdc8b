"""What becomes of an upgrade under OLM v0 and v1, of each sort of change (measured in tests/conformance)."""

from __future__ import annotations

from typing import Any

import pytest

from commandline import ROOT
from crd_changes import CHANGES, SortOfChange, definition_with, row
from everpath.crd_upgrade_safety import Breach, Upgrade, breaches
from everpath.crd_upgrade_safety.definitions import definition
from everpath.model import Place
from everpath.model.bundle_contents import Manifest
from everpath.rules.registry import rules_about

COMPLIANCE = "refuses it where an object does not comply"


def found(old: dict[str, Any], new: dict[str, Any]) -> list[Breach]:
    before, after = (definition(Manifest(Place("crd.yaml"), body)) for body in (old, new))
    return list(breaches([before], [after], {before.name: frozenset({"v1"})}))


def changed(change: SortOfChange) -> list[Breach]:
    return found(definition_with(change.old), definition_with(change.new))


def rules_told(told: list[Breach]) -> set[str]:
    upgrade = Upgrade("a", "b", tuple(told), (("v0", "stable"), ("v1", "stable")))
    return {rule.id for rule in rules_about({"upgrade"}) if any(rule.check(upgrade))}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.words)
def test_each_sort_of_change_has_its_fate_and_its_rule(change: SortOfChange) -> None:
    told = changed(change)
    assert any(breach.fates.v0 == COMPLIANCE for breach in told) == change.by_v0
    assert any(breach.fates.v1 == "refuses it" for breach in told) == change.by_v1
    assert ({change.rule} if change.rule else set()) <= rules_told(told)
    assert bool(told) == bool(change.rule)


def test_the_page_has_the_table() -> None:
    page = (ROOT / "docs" / "crds.md").read_text(encoding="utf-8")
    assert [line for line in map(row, CHANGES) if line not in page] == []


def two_versions(second: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A definition that serves v1 and v2, which may differ in one field."""
    body = definition_with({"type": "string"})
    [other] = definition_with(second)["spec"]["versions"]
    body["spec"]["versions"].append({**other, "name": "v2", "storage": False})
    body["spec"].update(spec)
    return body


def test_served_versions_that_differ_are_refused_even_if_nothing_changes() -> None:
    body = two_versions({"type": "string", "description": "d"})
    [told] = found(body, body)
    assert told.kind == "served-versions-refused"
    assert told.sentence == "widgets.acme.io serves v1 and v2, which differ in spec.a (description)"
    assert told.fates == ("carries it out", "refuses it")


def test_a_webhook_makes_up_for_served_versions_that_differ() -> None:
    body = two_versions({"type": "integer"}, conversion={"strategy": "Webhook"})
    assert found(body, body) == []


def test_served_versions_are_compared_in_the_order_of_kubernetes() -> None:
    """v1 to v2 gains a value, which is safe; the other way round it would lose one."""
    body = two_versions({"type": "string"})
    older, newer = (v["schema"]["openAPIV3Schema"]["properties"]["spec"] for v in body["spec"]["versions"])
    older["properties"] = {"a": {"type": "string", "enum": ["a"]}}
    newer["properties"] = {"a": {"type": "string", "enum": ["a", "b"]}}
    body["spec"]["versions"].reverse()
    assert found(body, body) == []
    body["spec"]["versions"][0]["name"] = "v1beta1"
    assert [told.kind for told in found(body, body)] == ["served-versions-refused"]


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
def test_versions_of_other_names_are_older_and_z_comes_before_a(
    names: tuple[str, str], is_older: bool
) -> None:
    """A field of the older version that the newer lacks is refused; the other way round it is only new."""
    body = two_versions({"type": "string"})
    first, second = body["spec"]["versions"]
    first["schema"]["openAPIV3Schema"]["properties"]["b"] = {"type": "string"}
    first["name"], second["name"] = names
    assert ("served-versions-refused" in {told.kind for told in found(body, body)}) == is_older


def test_a_definition_that_serves_nothing_makes_the_preflight_panic() -> None:
    body = definition_with({"type": "string"})
    body["spec"]["versions"][0]["served"] = False
    [told] = found(body, body)
    assert told.sentence == "widgets.acme.io serves no version at all"
    assert (told.kind, told.version) == ("served-versions-refused", "")
    assert (told.place.pointer, told.fates) == (("spec", "versions"), ("carries it out", "refuses it"))
    assert found(body, {**body, "spec": {**body["spec"], **WEBHOOK}}) == []


def test_a_version_nobody_is_served_may_change_as_it_likes_but_for_v1() -> None:
    old, new = two_versions({"type": "string"}), two_versions({"type": "integer"})
    for body in (old, new):
        body["spec"]["versions"][1]["served"] = False
    [told] = found(old, new)
    assert (told.kind, told.version) == ("change-refused", "v2")


def test_v0_trusts_a_webhook_and_does_not_ask_versions_that_are_not_served_any_more() -> None:
    old = definition_with({"type": "string"})
    for change in ({"conversion": {"strategy": "Webhook"}}, {"served": False}):
        new = definition_with({"type": "integer"})
        new["spec"].update({k: v for k, v in change.items() if k == "conversion"})
        new["spec"]["versions"][0].update({k: v for k, v in change.items() if k == "served"})
        [told] = [breach for breach in found(old, new) if breach.kind == "field-retyped"]
        assert told.fates == ("carries it out", "refuses it")


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
def test_what_breaks_objects_is_not_told_again_as_merely_refused(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    told = found(definition_with(old), definition_with(new))
    assert {breach.fates.v1 for breach in told} == {"refuses it"}
    assert "change-refused" not in {breach.kind for breach in told}


@pytest.mark.parametrize("gone", [NESTED, LIST, MAP])
def test_a_field_that_is_gone_is_told_once_with_all_that_was_in_it(gone: dict[str, Any]) -> None:
    new = definition_with({})
    del new["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["a"]
    [told] = found(definition_with(gone), new)
    assert (told.kind, told.fates.v1) == ("field-removed", "refuses it")
    assert told.sentence.startswith("widgets.acme.io v1: the field spec.a is gone")


def test_a_field_of_nearly_the_same_name_is_none_that_is_gone() -> None:
    """spec.a goes, and of spec.ab only the description changes: v1 refuses both, objects lose one."""
    old, new = definition_with(NESTED), definition_with(NESTED)
    before, after = (
        body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        for body in (old, new)
    )
    before["ab"], after["ab"] = {"type": "string"}, {"type": "string", "description": "d"}
    del after["a"]
    assert [told.kind for told in found(old, new)] == ["field-removed", "change-refused"]


def test_every_change_of_a_version_is_told() -> None:
    def both(kind: str) -> dict[str, Any]:
        return definition_with({"type": "object", "properties": {name: {"type": kind} for name in "bc"}})

    sentences = [told.sentence for told in found(both("integer"), both("string"))]
    assert [sentence.split()[2] for sentence in sentences] == ["spec.a.b", "spec.a.c"]


def test_what_v1_refuses_of_one_version_it_does_not_refuse_of_another() -> None:
    either = {"type": "string", "anyOf": [{"maxLength": 3}]}
    webhook = {"conversion": {"strategy": "Webhook"}}
    old, new = two_versions({"type": "string"}, **webhook), two_versions({"type": "integer"}, **webhook)
    for body, schema in ((old, either), (new, {**either, "minLength": 2})):
        [first, _] = body["spec"]["versions"]
        first["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["a"] = schema
    assert {told.version: told.fates.v1 for told in found(old, new)} == {
        "v1": "carries it out",
        "v2": "refuses it",
    }


def test_many_fields_are_one_finding_that_names_the_first() -> None:
    names = ["a", "b", "c", "d", "e"]
    plain, told = ({"type": "object", "properties": dict.fromkeys(names, s)} for s in ({}, {"title": "t"}))
    [breach] = found(definition_with(plain), definition_with(told))
    assert breach.sentence.endswith("change spec.a.a (title), spec.a.b (title), spec.a.c (title) and 2 more")


def test_a_list_is_not_named_beside_its_items() -> None:
    def listed(**more: Any) -> dict[str, Any]:
        return {"type": "array", "items": {"type": "string", **more}}

    [breach] = found(definition_with(listed()), definition_with(listed(description="d")))
    assert breach.sentence.endswith("safe to change spec.a[*] (description)")


def test_an_upgrade_that_only_v0_takes_is_not_refused_by_v1() -> None:
    told = found(definition_with({"type": "string"}), definition_with({"type": "string", "title": "t"}))
    [rule] = [rule for rule in rules_about({"upgrade"}) if rule.id == "EP710"]
    assert not list(rule.check(Upgrade("a", "b", tuple(told), (("v0", "stable"),))))
    [flaw] = rule.check(Upgrade("a", "b", tuple(told), (("v0", "stable"), ("v1", "fast"))))
    assert flaw.because == ("OLM v1 takes this step in fast, and refuses it",)


def whole(**spec: Any) -> dict[str, Any]:
    """A definition with some fields of its spec set otherwise."""
    body = definition_with({"type": "string"})
    body["spec"].update(spec)
    return body


WEBHOOK = {"conversion": {"strategy": "Webhook"}}
SCHEMA = ("spec", "versions", 0, "schema")
NEVER_ENDS = "never ends it, as the API server refuses it"


@pytest.mark.parametrize(
    ("old", "new", "kind", "version", "pointer", "fates"),
    [
        (
            whole(),
            whole(scope="Cluster"),
            "scope-changed",
            "",
            ("spec", "scope"),
            (NEVER_ENDS, "refuses it"),
        ),
        (
            whole(),
            whole(versions=two_versions({})["spec"]["versions"][1:]),
            "stored-removed",
            "v1",
            ("spec", "versions"),
            ("refuses it", "refuses it"),
        ),
        (
            two_versions({"type": "string"}),
            whole(),
            "served-removed",
            "v2",
            ("spec", "versions"),
            ("carries it out", "carries it out"),
        ),
        (
            two_versions({"type": "string"}, **WEBHOOK),
            two_versions({"type": "string"}),
            "conversion-lost",
            "",
            ("spec",),
            ("carries it out", "carries it out"),
        ),
        (
            whole(),
            definition_with({"type": "integer"}),
            "field-retyped",
            "v1",
            SCHEMA,
            (COMPLIANCE, "refuses it"),
        ),
        (
            whole(),
            definition_with({"type": "string", "title": "t"}),
            "change-refused",
            "v1",
            SCHEMA,
            ("carries it out", "refuses it"),
        ),
        (
            two_versions({}),
            two_versions({}),
            "served-versions-refused",
            "v2",
            ("spec", "versions", 1, "schema"),
            ("carries it out", "refuses it"),
        ),
    ],
)
def test_a_breach_says_of_which_version_it_is_where_and_what_becomes_of_the_upgrade(
    old: dict[str, Any],
    new: dict[str, Any],
    kind: str,
    version: str,
    pointer: tuple[str | int, ...],
    fates: tuple[str, str],
) -> None:
    [told] = found(old, new)
    assert (told.kind, told.definition, told.version) == (kind, "widgets.acme.io", version)
    assert (told.place.pointer, told.fates) == (pointer, fates)


def test_a_definition_that_is_gone_is_shown_where_it_was_and_stops_nobody() -> None:
    gone = definition(Manifest(Place("crd.yaml"), whole()))
    [told] = breaches([gone], [], {})
    assert (told.definition, told.place) == ("widgets.acme.io", gone.place)
    assert told.fates == ("carries it out", "carries it out")


def test_a_scope_that_is_not_stated_is_told_by_other_rules() -> None:
    assert found(whole(), whole(scope="")) == []


def test_a_conversion_that_never_was_is_not_lost() -> None:
    assert found(two_versions({"type": "string"}), two_versions({"type": "string"})) == []


def test_a_conversion_that_a_webhook_takes_over_is_not_lost() -> None:
    assert found(two_versions({"type": "string"}), two_versions({"type": "string"}, **WEBHOOK)) == []


def test_every_definition_that_is_gone_is_told() -> None:
    gone = definition(Manifest(Place("crd.yaml"), whole()))
    both = [gone, gone._replace(name="gears.acme.io")]
    assert [told.definition for told in breaches(both, [], {})] == ["widgets.acme.io", "gears.acme.io"]


def several(**schemas: dict[str, Any]) -> dict[str, Any]:
    """A definition whose versions a webhook converts, each with a field of its own schema."""
    versions = [
        {**definition_with(schema)["spec"]["versions"][0], "name": name} for name, schema in schemas.items()
    ]
    return whole(versions=versions, **WEBHOOK)


def test_what_breaks_is_told_of_every_version() -> None:
    text, number = {"type": "string"}, {"type": "integer"}
    told = found(several(v1=text, v2=text), several(v1=number, v2=number))
    assert [(breach.kind, breach.version) for breach in told] == [
        ("field-retyped", "v1"),
        ("field-retyped", "v2"),
    ]


def test_what_is_merely_refused_is_told_of_every_version_by_name_each_with_its_own_fields() -> None:
    keys = {"v3": "title", "v1": "description", "v4": "format", "v2": "id", "v5": "$ref"}
    told = found(
        several(**{name: {"type": "string"} for name in keys}),
        several(**{name: {"type": "string", key: "t"} for name, key in keys.items()}),
    )
    assert [breach.version for breach in told] == sorted(keys)
    for breach in told:
        assert breach.sentence.endswith(f"to change spec.a ({keys[breach.version]})")


def test_each_two_served_versions_that_differ_are_told() -> None:
    body = whole(
        versions=several(v1={"title": "a"}, v2={"title": "b"}, v3={"title": "c"})["spec"]["versions"]
    )
    assert [breach.sentence.split(",")[0].split("serves ")[1] for breach in found(body, body)] == [
        "v1 and v2",
        "v1 and v3",
        "v2 and v3",
    ]


def test_what_changes_in_a_field_that_breaks_is_not_taken_for_that() -> None:
    """Objects suffer from the bound; v1 refuses the title as well, from which nobody suffers."""
    old = {"type": "object", "properties": {"b": {"type": "string"}}}
    new = {"type": "object", "properties": {"b": {"type": "string", "title": "t"}}, "maxProperties": 1}
    told = found(definition_with(old), definition_with(new))
    assert [breach.kind for breach in told] == ["validation-tightened", "change-refused"]


KEPT = {"x-kubernetes-preserve-unknown-fields": True}


@pytest.mark.parametrize(
    ("old", "new", "fields"),
    [
        ({"items": {"maximum": 3}}, {"items": {"maximum": 4}}, "spec.a (items)"),
        ({"properties": {"b": {}}, **KEPT}, {**KEPT, "title": "t"}, "spec.a (title), spec.a.b (gone)"),
        ({"items": {}}, {"items": {"title": "t"}, "title": "t"}, "spec.a (items, title), spec.a[*] (title)"),
    ],
)
def test_a_field_is_named_with_what_changed_of_it_or_that_it_is_gone(
    old: dict[str, Any], new: dict[str, Any], fields: str
) -> None:
    """A list whose items may change as they did is itself all that there is to name."""
    [told] = found(definition_with(old), definition_with(new))
    assert told.sentence.endswith(f"safe to change {fields}")


def test_what_is_refused_of_the_whole_is_of_the_object() -> None:
    new = whole()
    new["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["title"] = "t"
    [told] = found(whole(), new)
    assert told.sentence.endswith("safe to change the object (title)")
