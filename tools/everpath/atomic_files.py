"""Files and folders that are either whole or not there: made aside, then renamed into their place."""

from __future__ import annotations

__all__ = ["draft_file", "draft_folder", "folder_aside", "refused"]

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, Final

from everpath.errors import UsageError

_NAME: Final = re.compile(r"\.everpath\.([0-9]+)\.[0-9a-f]{8}")


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
        with draft.open("xb") as stream, _held(draft):
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
        with _held(draft):
            yield draft
        draft.replace(path)
    except BaseException as error:
        shutil.rmtree(draft, ignore_errors=True)
        if isinstance(error, OSError):
            raise refused(path, error) from error
        raise


@contextmanager
def folder_aside(path: Path) -> Iterator[Path]:
    """A folder beside a path, for what is on its way there. Gone afterwards. Raises OSError."""
    folder = _beside(path)
    folder.mkdir()
    try:
        with _held(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def refused(path: Path, error: OSError) -> UsageError:
    """What the operating system says to a writer, with what to do about it."""
    hint = "nothing was changed; try again when that is mended"
    return UsageError(f"cannot write {path}: {error.strerror or error}", hint=hint)


def _beside(path: Path) -> Path:
    _clear(path.parent)
    # The name may be as long as the file system takes: the draft's must not be longer.
    return path.with_name(f".everpath.{os.getpid()}.{token_hex(4)}")


def _clear(folder: Path) -> None:
    """Take away the drafts of runs that were killed, and no others."""
    for draft in folder.glob(".everpath.*"):
        with suppress(OSError):
            if _is_abandoned(draft):
                shutil.rmtree(draft) if draft.is_dir() else draft.unlink()


def _is_abandoned(draft: Path) -> bool:
    """Whether nobody is at work on it any more. Raises OSError.

    Its process is gone, and so is the lock that the process held: in containers that share a folder a number
    alone says nothing.
    """
    named = _NAME.fullmatch(draft.name)
    if named is None or draft.is_symlink() or draft.stat().st_uid != os.getuid() or _lives(int(named[1])):
        return False
    handle = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(handle)
    return True


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@contextmanager
def _held(draft: Path) -> Iterator[None]:
    """A lock that goes with the process, whatever ends it. Some file systems have none."""
    handle = os.open(draft, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)
