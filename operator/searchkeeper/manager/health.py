"""Whether the operator is alive: not that a thread answers, but that its loops go round."""

from __future__ import annotations

__all__ = ["Health"]

import time
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Final

# Beats of the whole operator rather than of one cluster's loop.
_SELF: Final = "the operator itself"


class Health:
    """Every loop beats, and says for how long it means to be silent. For much longer, and it is stuck.

    So is the operator then, and a restart mends that: whatever was under way is in the ledger.
    """

    def __init__(self, *, too_old: float = 180, clock: Callable[[], float] = time.monotonic) -> None:
        self._too_old = too_old
        self._clock = clock
        self._beats: dict[str, float] = {_SELF: clock()}
        self._lock = Lock()
        self.is_watching = False

    def beat(self, loop: str = _SELF, *, silent_for: float = 0) -> None:
        with self._lock:
            self._beats[loop] = self._clock() + silent_for

    def forget(self, loop: str) -> None:
        """It is over, or in line for a thread: whoever has that one is asked instead."""
        with self._lock:
            self._beats.pop(loop, None)

    def complaints(self) -> list[str]:
        """Why it is not alive; nothing where it is."""
        with self._lock:
            return list(self._complaints())

    def _complaints(self) -> Iterator[str]:
        for loop, due in sorted(self._beats.items()):
            late = self._clock() - due
            if late > self._too_old:
                yield f"{loop}: silent, and overdue by {late:.0f} s; {self._too_old:.0f} are allowed"

    @property
    def is_alive(self) -> bool:
        return not self.complaints()

    @property
    def is_ready(self) -> bool:
        """It watches. One without the lease is ready too: it stands by."""
        return self.is_watching and self.is_alive
