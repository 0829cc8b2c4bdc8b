"""The time that deadlines are counted by: that of the wall clock, without its leaps."""

from __future__ import annotations

__all__ = ["SteadyClock"]

import time
from collections.abc import Callable
from threading import Lock
from typing import Final

# Of the time that has passed: how much faster or slower it runs until it is right again.
_HASTE: Final = 0.1


class SteadyClock:
    """Seconds since the epoch. Law: between two answers passes as much as truly did, give or take a tenth.

    Whoever sets the wall clock ends no wait by that, and makes none longer by an hour.
    """

    def __init__(
        self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic
    ) -> None:
        self._wall, self._steady = wall, steady
        self._now, self._asked = wall(), steady()
        self._lock = Lock()

    def __call__(self) -> int:
        with self._lock:
            asked = self._steady()
            passed, self._asked = asked - self._asked, asked
            error, most = self._wall() - self._now - passed, _HASTE * passed
            self._now += passed + min(max(error, -most), most)
            return int(self._now)
