"""List the files of a catalog's folder in opm's order and with its exceptions.

Every file counts, whatever its name, unless `.indexignore` excludes it. Symbolic links to files are followed.
opm fails on a link to a folder and on anything else that is no file.
"""

from __future__ import annotations

__all__ = ["CatalogFile", "UnreadableFile", "catalog_files"]

import os
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from everpath.loaders.sources import MEBIBYTE, Sources, unreadable_input

if TYPE_CHECKING:
    from everpath.loaders.fbc.indexignore import IgnoreRules

_IGNORE_FILE: Final = ".indexignore"
_MAX_IGNORE_FILE: Final = MEBIBYTE


class CatalogFile(NamedTuple):
    """A file of the catalog."""

    path: str
    size: int


class UnreadableFile(NamedTuple):
    """A path on which opm fails before it reads a byte, and why."""

    path: str
    reason: str
    is_folder: bool = False
    is_forbidden: bool = False


_Item = tuple[tuple[str, ...], CatalogFile | UnreadableFile]


def catalog_files(root: str, sources: Sources) -> list[CatalogFile | UnreadableFile]:
    """Return the paths that opm would open below a folder, in lexical order.

    Raises `UnreadableInput` if the folder or one of its ignore files cannot be read: then it is unknown which
    files belong to the catalog.
    """
    try:
        items = list(_walk(_sorted_entries(root)))
    except OSError as error:
        raise unreadable_input(root, error) from error
    ignore_files = [
        (parts, item) for parts, item in items if parts[-1] == _IGNORE_FILE and not _is_folder(item)
    ]
    if not ignore_files:
        return [item for _, item in items]
    rules = _load_ignore_rules(ignore_files, sources)
    return [
        item
        for parts, item in items
        if _is_folder(item) or not (parts[-1] == _IGNORE_FILE or rules.ignores(parts))
    ]


def _load_ignore_rules(files: list[_Item], sources: Sources) -> IgnoreRules:
    from everpath.loaders.fbc.indexignore import IgnoreRules  # noqa: PLC0415 - few catalogs have one

    rules = IgnoreRules()
    for parts, item in files:
        text = sources.read(item.path, _MAX_IGNORE_FILE).decode("utf-8", "replace")
        rules.extend(text.split("\n"), parts[:-1])
    return rules


def _is_folder(item: CatalogFile | UnreadableFile) -> bool:
    return isinstance(item, UnreadableFile) and item.is_folder


def _sorted_entries(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _walk(entries: list[os.DirEntry[str]]) -> Iterator[_Item]:
    """Yield files depth first. Uses a stack, because folders may be nested deeper than calls."""
    stack: list[tuple[tuple[str, ...], os.DirEntry[str]]] = [
        ((entry.name,), entry) for entry in reversed(entries)
    ]
    while stack:
        parts, entry = stack.pop()
        if not entry.is_dir(follow_symlinks=False):
            yield parts, _classify(entry)
            continue
        try:
            below = _sorted_entries(entry.path)
        except OSError as error:
            is_forbidden = isinstance(error, PermissionError)
            yield parts, UnreadableFile(entry.path, error.strerror or str(error), True, is_forbidden)
        else:
            stack.extend(((*parts, child.name), child) for child in reversed(below))


def _classify(entry: os.DirEntry[str]) -> CatalogFile | UnreadableFile:
    try:
        status = entry.stat()
    except OSError as error:
        forbidden = isinstance(error, PermissionError)
        return UnreadableFile(entry.path, error.strerror or str(error), is_forbidden=forbidden)
    if stat.S_ISREG(status.st_mode):
        return CatalogFile(entry.path, status.st_size)
    if stat.S_ISDIR(status.st_mode):
        return UnreadableFile(entry.path, "it is a symbolic link to a folder, which opm opens as a file")
    return UnreadableFile(entry.path, "it is neither a file nor a folder")
