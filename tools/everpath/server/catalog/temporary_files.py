"""A catalog's files as they were at one moment, for a server that reads of them while it runs.

opm copies a catalog into its cache before it serves it. Here the files themselves are copied, into a file
that has no name and goes with the process: 20 MB take the time of a page of text, and whoever edits the
catalog later changes nothing that is being served.
"""

from __future__ import annotations

__all__ = ["Spool", "nameless", "written"]

import io
import os
import tempfile
import threading
import weakref
from hashlib import blake2b
from typing import BinaryIO, Final, NamedTuple

from everpath.errors import UnreadableInput
from everpath.loaders.sources import MEBIBYTE, Sources, unreadable

_BLOCK: Final = MEBIBYTE


class _Region(NamedTuple):
    """Where a file lies in the spool."""

    start: int
    size: int


class Spool(Sources):
    """Gives the bytes of files as they were when each was first asked for. Closed when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self._file = nameless()
        # Whoever is in the middle of a stream still reads: it is closed when the last of them lets go.
        weakref.finalize(self, os.close, self._file)
        self._regions: dict[str, _Region] = {}
        self._end = 0
        self._known = blake2b(digest_size=32)
        self._adding = threading.Lock()

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are in it, in the order they came."""
        return tuple(self._regions)

    @property
    def length(self) -> int:
        """How many bytes all of them have."""
        return self._end

    @property
    def digest(self) -> str:
        """Of the names and contents of all files, in their order."""
        return self._known.hexdigest()

    def keep(self, file: str, content: bytes) -> None:
        self._add(file, io.BytesIO(content))

    def size(self, file: str) -> int:
        region = self._regions.get(file)
        return region.size if region is not None else super().size(file)

    def open(self, file: str) -> BinaryIO:
        if file not in self._regions:
            with super().open(file) as stream:
                self._add(file, stream)
        region = self._regions[file]
        return io.BufferedReader(_View(self, region), _BLOCK)

    def part(self, file: str, start: int, end: int) -> bytes:
        """Some bytes of a file that is in it, up to its end."""
        region = self._regions[file]
        length = max(0, min(end, region.size) - start)
        return os.pread(self._file, length, region.start + start)

    def read_into(self, buffer: memoryview, start: int) -> int:
        """Fill a buffer from the spool itself; how much of it was filled."""
        return os.preadv(self._file, [buffer], start)

    def _add(self, file: str, stream: BinaryIO) -> None:
        with self._adding:
            start = self._end
            self._known.update(b"%d:%b" % (len(name := os.fsencode(file)), name))
            try:
                while block := stream.read(_BLOCK):
                    written(self._file, block, self._end)
                    self._known.update(block)
                    self._end += len(block)
            except OSError as error:
                raise _no_room(file, error) from error
            self._known.update(b":%d" % (self._end - start))
            self._regions[file] = _Region(start, self._end - start)


class _View(io.RawIOBase):
    """A part of a file that several read at once, each from where it stands."""

    def __init__(self, spool: Spool, region: _Region) -> None:
        super().__init__()
        self._spool = spool
        self._start, self._size = region
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        length = max(0, min(len(buffer), self._size - self._at))
        got = self._spool.read_into(memoryview(buffer)[:length], self._start + self._at)
        self._at += got
        return got

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def tell(self) -> int:
        return self._at


def nameless() -> int:
    """The descriptor of a file without a name: on disk, or in memory where no folder may be written."""
    try:
        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())
    except OSError:
        if not hasattr(os, "memfd_create"):
            raise
        return os.memfd_create("everpath-catalog")


def written(descriptor: int, block: bytes, start: int) -> None:
    """Write all of a block at a place of a file."""
    rest = memoryview(block)
    while rest:
        done = os.pwrite(descriptor, rest, start)
        rest, start = rest[done:], start + done


def _no_room(file: str, error: OSError) -> UnreadableInput:
    if error.filename is not None:
        return unreadable(file, error)
    return UnreadableInput(
        f"cannot keep a copy of {file} to serve from: {error.strerror or error}",
        hint="make room in the temporary folder, or name another one in TMPDIR",
        file=file,
    )
