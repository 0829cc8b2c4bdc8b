"""The properties of a bundle folder are those that opm would render."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from everpath.model import Bundle
from tests.support.everpath.bundles import problems, read_bundle, write, write_bundle

PACKAGE = {"packageName": "op", "version": "1.0.0"}


def _bundle(path: Path) -> Bundle:
    (bundle,) = read_bundle(path).packages[0].bundles
    return bundle


def _values(bundle: Bundle, kind: str) -> list[Any]:
    return [p.value for p in bundle.properties_of(kind)]


def _package(version: str) -> dict[str, Any]:
    return {"type": "olm.package", "value": {"packageName": "op", "version": version}}


def test_a_bundle_is_a_package_of_its_version(tmp_path: Path) -> None:
    bundle = _bundle(write_bundle(tmp_path))
    assert [(p.type, p.value) for p in bundle.properties] == [("olm.package", PACKAGE)]
    assert bundle.version == "1.0.0"


def test_the_csv_overrules_properties_yaml(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    write(tmp_path, {"metadata/properties.yaml": json.dumps({"properties": [_package("9.0.0")]})})
    assert _values(_bundle(tmp_path), "olm.package") == [PACKAGE]


def test_the_annotation_of_the_csv_overrules_the_rest(tmp_path: Path) -> None:
    write_bundle(tmp_path, notes={"olm.properties": json.dumps([_package("2.0.0")])})
    bundle = _bundle(tmp_path)
    assert _values(bundle, "olm.package") == [{"packageName": "op", "version": "2.0.0"}]
    assert bundle.version == "2.0.0"
    assert bundle.csv is not None
    assert bundle.csv.version == "1.0.0"


def test_a_release_is_part_of_the_package(tmp_path: Path) -> None:
    write_bundle(tmp_path, release=3)
    assert _values(_bundle(tmp_path), "olm.package") == [{**PACKAGE, "release": "3"}]


def test_dependencies_become_requirements_and_the_rest_is_copied(tmp_path: Path) -> None:
    dependencies = [
        {"type": "olm.gvk", "value": {"group": "g", "kind": "K", "version": "v1"}},
        {"type": "olm.package", "value": {"packageName": "x", "version": ">1.0.0"}},
        {"type": "olm.constraint", "value": {"failureMessage": "no"}},
        {"type": "olm.label", "value": {"label": "l"}},
    ]
    write_bundle(tmp_path)
    write(tmp_path, {"metadata/dependencies.yaml": json.dumps({"dependencies": dependencies})})
    bundle = _bundle(tmp_path)
    assert [(p.type, p.value) for p in bundle.properties] == [
        ("olm.constraint", {"failureMessage": "no"}),
        ("olm.gvk.required", {"group": "g", "kind": "K", "version": "v1"}),
        ("olm.label", {"label": "l"}),
        ("olm.package", PACKAGE),
        ("olm.package.required", {"packageName": "x", "versionRange": ">1.0.0"}),
    ]
    (required,) = bundle.properties_of("olm.gvk.required")
    assert required.place.pointer == ("dependencies", 0)
    assert required.place.file.endswith("dependencies.yaml")


def test_what_is_written_twice_counts_once(tmp_path: Path) -> None:
    write_bundle(tmp_path, notes={"olm.properties": '[{"type": "x", "value": {"b": 1, "a": 2}}]'})
    write(tmp_path, {"metadata/properties.yaml": "properties: [{type: x, value: {a: 2, b: 1}}]"})
    assert _values(_bundle(tmp_path), "x") == [{"a": 2, "b": 1}]


def test_every_version_of_every_crd_is_provided(tmp_path: Path) -> None:
    head = "kind: CustomResourceDefinition\nspec: {names: {kind: K}, "
    write_bundle(tmp_path)
    write(
        tmp_path,
        {
            "manifests/a.yaml": head + "group: a, versions: [{name: v1, served: false}, {name: v2}]}",
            "manifests/b.yaml": head + "group: b, version: v1beta1}",
        },
    )
    assert _values(_bundle(tmp_path), "olm.gvk") == [
        {"group": "a", "kind": "K", "version": "v1"},
        {"group": "a", "kind": "K", "version": "v2"},
        {"group": "b", "kind": "K", "version": "v1beta1"},
    ]


def test_the_csv_names_services_it_owns_and_apis_it_requires(tmp_path: Path) -> None:
    service = {"group": "s", "kind": "S", "version": "v1"}
    write_bundle(
        tmp_path,
        apiservicedefinitions={"owned": [service], "required": [{**service, "group": "t"}]},
        customresourcedefinitions={
            "owned": [{"name": "own.here", "kind": "O", "version": "v1"}],
            "required": [{"name": "ks.example.com", "kind": "K", "version": "v1"}],
        },
    )
    bundle = _bundle(tmp_path)
    assert _values(bundle, "olm.gvk") == [service]
    assert _values(bundle, "olm.gvk.required") == [
        {"group": "example.com", "kind": "K", "version": "v1"},
        {**service, "group": "t"},
    ]


@pytest.mark.parametrize("text", ["{", "{}", "[1]", '[{"value": 1}]', "[" * 100_000])
def test_an_annotation_that_is_no_list_of_properties_is_reported(tmp_path: Path, text: str) -> None:
    write_bundle(tmp_path, notes={"olm.properties": text})
    catalog = read_bundle(tmp_path)
    assert problems(catalog) == [("wrong-type", "op.v1.0.0.clusterserviceversion.yaml")]
    assert catalog.problems[0].place.pointer == ("metadata", "annotations", "olm.properties")
    assert _values(catalog.packages[0].bundles[0], "olm.package") == [PACKAGE]
