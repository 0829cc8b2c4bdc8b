"""All files or none."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from everpath.app.drafts import Shelter
from everpath.cli import placing
from everpath.cli.placing import Placement, pending, place
from everpath.errors import UsageError

STEPS = ("_make", "_write", "_keep", "_rename")


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _folders(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_dir())


@pytest.fixture
def before(tmp_path: Path) -> Placement:
    """A folder with something to change, to keep and to delete, and what to make of it."""
    for name in ("same", "changed", "stale/deep", "other/stale"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"old")
    (tmp_path / "other" / "mine").write_bytes(b"mine")
    files = {"same": b"old", "changed": b"new", "added": b"new", "a/b/c/added": b"new", "a/b/two": b"new"}
    stale = (tmp_path / "stale" / "deep", tmp_path / "other" / "stale", tmp_path / "never")
    return Placement({tmp_path / name: content for name, content in files.items()}, stale)


def test_everything_comes_to_its_place(tmp_path: Path, before: Placement) -> None:
    (tmp_path / "changed").chmod(0o640)
    done = place(before)
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
    assert list(pending(before)) == []


def test_what_is_as_it_should_be_is_not_touched(tmp_path: Path, before: Placement) -> None:
    earlier = (tmp_path / "same").stat()
    place(before)
    assert (tmp_path / "same").stat().st_ino == earlier.st_ino
    assert place(before) == []


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_whichever_step_fails_everything_is_as_it_was(
    tmp_path: Path, before: Placement, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    files, folders = _tree(tmp_path), _folders(tmp_path)
    total = _count_steps(monkeypatch)
    expected = UsageError if isinstance(failure, OSError) else KeyboardInterrupt
    for number in range(1, 15):
        _fail_at(monkeypatch, total, number, failure)
        with pytest.raises(expected):
            place(before)
        assert _tree(tmp_path) == files, number
        assert _folders(tmp_path) == folders, number
    _fail_at(monkeypatch, total, 0, failure)
    place(before)
    # 3 folders and 4 drafts made, 1 old file kept, 2 moved aside, 4 new ones moved in: each has failed once.
    assert total["all"] == 14


def test_killed_at_any_step_it_leaves_every_file_old_or_new_and_the_source_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = _count_steps(monkeypatch)
    monkeypatch.setattr("everpath.cli.placing._Work.undo", lambda _: None)
    names = ("a", "b", "source")
    for number in range(1, 10):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name in names:
            (folder / name).write_bytes(b"old")
        _fail_at(monkeypatch, state, number, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            place(Placement({folder / name: b"new" for name in names}, first=folder / "source"))
        content = {name: (folder / name).read_bytes() for name in names}
        assert set(content.values()) <= {b"old", b"new"}
        assert content["source"] == b"new" or b"new" not in content.values(), number


def test_where_nothing_can_be_linked_the_old_file_is_copied(
    tmp_path: Path, before: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    files = _tree(tmp_path)
    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr("shutil.copy2", _half_a_copy)
    with pytest.raises(UsageError, match="No space left"):
        place(before)
    assert _tree(tmp_path) == files
    monkeypatch.undo()
    monkeypatch.setattr(os, "link", refuse)
    place(before)
    assert (tmp_path / "changed").read_bytes() == b"new"
    assert not list(tmp_path.glob(".*"))


def test_between_file_systems_a_copy_beside_its_place_is_moved_in(
    tmp_path: Path, before: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.replace

    def replace(old: Path, new: Path) -> Path:
        if old.parent != new.parent:
            raise OSError(18, "Invalid cross-device link")
        return real(old, new)

    sheltered = before._replace(shelter=Shelter.beside(tmp_path / "changed"))
    monkeypatch.setattr(Path, "replace", replace)
    place(sheltered)
    assert (tmp_path / "changed").read_bytes() == b"new"
    assert not (tmp_path / "stale").exists()
    assert not list(tmp_path.rglob(".*"))


def _half_a_copy(_: Path, kept: Path) -> None:
    kept.write_bytes(b"o")
    raise OSError(28, "No space left on device", str(kept))


def _count_steps(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Counts every step that can fail; fails where it is told to."""
    state: dict[str, Any] = {"all": 0, "at": 0, "failure": None}

    def counted(step: Callable[..., None]) -> Callable[..., None]:
        def run(*arguments: Any) -> None:
            state["all"] += 1
            if state["all"] == state["at"]:
                raise state["failure"]
            step(*arguments)

        return run

    for name in STEPS:
        monkeypatch.setattr(placing, name, counted(getattr(placing, name)))
    return state


def _fail_at(_: pytest.MonkeyPatch, state: dict[str, Any], number: int, failure: BaseException) -> None:
    state.update(all=0, at=number, failure=failure)


def test_half_a_write_leaves_nothing(
    tmp_path: Path, before: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = _tree(tmp_path)

    def half(draft: Path, content: bytes) -> None:
        draft.write_bytes(content[:1])
        raise OSError(28, "No space left on device", str(draft))

    monkeypatch.setattr(placing, "_write", half)
    with pytest.raises(UsageError, match="No space left on device") as raised:
        place(before)
    assert (raised.value.hint or "").startswith("nothing was changed")
    assert _tree(tmp_path) == files


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file" / "x").mkdir(parents=True)
    with pytest.raises(UsageError, match="cannot write"):
        place(Placement({tmp_path / "file": b"new"}))


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_what_a_link_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    place(Placement({tmp_path / "link": b"new"}))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
