"""Worker threads for reconciles. Engines that hang delay only other slow clusters."""

from __future__ import annotations

__all__ = ["FAST_WORKERS", "SLOW_WORKERS", "FastSlowPool", "WorkerPool"]

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Final, TypeVar

T = TypeVar("T")

# Fast reconciles compute; more of them would leave the event loop, which renews the Lease, no time.
# Slow reconciles mostly wait for an engine.
FAST_WORKERS: Final = 16
SLOW_WORKERS: Final = 32
# Seconds after which a reconcile counts as slow. With an engine that responds it takes far less.
_SLOW_AFTER: Final = 5.0


class WorkerPool:
    """Daemon threads, started on demand up to a limit.

    The standard library's executors join their threads at exit: one request to an engine that hangs would
    keep the process from ending.
    """

    def __init__(self, limit: int, name: str) -> None:
        self._limit = limit
        self._name = name
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._count = 0

    async def run(self, call: Callable[[], T]) -> T:
        """Run a call in a worker; return its result or raise its exception."""
        future: Future[T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
                future.set_exception(error)

        self._queue.put(work)
        if not self._idle.acquire(blocking=False):
            with self._lock:
                if self._count < self._limit:
                    self._count += 1
                    name = f"{self._name}-{self._count}"
                    threading.Thread(target=self._serve, name=name, daemon=True).start()
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """End every thread as soon as it has no work."""
        with self._lock:
            for _ in range(self._count):
                self._queue.put(None)

    def _serve(self) -> None:
        while (work := self._queue.get()) is not None:
            work()
            del work
            self._idle.release()


class FastSlowPool:
    """Two worker pools. A cluster whose last reconcile was slow, or that is new, uses the slow one."""

    def __init__(
        self, fast: int = FAST_WORKERS, slow: int = SLOW_WORKERS, *, slow_after: float = _SLOW_AFTER
    ) -> None:
        self._fast, self._slow = WorkerPool(fast, "reconcile"), WorkerPool(slow, "slow-reconcile")
        self._slow_after = slow_after
        self._fast_clusters: set[str] = set()

    async def run(self, cluster: str, call: Callable[[], T]) -> T:
        """Run one reconcile of a cluster; return its result or raise its exception."""

        def measure() -> T:
            start = time.monotonic()
            try:
                return call()
            finally:
                is_slow = time.monotonic() - start > self._slow_after
                (self._fast_clusters.discard if is_slow else self._fast_clusters.add)(cluster)

        return await (self._fast if cluster in self._fast_clusters else self._slow).run(measure)

    def remove(self, cluster: str) -> None:
        self._fast_clusters.discard(cluster)

    def close(self) -> None:
        self._fast.close()
        self._slow.close()
