"""A CustomResourceDefinition, read as far as its objects depend on it."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.crd_upgrade_safety.definitions import Definition, definition
from everpath.model import Place
from everpath.model.bundle_contents import Manifest

SCHEMA = {"openAPIV3Schema": {"type": "object"}}


def read(**spec: Any) -> Definition:
    body = {"kind": "CustomResourceDefinition", "metadata": {"name": "widgets.acme.io"}, "spec": spec}
    return definition(Manifest(Place("crd.yaml"), body))


def test_a_definition_says_its_kind_scope_and_conversion() -> None:
    found = read(names={"kind": "Widget"}, scope="Cluster", conversion={"strategy": "Webhook"})
    assert (found.name, found.kind, found.scope, found.conversion) == (
        "widgets.acme.io",
        "Widget",
        "Cluster",
        "Webhook",
    )
    assert read().conversion == "None"


def test_versions_say_what_is_served_stored_and_where_they_are_written() -> None:
    found = read(
        versions=[
            {"name": "v1beta1", "served": True, "storage": False, "schema": SCHEMA},
            {"name": "v1", "served": False, "storage": True},
        ]
    )
    assert [(v.name, v.is_served, v.is_storage) for v in found.versions.values()] == [
        ("v1beta1", True, False),
        ("v1", False, True),
    ]
    assert [v.place.pointer for v in found.versions.values()] == [
        ("spec", "versions", 0),
        ("spec", "versions", 1),
    ]
    assert [v.schema for v in found.versions.values()] == [{"type": "object"}, {}]
    assert found.storage == "v1"


def test_one_schema_may_be_for_all_versions() -> None:
    """As apiextensions v1beta1 has it; a version's own wins."""
    found = read(
        versions=[{"name": "v1"}, {"name": "v2", "schema": SCHEMA}],
        validation={"openAPIV3Schema": {"type": "array"}},
    )
    assert {name: v.schema["type"] for name, v in found.versions.items()} == {"v1": "array", "v2": "object"}


def test_a_single_version_may_be_named_beside_the_rest() -> None:
    [found] = read(version="v1", validation=SCHEMA).versions.values()
    assert found == ("v1", True, True, {"type": "object"}, Place("crd.yaml").at("spec"))


@pytest.mark.parametrize("versions", [None, [], "v1", {"name": "v1"}])
def test_versions_of_a_wrong_shape_count_as_absent(versions: object) -> None:
    found = read(versions=versions)
    assert found.versions == {}
    assert found.storage is None
