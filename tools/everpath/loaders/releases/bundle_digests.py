"""The files of a released bundle and their digest."""

from __future__ import annotations

__all__ = ["bundle_digest", "read_files"]

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from everpath.atomic_files import is_leftover
from everpath.loaders.sources import unreadable_input


def bundle_digest(files: Mapping[str, bytes]) -> str:
    """Return `sha256:…` over the names (with / as separator) and contents of files, in the order of names.

    Each name and content is preceded by its length, so that different files cannot give the same bytes.
    """
    found = hashlib.sha256()
    for name, content in sorted(files.items()):
        for part in (name.encode("utf-8", "surrogateescape"), content):
            found.update(f"{len(part)}:".encode())
            found.update(part)
    return f"sha256:{found.hexdigest()}"


def read_files(folder: Path) -> dict[str, bytes]:
    """Read all files below a folder, by relative path; none if it does not exist. Raises UnreadableInput.

    Temporary files of an interrupted run are left out.
    """
    try:
        paths = sorted(path for path in _walk(folder) if path.is_file() and not is_leftover(path.name))
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    except OSError as error:
        raise unreadable_input(error.filename or str(folder), error) from error


def _walk(folder: Path) -> Iterator[Path]:
    """Yield all files below a folder. Raises OSError if one cannot be listed: the digest would be wrong."""

    def refuse(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            raise error

    for parent, _, names in os.walk(folder, onerror=refuse):
        yield from (Path(parent, name) for name in names)
