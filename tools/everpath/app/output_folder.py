"""A folder that a command fills: all files or none, and never the folder of its input."""

from __future__ import annotations

__all__ = ["require_free_folder", "write_folder"]

import os
from collections.abc import Mapping
from pathlib import Path

from everpath.atomic_files import FileChange, FileTransaction
from everpath.errors import UsageError


def require_free_folder(source: str, out: str, *, force: bool) -> Path:
    """Return the folder to fill.

    Raises UsageError if it overlaps with the input, is no folder, or is not empty; `force` allows the last.
    """
    folder, input_folder = Path(out), Path(source).resolve()
    resolved = folder.resolve()
    if resolved == input_folder or input_folder in resolved.parents or resolved in input_folder.parents:
        raise UsageError(
            f"{out} and {source} overlap; the input must not change",
            hint="write to a folder beside the input",
        )
    if os.path.lexists(folder) and not folder.is_dir():
        raise UsageError(f"{out} is not a folder", hint="name a folder, existing or new")
    if not force and folder.is_dir() and any(folder.iterdir()):
        raise UsageError(
            f"{out} is not empty",
            hint="name another folder; --force writes into this one and replaces files of the same names",
        )
    return folder


def write_folder(folder: Path, files: Mapping[str, bytes], *, dry_run: bool = False) -> list[FileChange]:
    """Write files by their paths below the folder, all or none, and return the changes.

    A dry run writes nothing. Raises UsageError.
    """
    transaction = FileTransaction({folder / name: content for name, content in files.items()})
    return transaction.changes() if dry_run else transaction.commit()
