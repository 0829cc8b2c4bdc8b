"""A visit to a folder: what was listed and read there, and the stamps by which it is known again.

A stamp is what the file system says of a file without opening it. A file that still has its stamp still
has its content, with one exception: whoever writes twice within the same tick of the file system's clock
leaves the same times twice. So a visit counts as settled only if all it saw was older than that by then.
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

#: Size, modification time, inode and change time. Nobody can set the last one back.
FileStamp = tuple[int, int, int, int]

#: The coarsest clock of a file system still in use: FAT counts in steps of two seconds.
TIMESTAMP_RESOLUTION_NS: Final = 2_000_000_000

# A pipe or a device must not make us wait for what it will never send.
_OPEN: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Listing(NamedTuple):
    """The names in a folder, in the order of their bytes, as opm walks them; hidden ones if asked for."""

    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class FolderReader:
    """Lists and reads below one root, by paths relative to it. Raises `UnreadableInput`.

    After an error the visit is no longer `is_complete`: what it could not see has no stamp to be known by.
    A thorough one is asked to parse every text, also where a glance would do. `expected` says what may be
    given, to whoever names a root that is not there.
    """

    def __init__(self, root: str, is_thorough: bool = False, expected: str = CATALOG_PATH_HINT) -> None:
        self.root = root
        self.expected = expected
        self.is_thorough = is_thorough
        self.stamps: dict[str, FileStamp] = {}
        self.is_complete = True

    def list_folder(self, folder: str, *, hidden: bool = False) -> Listing:
        """What stands in a folder. Links count as what they lead to, broken ones as nothing."""
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
        """All bytes of a regular file, which must not be more than `limit`."""
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
            raise self._refused(f"cannot read {path}: it is not a regular file", path)
        if status.st_size > limit:
            raise self._refused(f"{path} is larger than {limit // MEBIBYTE} MiB", path)
        content = os.read(descriptor, status.st_size + 1)
        while len(content) < status.st_size and (more := os.read(descriptor, status.st_size - len(content))):
            content += more
        return content

    def is_cacheable(self, began_ns: int) -> bool:
        """Whether all was seen, under names that are text, and settled when the visit began."""
        is_settled = all(
            max(known[1], known[3]) + TIMESTAMP_RESOLUTION_NS < began_ns for known in self.stamps.values()
        )
        return self.is_complete and is_settled and _is_text("".join(self.stamps))

    def _unreadable(self, path: str, error: OSError) -> UnreadableInput:
        self.is_complete = False
        return unreadable_input(path, error, self.expected)

    def _refused(self, message: str, path: str) -> UnreadableInput:
        self.is_complete = False
        return UnreadableInput(message, hint="leave it out of the folder", file=path)


def is_unchanged(root: str, stamps: Iterable[tuple[str, FileStamp]]) -> bool:
    """Whether everything below a root still has its stamp. Cost: one system call each, 2.5 µs."""
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
    """What a folder is called, also when it is given as `.` or `..`."""
    return os.path.basename(os.path.realpath(path))  # noqa: PTH119 - pathlib is slow to import


def join(root: str, path: str) -> str:
    """A path below a root; either alone when the other is empty."""
    return f"{root}{os.sep}{path}" if root and path else root or path


def file_stamp(status: os.stat_result) -> FileStamp:
    """What a file is known by, of all that the file system says of it."""
    return status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns


def _is_text(name: str) -> bool:
    """File systems take any bytes for a name; what is not UTF-8 comes with surrogates in its place."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _kind(entry: os.DirEntry[str]) -> str:
    """A folder, a file, or neither: a pipe, a socket, a link that leads nowhere or in a circle."""
    try:
        return "folder" if entry.is_dir() else "file" if entry.is_file() else "neither"
    except OSError:
        return "neither"
