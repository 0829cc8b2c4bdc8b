"""Detects changes of a catalog on disk by the size, times and inode of its files."""

from __future__ import annotations

__all__ = ["file_state", "watch_changes"]

import asyncio
import os
import time
from collections.abc import AsyncIterator
from hashlib import blake2b
from pathlib import Path
from typing import Final

from everpath.loaders.bundle.folder_reader import file_stamp

# Polling takes at most this share of the time.
_MAX_LOAD: Final = 0.05


def file_state(path: str) -> bytes:
    """Return a digest of the state of a file, or of all files below a folder. Links to files are followed.

    A file that cannot be accessed has a state too. Cost: one stat a file.
    """
    if Path(path).is_dir():
        files = sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)  # noqa: PTH118
    else:
        files = [path]
    digest = blake2b(digest_size=32)
    for file in files:
        try:
            state = repr((os.fsencode(file), file_stamp(os.stat(file))))  # noqa: PTH116 - faster than Path.stat
        except OSError as error:
            state = repr((os.fsencode(file), error.errno))
        digest.update(state.encode())
    return digest.digest()


async def watch_changes(path: str, interval: float, state: bytes) -> AsyncIterator[None]:
    """Yield once for each change of the catalog, the first relative to `state`.

    A change is complete when two polls in a row find the same state: writing many files is one change.
    """
    pause = 0.0
    while True:
        await asyncio.sleep(max(interval, pause))
        current, pause = await _poll(path)
        if current == state:
            continue
        while True:
            await asyncio.sleep(max(interval, pause))
            previous = current
            current, pause = await _poll(path)
            if current == previous:
                break
        state = current
        yield


async def _poll(path: str) -> tuple[bytes, float]:
    """Return the state of the catalog and the minimal pause before the next poll."""
    start = time.perf_counter()
    state = await asyncio.to_thread(file_state, path)
    return state, (time.perf_counter() - start) / _MAX_LOAD
