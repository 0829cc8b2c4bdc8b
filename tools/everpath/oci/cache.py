"""Cache of catalogs and bundles that were extracted from images, by digest of the image."""

from __future__ import annotations

__all__ = ["CachedPayload", "ImageCache"]

import hashlib
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from everpath.atomic_files import move_into_place, scratch_folder, write_error
from everpath.errors import UnreadableInput
from everpath.oci.descriptors import Image
from everpath.oci.payload import extract_payload, find_payload

_MAX_ENTRIES: Final = 20
# Another process may be reading an entry that was used within the last hour.
_MIN_AGE_SECONDS: Final = 3600.0
_CATALOG: Final = "catalog"
_CHECKSUM_LENGTH: Final = 32
# File names have at most 255 bytes; digest, checksum and kind need the rest.
_MAX_ROOT_LENGTH: Final = 140


class CachedPayload(NamedTuple):
    """A folder with extracted files, and its path in the image: `/configs`, or nothing for a bundle."""

    folder: str
    root: str


class ImageCache:
    """Extracted images below a folder, as entries with the name `DIGEST.CHECKSUM.KIND`.

    An entry whose content no longer has its checksum, because files were changed or deleted, is removed.
    """

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._now = now

    def find(self, digest: str) -> CachedPayload | None:
        """Return the entry of an image. All of its files are read and hashed.

        Entries of other users are ignored: they could contain anything.
        """
        for entry in self._folder.glob(f"{digest.removeprefix('sha256:')}.*"):
            if entry.is_symlink() or not entry.is_dir() or entry.stat().st_uid != os.geteuid():
                continue
            with suppress(OSError):
                if _checksum(entry) == entry.name.split(".")[1]:
                    # The cache may be read-only.
                    with suppress(PermissionError):
                        os.utime(entry)
                    return _parse_entry(entry)
            shutil.rmtree(entry, ignore_errors=True)
        return None

    def find_or_extract(self, image: Image, name: str) -> CachedPayload:
        """Return the entry of an image, which is extracted if it is not in the cache.

        Raises as `extract_payload` does, and UsageError if the cache cannot be written.
        """
        cached = self.find(image.root.digest)
        if cached is not None:
            return cached
        payload = find_payload(image, name)
        kind: str = payload.kind
        if payload.kind == _CATALOG:
            root = payload.root.replace("%", "%25").replace("/", "%2F")
            if len(os.fsencode(root)) > _MAX_ROOT_LENGTH:
                raise UnreadableInput(f"{name} is invalid: a label points to {payload.root[:60]!r}…")
            kind = f"{_CATALOG}.{root}"
        digest = image.root.digest.removeprefix("sha256:")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with scratch_folder(beside=self._folder / digest) as temporary:
                extracted = temporary / "files"
                extract_payload(image, payload, str(extracted), name)
                entry = self._folder / f"{digest}.{_checksum(extracted)}.{kind}"
                move_into_place(extracted, entry)
        except OSError as error:
            raise write_error(self._folder, error) from error
        self._evict()
        return _parse_entry(entry)

    def _evict(self) -> None:
        """Delete all but the last used entries. Failures are ignored: the next process tries again."""
        entries: list[tuple[float, Path]] = []
        for entry in self._folder.iterdir():
            # Another process may have deleted it.
            with suppress(FileNotFoundError):
                entries.append((entry.stat().st_mtime, entry))
        for mtime, entry in sorted(entries, reverse=True)[_MAX_ENTRIES:]:
            if self._now() - mtime > _MIN_AGE_SECONDS:
                shutil.rmtree(entry, ignore_errors=True)


def _checksum(folder: Path) -> str:
    """Hash the names and contents of everything below a folder. Raises OSError."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        mode = "l" if path.is_symlink() else "d" if path.is_dir() else "f"
        content = ""
        if mode == "f":
            with path.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256").hexdigest()
        total.update(f"{mode} {content} {path.relative_to(folder)}\0".encode(errors="surrogateescape"))
    return total.hexdigest()[:_CHECKSUM_LENGTH]


def _parse_entry(entry: Path) -> CachedPayload:
    _, _, kind, *root = entry.name.split(".", 3)
    path = f"/{root[0].replace('%2F', '/').replace('%25', '%')}" if kind == _CATALOG else ""
    return CachedPayload(str(entry), path)
