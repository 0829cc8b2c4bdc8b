"""Rendering of bundles as olm.bundle blobs."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.opm_render import Blob, render_bundle
from everpath.opm_render.bundles import expand_image_template, normalize_bundle
from everpath.opm_render.csv_metadata import migrate_to_csv_metadata
from tests.support.everpath.bundles import write
from tests.support.everpath.rendered_catalogs import bundle_files

_PROPERTIES_ANNOTATION = "olm.properties"


def render(root: Path, image: str = "", **files: Any) -> Blob:
    return render_bundle(load_bundle_contents(str(write(root / "bundle", bundle_files(**files)))), image).blob


def values(blob: Blob, kind: str) -> list[Any]:
    return [p["value"] for p in blob["properties"] if p["type"] == kind]


def csv_with_properties(text: str) -> dict[str, Any]:
    metadata = {"name": "op.v1.0.0", "annotations": {_PROPERTIES_ANNOTATION: text}}
    return {"kind": "ClusterServiceVersion", "metadata": metadata, "spec": {"version": "1.0.0"}}


def test_fields_and_properties_are_in_opm_order(tmp_path: Path) -> None:
    blob = render(tmp_path, metadata={"properties": [{"type": "a", "value": 2}, {"type": "a", "value": 10}]})
    assert list(blob) == ["schema", "name", "package", "image", "properties"]
    kinds = [p["type"] for p in blob["properties"]]
    assert kinds == ["a", "a", "olm.gvk", "olm.gvk", "olm.package", "olm.bundle.object", "olm.bundle.object"]
    assert values(blob, "a") == [10, 2]  # sorted as JSON text


def test_served_and_unserved_versions_of_a_crd_are_provided(tmp_path: Path) -> None:
    assert [gvk["version"] for gvk in values(render(tmp_path), "olm.gvk")] == ["v1", "v1alpha1"]


def test_manifests_are_embedded_as_go_json(tmp_path: Path) -> None:
    blob = render(tmp_path, displayName="<&>", ratio=1.0)
    texts = [b64decode(value["data"]).decode() for value in values(blob, "olm.bundle.object")]
    csv = next(text for text in texts if "ClusterServiceVersion" in text)
    assert '"spec":{"displayName":"\\u003c\\u0026\\u003e","ratio":1,"version":"1.0.0"}' in csv


def test_the_package_of_the_csv_annotation_takes_precedence(tmp_path: Path) -> None:
    first = {"properties": [{"type": "olm.package", "value": {"packageName": "first", "version": "0.1.0"}}]}
    assert values(render(tmp_path, metadata=first), "olm.package") == [
        {"packageName": "op", "version": "1.0.0"}
    ]
    text = json.dumps([{"type": "olm.package", "value": {"packageName": "last", "version": "9.0.0"}}])
    blob = render(tmp_path, csv=csv_with_properties(text), metadata=first)
    assert values(blob, "olm.package") == [{"packageName": "last", "version": "9.0.0"}]
    assert blob["package"] == "op"


@pytest.mark.parametrize("text", ["no json", "{}", "5"])
def test_a_properties_annotation_that_is_not_a_list_is_ignored(tmp_path: Path, text: str) -> None:
    assert render(tmp_path, csv=csv_with_properties(text)) is not None


def test_dependencies_become_required_properties_except_labels(tmp_path: Path) -> None:
    gvk = {"group": "g", "kind": "K", "version": "v1"}
    wanted = [
        {"type": "olm.gvk", "value": gvk},
        {"type": "olm.package", "value": {"packageName": "dep", "version": ">=1.0.0"}},
        {"type": "olm.label", "value": {"label": "x"}},
        {"type": "olm.constraint", "value": {"failureMessage": "no", "cel": {"rule": "true"}}},
    ]
    blob = render(tmp_path, metadata={"dependencies": wanted})
    assert values(blob, "olm.gvk.required") == [gvk]
    assert values(blob, "olm.package.required") == [{"packageName": "dep", "versionRange": ">=1.0.0"}]
    assert values(blob, "olm.label") == [{"label": "x"}]
    assert values(blob, "olm.constraint") == [{"cel": {"rule": "true"}, "failureMessage": "no"}]


@pytest.mark.parametrize(("release", "text"), [("rc.1", "rc.1"), (2, "2"), (2.0, "2"), (2.5, "2.5")])
def test_a_release_may_be_a_number(tmp_path: Path, release: object, text: str) -> None:
    assert values(render(tmp_path, release=release), "olm.package")[0]["release"] == text


def install_strategy(*images: str, strategy: str = "deployment") -> dict[str, Any]:
    containers = [{"name": "c", "image": image} for image in images]
    pod = {"containers": containers[:1], "initContainers": containers[1:]}
    return {
        "strategy": strategy,
        "spec": {"deployments": [{"name": "op", "spec": {"template": {"spec": pod}}}]},
    }


def test_related_images_are_those_of_the_csv_the_bundle_and_the_containers(tmp_path: Path) -> None:
    listed = [{"name": "z", "image": "b:1"}]
    blob = render(tmp_path, "c:1", relatedImages=listed, install=install_strategy("d:1", "a:1", "b:1"))
    assert [(i["name"], i["image"]) for i in blob["relatedImages"]] == [
        ("", "a:1"), ("z", "b:1"), ("", "c:1"), ("", "d:1"),
    ]  # fmt: skip


def test_containers_of_another_install_strategy_are_ignored(tmp_path: Path) -> None:
    assert "relatedImages" not in render(tmp_path, install=install_strategy("d:1", strategy="other"))


def test_migration_replaces_manifests_with_csv_metadata(tmp_path: Path) -> None:
    folder = write(tmp_path / "b", bundle_files(displayName="Op", provider={"name": "us"}, icon=[]))
    migrated = migrate_to_csv_metadata(render_bundle(load_bundle_contents(str(folder)), "op:1")).blob
    assert values(migrated, "olm.bundle.object") == []
    assert values(migrated, "olm.csv.metadata") == [
        {"apiServiceDefinitions": {}, "crdDescriptions": {}, "displayName": "Op", "provider": {"name": "us"}}
    ]
    assert migrated["properties"][-1]["type"] == "olm.csv.metadata"


def test_migration_keeps_the_manifests_of_a_bundle_without_an_image(tmp_path: Path) -> None:
    folder = write(tmp_path / "b", bundle_files())
    migrated = render_bundle(load_bundle_contents(str(folder)))
    assert migrate_to_csv_metadata(migrated) == migrated


def test_migration_does_not_change_a_bundle_with_csv_metadata(tmp_path: Path) -> None:
    metadata = {"properties": [{"type": "olm.csv.metadata", "value": {"displayName": "x"}}]}
    folder = write(tmp_path / "b", bundle_files(metadata=metadata))
    migrated = render_bundle(load_bundle_contents(str(folder)), "op:1")
    assert migrate_to_csv_metadata(migrated) == migrated


def test_an_image_template_is_expanded(tmp_path: Path) -> None:
    contents = load_bundle_contents(str(write(tmp_path / "b", bundle_files())))
    assert (
        expand_image_template(contents, "r/{{.Package}}:{{ .Name }}-{{.Version}}") == "r/op:op.v1.0.0-1.0.0"
    )


def test_a_normalized_bundle_has_manifests_last_and_sorted_images() -> None:
    kinds = ("olm.bundle.object", "a", "olm.csv.metadata", "b")
    blob = {
        "schema": "olm.bundle",
        "properties": [{"type": kind, "value": 1} for kind in kinds],
        "relatedImages": [{"name": "x", "image": "b"}, {"name": "y", "image": "a"}],
    }
    normalized = normalize_bundle(blob)
    assert [p["type"] for p in normalized["properties"]] == [
        "a",
        "b",
        "olm.bundle.object",
        "olm.csv.metadata",
    ]
    assert [i["image"] for i in normalized["relatedImages"]] == ["a", "b"]
