"""Puts many files in their places: all of them or none.

First every file is written aside, in a shelter or next to its place; then each is moved over the old one,
which has a second name until all are in place. Whatever fails on the way, what was done is undone. A run that
is killed leaves every file old or new, and none missing; the source comes first, so that `everpath generate`
finishes what the run was about, and removes the drafts that it left.
"""

from __future__ import annotations

__all__ = ["Placement", "pending", "place"]

import errno
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from everpath.app.drafts import Shelter
from everpath.errors import UsageError
from everpath.signals import signals_blocked


class Placement(NamedTuple):
    """Files by path, and paths that must not be there. All of them follow from `first`, if that is named.

    Drafts are written into the shelter; without one, next to the files.
    """

    files: Mapping[Path, bytes]
    stale: tuple[Path, ...] = ()
    first: Path | None = None
    shelter: Shelter | None = None


def pending(placement: Placement) -> Iterator[tuple[str, Path]]:
    """What is not yet as it should be: `add`, `change` or `delete`, and the path. In order of path."""
    found = [(path, "delete") for path in placement.stale if os.path.lexists(path)]
    for path, content in placement.files.items():
        old = _content(path)
        if old != content:
            found.append((path, "add" if old is None else "change"))
    yield from ((what, path) for path, what in sorted(found))


def place(placement: Placement) -> list[tuple[str, Path]]:
    """Carry it out; what is as it should be is not touched. Raises UsageError, with nothing changed.

    Returns what was done.
    """
    first = _meant(placement.first) if placement.first else None
    placement = placement._replace(files={_meant(path): c for path, c in placement.files.items()})
    due = list(pending(placement))
    work = _Work(placement.shelter)
    try:
        for what, path in due:
            if what != "delete":
                work.write_aside(path, placement.files[path])
        for what, path in sorted(due, key=lambda each: each[1] != first):
            work.put(path, is_new=what != "delete")
    except BaseException as error:
        with signals_blocked():
            work.undo()
        if isinstance(error, OSError):
            raise _refused(error) from error
        raise
    with signals_blocked():
        work.finish()
    for what, path in due:
        if what == "delete":
            _remove_empty(path.parent)
    return due


def _meant(path: Path) -> Path:
    """What a link leads to is replaced, not the link."""
    return path.resolve() if path.is_symlink() else path


def _refused(error: OSError) -> UsageError:
    reason, name = error.strerror or str(error), error.filename
    where = f" {os.fsdecode(name)}" if name is not None else ""
    return UsageError(
        f"cannot write{where}: {reason}", hint="nothing was changed; try again when that is mended"
    )


def _content(path: Path) -> bytes | None:
    """The bytes of a file; None where there is none, or something else."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refused(error) from error


@dataclass
class _Work:
    """What has been done so far, and with it how to undo it."""

    shelter: Shelter | None = None
    # Not the process: in containers that share a folder every run has the same number.
    run: int = field(default_factory=lambda: int.from_bytes(os.urandom(6), "big"))
    folders: list[Path] = field(default_factory=list)
    drafts: dict[Path, Path] = field(default_factory=dict)
    replaced: list[tuple[Path, Path | None]] = field(default_factory=list)

    def write_aside(self, path: Path, content: bytes) -> None:
        self._make_folders(path.parent)
        draft = self._aside(path, "new")
        self.drafts[path] = draft
        try:
            _write(draft, content)
        except OSError as error:
            # A full disk says no name, and that of the draft would tell nobody anything.
            error.filename = str(path)
            raise
        with suppress(FileNotFoundError):
            draft.chmod(stat.S_IMODE(path.stat().st_mode))

    def _make_folders(self, folder: Path) -> None:
        missing = [folder]
        while not missing[-1].exists():
            missing.append(missing[-1].parent)
        for each in reversed(missing[:-1]):
            # On record first, here and below: a signal may come between any two lines.
            self.folders.append(each)
            _make(each)

    def _aside(self, path: Path, word: str) -> Path:
        sheltered = self.shelter and self.shelter.place_for(path, self.run, word)
        return sheltered or path.with_name(f".{path.name}.{self.run}.{word}")

    def put(self, path: Path, *, is_new: bool) -> None:
        """Give the old file a second name, and move the new one over it: at no time is there none."""
        kept = self._aside(path, "old") if os.path.lexists(path) else None
        self.replaced.append((path, kept))
        if kept is not None and is_new:
            _keep(path, kept)
        elif kept is not None:
            _rename(path, kept)
        if is_new:
            _rename(self.drafts[path], path)

    def undo(self) -> None:
        """As it was before. Goes on behind what cannot be undone: the rest still can."""
        for path, kept in reversed(self.replaced):
            with suppress(OSError):
                if kept is not None:
                    _move(kept, path)
                    # Two names of one file are left as they are by that.
                    kept.unlink(missing_ok=True)
                else:
                    path.unlink(missing_ok=True)
        self._discard()
        for folder in reversed(self.folders):
            with suppress(OSError):
                folder.rmdir()
        self._sweep()

    def finish(self) -> None:
        for _, kept in self.replaced:
            if kept is not None:
                with suppress(OSError):
                    kept.unlink()
        self._sweep()

    def _sweep(self) -> None:
        if self.shelter is not None:
            self.shelter.sweep()

    def _discard(self) -> None:
        for draft in self.drafts.values():
            with suppress(OSError):
                draft.unlink()


# The four steps that may fail, by names that a test can put failures behind.
def _make(folder: Path) -> None:
    folder.mkdir()


def _write(draft: Path, content: bytes) -> None:
    with draft.open("xb") as stream:
        stream.write(content)


def _keep(path: Path, kept: Path) -> None:
    try:
        os.link(path, kept)
    except OSError:
        # Not every file system has links, nor does everybody have the right to link what another owns.
        _copy(path, kept)


def _copy(path: Path, kept: Path) -> None:
    try:
        shutil.copy2(path, kept)
    except BaseException:
        kept.unlink(missing_ok=True)
        raise


def _rename(old: Path, new: Path) -> None:
    _move(old, new)


def _move(old: Path, new: Path) -> None:
    try:
        old.replace(new)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _carry(old, new)


def _carry(old: Path, new: Path) -> None:
    """Between file systems: a copy beside its place takes the last step, so that the file is never half."""
    beside = new.with_name(f".{new.name}.{int.from_bytes(os.urandom(6), 'big')}.new")
    try:
        _copy(old, beside)
        beside.replace(new)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    old.unlink()


def _remove_empty(folder: Path) -> None:
    """A folder that a deleted file leaves empty, and its parents as long as they are."""
    with suppress(OSError):
        while True:
            folder.rmdir()
            folder = folder.parent
