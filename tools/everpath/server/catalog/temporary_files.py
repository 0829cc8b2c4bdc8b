"""Unnamed temporary files of the server: a copy of the catalog, and a cache of manifests.

opm copies a catalog into its cache before it serves it. Here the files themselves are copied, so that later
edits change no response. The operating system deletes an unnamed file when the process ends.
"""

from __future__ import annotations

__all__ = ["BundleManifests", "CatalogCopy", "ManifestCache"]

import io
import os
import tempfile
import threading
import weakref
from collections.abc import Callable
from hashlib import blake2b
from typing import BinaryIO, Final, NamedTuple

import msgspec

from everpath.errors import UnreadableInput
from everpath.loaders.sources import MEBIBYTE, Sources, unreadable_input

_BLOCK: Final = MEBIBYTE


class _Region(NamedTuple):
    """A part of a temporary file."""

    start: int
    size: int


class BundleManifests(NamedTuple):
    """All manifests of a bundle as JSON, and the one that is its CSV; empty if there is none."""

    csv: str
    objects: tuple[str, ...]


class CatalogCopy(Sources):
    """A copy of each file, made when the file is first opened. Threads may share it.

    The temporary file is closed when the object is garbage collected: open streams may still read from it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._file = _open_unnamed_file()
        weakref.finalize(self, os.close, self._file)
        self._regions: dict[str, _Region] = {}
        self._end = 0
        self._digest = blake2b(digest_size=32)
        self._lock = threading.Lock()

    @property
    def files(self) -> tuple[str, ...]:
        """The copied files in the order in which they were opened."""
        return tuple(self._regions)

    @property
    def total_size(self) -> int:
        """The size of all copied files in bytes."""
        return self._end

    @property
    def digest(self) -> str:
        """The digest of names and contents of all copied files in their order."""
        return self._digest.hexdigest()

    def keep(self, file: str, content: bytes) -> None:
        self._add(file, io.BytesIO(content))

    def size(self, file: str) -> int:
        region = self._regions.get(file)
        return region.size if region is not None else super().size(file)

    def open(self, file: str) -> BinaryIO:
        if file not in self._regions:
            with super().open(file) as stream:
                self._add(file, stream)
        return io.BufferedReader(_RegionStream(self, self._regions[file]), _BLOCK)

    def read_range(self, file: str, start: int, end: int) -> bytes:
        """Read some bytes of a copied file. `end` may be beyond the end of the file."""
        region = self._regions[file]
        length = max(0, min(end, region.size) - start)
        return os.pread(self._file, length, region.start + start)

    def read_into(self, buffer: memoryview, start: int) -> int:
        """Fill a buffer from the temporary file, and return the number of bytes read."""
        return os.preadv(self._file, [buffer], start)

    def _add(self, file: str, stream: BinaryIO) -> None:
        with self._lock:
            start = self._end
            self._digest.update(b"%d:%b" % (len(name := os.fsencode(file)), name))
            try:
                while block := stream.read(_BLOCK):
                    _write_at(self._file, block, self._end)
                    self._digest.update(block)
                    self._end += len(block)
            except OSError as error:
                if error.filename is not None:
                    raise unreadable_input(file, error) from error
                raise UnreadableInput(
                    f"cannot copy {file} to a temporary file: {error.strerror or error}",
                    hint="free space in the temporary folder, or set TMPDIR to another one",
                    file=file,
                ) from error
            self._digest.update(b":%d" % (self._end - start))
            self._regions[file] = _Region(start, self._end - start)


class _RegionStream(io.RawIOBase):
    """A stream over one region with its own position, so that several can be read at once."""

    def __init__(self, copy: CatalogCopy, region: _Region) -> None:
        super().__init__()
        self._copy = copy
        self._start, self._size = region
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        length = max(0, min(len(buffer), self._size - self._position))
        count = self._copy.read_into(memoryview(buffer)[:length], self._start + self._position)
        self._position += count
        return count

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def tell(self) -> int:
        return self._position


class ManifestCache:
    """Manifests by package and bundle, on disk to save memory. Threads may share it.

    Two threads that miss the same bundle both load it, with the same result.
    """

    def __init__(self) -> None:
        self._file = _open_unnamed_file()
        weakref.finalize(self, os.close, self._file)
        self._regions: dict[tuple[str, str], _Region] = {}
        self._end = 0
        self._lock = threading.Lock()

    def get(self, key: tuple[str, str], load: Callable[[], BundleManifests]) -> BundleManifests:
        """Return the cached manifests, or load them and cache them if the disk has room."""
        region = self._regions.get(key)
        if region is not None:
            encoded = os.pread(self._file, region.size, region.start)
            return msgspec.msgpack.decode(encoded, type=BundleManifests)
        manifests = load()
        encoded = msgspec.msgpack.encode(manifests)
        with self._lock:
            if key not in self._regions:
                try:
                    _write_at(self._file, encoded, self._end)
                except OSError:
                    # The disk is full: these manifests are loaded again next time.
                    return manifests
                self._regions[key] = _Region(self._end, len(encoded))
                self._end += len(encoded)
        return manifests


def _open_unnamed_file() -> int:
    """Open an unnamed file on disk, or in memory if no folder is writable. Returns its descriptor."""
    try:
        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())
    except OSError:
        if not hasattr(os, "memfd_create"):
            raise
        return os.memfd_create("everpath-catalog")


def _write_at(descriptor: int, block: bytes, start: int) -> None:
    rest = memoryview(block)
    while rest:
        written = os.pwrite(descriptor, rest, start)
        rest, start = rest[written:], start + written
