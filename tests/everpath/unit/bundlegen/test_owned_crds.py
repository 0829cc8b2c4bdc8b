"""The owned CRDs and descriptors of a CSV."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.model.bundle_contents import Manifest
from tests.support.everpath.operator_projects import base, crd, csv


def owned_crd(*manifests: Manifest) -> dict[str, Any]:
    [item] = csv(*manifests)["spec"]["customresourcedefinitions"]["owned"]
    assert isinstance(item, dict)
    return item


def descriptor(**field: Any) -> dict[str, Any]:
    [item] = owned_crd(crd(theField=field))["specDescriptors"]
    assert isinstance(item, dict)
    return item


def test_only_served_versions_are_listed() -> None:
    given = crd()
    given.body["spec"]["versions"].append({"name": "v0", "served": False})
    item = owned_crd(given)
    assert (item["name"], item["version"], item["kind"]) == ("widgets.acme.io", "v1", "Widget")
    assert (item["displayName"], item["description"]) == ("Widget", "A Widget.")


def test_a_version_without_served_is_listed() -> None:
    given = crd()
    del given.body["spec"]["versions"][0]["served"]
    assert owned_crd(given)["version"] == "v1"


def test_descriptors_of_schema_and_base_are_sorted_by_path() -> None:
    widget = crd(size={"type": "integer"}, colour={"type": "string"})
    assert [d["path"] for d in owned_crd(widget)["specDescriptors"]] == ["colour", "size"]
    base_descriptors = [{"path": path} for path in ("weight", "price", "age")]
    given = base(
        customresourcedefinitions={
            "owned": [{"name": "widgets.acme.io", "version": "v1", "specDescriptors": base_descriptors}]
        }
    )
    paths = [d["path"] for d in owned_crd(given, widget)["specDescriptors"]]
    assert paths == ["age", "colour", "price", "size", "weight"]


def test_a_nested_field_has_the_descriptor_of_its_name() -> None:
    pool = {"properties": {"replicas": {"type": "integer"}}}
    [item] = owned_crd(crd(pool=pool))["specDescriptors"]
    assert item["x-descriptors"] == ["urn:alm:descriptor:com.tectonic.ui:podCount"]


def test_a_descriptor_has_name_and_description_of_the_field() -> None:
    item = descriptor(type="string", description="What\n  it is.")
    assert item["path"] == "theField"
    assert item["displayName"] == "The Field"
    assert item["description"] == "What it is."


def test_the_type_of_a_field_determines_its_descriptor() -> None:
    ui = "urn:alm:descriptor:com.tectonic.ui:"
    assert descriptor(type="boolean")["x-descriptors"] == [f"{ui}booleanSwitch"]
    assert descriptor(type="integer")["x-descriptors"] == [f"{ui}number"]
    assert descriptor(type="number")["x-descriptors"] == [f"{ui}number"]
    assert descriptor(enum=["A", "B"])["x-descriptors"] == [f"{ui}select:A", f"{ui}select:B"]
    assert owned_crd(crd(replicas={"type": "integer"}))["specDescriptors"][0]["x-descriptors"] == [
        f"{ui}podCount"
    ]
    assert "x-descriptors" not in descriptor(type="array")


def test_fields_below_the_second_level_have_no_descriptor() -> None:
    deep = {"properties": {"b": {"properties": {"c": {"type": "string"}}}, "leaf": {"type": "string"}}}
    assert [d["path"] for d in owned_crd(crd(a=deep))["specDescriptors"]] == ["a.leaf"]


def test_values_of_the_base_take_precedence() -> None:
    base_item = {
        "name": "widgets.acme.io",
        "version": "v1",
        "displayName": "Fine Widget",
        "specDescriptors": [{"path": "size", "displayName": "How Large"}],
    }
    given = base(customresourcedefinitions={"owned": [base_item], "required": [{"name": "x"}]})
    widget = crd(size={"type": "integer", "description": "In mm."}, colour={"type": "string"})
    item = owned_crd(given, widget)
    assert item["displayName"] == "Fine Widget"
    assert [d["displayName"] for d in item["specDescriptors"]] == ["Colour", "How Large"]
    assert item["specDescriptors"][1]["description"] == "In mm."
    assert csv(given, widget)["spec"]["customresourcedefinitions"]["required"] == [{"name": "x"}]


def crd_with_status(**fields: Any) -> Manifest:
    """A CRD without a description whose status has these fields."""
    given = crd()
    schema = given.body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    del schema["description"]
    schema["properties"]["status"] = {"properties": fields}
    return given


def test_conditions_and_phase_of_the_status_have_descriptors() -> None:
    text = {"type": "string"}
    item = owned_crd(crd_with_status(conditions={"type": "array"}, phase=text, other=text))
    assert {d["path"]: d.get("x-descriptors") for d in item["statusDescriptors"]} == {
        "conditions": ["urn:alm:descriptor:io.kubernetes.conditions"],
        "phase": ["urn:alm:descriptor:io.kubernetes.phase"],
        "other": None,
    }
    assert item["description"] == "A Widget."
    assert "specDescriptors" not in item


def test_the_description_of_the_schema_is_used() -> None:
    given = crd()
    schema = given.body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["description"] = "Something\nto turn."
    assert owned_crd(given)["description"] == "Something to turn."


def test_a_string_has_a_text_descriptor() -> None:
    assert descriptor(type="string")["x-descriptors"] == ["urn:alm:descriptor:com.tectonic.ui:text"]


def test_status_descriptors_of_the_base_are_merged() -> None:
    base_item = {
        "name": "widgets.acme.io",
        "version": "v1",
        "statusDescriptors": [{"path": "phase", "displayName": "State"}],
    }
    item = owned_crd(
        base(customresourcedefinitions={"owned": [base_item]}), crd_with_status(phase={}, other={})
    )
    assert [(d["path"], d["displayName"]) for d in item["statusDescriptors"]] == [
        ("other", "Other"),
        ("phase", "State"),
    ]
    assert item["statusDescriptors"][1]["x-descriptors"] == ["urn:alm:descriptor:io.kubernetes.phase"]


@pytest.mark.parametrize("wrong", [{"v1": True}, ["v1"], 1, None])
def test_a_version_name_that_is_not_a_string_counts_as_absent(wrong: object) -> None:
    given = crd()
    given.body["spec"]["versions"][0]["name"] = wrong
    assert owned_crd(given)["version"] == ""


@pytest.mark.parametrize("key", ["name", "version"])
def test_an_owned_crd_of_the_base_whose_name_is_not_a_string_is_ignored(key: str) -> None:
    item: dict[str, Any] = {"name": "widgets.acme.io", "version": "v1", "displayName": "Mine"}
    given = base(customresourcedefinitions={"owned": [{**item, key: {}}]})
    assert owned_crd(given, crd())["displayName"] == "Widget"
