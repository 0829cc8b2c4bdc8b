"""Liveness and readiness of the operator, measured by the progress of its loops."""

from __future__ import annotations

__all__ = ["Health"]

import threading
import time
from collections.abc import Callable
from typing import Final

# The loop that renews the Lease; all others are reconcile loops, named after their clusters.
_MANAGER: Final = "manager"


class Health:
    """Heartbeats of all loops. Each loop announces how long its next pause is.

    A loop that is silent for longer than that plus `tolerance` seconds hangs. A restart is safe then: every
    operation in progress is in a ledger.
    """

    def __init__(self, *, tolerance: float = 180, clock: Callable[[], float] = time.monotonic) -> None:
        self._tolerance = tolerance
        self._clock = clock
        self._next_heartbeats: dict[str, float] = {_MANAGER: clock()}
        self._lock = threading.Lock()
        # Set while every kind is watched.
        self.watching = threading.Event()

    def heartbeat(self, loop: str = _MANAGER, *, next_in: float = 0) -> None:
        with self._lock:
            self._next_heartbeats[loop] = self._clock() + next_in

    def remove(self, loop: str) -> None:
        """Expect no heartbeat of a loop that has ended or waits for a worker."""
        with self._lock:
            self._next_heartbeats.pop(loop, None)

    def overdue_loops(self) -> list[str]:
        """One sentence for each loop that hangs; empty while the operator is alive."""
        with self._lock:
            now = self._clock()
            return [
                f"{loop}: heartbeat overdue by {now - due:.0f} s; {self._tolerance:.0f} s are allowed"
                for loop, due in sorted(self._next_heartbeats.items())
                if now - due > self._tolerance
            ]

    @property
    def is_alive(self) -> bool:
        return not self.overdue_loops()

    @property
    def is_ready(self) -> bool:
        """True while the operator watches. A standby without the Lease is ready too."""
        return self.watching.is_set() and self.is_alive
