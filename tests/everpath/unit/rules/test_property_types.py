"""Go types of the fields of properties."""

from __future__ import annotations

import pytest

from everpath.go_types import text_field, type_mismatches
from everpath.go_types.properties import PROPERTY_TYPES, has_only_strings

#: Fits no field: neither text nor a whole number, a truth value, a list or an object.
MISFIT = 1.5

DESCRIPTOR = ("path", "displayName", "description", "x-descriptors", "x-descriptors.0")
DESCRIPTION = (
    *("name", "version", "kind", "displayName", "description"),
    *("resources", "resources.0", "resources.0.name", "resources.0.kind", "resources.0.version"),
    *("statusDescriptors", *(f"statusDescriptors.0.{field}" for field in DESCRIPTOR)),
    *("specDescriptors", *(f"specDescriptors.0.{field}" for field in DESCRIPTOR)),
    *("actionDescriptors", *(f"actionDescriptors.0.{field}" for field in DESCRIPTOR)),
)
API_SERVICE = (*DESCRIPTION, "group", "deploymentName", "containerPort")
GVK = ("group", "version", "kind")
SIDES = ("owned", "required")

FIELDS = {
    "olm.package": ("packageName", "version", "release"),
    "olm.package.required": ("packageName", "versionRange"),
    "olm.gvk": GVK,
    "olm.gvk.required": GVK,
    "olm.label.required": ("label",),
    "olm.channel": ("channelName", "priority"),
    "olm.csv.metadata": (
        *("annotations", "annotations.any", "labels", "labels.any"),
        *(f"apiServiceDefinitions.{side}.0.{field}" for side in SIDES for field in API_SERVICE),
        *(f"crdDescriptions.{side}.0.{field}" for side in SIDES for field in DESCRIPTION),
        *("description", "displayName", "maturity", "minKubeVersion"),
        *("installModes", "installModes.0.type", "installModes.0.supported", "keywords", "keywords.0"),
        *("links", "links.0.name", "links.0.url", "provider", "provider.name", "provider.url"),
        *("maintainers", "maintainers.0.name", "maintainers.0.email"),
        *("nativeAPIs", *(f"nativeAPIs.0.{field}" for field in GVK)),
    ),
}


def holding(steps: tuple[str | int, ...]) -> object:
    """A value with the mismatch at the end of a way."""
    value: object = MISFIT
    for step in reversed(steps):
        value = [value] if isinstance(step, int) else {step: value}
    return value


@pytest.mark.parametrize("kind", PROPERTY_TYPES)
def test_every_field_of_a_property_has_a_type(kind: str) -> None:
    for field in FIELDS[kind]:
        way = tuple(int(step) if step.isdigit() else step for step in field.split("."))
        assert [mismatch.path for mismatch in type_mismatches(holding(way), PROPERTY_TYPES[kind])] == [way]


def test_the_case_of_a_field_does_not_matter() -> None:
    assert len(list(type_mismatches({"PACKAGEname": MISFIT}, PROPERTY_TYPES["olm.package"]))) == 1


@pytest.mark.parametrize(("priority", "count"), [(3, 0), (3.0, 0), (3.5, 1), (True, 1), ("3", 1)])
def test_integer_can_be_written_as_a_float(priority: object, count: int) -> None:
    assert len(list(type_mismatches({"priority": priority}, PROPERTY_TYPES["olm.channel"]))) == count


def test_long_value_is_shortened_in_the_message() -> None:
    (mismatch,) = type_mismatches({"priority": "x" * 50}, PROPERTY_TYPES["olm.channel"])
    assert mismatch.message == f"priority must be a 64-bit integer, not the string '{'x' * 40}'"


@pytest.mark.parametrize(
    ("value", "kind", "fits"),
    [
        ({"group": "a.b", "version": "v1", "kind": "C"}, "olm.gvk", True),
        ({"group": "a.b"}, "olm.gvk", True),
        ({"label": "a"}, "olm.label.required", True),
        ({"label": "a", "more": "b"}, "olm.label.required", False),
        ({"more": "b"}, "olm.label.required", False),
        ({"label": 1}, "olm.label.required", False),
        ({"channelName": "a", "priority": "b"}, "olm.channel", False),
        (["label"], "olm.label.required", False),
        ({"label": "a"}, "olm.unknown", False),
    ],
)
def test_fast_check_accepts_only_structs_of_strings(value: object, kind: str, fits: bool) -> None:
    assert has_only_strings(value, kind) is fits


@pytest.mark.parametrize(
    ("value", "text"), [({"Kind": "C"}, "C"), ({"kind": 1}, ""), ({}, ""), (["kind"], "")]
)
def test_string_field_defaults_to_empty(value: object, text: str) -> None:
    assert text_field(value, "kind") == text
