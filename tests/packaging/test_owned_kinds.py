"""What consoles are told of the operator's kinds."""

from __future__ import annotations

from typing import Any

from everpath.model.bundle_contents import Manifest
from operators import base, crd, csv


def item(*manifests: Manifest) -> dict[str, Any]:
    [made] = csv(*manifests)["spec"]["customresourcedefinitions"]["owned"]
    assert isinstance(made, dict)
    return made


def descriptor(**field: Any) -> dict[str, Any]:
    [made] = item(crd(theField=field))["specDescriptors"]
    assert isinstance(made, dict)
    return made


def test_a_served_version_is_an_item_and_one_that_is_not_served_is_none() -> None:
    given = crd()
    given.body["spec"]["versions"].append({"name": "v0", "served": False})
    made = item(given)
    assert (made["name"], made["version"], made["kind"]) == ("widgets.acme.io", "v1", "Widget")
    assert (made["displayName"], made["description"]) == ("Widget", "A Widget.")


def test_a_version_that_does_not_say_whether_it_is_served_is_served() -> None:
    given = crd()
    del given.body["spec"]["versions"][0]["served"]
    assert item(given)["version"] == "v1"


def test_fields_come_in_order_of_name_those_that_only_the_base_describes_among_them() -> None:
    widget = crd(size={"type": "integer"}, colour={"type": "string"})
    assert [d["path"] for d in item(widget)["specDescriptors"]] == ["colour", "size"]
    said = [{"path": path} for path in ("weight", "price", "age")]
    given = base(
        customresourcedefinitions={
            "owned": [{"name": "widgets.acme.io", "version": "v1", "specDescriptors": said}]
        }
    )
    paths = [d["path"] for d in item(given, widget)["specDescriptors"]]
    assert paths == ["age", "colour", "price", "size", "weight"]


def test_a_field_further_down_has_the_control_of_its_own_name() -> None:
    pool = {"properties": {"replicas": {"type": "integer"}}}
    [made] = item(crd(pool=pool))["specDescriptors"]
    assert made["x-descriptors"] == ["urn:alm:descriptor:com.tectonic.ui:podCount"]


def test_a_field_is_named_and_described_by_its_schema() -> None:
    made = descriptor(type="string", description="What\n  it is.")
    assert made["path"] == "theField"
    assert made["displayName"] == "The Field"
    assert made["description"] == "What it is."


def test_the_type_of_a_field_chooses_its_control() -> None:
    ui = "urn:alm:descriptor:com.tectonic.ui:"
    assert descriptor(type="boolean")["x-descriptors"] == [f"{ui}booleanSwitch"]
    assert descriptor(type="integer")["x-descriptors"] == [f"{ui}number"]
    assert descriptor(type="number")["x-descriptors"] == [f"{ui}number"]
    assert descriptor(enum=["A", "B"])["x-descriptors"] == [f"{ui}select:A", f"{ui}select:B"]
    assert item(crd(replicas={"type": "integer"}))["specDescriptors"][0]["x-descriptors"] == [f"{ui}podCount"]
    assert "x-descriptors" not in descriptor(type="array")


def test_fields_are_shown_two_steps_down_and_no_further() -> None:
    deep = {"properties": {"b": {"properties": {"c": {"type": "string"}}}, "leaf": {"type": "string"}}}
    assert [d["path"] for d in item(crd(a=deep))["specDescriptors"]] == ["a.leaf"]


def test_what_the_base_says_of_a_kind_or_a_path_has_the_last_word() -> None:
    said = {
        "name": "widgets.acme.io",
        "version": "v1",
        "displayName": "Fine Widget",
        "specDescriptors": [{"path": "size", "displayName": "How Large"}],
    }
    given = base(customresourcedefinitions={"owned": [said], "required": [{"name": "x"}]})
    widget = crd(size={"type": "integer", "description": "In mm."}, colour={"type": "string"})
    made = item(given, widget)
    assert made["displayName"] == "Fine Widget"
    assert [d["displayName"] for d in made["specDescriptors"]] == ["Colour", "How Large"]
    assert made["specDescriptors"][1]["description"] == "In mm."
    assert csv(given, widget)["spec"]["customresourcedefinitions"]["required"] == [{"name": "x"}]


def with_status(**fields: Any) -> Manifest:
    """A definition whose status has these fields, and that says nothing of itself."""
    given = crd()
    schema = given.body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    del schema["description"]
    schema["properties"]["status"] = {"properties": fields}
    return given


def test_the_status_has_conditions_and_a_phase_that_consoles_know() -> None:
    text = {"type": "string"}
    made = item(with_status(conditions={"type": "array"}, phase=text, other=text))
    assert {d["path"]: d.get("x-descriptors") for d in made["statusDescriptors"]} == {
        "conditions": ["urn:alm:descriptor:io.kubernetes.conditions"],
        "phase": ["urn:alm:descriptor:io.kubernetes.phase"],
        "other": None,
    }
    assert made["description"] == "A Widget."
    assert "specDescriptors" not in made


def test_a_description_of_the_schema_is_that_of_the_kind() -> None:
    given = crd()
    schema = given.body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["description"] = "Something\nto turn."
    assert item(given)["description"] == "Something to turn."


def test_a_text_has_a_control_too() -> None:
    assert descriptor(type="string")["x-descriptors"] == ["urn:alm:descriptor:com.tectonic.ui:text"]


def test_what_the_base_says_of_the_status_is_kept_beside_what_is_derived() -> None:
    said = {
        "name": "widgets.acme.io",
        "version": "v1",
        "statusDescriptors": [{"path": "phase", "displayName": "State"}],
    }
    made = item(base(customresourcedefinitions={"owned": [said]}), with_status(phase={}, other={}))
    assert [(d["path"], d["displayName"]) for d in made["statusDescriptors"]] == [
        ("other", "Other"),
        ("phase", "State"),
    ]
    assert made["statusDescriptors"][1]["x-descriptors"] == ["urn:alm:descriptor:io.kubernetes.phase"]
