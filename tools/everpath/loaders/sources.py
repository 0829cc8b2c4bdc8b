"""The bytes of input files, and a second read of them when a finding needs its line.

Loaders keep no text. A `Place` names a file and an offset; `Sources` opens the file again, or returns the
stored content of an input that can be read only once.
"""

from __future__ import annotations

__all__ = [
    "CATALOG_PATH_HINT",
    "MAX_DOCUMENT",
    "MAX_STREAM",
    "MEBIBYTE",
    "STANDARD_INPUT",
    "Sources",
    "display_name",
    "unreadable_input",
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

# etcd rejects objects over 1.5 MiB, and the largest document of the public catalogs is under 12 MiB. To parse
# a document takes ten times its size in memory.
MAX_DOCUMENT: Final = 64 * MEBIBYTE

# A stream is stored in memory. A larger one can be given as a file.
MAX_STREAM: Final = 256 * MEBIBYTE

#: What a command accepts as a catalog.
CATALOG_PATH_HINT: Final = "a catalog is a folder, a file, or - for standard input"

_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def display_name(file: str) -> str:
    """Return a path for a message."""
    return "standard input" if file == STANDARD_INPUT else file


def unreadable_input(file: str, error: OSError, expected: str = CATALOG_PATH_HINT) -> UnreadableInput:
    """Convert an OSError to an error with a hint; `expected` says what the path should be."""
    reason = error.strerror or str(error)
    hints = {
        FileNotFoundError: f"check the path; {expected}",
        PermissionError: "give the user who runs everpath permission to read it",
    }
    return UnreadableInput(
        f"cannot read {display_name(file)}: {reason}", hint=hints.get(type(error)), file=file
    )


class Sources:
    """The bytes of every file that a `Place` may name."""

    def __init__(self) -> None:
        self._content: dict[str, bytes] = {}

    def add_content(self, file: str, content: bytes) -> None:
        """Store content that cannot be read again, such as standard input."""
        self._content[file] = content

    def add_stream(self, file: str, stream: BinaryIO, limit: int = MAX_STREAM) -> None:
        """Store a stream of at most `limit` bytes. Raises `UnreadableInput`."""
        try:
            content = stream.read(limit + 1)
        except OSError as error:
            raise unreadable_input(file, error) from error
        if len(content) > limit:
            raise UnreadableInput(
                f"{display_name(file)} is larger than {limit // MEBIBYTE} MiB",
                hint="write it to a file and give the file's path: files are read in pieces",
                file=file,
            )
        self.add_content(file, content)

    def size(self, file: str) -> int:
        """Return the size of a file in bytes. Raises `UnreadableInput`."""
        if file in self._content:
            return len(self._content[file])
        try:
            return os.stat(file).st_size
        except OSError as error:
            raise unreadable_input(file, error) from error

    def open(self, file: str) -> BinaryIO:
        """Open a regular file; opening a pipe could block. Raises `UnreadableInput`."""
        if file in self._content:
            return io.BytesIO(self._content[file])
        try:
            mode = os.stat(file).st_mode
            if not stat.S_ISREG(mode):
                kind = next((name for is_kind, name in _KINDS if is_kind(mode)), "not a regular file")
                raise UnreadableInput(f"cannot read {file}: it is {kind}, not a file", file=file)
            return open(file, "rb")
        except OSError as error:
            raise unreadable_input(file, error) from error

    @contextmanager
    def stream(self, file: str) -> Iterator[BinaryIO]:
        """Open a file and convert errors of reading it, too. Raises `UnreadableInput`."""
        with self.open(file) as stream:
            try:
                yield stream
            except OSError as error:
                raise unreadable_input(file, error) from error

    def read(self, file: str, limit: int = MAX_DOCUMENT) -> bytes:
        """Return all bytes of a file of at most `limit` bytes. Raises `UnreadableInput`."""
        with self.stream(file) as stream:
            content = stream.read(limit + 1)
        if len(content) > limit:
            raise UnreadableInput(
                f"{file} is larger than {limit // MEBIBYTE} MiB",
                hint="no document of a catalog is that large; remove the file from the folder",
                file=file,
            )
        return content
