"""Where a project's files are written aside: in a hidden folder beside the catalog's, for a run at a time.

Not in the catalog: opm reads hidden files as well, whatever their names end with, and a draft that a killed
run left there would be a second copy of everything.
"""

from __future__ import annotations

__all__ = ["Shelter"]

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Shelter(NamedTuple):
    """A folder that mirrors the one above it: FOLDER/RUN/new/PATH and FOLDER/RUN/old/PATH."""

    folder: Path

    @classmethod
    def beside(cls, catalog: Path) -> Shelter:
        """That of the project whose source lies in this folder; no two projects share one."""
        real = catalog.resolve()
        folder = real.parent / f".{real.name}.drafts"
        return cls(folder if catalog.is_absolute() else Path(os.path.relpath(folder)))

    def place_for(self, path: Path, run: int, word: str) -> Path | None:
        """Where a file is written aside; None for one that is not below, or where no folder can be made."""
        inner = _inner(path, self.folder.parent)
        if inner is None:
            return None
        place = self.folder / str(run) / word / inner
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        return place

    def left(self) -> Iterator[tuple[Path, Path]]:
        """What runs that were killed have left, and which file each is a draft of."""
        for draft in sorted(self.folder.rglob("*")):
            inner = draft.relative_to(self.folder).parts[2:]
            if inner and draft.is_file():
                yield draft, _real(self.folder.parent) / Path(*inner)

    def left_of(self, files: Collection[Path], below: Path | None = None) -> Iterator[Path]:
        """The drafts of these files, of those below a folder, and of drafts."""
        meant = {_real(path) for path in files}
        # A run that is killed while it clears drafts away leaves drafts of those.
        above = [_real(folder) for folder in (self.folder, below) if folder is not None]
        for draft, path in self.left():
            if path in meant or any(path.is_relative_to(folder) for folder in above):
                yield draft

    def sweep(self) -> None:
        """Take away folders that have nothing in them, itself at last."""
        for folder, _, _ in os.walk(self.folder, topdown=False):
            with suppress(OSError):
                Path(folder).rmdir()


def _inner(path: Path, root: Path) -> Path | None:
    real = _real(path)
    return real.relative_to(_real(root)) if real.is_relative_to(_real(root)) else None


def _real(path: Path) -> Path:
    """With every link above it followed: what it is itself is replaced, not looked at."""
    return path.parent.resolve() / path.name if path.name not in ("", "..") else path.resolve()
