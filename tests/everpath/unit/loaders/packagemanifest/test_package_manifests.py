"""Loading package manifests: a package file, and CSVs beside or below it."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.loaders.bundle.detect import is_package_manifest
from everpath.loaders.source_positions import locate
from everpath.loaders.sources import Sources
from everpath.model import UpdateMode
from tests.support.everpath.bundles import channels, csv, edges, problems, read_manifests, write

PACKAGE = "packageName: op\nchannels:\n- {name: stable, currentCSV: op.v1.2.0}\n"
FLAT = {
    "op.package.yaml": PACKAGE,
    "op.v1.0.0.clusterserviceversion.yaml": csv("op.v1.0.0"),
    "op.v1.1.0.clusterserviceversion.yaml": csv("op.v1.1.0", replaces="op.v1.0.0"),
    "op.v1.2.0.clusterserviceversion.yaml": csv(
        "op.v1.2.0", replaces="op.v1.1.0", notes={"olm.skipRange": "<1.2.0"}
    ),
    "op.crd.yaml": "kind: CustomResourceDefinition",
}
CHAIN = "op.v1.0.0\nop.v1.1.0: op.v1.0.0\nop.v1.2.0: op.v1.1.0 / - / <1.2.0"


def test_a_channel_is_what_its_current_csv_replaces(tmp_path: Path) -> None:
    write(tmp_path, FLAT)
    write(tmp_path, {"x.clusterserviceversion.yaml": csv("op.v3.0.0", replaces="op.v1.2.0")})
    assert is_package_manifest(str(tmp_path))
    catalog = read_manifests(tmp_path)
    assert edges(catalog) == CHAIN
    assert [b.name for b in catalog.packages[0].bundles][-1] == "op.v3.0.0"
    assert not catalog.problems


def test_csvs_may_stand_in_folders_of_their_versions(tmp_path: Path) -> None:
    files = {(name if "package" in name else f"{name[4:9]}/{name}"): text for name, text in FLAT.items()}
    catalog = read_manifests(write(tmp_path, files))
    assert edges(catalog) == CHAIN
    assert [b.csv.folder for b in catalog.packages[0].bundles if b.csv] == ["1.0.0", "1.1.0", "1.2.0"]


def test_files_are_known_by_their_content(tmp_path: Path) -> None:
    files = {f"{number}.yaml": text for number, text in enumerate(FLAT.values())}
    write(tmp_path, files)
    assert is_package_manifest(str(tmp_path))
    assert edges(read_manifests(tmp_path)) == CHAIN


def test_a_csv_may_be_json(tmp_path: Path) -> None:
    text = (
        '{"kind": "ClusterServiceVersion", "metadata": {"name": "op.v1.2.0"}, "spec": {"version": "1.2.0"}}'
    )
    catalog = read_manifests(write(tmp_path, {"op.package.yaml": PACKAGE, "op.json": text}))
    assert edges(catalog) == "op.v1.2.0"


@pytest.mark.parametrize(
    "text",
    [
        "schema: olm.bundle\nproperties:\n- type: olm.package\n  value:\n    packageName: op\n",
        '{"schema": "olm.bundle", "properties": [{"type": "olm.package", "value": {"packageName": "op"}}]}',
        "schema: custom\npackageName: op",
        "a: [\npackageName: op",
    ],
)
def test_a_catalog_is_no_package_manifest(tmp_path: Path, text: str) -> None:
    assert not is_package_manifest(str(write(tmp_path, {"catalog.yaml": text})))


@pytest.mark.parametrize(
    "text", ['{"packageName": "op"}', "{packageName: op}", "'packageName': op", "packageName : op"]
)
def test_a_package_file_may_be_in_any_style(tmp_path: Path, text: str) -> None:
    assert is_package_manifest(str(write(tmp_path, {"op.yaml": text})))


def test_a_broken_package_file_is_unreadable(tmp_path: Path) -> None:
    catalog = read_manifests(write(tmp_path, {**FLAT, "op.package.yaml": "packageName: ["}))
    assert problems(catalog) == [("unreadable-document", "op.package.yaml")]


@pytest.mark.parametrize(
    ("text", "default", "is_inferred"),
    [
        (PACKAGE, "stable", True),
        (PACKAGE + "defaultChannel: stable", "stable", False),
        (PACKAGE + "- {name: beta, currentCSV: op.v1.0.0}\n", "", True),
        (PACKAGE + "defaultChannel: gone", "gone", False),
    ],
)
def test_the_default_channel_is_the_named_one_or_the_only_one(
    tmp_path: Path, text: str, default: str, is_inferred: bool
) -> None:
    (package,) = read_manifests(write(tmp_path, {**FLAT, "op.package.yaml": text})).packages
    (declaration,) = package.declarations
    assert (declaration.default_channel, declaration.inferred) == (default, is_inferred)
    assert declaration.mode is UpdateMode.REPLACES


def test_a_current_csv_that_is_not_there_is_an_entry_without_a_bundle(tmp_path: Path) -> None:
    text = "packageName: op\nchannels:\n- name: stable\n  currentCSV: op.v9.0.0\n"
    (package,) = read_manifests(write(tmp_path, {**FLAT, "op.package.yaml": text})).packages
    assert channels(package) == {"stable": ["op.v9.0.0"]}
    assert "op.v9.0.0" not in package.by_name
    place = package.channels[0].entries[0].place
    assert locate(place, Sources()).source_line == "  currentCSV: op.v9.0.0"


def test_skipped_csv_is_an_entry_without_edges(tmp_path: Path) -> None:
    files = {
        "op.package.yaml": PACKAGE,
        "a.yaml": csv("op.v1.0.0"),
        "b.yaml": csv("op.v1.1.0", replaces="op.v1.0.0"),
        "c.yaml": csv("op.v1.2.0", replaces="op.v1.0.0", skips=["op.v1.1.0", "op.v1.1.1"]),
    }
    catalog = read_manifests(write(tmp_path, files))
    assert edges(catalog) == "op.v1.0.0\nop.v1.1.0\nop.v1.2.0: op.v1.0.0 / op.v1.1.0, op.v1.1.1"


def test_a_circle_of_replaces_ends(tmp_path: Path) -> None:
    files = {
        "op.package.yaml": PACKAGE,
        "a.yaml": csv("op.v1.1.0", replaces="op.v1.2.0"),
        "b.yaml": csv("op.v1.2.0", replaces="op.v1.1.0"),
    }
    assert edges(read_manifests(write(tmp_path, files))) == "op.v1.1.0: op.v1.2.0\nop.v1.2.0: op.v1.1.0"


def test_of_two_packages_each_has_what_its_channels_reach(tmp_path: Path) -> None:
    files = {
        **FLAT,
        "x.package.yaml": "packageName: x\nchannels: [{name: stable, currentCSV: x.v1.0.0}]",
        "x.yaml": csv("x.v1.0.0"),
    }
    catalog = read_manifests(write(tmp_path, files))
    assert {p.name: len(p.bundles) for p in catalog.packages} == {"op": 3, "x": 1}


@pytest.mark.parametrize(
    "text", ["packageName: op\nchannels: 1", "packageName: op\nchannels: [1]", "packageName: 1"]
)
def test_a_package_file_of_wrong_types_is_reported(tmp_path: Path, text: str) -> None:
    catalog = read_manifests(write(tmp_path, {**FLAT, "op.package.yaml": text}))
    assert problems(catalog) == [("wrong-type", "op.package.yaml")]
