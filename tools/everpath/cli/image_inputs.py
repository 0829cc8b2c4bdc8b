"""Images where a path is expected: fetched into a folder, and called by their own names in what is said.

Every command imports this, so it imports nothing: a plain path costs a look for a colon.
"""

from __future__ import annotations

__all__ = ["forget", "is_image", "local", "reworded", "shown"]

import os
from collections.abc import Callable

#: The folders that images were fetched into, and how to call a file in each.
_FETCHED: dict[str, str] = {}
_FOLDERS: dict[str, str] = {}


def is_image(path: str) -> bool:
    """Whether a path stands for an image. What is there under that name is what is meant."""
    if ":" not in path or os.path.lexists(path):
        return False
    from everpath.oci.transports import looks_like_image  # noqa: PLC0415 - only who has a colon pays for it

    return looks_like_image(path)


def local(path: str, progress: Callable[[int, int, str], None] | None = None) -> str:
    """The folder to read for a path: itself, or that of an image, fetched if it is not kept.

    Raises Unreachable, UnreadableInput and UsageError.
    """
    if not is_image(path):
        _require_no_host(path)
        return path
    if path not in _FOLDERS:
        from everpath.cli.fetching import fetch  # noqa: PLC0415 - brings HTTP and TLS along

        folder, name = fetch(path, progress)
        _FOLDERS[path] = folder
        _FETCHED[folder] = name
    return _FOLDERS[path]


def _require_no_host(path: str) -> None:
    """Raises UnreadableInput for what is no path and starts as an image does, but for a tag or a capital."""
    host, slash, _ = path.partition("/")
    if not slash or not host.strip(".") or not ("." in host or ":" in host) or os.path.lexists(path):
        return
    from everpath.errors import UnreadableInput  # noqa: PLC0415

    raise UnreadableInput(
        f"cannot read {path}: there is no such file or folder",
        hint="if it is an image: HOST/REPOSITORY:TAG in lower case; docker://HOST/REPOSITORY is its latest",
        file=path,
    )


def forget() -> None:
    """Fetch again what is asked for again: the run that fetched it is over. Its names stay known."""
    _FOLDERS.clear()


def shown(file: str) -> str:
    """A file as people know it: `quay.io/me/catalog:v1:/configs/a.yaml`."""
    for folder, name in _FETCHED.items():
        if file == folder or file.startswith(f"{folder}{os.sep}"):
            return f"{name}{file[len(folder) :]}"
    return file


def reworded(text: str) -> str:
    """A sentence that may name files of fetched images."""
    for folder, name in _FETCHED.items():
        text = text.replace(folder, name)
    return text
