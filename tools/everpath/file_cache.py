"""A cache on disk of data that takes long to compute, in the folder of EVERPATH_CACHE.

A cache file is used only if it was saved for the same path, kind and key, is complete, and is a regular file
that no other user can have written. Any other file counts as absent.
"""

from __future__ import annotations

__all__ = ["FileCache"]

import os
import stat
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

_MAGIC: Final = b"everpath cache\n"
_DIGEST_SIZE: Final = 32
_HEADER_SIZE: Final = len(_MAGIC) + _DIGEST_SIZE

_READ: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

# The index of the largest known catalog has 6 MB. The limit keeps a foreign file of many GB out of memory.
_MAX_SIZE: Final = 1 << 30


class FileCache:
    """The cache files of one folder. `clock` returns the time in nanoseconds, as file systems do."""

    def __init__(self, folder: Path, clock: Callable[[], int] = time.time_ns) -> None:
        self.folder = folder
        self.clock = clock

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> FileCache | None:
        """Return the cache of EVERPATH_CACHE, by default below XDG_CACHE_HOME; None if it is `off`."""
        chosen = environment.get("EVERPATH_CACHE", "")
        if chosen == "off":
            return None
        if chosen:
            return cls(Path(chosen))
        xdg = Path(environment.get("XDG_CACHE_HOME", ""))
        try:
            return cls((xdg if xdg.is_absolute() else Path.home() / ".cache") / "everpath")
        except RuntimeError:
            # The user of a container often has no home directory.
            return None

    def file(self, path: str, kind: str) -> Path:
        """The cache file for an input: one for each resolved path and kind."""
        return self.folder / f"{blake2b(_resolve(path), digest_size=16).hexdigest()}.{kind}"

    def load(self, path: str, kind: str, key: object) -> memoryview | None:
        """Return the payload that was saved for the path, kind and key."""
        try:
            content = _read_own_file(self.file(path, kind))
        except (OSError, ValueError):
            return None
        payload = memoryview(content)[_HEADER_SIZE:]
        return payload if content[:_HEADER_SIZE] == _header(path, kind, key, payload) else None

    def save(self, path: str, kind: str, key: object, payload: bytes) -> None:
        """Replace the payload for the path and kind. A failure to write is ignored and keeps the old file.

        `repr(key)` is compared when the file is loaded: pass everything that the payload depends on.
        """
        from everpath.atomic_files import replace_file  # noqa: PLC0415 - most runs only load

        file = self.file(path, kind)
        with suppress(OSError):
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with replace_file(file, 0o600) as stream:
                stream.write(_header(path, kind, key, payload))
                stream.write(payload)


def _resolve(path: str) -> bytes:
    return str(Path(path).resolve()).encode(errors="surrogateescape")


def _header(path: str, kind: str, key: object, payload: bytes | memoryview) -> bytes:
    """A digest of the payload and of what it was saved for."""
    saved_for = repr((_resolve(path), kind, key)).encode("utf-8", "surrogatepass")
    digest = blake2b(b"%d:" % len(saved_for) + saved_for, digest_size=_DIGEST_SIZE)
    digest.update(payload)
    return _MAGIC + digest.digest()


def _read_own_file(file: Path) -> bytes:
    descriptor = os.open(file, _READ)
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_SIZE:
            raise ValueError("not a cache file")
        if hasattr(os, "geteuid") and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
            raise ValueError("another user may have written the file")
        return stream.read()
