"""Catalogs and bundles out of images, kept in a folder by digest: fetched once, not each time."""

from __future__ import annotations

__all__ = ["Kept", "Store"]

import hashlib
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from everpath.atomic_files import refused
from everpath.errors import UnreadableInput
from everpath.oci.descriptors import Image
from everpath.oci.payload import Payload, extract, payload_of

_MOST: Final = 20
#: What was used this recently may be being read.
_FRESH: Final = 3600.0
_CATALOG: Final = "catalog"
_SHOWN_SUM: Final = 32
# What is left of a file's name behind the digest, the sum and the kind.
_LONGEST_ROOT: Final = 140


class Kept(NamedTuple):
    """A folder to read, and what its root is called in the image: `/configs`, or nothing for a bundle's."""

    folder: str
    root: str


class Store:
    """Extracted images below one folder, each whole or not there.

    An entry is called `DIGEST.SUM.KIND`: what does not add up to its sum any more, because somebody tidied up
    or wrote there, is taken away and fetched anew.
    """

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._now = now

    def find(self, digest: str) -> Kept | None:
        """What was kept of a digest. Only what is ours is believed: others could write anything there.

        Cost: all of it is read and hashed.
        """
        for entry in self._folder.glob(f"{digest.removeprefix('sha256:')}.*"):
            if entry.is_symlink() or not entry.is_dir() or entry.stat().st_uid != os.geteuid():
                continue
            # A cache that may only be read serves all the same.
            with suppress(OSError):
                if _sum_of(entry) == entry.name.split(".")[1]:
                    with suppress(PermissionError):
                        os.utime(entry)
                    return _kept(entry)
            shutil.rmtree(entry, ignore_errors=True)
        return None

    def keep(self, image: Image, name: str) -> Kept:
        """What an image holds, from the store or put into it.

        Raises as `extract` does, and UsageError where nothing can be put.
        """
        found = self.find(image.root.digest)
        if found is not None:
            return found
        payload = payload_of(image, name)
        suffix = _suffix(payload, name)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with TemporaryDirectory(dir=self._folder, prefix=".new.") as aside:
                fresh = Path(aside, "files")
                extract(image, payload, str(fresh), name)
                digest = image.root.digest.removeprefix("sha256:")
                entry = self._folder / f"{digest}.{_sum_of(fresh)}.{suffix}"
                if not entry.exists():
                    _put(fresh, entry)
        except OSError as error:
            raise refused(self._folder, error) from error
        self._forget_old()
        return _kept(entry)

    def _forget_old(self) -> None:
        """All but the last used. Who cannot take one away leaves it to the next."""
        used: list[tuple[float, Path]] = []
        for entry in self._folder.iterdir():
            # Others tidy up too.
            with suppress(FileNotFoundError):
                used.append((entry.stat().st_mtime, entry))
        for when, entry in sorted(used, reverse=True)[_MOST:]:
            if self._now() - when > _FRESH:
                shutil.rmtree(entry, ignore_errors=True)


def _put(fresh: Path, entry: Path) -> None:
    """Raises OSError, unless somebody else put the same there meanwhile."""
    try:
        fresh.rename(entry)
    except OSError:
        if not entry.is_dir():
            raise


def _sum_of(folder: Path) -> str:
    """A hash of all names and contents below a folder, and of nothing else. Raises OSError."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        mode = "l" if path.is_symlink() else "d" if path.is_dir() else "f"
        content = _hash_of(path) if mode == "f" else ""
        total.update(f"{mode} {content} {path.relative_to(folder)}\0".encode(errors="surrogateescape"))
    return total.hexdigest()[:_SHOWN_SUM]


def _hash_of(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _suffix(payload: Payload, name: str) -> str:
    """The kind, and the place of a catalog with slashes as percent signs are written."""
    if payload.kind == "bundle":
        return "bundle"
    root = payload.root.replace("%", "%25").replace("/", "%2F")
    if len(os.fsencode(root)) > _LONGEST_ROOT:
        raise UnreadableInput(f"{name} is misshapen: a label points to {payload.root[:60]!r}…")
    return f"{_CATALOG}.{root}"


def _kept(entry: Path) -> Kept:
    _, _, kind, *root = entry.name.split(".", 3)
    inside = f"/{root[0].replace('%2F', '/').replace('%25', '%')}" if kind == _CATALOG else ""
    return Kept(str(entry), inside)
