"""The digest of a released bundle: over the names and the bytes of its folder, whatever system it lies on."""

from __future__ import annotations

__all__ = ["digest", "files_below"]

import hashlib
from collections.abc import Mapping
from pathlib import Path

from everpath.formats.sources import unreadable


def digest(files: Mapping[str, bytes]) -> str:
    """`sha256:…` of files by their names below the folder, with / between folders. Order does not count.

    Each name and content is preceded by its length, so that no two folders run together to the same bytes.
    """
    found = hashlib.sha256()
    for name, content in sorted(files.items()):
        for part in (name.encode("utf-8", "surrogateescape"), content):
            found.update(f"{len(part)}:".encode())
            found.update(part)
    return f"sha256:{found.hexdigest()}"


def files_below(folder: Path) -> dict[str, bytes]:
    """All files below a folder by name, none if it does not exist. Raises UnreadableInput."""
    try:
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    except OSError as error:
        raise unreadable(error.filename or str(folder), error) from error
