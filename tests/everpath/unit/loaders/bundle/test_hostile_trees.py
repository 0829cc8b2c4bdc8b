"""Loading any folder ends with a catalog, its problems, or an error."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.detect import is_bundle_folder, is_package_manifest, is_repository
from everpath.loaders.bundle.folder_reader import FolderReader
from everpath.loaders.sources import MAX_DOCUMENT
from tests.support.everpath.bundles import (
    csv,
    problems,
    read_bundle,
    read_manifests,
    read_packages,
    write,
    write_bundle,
)

CSV = "manifests/op.v1.0.0.clusterserviceversion.yaml"

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs pipes and links of POSIX")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\x01\x02",
        b"\xff\xfe\x00ClusterServiceVersion",
        b"kind: ClusterServiceVersion",
        b"kind: ClusterServiceVersion\nmetadata: 1\nspec: 2",
        b"kind: ClusterServiceVersion\n\x07",
        b"kind: ClusterServiceVersion\nspec: &a [*a]",
        b"kind: ClusterServiceVersion\nspec: " + b"[" * 10_000,
        b"ClusterServiceVersion\xe2\x80",
        b"\xef\xbb\xbfkind: ClusterServiceVersion\nmetadata:\n  name: a\n",
    ],
)
def test_any_bytes_may_stand_in_any_file(tmp_path: Path, content: bytes) -> None:
    write_bundle(tmp_path / "op" / "1.0.0")
    folder = tmp_path / "op" / "1.0.0"
    for name in (CSV, "manifests/crd.yaml", "metadata/annotations.yaml", "metadata/dependencies.yaml"):
        write(folder, {name: content})
        for catalog in (read_bundle(folder), read_packages(tmp_path), read_manifests(tmp_path)):
            assert all(problem.message for problem in catalog.problems)
    write(tmp_path, {"op/ci.yaml": content, "op/op.package.yaml": content})
    read_packages(tmp_path)
    read_manifests(tmp_path)


@posix
def test_pipes_are_passed_over(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    os.mkfifo(tmp_path / "manifests/pipe.clusterserviceversion.yaml")
    os.mkfifo(tmp_path / "metadata/annotations.yml")
    assert not read_bundle(tmp_path).problems


@posix
def test_a_pipe_put_in_a_file_s_place_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableInput, match="not a regular file"):
        FolderReader(str(tmp_path)).read("pipe")


@posix
def test_links_that_lead_nowhere_or_in_a_circle_are_passed_over(tmp_path: Path) -> None:
    write_bundle(tmp_path / "op" / "1.0.0")
    (tmp_path / "op" / "manifests").symlink_to("manifests")
    (tmp_path / "op" / "gone").symlink_to("nowhere")
    (tmp_path / "op" / "1.0.0" / "bundle").symlink_to("..")
    (tmp_path / "up").symlink_to(".")
    catalog = read_packages(tmp_path)
    assert [package.name for package in catalog.packages] == ["op"]
    assert not catalog.problems


@posix
def test_a_link_that_leads_back_up_is_followed_once(tmp_path: Path) -> None:
    write(tmp_path, {"1.0.0/op.clusterserviceversion.yaml": csv(), "op.package.yaml": "packageName: op"})
    (tmp_path / "1.0.0" / "up").symlink_to("..")
    (package,) = read_manifests(tmp_path).packages
    assert len(package.bundles) == 1


def test_folders_may_be_called_like_files(tmp_path: Path) -> None:
    write_bundle(tmp_path / "op" / "1.0.0")
    for name in (
        "op/ci.yaml",
        "op/1.0.0/metadata/dependencies.yaml",
        f"op/1.0.0/{CSV}x",
        "op/x.package.yaml",
    ):
        (tmp_path / name).mkdir()
    assert not read_packages(tmp_path).problems


def test_an_empty_folder_is_nothing(tmp_path: Path) -> None:
    path = str(tmp_path)
    assert not is_bundle_folder(path)
    assert not is_repository(path)
    assert not is_package_manifest(path)


def test_what_is_not_there_is_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "nowhere")
    assert not is_bundle_folder(path)
    assert not is_repository(path)
    assert not is_package_manifest(path)
    with pytest.raises(UnreadableInput, match="No such file"):
        read_packages(tmp_path / "nowhere")


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as stream:
        stream.truncate(MAX_DOCUMENT + 1)
    with pytest.raises(UnreadableInput, match="larger than 64 MiB"):
        FolderReader(str(tmp_path)).read("large")


def test_a_file_that_cannot_be_opened_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bundle(tmp_path / "op" / "1.0.0")
    write_bundle(tmp_path / "op" / "1.1.0", "op.v1.1.0")
    _forbid(monkeypatch, "open", tmp_path / "op" / "1.0.0" / CSV)
    catalog = read_packages(tmp_path)
    assert problems(catalog) == [("unreadable-document", Path(CSV).name)]
    assert "Permission denied" in catalog.problems[0].message
    assert catalog.problems[0].fix == "give the user who runs everpath permission to read it"
    assert [b.name for b in catalog.packages[0].bundles] == ["op.v1.1.0"]


@pytest.mark.parametrize("folder", ["op", "op/1.0.0", "op/1.0.0/manifests", "op/1.0.0/metadata"])
def test_a_folder_that_cannot_be_listed_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    write_bundle(tmp_path / "op" / "1.0.0")
    write_bundle(tmp_path / "other" / "1.0.0", "other.v1.0.0")
    _forbid(monkeypatch, "scandir", tmp_path / folder)
    catalog = read_packages(tmp_path)
    assert [problem.kind for problem in catalog.problems] == ["unreadable-document"]
    assert "Permission denied" in catalog.problems[0].message
    assert "other.v1.0.0" in {bundle.name for package in catalog.packages for bundle in package.bundles}


def _forbid(monkeypatch: pytest.MonkeyPatch, call: str, path: Path) -> None:
    """As if the user had no right to a path (root, who may run the tests, has every right)."""
    real = getattr(os, call)

    def refuse(asked: object, *arguments: object) -> object:
        if Path(str(asked)) == path:
            raise PermissionError(13, "Permission denied", str(asked))
        return real(asked, *arguments)

    monkeypatch.setattr(os, call, refuse)
