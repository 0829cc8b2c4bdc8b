"""Files and folders that are either whole or not there: made aside, then renamed into their place."""

from __future__ import annotations

__all__ = ["draft_file", "draft_folder", "refused"]

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from everpath.errors import UsageError


@contextmanager
def draft_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which takes its place when the block ends well, and leaves nothing when it does not.

    What a link leads to is replaced, not the link. Raises UsageError where the operating system refuses, and
    for what is no file: a device must not be replaced by one.
    """
    path = path.resolve() if path.is_symlink() else path
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is there, and no file", hint="name a file, there or not")
    draft = _beside(path)
    try:
        with draft.open("xb") as stream:
            yield stream
        draft.replace(path)
    except BaseException as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise refused(path, error) from error
        raise


@contextmanager
def draft_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, by the same law. Its place must be free, or an empty folder."""
    draft = _beside(path)
    try:
        draft.mkdir()
        yield draft
        draft.replace(path)
    except BaseException as error:
        shutil.rmtree(draft, ignore_errors=True)
        if isinstance(error, OSError):
            raise refused(path, error) from error
        raise


def refused(path: Path, error: OSError) -> UsageError:
    """What the operating system says to a writer, with what to do about it."""
    hint = "nothing was changed; try again when that is mended"
    return UsageError(f"cannot write {path}: {error.strerror or error}", hint=hint)


def _beside(path: Path) -> Path:
    # The name may be as long as the file system takes: the draft's must not be longer.
    return path.with_name(f".everpath.{os.getpid()}.{token_hex(4)}")
