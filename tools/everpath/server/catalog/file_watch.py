"""Whether a catalog on disk has changed, from the stamps that a file system keeps of its files."""

from __future__ import annotations

__all__ = ["changes", "stamps"]

import asyncio
import os
import time
from collections.abc import AsyncIterator
from hashlib import blake2b
from pathlib import Path
from typing import Final

from everpath.loaders.bundle.visits import stamp

# A look takes at most this share of the time.
_SHARE: Final = 0.05


def stamps(path: str) -> bytes:
    """Another one for another state of a file, or of any file below a folder; links are followed to files.

    What cannot be seen counts as a state, too. Cost: a look at each file.
    """
    known = blake2b(digest_size=32)
    for file in _files(path):
        try:
            seen = repr((os.fsencode(file), stamp(os.stat(file))))  # noqa: PTH116 - as quick as may be
        except OSError as error:
            seen = repr((os.fsencode(file), error.errno))
        known.update(seen.encode())
    return known.digest()


def _files(path: str) -> list[str]:
    if not Path(path).is_dir():
        return [path]
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)  # noqa: PTH118


async def changes(path: str, interval: float, seen: bytes) -> AsyncIterator[None]:
    """One item for each time the catalog has changed, and come to rest; first since it was `seen`.

    It has come to rest when two looks in a row see the same: who writes many files is given time to end.
    """
    pause = 0.0
    while True:
        await asyncio.sleep(max(interval, pause))
        now, pause = await _look(path)
        if now == seen:
            continue
        while True:
            await asyncio.sleep(max(interval, pause))
            before = now
            now, pause = await _look(path)
            if now == before:
                break
        seen = now
        yield


async def _look(path: str) -> tuple[bytes, float]:
    """The state of a catalog, and how long to wait before the next look."""
    start = time.perf_counter()
    found = await asyncio.to_thread(stamps, path)
    return found, (time.perf_counter() - start) / _SHARE
