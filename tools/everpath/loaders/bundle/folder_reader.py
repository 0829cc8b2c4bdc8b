"""Reads the files below a folder, and records by which stamps a change of them can be detected.

A stamp is a file's metadata: size, times and inode. A file with an unchanged stamp has unchanged content,
with one exception: two writes within the resolution of the file system's timestamps can leave the same stamp.
Results may therefore be cached only if every file was older than that resolution when reading started.
"""

from __future__ import annotations

__all__ = [
    "TIMESTAMP_RESOLUTION_NS",
    "FileStamp",
    "FolderReader",
    "Listing",
    "file_stamp",
    "folder_name",
    "is_unchanged",
    "join",
]

import os
import stat
from collections.abc import Iterable
from typing import Final, NamedTuple

from everpath.errors import UnreadableInput
from everpath.loaders.sources import CATALOG_PATH_HINT, MAX_DOCUMENT, MEBIBYTE, unreadable_input

#: Size, modification time, inode and change time. A program cannot set the change time.
FileStamp = tuple[int, int, int, int]

#: The coarsest resolution of timestamps in use: FAT stores two seconds.
TIMESTAMP_RESOLUTION_NS: Final = 2_000_000_000

# Opening a pipe must not block.
_OPEN: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Listing(NamedTuple):
    """The names in a folder, sorted by bytes, which is the order of opm."""

    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class FolderReader:
    """Lists and reads below one root, by relative paths, and records the stamps. Raises `UnreadableInput`.

    `is_complete` is False after an error: a file that was not read has no stamp. `is_thorough` asks callers
    to parse every file instead of scanning it. `expected` is the hint in the error for a missing root.
    """

    def __init__(self, root: str, is_thorough: bool = False, expected: str = CATALOG_PATH_HINT) -> None:
        self.root = root
        self.expected = expected
        self.is_thorough = is_thorough
        self.stamps: dict[str, FileStamp] = {}
        self.is_complete = True

    def list_folder(self, folder: str, *, hidden: bool = False) -> Listing:
        """List a folder. A link counts as its target, a broken one is ignored."""
        path = join(self.root, folder)
        try:
            self.stamps[folder] = file_stamp(os.stat(path))  # noqa: PTH116
            with os.scandir(path) as entries:
                found = [(e.name, _kind(e)) for e in entries if hidden or e.name[0] != "."]
        except OSError as error:
            raise self._unreadable(path, error) from error
        found.sort()
        return Listing(
            tuple([name for name, kind in found if kind == "folder"]),
            tuple([name for name, kind in found if kind == "file"]),
        )

    def read(self, file: str, limit: int = MAX_DOCUMENT) -> bytes:
        """Return the bytes of a regular file, of at most `limit`."""
        path = join(self.root, file)
        try:
            descriptor = os.open(path, _OPEN)
            try:
                status = os.fstat(descriptor)
                self.stamps[file] = file_stamp(status)
                content = self._content(path, descriptor, status, limit)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise self._unreadable(path, error) from error
        return content

    def _content(self, path: str, descriptor: int, status: os.stat_result, limit: int) -> bytes:
        if not stat.S_ISREG(status.st_mode):
            raise self._error(f"cannot read {path}: it is not a regular file", path)
        if status.st_size > limit:
            raise self._error(f"{path} is larger than {limit // MEBIBYTE} MiB", path)
        content = os.read(descriptor, status.st_size + 1)
        while len(content) < status.st_size and (more := os.read(descriptor, status.st_size - len(content))):
            content += more
        return content

    def is_cacheable(self, started_ns: int) -> bool:
        """Whether the results may be cached: no error, all names UTF-8, all files old enough at the start."""
        is_old_enough = all(
            max(known[1], known[3]) + TIMESTAMP_RESOLUTION_NS < started_ns for known in self.stamps.values()
        )
        # Python puts surrogates in the place of bytes that are not UTF-8.
        is_utf8 = not any("\ud800" <= character <= "\udfff" for character in "".join(self.stamps))
        return self.is_complete and is_old_enough and is_utf8

    def _unreadable(self, path: str, error: OSError) -> UnreadableInput:
        self.is_complete = False
        return unreadable_input(path, error, self.expected)

    def _error(self, message: str, path: str) -> UnreadableInput:
        self.is_complete = False
        return UnreadableInput(message, hint="remove it from the folder", file=path)


def is_unchanged(root: str, stamps: Iterable[tuple[str, FileStamp]]) -> bool:
    """Whether every path below a root has its recorded stamp. Cost: a system call each, 2.5 µs."""
    prefix = root + os.sep
    try:
        for path, known in stamps:
            status = os.stat(prefix + path)  # noqa: PTH116 - a Path costs more than the call
            if known != (status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns):
                return False
    except OSError:
        return False
    return True


def folder_name(path: str) -> str:
    """The name of a folder, also if the path is `.` or `..`."""
    return os.path.basename(os.path.realpath(path))  # noqa: PTH119 - pathlib is slow to import


def join(root: str, path: str) -> str:
    """Join two paths, either of which may be empty."""
    return f"{root}{os.sep}{path}" if root and path else root or path


def file_stamp(status: os.stat_result) -> FileStamp:
    """The stamp of a file."""
    return status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns


def _kind(entry: os.DirEntry[str]) -> str:
    """`folder`, `file`, or `neither`: a pipe, a socket, a broken link."""
    try:
        return "folder" if entry.is_dir() else "file" if entry.is_file() else "neither"
    except OSError:
        return "neither"
