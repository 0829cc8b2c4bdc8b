"""What was read of a repository, kept for the next time, and believed only while nothing has changed.

One file a repository, or a share of it, in the folder that EVERPATH_CACHE names (`off` for none). Each
package is kept with the stamps of every file and folder it was read from (`bundles.visits`); one that
differs, and the package is read again. The file itself is believed only if it is ours and whole
(`bundles.kept_files`) and was written by this version for this path.
"""

from __future__ import annotations

__all__ = ["IndexCache", "PackageRecord"]

import time
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Final

import msgspec

from everpath import __version__
from everpath.loaders.bundle import kept_files
from everpath.loaders.bundle.folder_reader import FileStamp
from everpath.loaders.bundle.summaries import PackageSummary
from everpath.loaders.shares import WHOLE, Share

# To be raised with every change of what is kept or how it is read.
_FORMAT: Final = 2


class PackageRecord(msgspec.Struct, frozen=True, array_like=True):
    """What a package says, and all that was looked at to learn it, relative to its folder."""

    facts: PackageSummary
    stamps: dict[str, FileStamp]


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

    def file(self, root: str, share: Share = WHOLE, kind: str = "index") -> Path:
        """Where the index of a repository is kept."""
        return self.folder / f"{blake2b(_key(root, share).encode(), digest_size=16).hexdigest()}.{kind}"

    def load(self, root: str, share: Share = WHOLE) -> dict[str, PackageRecord]:
        """The packages of a repository as they were kept; nothing if there is no index to believe."""
        try:
            index = msgspec.msgpack.decode(kept_files.load(self.file(root, share)), type=_Index)
        except (OSError, ValueError):
            return {}
        is_ours = (index.format, index.version, index.root) == (_FORMAT, __version__, _key(root, share))
        return index.packages if is_ours else {}

    def save(self, root: str, packages: dict[str, PackageRecord], share: Share = WHOLE) -> None:
        """Keep the packages of a repository: all of them or, if that fails, what was kept before."""
        index = _Index(_FORMAT, __version__, _key(root, share), packages)
        try:
            payload = msgspec.msgpack.encode(index)
        except UnicodeEncodeError:
            self.save(root, dict(filter(_is_text, packages.items())), share)
        else:
            kept_files.save(self.file(root, share), payload, self.clock())


def _key(root: str, share: Share) -> str:
    """What an index is kept under: the path, whatever it is called from where one stands, and the share."""
    path = str(Path(root).resolve()).encode(errors="surrogateescape").hex()
    return path if share == WHOLE else f"{path} {share.number}/{share.total}"


def _is_text(named: tuple[str, PackageRecord]) -> bool:
    """Whether all of a record is text. File systems take any bytes for a name, which come as surrogates."""
    try:
        msgspec.msgpack.encode(named)
    except UnicodeEncodeError:
        return False
    return True
