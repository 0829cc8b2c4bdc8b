"""Atomic files: temporary files of killed processes are deleted, and no others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from everpath import atomic_files
from everpath.atomic_files import (
    atomic_file,
    atomic_folder,
    move_into_place,
    replace_file,
    scratch_folder,
)


@pytest.fixture
def dead_pid() -> int:
    """Return the id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_temporary_files_of_dead_processes_are_deleted(tmp_path: Path, dead_pid: int) -> None:
    (tmp_path / f".everpath.{dead_pid}.0123abcd").mkdir()
    (tmp_path / f".everpath.{dead_pid}.0123abcd" / "blob").write_text("half")
    (tmp_path / f".everpath.{dead_pid}.4567cdef").write_text("half")
    with atomic_file(tmp_path / "new") as stream:
        stream.write(b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_files_of_running_processes_and_other_names_are_preserved(tmp_path: Path, dead_pid: int) -> None:
    names = [
        f".everpath.{os.getppid()}.0123abcd",
        f".everpath.{dead_pid}.mine",
        f".everpath.{dead_pid}.0123abcd.old",
        ".everpath.x.0123abcd",
        ".everpath.99999999999999999999.0123abcd",
    ]
    for name in names:
        (tmp_path / name).write_text("")
    (tmp_path / f".everpath.{dead_pid}.89abcdef").symlink_to(tmp_path)
    with atomic_folder(tmp_path / "new"):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [*names, f".everpath.{dead_pid}.89abcdef", "new"]
    )


def test_locked_temporary_files_are_preserved_when_process_id_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic_files, "_is_running", lambda _: False)
    with atomic_folder(tmp_path / "a") as first, scratch_folder(tmp_path / "a") as second:
        with atomic_file(tmp_path / "b") as stream, atomic_file(tmp_path / "c"):
            stream.write(b"b")
        assert first.exists()
        assert second.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]


def test_replace_file_replaces_a_link_and_atomic_file_its_target(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with atomic_file(link) as stream:
        stream.write(b"followed")
    assert (link.is_symlink(), target.read_bytes()) == (True, b"followed")
    with replace_file(link) as stream:
        stream.write(b"new")
    assert (link.is_symlink(), link.read_bytes(), target.read_bytes()) == (False, b"new", b"followed")


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_a_replaced_file_has_the_wanted_mode(tmp_path: Path, mode: int) -> None:
    before = os.umask(0o022)
    try:
        with replace_file(tmp_path / "file", mode):
            pass
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == mode


def test_a_failed_replacement_keeps_the_file_and_raises_the_cause(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")
    with pytest.raises(TypeError), replace_file(file) as stream:
        stream.writelines([b"half", "text"])  # type: ignore[list-item]
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", b"old")]
    with pytest.raises(FileNotFoundError), replace_file(tmp_path / "absent" / "file"):
        pass


def test_move_into_place_keeps_a_folder_that_is_already_there(tmp_path: Path) -> None:
    target = tmp_path / "entry"
    for content in ("first", "second"):
        with scratch_folder(beside=target) as scratch:
            (scratch / "files").mkdir()
            (scratch / "files" / "content").write_text(content)
            move_into_place(scratch / "files", target)
    assert (target / "content").read_text() == "first"
    assert list(tmp_path.iterdir()) == [target]
