"""The files of a catalog's folder, in the order and with the exceptions of opm.

Every file counts, whatever its name; `.indexignore` alone leaves some out. Symbolic links to files are
followed; a link to a folder is not, and opm fails on it, as on whatever else is no file.
"""

from __future__ import annotations

__all__ = ["Found", "Unusable", "catalog_files"]

import os
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from everpath.loaders.sources import MEBIBYTE, Sources, unreadable

if TYPE_CHECKING:
    from everpath.loaders.fbc.indexignore import IgnoreRules

_IGNORE_FILE: Final = ".indexignore"
_LONGEST_IGNORE_FILE: Final = MEBIBYTE


class Found(NamedTuple):
    """A file to read."""

    path: str
    size: int


class Unusable(NamedTuple):
    """Something that makes opm fail before it reads a byte, and why."""

    path: str
    reason: str
    is_folder: bool = False
    is_forbidden: bool = False


_Item = tuple[tuple[str, ...], Found | Unusable]


def catalog_files(root: str, sources: Sources) -> list[Found | Unusable]:
    """What opm would open below a folder, in lexical order.

    Raises `UnreadableInput` when the folder itself or one of its ignore files cannot be read: nobody can
    say then which files belong to the catalog.
    """
    try:
        walked = list(_walk(_sorted(root)))
    except OSError as error:
        raise unreadable(root, error) from error
    lines = [(parts, item) for parts, item in walked if parts[-1] == _IGNORE_FILE and not _is_folder(item)]
    if not lines:
        return [item for _, item in walked]
    rules = _ignore_rules(lines, sources)
    return [item for parts, item in walked if _is_folder(item) or not _is_left_out(parts, rules)]


def _ignore_rules(files: list[_Item], sources: Sources) -> IgnoreRules:
    from everpath.loaders.fbc.indexignore import IgnoreRules  # noqa: PLC0415 - few catalogs have one

    rules = IgnoreRules()
    for parts, item in files:
        text = sources.read(item.path, _LONGEST_IGNORE_FILE).decode("utf-8", "replace")
        rules.extend(text.split("\n"), parts[:-1])
    return rules


def _is_folder(item: Found | Unusable) -> bool:
    return isinstance(item, Unusable) and item.is_folder


def _is_left_out(parts: tuple[str, ...], rules: IgnoreRules) -> bool:
    return parts[-1] == _IGNORE_FILE or rules.ignores(parts)


def _sorted(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _walk(entries: list[os.DirEntry[str]]) -> Iterator[_Item]:
    """Files depth first; a stack instead of recursion, for folders may nest deeper than calls."""
    stack: list[tuple[tuple[str, ...], os.DirEntry[str]]] = [
        ((entry.name,), entry) for entry in reversed(entries)
    ]
    while stack:
        parts, entry = stack.pop()
        if not entry.is_dir(follow_symlinks=False):
            yield parts, _examined(entry)
            continue
        try:
            below = _sorted(entry.path)
        except OSError as error:
            is_forbidden = isinstance(error, PermissionError)
            yield parts, Unusable(entry.path, error.strerror or str(error), True, is_forbidden)
        else:
            stack.extend(((*parts, child.name), child) for child in reversed(below))


def _examined(entry: os.DirEntry[str]) -> Found | Unusable:
    try:
        status = entry.stat()
    except OSError as error:
        forbidden = isinstance(error, PermissionError)
        return Unusable(entry.path, error.strerror or str(error), is_forbidden=forbidden)
    if stat.S_ISREG(status.st_mode):
        return Found(entry.path, status.st_size)
    if stat.S_ISDIR(status.st_mode):
        return Unusable(entry.path, "it is a symbolic link to a folder, which opm opens as a file")
    return Unusable(entry.path, "it is neither a file nor a folder")
