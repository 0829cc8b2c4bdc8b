"""Atomic files: temporary files of killed processes are deleted, and no others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from everpath import atomic_files
from everpath.atomic_files import atomic_file, atomic_folder, scratch_folder


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
