"""Manifests that were asked for once: on disk, so that each is parsed a single time and takes no memory."""

from __future__ import annotations

__all__ = ["Shelf"]

import os
import threading
import weakref
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from everpath.server.catalog.temporary_files import nameless, written


class _Kept(NamedTuple):
    start: int
    size: int


class Shelf:
    """Texts by their keys. Threads may share it; two that miss the same one make it twice, and agree."""

    def __init__(self) -> None:
        self._file = nameless()
        weakref.finalize(self, os.close, self._file)
        self._kept: dict[tuple[str, str], _Kept] = {}
        self._end = 0
        self._adding = threading.Lock()

    def get(
        self, key: tuple[str, str], make: Callable[[], tuple[str, tuple[str, ...]]]
    ) -> tuple[str, tuple[str, ...]]:
        """What is kept under a key; what is not yet is made, and kept if there is room."""
        kept = self._kept.get(key)
        if kept is not None:
            text = os.pread(self._file, kept.size, kept.start)
            return msgspec.msgpack.decode(text, type=tuple[str, tuple[str, ...]])
        made = make()
        self._put(key, msgspec.msgpack.encode(made))
        return made

    def _put(self, key: tuple[str, str], text: bytes) -> None:
        with self._adding:
            if key in self._kept:
                return
            try:
                written(self._file, text, self._end)
            except OSError:
                # A full disk costs time: it will be parsed again.
                return
            self._kept[key] = _Kept(self._end, len(text))
            self._end += len(text)
