"""Catalogs and bundles out of images, kept in a folder by digest: fetched once, not each time."""

from __future__ import annotations

__all__ = ["Kept", "Store"]

import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from everpath.errors import UsageError
from everpath.images.content import Image
from everpath.images.operators import Payload, extract, payload_of

_MOST: Final = 20
#: What was used this recently may be being read.
_FRESH: Final = 3600.0
_CATALOG: Final = "catalog"


class Kept(NamedTuple):
    """A folder to read, and what its root is called in the image: `/configs`, or nothing for a bundle's."""

    folder: str
    root: str


class Store:
    """Extracted images below one folder, each whole or not there."""

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._now = now

    def find(self, digest: str) -> Kept | None:
        """What was kept of a digest. Only what is ours is believed: others could write anything there."""
        for entry in self._folder.glob(f"{digest.removeprefix('sha256:')}.*"):
            if entry.is_dir() and not entry.is_symlink() and entry.stat().st_uid == os.geteuid():
                os.utime(entry)
                return _kept(entry)
        return None

    def keep(self, image: Image, name: str) -> Kept:
        """What an image holds, from the store or put into it. Raises as `extract` does."""
        found = self.find(image.root.digest)
        if found is not None:
            return found
        payload = payload_of(image, name)
        entry = self._folder / f"{image.root.digest.removeprefix('sha256:')}.{_suffix(payload)}"
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            extract(image, payload, str(entry), name)
        except UsageError:
            # Somebody else may have put it there meanwhile.
            found = self.find(image.root.digest)
            if found is None:
                raise
            return found
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


def _suffix(payload: Payload) -> str:
    """The kind, and the place of a catalog with slashes as percent signs are written."""
    return (
        "bundle"
        if payload.kind == "bundle"
        else f"{_CATALOG}.{payload.root.replace('%', '%25').replace('/', '%2F')}"
    )


def _kept(entry: Path) -> Kept:
    _, kind, *root = entry.name.split(".", 2)
    inside = f"/{root[0].replace('%2F', '/').replace('%25', '%')}" if kind == _CATALOG else ""
    return Kept(str(entry), inside)
