"""`FileTransaction`: all files are written, or none."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from everpath import atomic_files
from everpath.atomic_files import FileTransaction, StagingDir
from everpath.errors import UsageError

STEPS = ("_make_folder", "_write_new_file", "_link_or_copy", "_rename")


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _folders(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_dir())


@pytest.fixture
def before(tmp_path: Path) -> FileTransaction:
    """A transaction that adds, changes, keeps and deletes files."""
    for name in ("same", "changed", "stale/deep", "other/stale"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"old")
    (tmp_path / "other" / "mine").write_bytes(b"mine")
    files = {"same": b"old", "changed": b"new", "added": b"new", "a/b/c/added": b"new", "a/b/two": b"new"}
    stale = (tmp_path / "stale" / "deep", tmp_path / "other" / "stale", tmp_path / "never")
    return FileTransaction({tmp_path / name: content for name, content in files.items()}, stale)


def test_commit_adds_changes_and_deletes_files(tmp_path: Path, before: FileTransaction) -> None:
    (tmp_path / "changed").chmod(0o640)
    done = before.commit()
    assert [(what, str(path.relative_to(tmp_path))) for what, path in done] == [
        ("add", "a/b/c/added"),
        ("add", "a/b/two"),
        ("add", "added"),
        ("change", "changed"),
        ("delete", "other/stale"),
        ("delete", "stale/deep"),
    ]
    assert _tree(tmp_path) == {
        "a/b/c/added": b"new",
        "a/b/two": b"new",
        "added": b"new",
        "changed": b"new",
        "other/mine": b"mine",
        "same": b"old",
    }
    assert not (tmp_path / "stale").exists()
    assert (tmp_path / "changed").stat().st_mode & 0o777 == 0o640
    assert before.changes() == []


def test_files_that_are_up_to_date_are_not_written(tmp_path: Path, before: FileTransaction) -> None:
    earlier = (tmp_path / "same").stat()
    before.commit()
    assert (tmp_path / "same").stat().st_ino == earlier.st_ino
    assert before.commit() == []


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_at_any_step_restores_everything(
    tmp_path: Path, before: FileTransaction, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    files, folders = _tree(tmp_path), _folders(tmp_path)
    total = _count_steps(monkeypatch)
    expected = UsageError if isinstance(failure, OSError) else KeyboardInterrupt
    for number in range(1, 15):
        _fail_at(monkeypatch, total, number, failure)
        with pytest.raises(expected):
            before.commit()
        assert _tree(tmp_path) == files, number
        assert _folders(tmp_path) == folders, number
    _fail_at(monkeypatch, total, 0, failure)
    before.commit()
    # 3 folders created, 4 files staged, 1 old file linked, 2 renamed for deletion, 4 new files renamed.
    assert total["all"] == 14


def test_a_kill_at_any_step_leaves_each_file_old_or_new_and_the_source_is_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = _count_steps(monkeypatch)
    monkeypatch.setattr("everpath.atomic_files._CommitSteps.roll_back", lambda _: None)
    names = ("a", "b", "source")
    for number in range(1, 10):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name in names:
            (folder / name).write_bytes(b"old")
        _fail_at(monkeypatch, state, number, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            FileTransaction({folder / name: b"new" for name in names}, first=folder / "source").commit()
        content = {name: (folder / name).read_bytes() for name in names}
        assert set(content.values()) <= {b"old", b"new"}
        assert content["source"] == b"new" or b"new" not in content.values(), number


def test_without_hard_links_the_old_file_is_copied(
    tmp_path: Path, before: FileTransaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    files = _tree(tmp_path)
    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr("shutil.copy2", _incomplete_copy)
    with pytest.raises(UsageError, match="No space left"):
        before.commit()
    assert _tree(tmp_path) == files
    monkeypatch.undo()
    monkeypatch.setattr(os, "link", refuse)
    before.commit()
    assert (tmp_path / "changed").read_bytes() == b"new"
    assert not list(tmp_path.glob(".*"))


def test_between_file_systems_a_copy_beside_the_target_is_renamed(
    tmp_path: Path, before: FileTransaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.replace

    def replace_in_folder(old: Path, new: Path) -> Path:
        if old.parent != new.parent:
            raise OSError(18, "Invalid cross-device link")
        return real(old, new)

    staged = replace(before, staging=StagingDir.beside(tmp_path / "changed"))
    monkeypatch.setattr(Path, "replace", replace_in_folder)
    staged.commit()
    assert (tmp_path / "changed").read_bytes() == b"new"
    assert not (tmp_path / "stale").exists()
    assert not list(tmp_path.rglob(".*"))


def _incomplete_copy(_: Path, kept: Path) -> None:
    kept.write_bytes(b"o")
    raise OSError(28, "No space left on device", str(kept))


def _count_steps(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Count the steps that can fail, and fail at the chosen one."""
    state: dict[str, Any] = {"all": 0, "at": 0, "failure": None}

    def counted(step: Callable[..., None]) -> Callable[..., None]:
        def run(*arguments: Any) -> None:
            state["all"] += 1
            if state["all"] == state["at"]:
                raise state["failure"]
            step(*arguments)

        return run

    for name in STEPS:
        monkeypatch.setattr(atomic_files, name, counted(getattr(atomic_files, name)))
    return state


def _fail_at(_: pytest.MonkeyPatch, state: dict[str, Any], number: int, failure: BaseException) -> None:
    state.update(all=0, at=number, failure=failure)


def test_an_incomplete_write_leaves_no_file(
    tmp_path: Path, before: FileTransaction, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = _tree(tmp_path)

    def half(draft: Path, content: bytes) -> None:
        draft.write_bytes(content[:1])
        raise OSError(28, "No space left on device", str(draft))

    monkeypatch.setattr(atomic_files, "_write_new_file", half)
    with pytest.raises(UsageError, match="No space left on device") as raised:
        before.commit()
    assert (raised.value.hint or "").startswith("nothing was changed")
    assert _tree(tmp_path) == files


def test_a_folder_at_the_path_of_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file" / "x").mkdir(parents=True)
    with pytest.raises(UsageError, match="cannot write"):
        FileTransaction({tmp_path / "file": b"new"}).commit()


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_the_target_of_a_symbolic_link_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    FileTransaction({tmp_path / "link": b"new"}).commit()
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
