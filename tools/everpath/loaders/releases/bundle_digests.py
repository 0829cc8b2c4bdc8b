"""The digest of a released bundle: over the names and the bytes of its folder, whatever system it lies on."""

from __future__ import annotations

__all__ = ["bundle_digest", "is_leftover", "leftovers_below", "leftovers_beside", "read_files"]

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from everpath.loaders.sources import unreadable_input

_DRAFT: Final = re.compile(r"\.(?P<name>.+)\.\d+\.(new|old)")


def is_leftover(name: str) -> bool:
    """Whether a file is one that is written aside, before all are moved to their places."""
    return _DRAFT.fullmatch(name) is not None


def leftovers_below(folder: Path) -> Iterator[Path]:
    """What runs that were killed have left below a folder."""
    return (path for path in folder.rglob(".*") if is_leftover(path.name) and path.is_file())


def leftovers_beside(files: Iterable[Path]) -> Iterator[Path]:
    """What runs that were killed have left of some files, beside them."""
    paths = set(files)
    for folder in sorted({path.parent for path in paths}):
        for path in folder.glob(".*"):
            found = _DRAFT.fullmatch(path.name)
            if found and folder / found["name"] in paths and path.is_file():
                yield path


def bundle_digest(files: Mapping[str, bytes]) -> str:
    """`sha256:…` of files by their names below the folder, with / between folders. Order does not count.

    Each name and content is preceded by its length, so that no two folders run together to the same bytes.
    """
    found = hashlib.sha256()
    for name, content in sorted(files.items()):
        for part in (name.encode("utf-8", "surrogateescape"), content):
            found.update(f"{len(part)}:".encode())
            found.update(part)
    return f"sha256:{found.hexdigest()}"


def read_files(folder: Path) -> dict[str, bytes]:
    """All files below a folder by name, none if it does not exist. Raises UnreadableInput.

    Without drafts: what a run that was killed has left is no part of a bundle.
    """
    try:
        paths = sorted(path for path in _below(folder) if path.is_file() and not is_leftover(path.name))
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    except OSError as error:
        raise unreadable_input(error.filename or str(folder), error) from error


def _below(folder: Path) -> Iterator[Path]:
    """Everything below a folder. Raises OSError for what cannot be listed: a digest must not pass over it."""

    def refuse(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            raise error

    for parent, _, names in os.walk(folder, onerror=refuse):
        yield from (Path(parent, name) for name in names)
