"""The clock that deadlines are measured with: wall-clock time without its jumps."""

from __future__ import annotations

__all__ = ["SteadyClock"]

import time
from collections.abc import Callable
from threading import Lock
from typing import Final

# Share of the elapsed time by which the clock runs faster or slower until it agrees with the wall clock.
_MAX_CORRECTION: Final = 0.1


class SteadyClock:
    """Seconds since the epoch. Between two calls it advances by the elapsed time, plus or minus a tenth.

    A change of the wall clock by an hour neither ends a wait nor makes it an hour longer.
    """

    def __init__(
        self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._wall, self._monotonic = wall, monotonic
        self._now, self._last_call = wall(), monotonic()
        self._lock = Lock()

    def __call__(self) -> int:
        with self._lock:
            call = self._monotonic()
            elapsed, self._last_call = call - self._last_call, call
            error, limit = self._wall() - self._now - elapsed, _MAX_CORRECTION * elapsed
            self._now += elapsed + min(max(error, -limit), limit)
            return int(self._now)
