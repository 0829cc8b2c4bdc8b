"""Where the bytes of an input come from, and how to get them again when a finding needs its line.

Readers keep no text. A `Place` names a file and an offset; `Sources` opens that file a second time,
or hands out what was kept of an input that can be read only once.
"""

from __future__ import annotations

__all__ = [
    "A_CATALOG",
    "MAX_DOCUMENT",
    "MAX_KEPT",
    "MEBIBYTE",
    "STANDARD_INPUT",
    "Sources",
    "named",
    "unreadable",
]

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

from everpath.errors import UnreadableInput

MEBIBYTE: Final = 1 << 20

#: The path that stands for standard input.
STANDARD_INPUT: Final = "-"

# etcd refuses objects over 1.5 MiB, and the largest document of the public catalogs is under 12 MiB:
# what is larger than this is not a catalog, and to parse it would cost ten times its size in memory.
MAX_DOCUMENT: Final = 64 * MEBIBYTE

# An input that can be read only once is held in memory; a larger one can be given as a file.
MAX_KEPT: Final = 256 * MEBIBYTE

#: What may be given where a catalog is read.
A_CATALOG: Final = "a catalog is a folder, a file, or - for standard input"

_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def named(file: str) -> str:
    """A path as a sentence names it."""
    return "standard input" if file == STANDARD_INPUT else file


def unreadable(file: str, error: OSError, expected: str = A_CATALOG) -> UnreadableInput:
    """The operating system's refusal as an error that says what to do, and what was `expected` there."""
    reason = error.strerror or str(error)
    hints = {
        FileNotFoundError: f"check the path; {expected}",
        PermissionError: "give the user who runs everpath the right to read it",
    }
    return UnreadableInput(f"cannot read {named(file)}: {reason}", hint=hints.get(type(error)), file=file)


class Sources:
    """Gives the bytes of every file a `Place` may name."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def keep(self, file: str, content: bytes) -> None:
        """Remember what cannot be read again (standard input, a member of an archive)."""
        self._kept[file] = content

    def keep_stream(self, file: str, stream: BinaryIO, limit: int = MAX_KEPT) -> None:
        """Remember all of a stream, at most `limit` bytes of it. Raises `UnreadableInput`."""
        try:
            content = stream.read(limit + 1)
        except OSError as error:
            raise unreadable(file, error) from error
        if len(content) > limit:
            raise UnreadableInput(
                f"{named(file)} is larger than {limit // MEBIBYTE} MiB",
                hint="write it to a file and give the file's path: files are read piece by piece",
                file=file,
            )
        self.keep(file, content)

    def size(self, file: str) -> int:
        """How many bytes a file has. Raises `UnreadableInput`."""
        if file in self._kept:
            return len(self._kept[file])
        try:
            return os.stat(file).st_size
        except OSError as error:
            raise unreadable(file, error) from error

    def open(self, file: str) -> BinaryIO:
        """A stream over the file's bytes. Only regular files are opened: a pipe could wait for ever."""
        if file in self._kept:
            return io.BytesIO(self._kept[file])
        try:
            mode = os.stat(file).st_mode
            if not stat.S_ISREG(mode):
                kind = next((name for is_kind, name in _KINDS if is_kind(mode)), "not a regular file")
                raise UnreadableInput(f"cannot read {file}: it is {kind}, not a file", file=file)
            return open(file, "rb")
        except OSError as error:
            raise unreadable(file, error) from error

    @contextmanager
    def reading(self, file: str) -> Iterator[BinaryIO]:
        """The stream of `open`, to read within: opening some files succeeds and reading them does not.

        Raises `UnreadableInput` for either.
        """
        with self.open(file) as stream:
            try:
                yield stream
            except OSError as error:
                raise unreadable(file, error) from error

    def read(self, file: str, limit: int = MAX_DOCUMENT) -> bytes:
        """All bytes of a file, which must not be more than `limit`."""
        with self.reading(file) as stream:
            content = stream.read(limit + 1)
        if len(content) > limit:
            raise UnreadableInput(
                f"{file} is larger than {limit // MEBIBYTE} MiB",
                hint="no document of a catalog is that large; leave the file out of the folder",
                file=file,
            )
        return content
