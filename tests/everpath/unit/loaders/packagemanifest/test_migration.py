"""`Migration`: from package manifests or bundles to a file-based catalog."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
import yaml

from everpath.app.opm_validate import rejection_reason
from everpath.loaders.catalog_loader import load
from everpath.loaders.packagemanifest.migration import MigratedPackage, Migration
from everpath.model import OpmError
from tests.support.everpath.bundles import csv, write, write_bundle
from tests.support.everpath.package_manifests import crd, owning, package_file


def migrated(source: Path, **options: str) -> MigratedPackage:
    (package,) = load(str(source), thorough=True).catalog.packages
    return Migration(str(source), validate=rejection_reason, **options).migrate_package(package)


def blobs(found: MigratedPackage) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(found.files["catalog/op/catalog.yaml"]))


def entries(found: MigratedPackage, channel: str = "stable") -> list[dict[str, Any]]:
    return next(
        blob["entries"] for blob in blobs(found) if (blob["schema"], blob["name"]) == ("olm.channel", channel)
    )


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    icon = {"base64data": b64encode(b"<svg/>").decode(), "mediatype": "image/svg+xml"}
    return write(
        tmp_path,
        {
            "op.package.yaml": package_file("stable", stable="op.v1.10.0", old="op.v1.9.0"),
            "1.9.0/op.yaml": csv("op.v1.9.0", replaces="op.v1.8.0", **owning("things.example.com")),
            "1.9.0/things.yaml": crd(note="# kept as it is"),
            "1.10.0/op.yaml": csv(
                "op.v1.10.0",
                replaces="op.v1.9.0",
                notes={"olm.skipRange": "<1.10.0"},
                description="An operator",
                icon=[icon],
            ),
        },
    )


def test_each_release_becomes_a_bundle_with_the_files_as_they_are(manifests: Path) -> None:
    files = migrated(manifests).files
    assert sorted(files) == [
        "bundles/op/1.10.0/manifests/op.yaml",
        "bundles/op/1.10.0/metadata/annotations.yaml",
        "bundles/op/1.9.0/manifests/op.yaml",
        "bundles/op/1.9.0/manifests/things.yaml",
        "bundles/op/1.9.0/metadata/annotations.yaml",
        "bundles/op/ci.yaml",
        "catalog/op/catalog.yaml",
    ]
    old = (manifests / "1.9.0/things.yaml").read_bytes()
    assert files["bundles/op/1.9.0/manifests/things.yaml"] == old
    assert files["bundles/op/ci.yaml"] == b"updateGraph: replaces-mode\n"
    assert yaml.safe_load(files["bundles/op/1.9.0/metadata/annotations.yaml"]) == {
        "annotations": {
            "operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
            "operators.operatorframework.io.bundle.manifests.v1": "manifests/",
            "operators.operatorframework.io.bundle.metadata.v1": "metadata/",
            "operators.operatorframework.io.bundle.package.v1": "op",
            "operators.operatorframework.io.bundle.channels.v1": "stable,old",
            "operators.operatorframework.io.bundle.channel.default.v1": "stable",
        }
    }


def test_channels_start_at_currentcsv_and_keep_absent_names(manifests: Path) -> None:
    found = migrated(manifests)
    assert entries(found) == [
        {"name": "op.v1.9.0", "replaces": "op.v1.8.0"},
        {"name": "op.v1.10.0", "replaces": "op.v1.9.0", "skipRange": "<1.10.0"},
    ]
    assert entries(found, "old") == [{"name": "op.v1.9.0", "replaces": "op.v1.8.0"}]


def test_the_package_is_described_by_the_head_of_its_default_channel(manifests: Path) -> None:
    found = next(blob for blob in blobs(migrated(manifests)) if blob["schema"] == "olm.package")
    assert found == {
        "schema": "olm.package",
        "name": "op",
        "defaultChannel": "stable",
        "description": "An operator",
        "icon": {"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"},
    }


@pytest.mark.parametrize(
    ("written", "kept"), [("not base64", None), ("PHN2Zy8+Cg=", None), (r'"PHN2\r\nZy8+\n"', "PHN2Zy8+")]
)
def test_an_icon_is_kept_if_opm_can_read_it(manifests: Path, written: str, kept: str | None) -> None:
    file = manifests / "1.10.0/op.yaml"
    file.write_text(file.read_text().replace("PHN2Zy8+", written))
    found = next(blob for blob in blobs(migrated(manifests)) if blob["schema"] == "olm.package")
    assert found.get("icon", {}).get("base64data") == kept


def test_without_images_the_catalog_carries_the_manifests(manifests: Path) -> None:
    types = [
        [p["type"] for p in blob["properties"]]
        for blob in blobs(migrated(manifests))
        if blob["schema"] == "olm.bundle"
    ]
    assert types == [
        ["olm.package", "olm.bundle.object"],
        ["olm.gvk", "olm.package", "olm.bundle.object", "olm.bundle.object"],
    ]


def test_with_images_it_carries_their_metadata(manifests: Path) -> None:
    found = migrated(manifests, image="example.com/{{.Package}}:v{{.Version}}")
    bundles = [blob for blob in blobs(found) if blob["schema"] == "olm.bundle"]
    assert [blob["image"] for blob in bundles] == ["example.com/op:v1.10.0", "example.com/op:v1.9.0"]
    assert [blob["properties"][-1]["type"] for blob in bundles] == ["olm.csv.metadata"] * 2


def test_what_a_channel_skips_is_in_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "op.package.yaml": package_file(stable="op.v1.2.0"),
            "a.yaml": csv("op.v1.0.0"),
            "b.yaml": csv("op.v1.1.0", replaces="op.v1.0.0"),
            "c.yaml": csv("op.v1.2.0", replaces="op.v1.0.0", skips=["op.v1.1.0"]),
        },
    )
    assert entries(migrated(tmp_path)) == [
        {"name": "op.v1.0.0"},
        {"name": "op.v1.1.0"},
        {"name": "op.v1.2.0", "replaces": "op.v1.0.0", "skips": ["op.v1.1.0"]},
    ]


def test_csv_in_no_channel_is_left_out_with_a_warning(manifests: Path) -> None:
    write(manifests, {"0.1.0/op.yaml": csv("op.v0.1.0")})
    found = migrated(manifests)
    assert [remark.message for remark in found.warnings] == ["not migrated: op.v0.1.0 is in no channel of op"]
    assert not any("0.1.0" in name for name in found.files)


def test_edges_that_opm_rejects_are_kept_with_a_warning(tmp_path: Path) -> None:
    write(tmp_path, {"ci.yaml": "updateGraph: replaces-mode\n"})
    write_bundle(tmp_path / "1.0.0", "op.v1.0.0")
    write_bundle(tmp_path / "1.1.0", "op.v1.1.0")
    found = migrated(tmp_path)
    assert entries(found) == [{"name": "op.v1.0.0"}, {"name": "op.v1.1.0"}]
    (remark,) = found.warnings
    assert remark.message == (
        "opm validate rejects the catalog of op: channel stable: "
        "multiple channel heads found in graph: op.v1.0.0, op.v1.1.0"
    )


def test_a_package_file_beside_the_folder_of_its_csvs_is_enough(tmp_path: Path) -> None:
    files = {"a.package.yaml": package_file(stable="op.v1.0.0").replace(": op\n", ": other\n")}
    files |= {"files/op.package.yaml": package_file(stable="op.v1.1.0")}
    write(tmp_path, {**files, "1.0.0/a.yaml": csv("op.v1.0.0"), "1.1.0/b.yaml": csv("op.v1.1.0")})
    packages = load(str(tmp_path)).catalog.by_name
    migration = Migration(str(tmp_path))
    assert {name for package in packages.values() for name in migration.migrate_package(package).files} == {
        "bundles/op/1.1.0/manifests/b.yaml",
        "bundles/op/1.1.0/metadata/annotations.yaml",
        "bundles/op/ci.yaml",
        "bundles/other/1.0.0/manifests/a.yaml",
        "bundles/other/1.0.0/metadata/annotations.yaml",
        "bundles/other/ci.yaml",
        "catalog/op/catalog.yaml",
        "catalog/other/catalog.yaml",
    }


def test_bundles_stay_where_they_are(tmp_path: Path) -> None:
    write_bundle(tmp_path / "1.0.0", "op.v1.0.0")
    write_bundle(tmp_path / "1.1.0", "op.v1.1.0", replaces="op.v0.9.0")
    found = migrated(tmp_path)
    assert list(found.files) == ["catalog/op/catalog.yaml"]
    assert entries(found) == [{"name": "op.v1.0.0"}, {"name": "op.v1.1.0", "replaces": "op.v1.0.0"}]


def test_manifests_beside_their_metadata_and_in_a_folder_bundle_are_found(tmp_path: Path) -> None:
    write_bundle(tmp_path / "1.0.0/bundle", "op.v1.0.0")
    write_bundle(tmp_path / "1.1.0", "op.v1.1.0")
    names = [blob["name"] for blob in blobs(migrated(tmp_path)) if blob["schema"] == "olm.bundle"]
    assert names == ["op.v1.0.0", "op.v1.1.0"]


def test_one_bundle_is_a_catalog_too(tmp_path: Path) -> None:
    write_bundle(tmp_path, "op.v1.1.0", replaces="op.v1.0.0")
    assert entries(migrated(tmp_path)) == [{"name": "op.v1.1.0", "replaces": "op.v1.0.0"}]


@pytest.mark.parametrize(
    ("files", "message", "fix"),
    [
        (
            {"op.package.yaml": package_file(a="op.v1.0.0", b="op.v1.0.0"), "a.yaml": csv()},
            "op has no default channel: it is not set",
            "choose one of a, b",
        ),
        (
            {"op.package.yaml": package_file("c", a="op.v1.0.0"), "a.yaml": csv()},
            "op has no default channel: c does not exist",
            "choose one of a",
        ),
        ({"op.package.yaml": package_file(), "a.yaml": csv()}, "op has no channels", "add a channel"),
        (
            {"op.package.yaml": package_file(a="op.v1.0.0").replace(": op\n", ": ../op\n"), "a.yaml": csv()},
            "'../op' is not a valid package name",
            "use letters, digits and dashes",
        ),
        (
            {"op.package.yaml": package_file(a="op.v1.0.0").replace(": op\n", ": ''\n"), "a.yaml": csv()},
            "the package has no name",
            "add packageName",
        ),
        (
            {"op.package.yaml": package_file(a="op.v2.0.0"), "a.yaml": csv()},
            "no file contains op.v2.0.0 of the channel a",
            "add the CSV, or choose an existing one",
        ),
        (
            {"op.package.yaml": package_file(a="op.v1.0.0"), "a.yaml": csv(), "b.yaml": csv()},
            "a second CSV with the name op.v1.0.0: the first is ",
            "keep one of them, or rename it",
        ),
        (
            {"op.package.yaml": package_file(a="op.v1.0.0"), "a.yaml": csv(**owning("t.example.com"))},
            "the CSV owns example.com/v1/T (t), which no",
            "add the CRD",
        ),
    ],
)
def test_invalid_package_is_refused(tmp_path: Path, files: dict[str, str], message: str, fix: str) -> None:
    write(tmp_path, files)
    with pytest.raises(OpmError) as refused:
        migrated(tmp_path)
    assert message in refused.value.message
    assert (refused.value.fix or "").startswith(fix)
    assert refused.value.place.file.startswith(str(tmp_path))
