"""`nest_manifests`: a flat folder of package manifests as one folder for each version."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.errors import UnreadableInput
from everpath.loaders.packagemanifest.flatten import FileMoves, nest_manifests
from everpath.loaders.packagemanifest.package_folder import load_package_folder
from everpath.model import OpmError
from tests.support.everpath.bundles import csv, write
from tests.support.everpath.package_manifests import crd, owning, package_file


def moves(folder: Path) -> dict[str, str]:
    """New path → old path."""
    return _paths(folder, nest_manifests(load_package_folder(str(folder))))


def _paths(folder: Path, found: FileMoves) -> dict[str, str]:
    return {new: Path(old.file).relative_to(folder).as_posix() for new, old in found.files.items()}


def remarks(folder: Path) -> list[str]:
    return [remark.message for remark in nest_manifests(load_package_folder(str(folder))).warnings]


def test_each_csv_gets_a_folder_with_the_crds_it_owns(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "op.package.yaml": package_file(stable="op.v1.1.0"),
            "one.yaml": csv("op.v1.0.0", **owning("things.example.com")),
            "two.yaml": csv("op.v1.1.0", **owning("things.example.com", "more.example.com")),
            "things.yaml": crd(),
            "more.yaml": crd("more.example.com"),
        },
    )
    assert moves(tmp_path) == {
        "1.0.0/one.yaml": "one.yaml",
        "1.0.0/things.yaml": "things.yaml",
        "1.1.0/more.yaml": "more.yaml",
        "1.1.0/things.yaml": "things.yaml",
        "1.1.0/two.yaml": "two.yaml",
        "op.package.yaml": "op.package.yaml",
    }
    assert remarks(tmp_path) == []


def test_crd_without_owner_goes_to_every_version(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "op.package.yaml": package_file(stable="op.v1.1.0"),
            "one.yaml": csv("op.v1.0.0"),
            "two.yaml": csv("op.v1.1.0"),
            "things.yaml": crd(),
            "service.yaml": "kind: Service\nmetadata: {name: op}\n",
        },
    )
    assert {new for new, old in moves(tmp_path).items() if old in ("things.yaml", "service.yaml")} == {
        "1.0.0/things.yaml",
        "1.0.0/service.yaml",
        "1.1.0/things.yaml",
        "1.1.0/service.yaml",
    }
    assert remarks(tmp_path) == ["no CSV owns the CRD things.example.com: every version gets a copy"]


def test_of_two_files_for_one_crd_each_csv_gets_the_one_with_its_version(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "op.package.yaml": package_file(stable="op.v1.1.0"),
            "one.yaml": csv("op.v1.0.0", **owning("things.example.com", version="v1")),
            "two.yaml": csv("op.v1.1.0", **owning("things.example.com", version="v2")),
            "old.yaml": crd("things.example.com", "", "v1"),
            "new.yaml": crd("things.example.com", "", "v2"),
        },
    )
    assert moves(tmp_path).keys() >= {"1.0.0/old.yaml", "1.1.0/new.yaml"}
    assert moves(tmp_path).keys().isdisjoint({"1.0.0/new.yaml", "1.1.0/old.yaml"})


def test_two_different_files_with_the_version_a_csv_owns_are_refused(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "op.package.yaml": package_file(stable="op.v1.0.0"),
            "one.yaml": csv("op.v1.0.0", **owning("things.example.com")),
            "a.yaml": crd(note="a"),
            "b.yaml": crd(note="b"),
        },
    )
    with pytest.raises(OpmError, match=r"the CRD things.example.com twice: it is also in a.yaml") as refused:
        moves(tmp_path)
    assert (refused.value.place.file, refused.value.fix) == (
        str(tmp_path / "b.yaml"),
        "keep the newer of the two files",
    )
    (tmp_path / "b.yaml").write_text(crd(note="a"))
    assert moves(tmp_path).keys() >= {"1.0.0/a.yaml", "1.0.0/b.yaml"}


def test_missing_owned_crd_causes_a_warning(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "op.package.yaml": package_file(stable="op.v1.0.0"),
            "one.yaml": csv("op.v1.0.0", **owning("things.example.com")),
        },
    )
    assert remarks(tmp_path) == ["op.v1.0.0 owns the CRD things.example.com, but no file defines it"]


def test_two_csvs_of_one_version_get_folders_by_name(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "op.package.yaml": package_file(stable="op.v1.0.0"),
            "one.yaml": csv("op.v1.0.0"),
            "two.yaml": csv("op-pro.v1.0.0"),
        },
    )
    assert moves(tmp_path).keys() == {"op.package.yaml", "op.v1.0.0/one.yaml", "op-pro.v1.0.0/two.yaml"}


@pytest.mark.parametrize(
    ("files", "message", "fix"),
    [
        ({"op.package.yaml": package_file()}, "contains no ClusterServiceVersion", "choose the folder"),
        ({"a.yaml": csv()}, "contains no package file", "add PACKAGE.package.yaml"),
        (
            {"a.package.yaml": package_file(), "b.package.yaml": package_file(), "a.yaml": csv()},
            "a second package file: the first is a.package.yaml",
            "use a separate folder for each package",
        ),
        (
            {"op.package.yaml": package_file(), "a.yaml": csv(), "b.yaml": csv()},
            "a second CSV with the name op.v1.0.0: the first is a.yaml",
            "keep one of them, or rename it",
        ),
        (
            {"op.package.yaml": package_file(), "a.yaml": "kind: ClusterServiceVersion\n"},
            "the CSV has no name",
            "set a name such as op.v1.2.0",
        ),
        (
            {"op.package.yaml": package_file(), "a.yaml": csv("../op.v1.0.0", version="1.0.0")},
            "'../op.v1.0.0' is not a valid name of a CSV",
            "set a name such as op.v1.2.0",
        ),
        (
            {"op.package.yaml": package_file(), "a.yaml": csv(version=None)},
            "the CSV has no version",
            "set spec.version, such as 1.2.0",
        ),
        (
            {"op.package.yaml": package_file(), "a.yaml": csv(version="../../etc")},
            "'../../etc' is not a version",
            "set spec.version, such as 1.2.0",
        ),
    ],
)
def test_invalid_manifests_are_refused(tmp_path: Path, files: dict[str, str], message: str, fix: str) -> None:
    write(tmp_path, files)
    with pytest.raises(OpmError) as refused:
        moves(tmp_path)
    assert message in refused.value.message
    assert (refused.value.fix or "").startswith(fix)


def test_a_file_that_does_not_parse_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"op.package.yaml": package_file(), "a.yaml": csv(), "crd.yaml": "kind: [\n"})
    with pytest.raises(UnreadableInput, match=r"crd\.yaml:2: not YAML") as refused:
        moves(tmp_path)
    assert refused.value.hint == "fix it, or remove it from the folder"
