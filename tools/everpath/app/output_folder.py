"""A folder that a command fills: all files or none, and never the folder of its input."""

from __future__ import annotations

__all__ = ["require_free_folder"]

import os
from pathlib import Path

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
