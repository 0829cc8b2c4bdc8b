"""What was read of a repository, kept for the next time, and believed only while nothing has changed.

One file a repository, or a share of it, in the folder that EVERPATH_CACHE names (`off` for none). Each
package is kept with the stamps of every file and folder it was read from (`bundles.visits`); one that
differs, and the package is read again. The file itself is believed only if it is ours: owned by this user,
written by this version for this path, and whole. Anything else about it is as if there were none; that it
cannot be written is no error either.
"""

from __future__ import annotations

__all__ = ["IndexCache", "PackageRecord"]

import os
import stat
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

import msgspec

from everpath import __version__
from everpath.formats.bundles.facts import PackageFacts
from everpath.formats.bundles.visits import Stamp
from everpath.formats.shares import WHOLE, Share

_MAGIC: Final = b"everpath index\n"
_DIGEST: Final = 32

# To be raised with every change of what is kept or how it is read.
_FORMAT: Final = 2

_READ: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)

# Far above the index of the largest catalog there is (6 MB): nobody's 10 GB file is read into memory.
_LARGEST: Final = 1 << 30


class PackageRecord(msgspec.Struct, frozen=True, array_like=True):
    """What a package says, and all that was looked at to learn it, relative to its folder."""

    facts: PackageFacts
    stamps: dict[str, Stamp]


class _Index(msgspec.Struct, frozen=True, array_like=True):
    format: int
    version: str
    root: str
    packages: dict[str, PackageRecord]


class IndexCache:
    """The indexes below one folder. `clock` gives the time in nanoseconds, as file systems do."""

    def __init__(self, folder: Path, clock: Callable[[], int] = time.time_ns) -> None:
        self.folder = folder
        self.clock = clock

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> IndexCache | None:
        """The cache an environment asks for, or None if it wants none."""
        chosen = environment.get("EVERPATH_CACHE", "")
        if chosen == "off":
            return None
        if chosen:
            return cls(Path(chosen))
        home = Path(environment.get("XDG_CACHE_HOME", ""))
        try:
            return cls((home if home.is_absolute() else Path.home() / ".cache") / "everpath")
        except RuntimeError:
            # A user without a home, as containers have them.
            return None

    def file(self, root: str, share: Share = WHOLE) -> Path:
        """Where the index of a repository is kept."""
        return self.folder / f"{blake2b(_key(root, share).encode(), digest_size=16).hexdigest()}.index"

    def load(self, root: str, share: Share = WHOLE) -> dict[str, PackageRecord]:
        """The packages of a repository as they were kept; nothing if there is no index to believe."""
        try:
            payload = _checked(_read_own(self.file(root, share)))
            index = msgspec.msgpack.decode(payload, type=_Index)
        except (OSError, ValueError):
            return {}
        is_ours = (index.format, index.version, index.root) == (_FORMAT, __version__, _key(root, share))
        return index.packages if is_ours else {}

    def save(self, root: str, packages: dict[str, PackageRecord], share: Share = WHOLE) -> None:
        """Keep the packages of a repository: all of them or, if that fails, what was kept before."""
        payload = msgspec.msgpack.encode(_Index(_FORMAT, __version__, _key(root, share), packages))
        passing = self.folder / f"{os.getpid()}.{self.clock()}"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(passing, _MAGIC + _digest(payload) + payload)
            passing.replace(self.file(root, share))
        except OSError:
            # A cache that cannot be kept costs time, nothing else.
            with suppress(OSError):
                passing.unlink()


def _key(root: str, share: Share) -> str:
    """What an index is kept under: the path, whatever it is called from where one stands, and the share."""
    path = str(Path(root).resolve()).encode(errors="surrogateescape").hex()
    return path if share == WHOLE else f"{path} {share.number}/{share.total}"


def _read_own(file: Path) -> bytes:
    """The bytes of a file that only this user can have written. Raises OSError, ValueError."""
    descriptor = os.open(file, _READ)
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            raise ValueError("not an index")
        if hasattr(os, "geteuid") and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
            raise ValueError("an index that somebody else may have written")
        return stream.read()


def _checked(content: bytes) -> memoryview:
    """The payload of an index that is whole. Raises ValueError."""
    start = len(_MAGIC) + _DIGEST
    payload = memoryview(content)[start:]
    if not content.startswith(_MAGIC) or content[len(_MAGIC) : start] != _digest(payload):
        raise ValueError("not an index, or not all of it")
    return payload


def _digest(payload: bytes | memoryview) -> bytes:
    return blake2b(payload, digest_size=_DIGEST).digest()


def _write(file: Path, content: bytes) -> None:
    with os.fdopen(os.open(file, _CREATE, 0o600), "wb") as stream:
        stream.write(content)
