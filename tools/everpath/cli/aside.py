"""A folder for what is looked at before it is written anywhere."""

from __future__ import annotations

__all__ = ["folder_aside"]

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory


@contextmanager
def folder_aside() -> Iterator[str]:
    """A folder that is gone afterwards. A full disk, which names no file, is told with its name."""
    with TemporaryDirectory(prefix="everpath-") as folder:
        try:
            yield folder
        except OSError as error:
            error.filename = error.filename or folder
            raise
