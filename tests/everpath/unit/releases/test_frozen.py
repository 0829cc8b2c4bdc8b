"""The digest of a released bundle's folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from everpath.errors import UnreadableInput
from everpath.loaders.releases.bundle_digests import read_files


def test_every_file_below_a_folder_counts_but_drafts_do_not(tmp_path: Path) -> None:
    (tmp_path / "manifests").mkdir()
    for name in ("a", "manifests/b", "manifests/.b.12.new", ".a.12.old"):
        (tmp_path / name).write_text(name)
    assert read_files(tmp_path) == {"a": b"a", "manifests/b": b"manifests/b"}


def test_a_folder_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert read_files(tmp_path / "none") == {}
    (tmp_path / "file").touch()
    assert read_files(tmp_path / "file") == {}


def test_a_folder_that_cannot_be_listed_is_an_error_and_not_a_smaller_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "manifests").mkdir()
    listed = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("manifests"):
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(UnreadableInput, match="manifests: Permission denied"):
        read_files(tmp_path)
