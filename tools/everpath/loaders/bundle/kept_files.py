"""Files kept from one run to the next: believed only if they are ours and whole.

Ours: a regular file, owned by this user and writable by nobody else. Whole: its digest is that of what it
holds. Anything else is as if it were not there; that it cannot be written is no error either. It is written
aside and moved into place, so that of two who write at once one prevails and neither is torn.
"""

from __future__ import annotations

__all__ = ["load", "save", "signed"]

import os
import stat
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

_MAGIC: Final = b"everpath index\n"
_DIGEST: Final = 32

# Where the content of a file begins, behind what tells that it is whole.
_START: Final = len(_MAGIC) + _DIGEST

_READ: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)

# Far above the index of the largest catalog there is (6 MB): nobody's 10 GB file is read into memory.
_LARGEST: Final = 1 << 30


def load(file: Path) -> memoryview:
    """What was kept in a file. Raises OSError or ValueError where there is nothing to believe."""
    content = _read_own(file)
    payload = memoryview(content)[_START:]
    if content[:_START] != signed(payload):
        raise ValueError("not a kept file, or not all of it")
    return payload


def save(file: Path, payload: bytes, moment: int) -> None:
    """Keep a payload: all of it or, if that fails, what was kept before. No two have the same `moment`."""
    passing = file.parent / f"{os.getpid()}.{moment}"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(passing, _CREATE, 0o600), "wb") as stream:
            stream.write(signed(payload))
            stream.write(payload)
        passing.replace(file)
    except OSError:
        # What cannot be kept costs time, nothing else.
        with suppress(OSError):
            passing.unlink()


def signed(payload: bytes | memoryview) -> bytes:
    """What stands before a payload: by it a file is known as one of ours, and as whole."""
    return _MAGIC + blake2b(payload, digest_size=_DIGEST).digest()


def _read_own(file: Path) -> bytes:
    """The bytes of a file that only this user can have written."""
    descriptor = os.open(file, _READ)
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            raise ValueError("not a kept file")
        if hasattr(os, "geteuid") and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
            raise ValueError("a file that somebody else may have written")
        return stream.read()
