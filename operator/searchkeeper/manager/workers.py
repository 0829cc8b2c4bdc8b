"""Threads for cycles, so many that engines that hang hold up nobody else's, and no more than that."""

from __future__ import annotations

__all__ = ["FAST_WORKERS", "SLOW_WORKERS", "FastSlowPool", "WorkerPool"]

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Final, TypeVar

T = TypeVar("T")

# Cycles at a time. Quick ones compute, and too many of them would leave no time to the event loop, which
# renews the lease; slow ones wait for an engine nearly all of the time.
FAST_WORKERS: Final = 16
SLOW_WORKERS: Final = 32
# Seconds after which a cycle has taken long: one whose engine answers takes far less.
_LONG: Final = 5.0


class WorkerPool:
    """As many as are needed, up to a number. They end with the process, whatever they wait for then.

    The executors of the standard library would be waited for: one look at a silent engine, and an operator
    that has given everything back does not end.
    """

    def __init__(self, most: int, name: str) -> None:
        self._most = most
        self._name = name
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._count = 0

    async def run(self, call: Callable[[], T]) -> T:
        """Whatever the call gives, or raises, once a thread is free for it."""
        future: Future[T] = Future()
        self._work.put(lambda: _carry_out(future, call))
        if not self._idle.acquire(blocking=False):
            self._begin_another()
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Threads without work end."""
        with self._lock:
            for _ in range(self._count):
                self._work.put(None)

    def _begin_another(self) -> None:
        with self._lock:
            if self._count < self._most:
                self._count += 1
                name = f"{self._name}-{self._count}"
                threading.Thread(target=self._serve, name=name, daemon=True).start()

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            work()
            del work
            self._idle.release()


def _carry_out(future: Future[Any], call: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001 - it is raised again where the result is waited for
        future.set_exception(error)


class FastSlowPool:
    """Two of them. Whoever took long the last time, or is new, stands in line with their like."""

    def __init__(self, quick: int = FAST_WORKERS, slow: int = SLOW_WORKERS, *, long: float = _LONG) -> None:
        self._quick, self._slow = WorkerPool(quick, "cycle"), WorkerPool(slow, "slow-cycle")
        self._long = long
        self._are_quick: set[str] = set()

    async def run(self, name: str, call: Callable[[], T]) -> T:
        lane = self._quick if name in self._are_quick else self._slow
        return await lane.run(lambda: self._timed(name, call))

    def forget(self, name: str) -> None:
        self._are_quick.discard(name)

    def close(self) -> None:
        self._quick.close()
        self._slow.close()

    def _timed(self, name: str, call: Callable[[], T]) -> T:
        began = time.monotonic()
        try:
            return call()
        finally:
            took_long = time.monotonic() - began > self._long
            (self._are_quick.discard if took_long else self._are_quick.add)(name)
