"""Files and folders that appear whole or not at all: written beside their place, then renamed."""

from __future__ import annotations

__all__ = ["atomic_file", "atomic_folder", "scratch_folder", "write_error"]

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

_TEMPORARY_NAME: Final = re.compile(r"\.everpath\.([0-9]+)\.[0-9a-f]{8}")


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` when the block succeeds, and is deleted when it fails.

    If `path` is a symbolic link, its target is replaced. Raises UsageError for an OSError, and for a path
    that is not a regular file, such as a device.
    """
    path = path.resolve() if path.is_symlink() else path
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} exists and is not a file", hint="choose a file, new or existing")
    temporary = _temporary_path(path)
    try:
        with temporary.open("xb") as stream, _shared_lock(temporary):
            yield stream
        temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise write_error(path, error) from error
        raise


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Create a temporary folder that becomes `path` when the block succeeds, and is deleted when it fails.

    `path` must not exist, or be an empty folder. Raises UsageError for an OSError.
    """
    temporary = _temporary_path(path)
    try:
        temporary.mkdir()
        with _shared_lock(temporary):
            yield temporary
        temporary.replace(path)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        if isinstance(error, OSError):
            raise write_error(path, error) from error
        raise


@contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """Create a temporary folder on the file system of a path, and delete it afterwards. Raises OSError."""
    folder = _temporary_path(beside)
    folder.mkdir()
    try:
        with _shared_lock(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_error(path: Path, error: OSError) -> UsageError:
    """Return the error for a failed write to a path."""
    return UsageError(
        f"cannot write {path}: {error.strerror or error}",
        hint="nothing was changed; fix the cause and try again",
    )


def _temporary_path(path: Path) -> Path:
    """Return an unused path in the folder of `path`, after deleting what killed processes left there."""
    for leftover in path.parent.glob(".everpath.*"):
        with suppress(OSError):
            if _is_abandoned(leftover):
                shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    # Independent of the target's name, which may already have the longest length that is allowed.
    return path.with_name(f".everpath.{os.getpid()}.{token_hex(4)}")


def _is_abandoned(path: Path) -> bool:
    """True for a temporary file of this user whose process is gone. Raises OSError if it is locked.

    The process id is not enough: containers that share a folder have their own process ids.
    """
    match = _TEMPORARY_NAME.fullmatch(path.name)
    if match is None or path.is_symlink() or path.stat().st_uid != os.getuid():
        return False
    if _is_running(int(match[1])):
        return False
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(handle)
    return True


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@contextmanager
def _shared_lock(path: Path) -> Iterator[None]:
    """Hold a lock that the kernel releases when the process ends. Some file systems support none."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)
