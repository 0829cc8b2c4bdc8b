"""Parsing of CustomResourceDefinitions."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.crd_upgrade_safety.crd import CustomResourceDefinition, parse_crd
from everpath.model import Place
from everpath.model.bundle_contents import Manifest

SCHEMA = {"openAPIV3Schema": {"type": "object"}}


def parse(**spec: Any) -> CustomResourceDefinition:
    body = {"kind": "CustomResourceDefinition", "metadata": {"name": "widgets.acme.io"}, "spec": spec}
    return parse_crd(Manifest(Place("crd.yaml"), body))


def test_name_scope_and_conversion_are_parsed() -> None:
    crd = parse(scope="Cluster", conversion={"strategy": "Webhook"})
    assert (crd.name, crd.scope, crd.conversion) == ("widgets.acme.io", "Cluster", "Webhook")
    assert parse().conversion == "None"


def test_versions_are_parsed_with_their_places() -> None:
    crd = parse(
        versions=[
            {"name": "v1beta1", "served": True, "storage": False, "schema": SCHEMA},
            {"name": "v1", "served": False, "storage": True},
        ]
    )
    assert [(v.name, v.is_served, v.is_storage) for v in crd.versions.values()] == [
        ("v1beta1", True, False),
        ("v1", False, True),
    ]
    assert [v.place.pointer for v in crd.versions.values()] == [
        ("spec", "versions", 0),
        ("spec", "versions", 1),
    ]
    assert [v.schema for v in crd.versions.values()] == [{"type": "object"}, {}]
    assert crd.storage_version == "v1"


def test_a_common_schema_applies_to_versions_without_one() -> None:
    """apiextensions v1beta1 allows it; the schema of a version takes precedence."""
    crd = parse(
        versions=[{"name": "v1"}, {"name": "v2", "schema": SCHEMA}],
        validation={"openAPIV3Schema": {"type": "array"}},
    )
    assert {name: v.schema["type"] for name, v in crd.versions.items()} == {"v1": "array", "v2": "object"}


def test_spec_version_is_served_and_stored() -> None:
    [crd] = parse(version="v1", validation=SCHEMA).versions.values()
    assert crd == ("v1", True, True, {"type": "object"}, Place("crd.yaml").at("spec"))


@pytest.mark.parametrize("versions", [None, [], "v1", {"name": "v1"}])
def test_versions_of_the_wrong_type_count_as_absent(versions: object) -> None:
    crd = parse(versions=versions)
    assert crd.versions == {}
    assert crd.storage_version is None
