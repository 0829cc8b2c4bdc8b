"""Fingerprint of everpath's own code: a cache of another version of the code is not used."""

from __future__ import annotations

__all__ = ["code_fingerprint"]

import os
import sys
from collections.abc import Iterator
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from everpath import __version__
from everpath.loaders.bundle.folder_reader import TIMESTAMP_RESOLUTION_NS, FileStamp, file_stamp

_SOURCES: Final = Path(__file__).parents[1]

#: Libraries whose version can change findings.
_LIBRARIES: Final = ("msgspec", "semver", "yaml")


def code_fingerprint(now_ns: int, sources: Path = _SOURCES) -> str | None:
    """Return a digest of the source files, libraries and Python version.

    Files are identified by their stamps (size and times). None if they are not files, or so new that they may
    change again with the same stamp. Takes a millisecond.
    """
    try:
        stamps = dict(_stamps(str(sources)))
        stamps |= {origin: file_stamp(os.stat(origin)) for origin in map(_origin, _LIBRARIES)}  # noqa: PTH116
    except OSError:
        return None
    if any(max(found[1], found[3]) + TIMESTAMP_RESOLUTION_NS >= now_ns for found in stamps.values()):
        return None
    known = repr((__version__, sys.version, sorted(stamps.items())))
    return blake2b(known.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _stamps(folder: str) -> Iterator[tuple[str, FileStamp]]:
    """Yield path and stamp of every source file below a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield entry.path, file_stamp(entry.stat())
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _stamps(entry.path)


def _origin(library: str) -> str:
    spec = find_spec(library)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(library)
    return spec.origin
