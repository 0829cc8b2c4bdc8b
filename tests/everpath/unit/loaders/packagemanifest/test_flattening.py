"""`flatten_manifests`: folders of versions as one flat folder, with the newest of each CRD."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from everpath.loaders.packagemanifest.flatten import flatten_manifests
from everpath.loaders.packagemanifest.package_folder import load_package_folder
from tests.support.everpath.bundles import csv, write
from tests.support.everpath.package_manifests import crd, owning, package_file

VERSIONS = ("1.9.0", "1.10.0", "2.0.0-rc.1", "2.0.0")


def flat(folder: Path) -> dict[str, str]:
    """New path → old path."""
    found = flatten_manifests(load_package_folder(str(folder)))
    return {new: Path(old.file).relative_to(folder).as_posix() for new, old in found.files.items()}


def remarks(folder: Path) -> list[str]:
    return [remark.message for remark in flatten_manifests(load_package_folder(str(folder))).warnings]


def write_nested(root: Path, folders: dict[str, str]) -> Path:
    """A folder for each version, under whatever name, with a CSV and a CRD."""
    write(root, {"op.package.yaml": package_file(stable="op.v2.0.0")})
    for name, version in folders.items():
        own = csv(f"op.v{version}", **owning("things.example.com"))
        write(root / name, {"op.yaml": own, "things.yaml": crd(note=version)})
    return root


@pytest.mark.parametrize("order", list(permutations(VERSIONS)))
def test_the_newest_crd_is_kept_whatever_order_the_folders_come_in(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    """operator-courier kept the version of the CRD before with the path of the new one: order decided."""
    write_nested(tmp_path, {f"{number}": version for number, version in enumerate(order)})
    assert flat(tmp_path)["things.yaml"] == f"{order.index('2.0.0')}/things.yaml"


def test_csvs_are_named_after_themselves(tmp_path: Path) -> None:
    write_nested(tmp_path, {version: version for version in VERSIONS})
    assert flat(tmp_path) == {
        "op.package.yaml": "op.package.yaml",
        "op.v1.9.0.clusterserviceversion.yaml": "1.9.0/op.yaml",
        "op.v1.10.0.clusterserviceversion.yaml": "1.10.0/op.yaml",
        "op.v2.0.0-rc.1.clusterserviceversion.yaml": "2.0.0-rc.1/op.yaml",
        "op.v2.0.0.clusterserviceversion.yaml": "2.0.0/op.yaml",
        "things.yaml": "2.0.0/things.yaml",
    }


def test_builds_of_one_version_are_ordered_by_number(tmp_path: Path) -> None:
    write_nested(tmp_path, {"b": "1.0.0+9", "a": "1.0.0+10", "c": "1.0.0"})
    assert flat(tmp_path)["things.yaml"] == "a/things.yaml"


def test_files_of_one_name_that_are_not_the_same_object_are_both_kept(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "op.package.yaml": package_file(stable="op.v1.1.0"),
            "1.0.0/op.yaml": csv("op.v1.0.0"),
            "1.0.0/crd.yaml": crd("old.example.com"),
            "1.1.0/op.yaml": csv("op.v1.1.0"),
            "1.1.0/CRD.yaml": crd("new.example.com"),
            "1.1.0/new.example.com.customresourcedefinition.yaml": crd("other.example.com"),
        },
    )
    assert flat(tmp_path) == {
        "new.example.com.customresourcedefinition-2.yaml": "1.1.0/CRD.yaml",
        "new.example.com.customresourcedefinition.yaml": (
            "1.1.0/new.example.com.customresourcedefinition.yaml"
        ),
        "old.example.com.customresourcedefinition.yaml": "1.0.0/crd.yaml",
        "op.package.yaml": "op.package.yaml",
        "op.v1.0.0.clusterserviceversion.yaml": "1.0.0/op.yaml",
        "op.v1.1.0.clusterserviceversion.yaml": "1.1.0/op.yaml",
    }


def test_no_name_of_an_object_leads_out_of_the_folder(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "op.package.yaml": package_file(stable="op.v1.1.0"),
            "a/op.yaml": csv("op.v1.0.0"),
            "a/role.yaml": "kind: ../Role\nmetadata: {name: ../system:op}\n",
            "b/op.yaml": csv("op.v1.1.0"),
            "b/role.yaml": "kind: Role\nmetadata: {name: op}\n",
        },
    )
    assert {new for new, old in flat(tmp_path).items() if "role" in old} == {
        "_system_op..._role.yaml",
        "op.role.yaml",
    }


def test_a_crd_of_the_old_api_gives_way_to_one_of_the_new(tmp_path: Path) -> None:
    write_nested(tmp_path, {"a": "1.0.0", "b": "1.1.0"})
    old = crd(note="1.0.0").replace("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1")
    (tmp_path / "a/things.yaml").write_text(old)
    assert [name for name in flat(tmp_path) if "things" in name] == ["things.yaml"]
    assert flat(tmp_path)["things.yaml"] == "b/things.yaml"


def test_of_two_files_for_one_object_in_one_folder_the_first_is_kept(tmp_path: Path) -> None:
    write_nested(tmp_path, {"a": "1.0.0"})
    write(tmp_path, {"a/also-things.yaml": crd(note="1.0.0")})
    assert [old for old in flat(tmp_path).values() if "things" in old] == ["a/also-things.yaml"]


def test_object_of_some_versions_causes_a_warning(tmp_path: Path) -> None:
    write_nested(tmp_path, {"a": "1.0.0", "b": "1.1.0"})
    write(tmp_path, {"a/service.yaml": "kind: Service\nmetadata: {name: op}\n"})
    assert remarks(tmp_path) == ["only some versions contain this Service: in a flat folder, all do"]
    write(tmp_path, {"b/service.yaml": "kind: Service\nmetadata: {name: op}\n"})
    assert remarks(tmp_path) == []


def test_a_crd_without_a_csv_in_its_folder_is_left_out_and_named(tmp_path: Path) -> None:
    write_nested(tmp_path, {"a": "1.0.0"})
    write(tmp_path, {"crds/more.yaml": crd("more.example.com"), "top.yaml": crd("top.example.com")})
    assert remarks(tmp_path) == [
        "not copied: the top folder has no CSV",
        "not copied: the folder crds/ has no CSV",
    ]
    assert flat(tmp_path).keys() == {
        "op.package.yaml",
        "op.v1.0.0.clusterserviceversion.yaml",
        "things.yaml",
    }
