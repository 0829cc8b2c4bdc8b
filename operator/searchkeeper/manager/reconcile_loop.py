"""One cluster's loop: look, act, and wait until there is a reason to look again."""

from __future__ import annotations

__all__ = ["LoopHost", "ReconcileLoop", "RequeueIntervals"]

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol

from searchkeeper.executor import DeniedOperation
from searchkeeper.kubernetes.api import ApiError, Conflict, KubernetesApi, NotFound
from searchkeeper.kubernetes.operations import EmitEvent, Key
from searchkeeper.manager.fencing import Fence, FencedApi, ShuttingDown
from searchkeeper.manager.health import Health
from searchkeeper.manager.instrumentation import InstrumentedApi
from searchkeeper.manager.leader_election import LeaderLease, NotLeader
from searchkeeper.manager.logging import Log
from searchkeeper.manager.metrics import Metrics
from searchkeeper.opensearch.client import CallFailed
from searchkeeper.reconcile import OSCILLATION_LIMIT, ReconcileOutcome

# Cycles that wrote, one after the other: no cluster has that much to be done without waiting for anything.
_SUSPICIOUS: Final = 200
# Seconds without a look at a cluster after which what was known of it counts for nothing.
_BLIND: Final = 120


@dataclass(frozen=True, slots=True)
class RequeueIntervals:
    """Seconds. `resync` between two looks at a cluster that is done, `busy` at one that waits for something.

    The engine sends no events: a cluster that waits for it is looked at more often.
    """

    resync: float = 30
    busy: float = 5
    least_backoff: float = 0.2
    most_backoff: float = 60
    lease: float = 15

    def after_failures(self, count: int) -> float:
        return float(min(self.least_backoff * 2 ** (count - 1), self.most_backoff))


class LoopHost(Protocol):
    """The process that a loop belongs to."""

    pace: RequeueIntervals
    health: Health
    metrics: Metrics
    log: Log
    lease: LeaderLease
    fence: Fence
    clock: Callable[[], int]

    @property
    def kube(self) -> KubernetesApi: ...

    @property
    def is_stopping(self) -> bool: ...

    async def cycle_of(self, key: Key, telling: InstrumentedApi, observing_since: int) -> ReconcileOutcome:
        """In a thread, which may have to be waited for."""


class ReconcileLoop:
    """Never ends by an error."""

    def __init__(self, operator: LoopHost, key: Key) -> None:
        self._operator = operator
        self._key = key
        self._name = f"{key.namespace}/{key.name}"
        self._wake = asyncio.Event()
        self._heard: set[str] = set()
        self._is_over = False
        self._failures = 0
        self._writes_in_a_row = self._rounds = 0
        self._epoch: int | None = None
        self._looking_since = self._last_look = 0
        fenced = FencedApi(operator.kube, operator.fence)
        self._telling = InstrumentedApi(fenced, operator.log, operator.metrics, self._name, self._beat)
        self.task = asyncio.create_task(self._run())

    def wake(self, version: str = "") -> None:
        """Something has changed, to this resource version: a status of our own is no news to us."""
        self._heard.add(version)
        if not self._heard <= self._telling.stored:
            self._wake.set()

    def end(self) -> None:
        self._is_over = True
        self._wake.set()

    async def _run(self) -> None:
        while not (self._is_over or self._operator.is_stopping):
            self._wake.clear()
            self._heard.clear()
            # In line for a thread nobody hangs; whoever has one beats with every request.
            self._operator.health.forget(self._name)
            delay = await self._turn() if self._operator.lease.is_ours else self._stand_by()
            if delay:
                await self._wait(delay)
        self._operator.health.forget(self._name)
        self._operator.metrics.forget(cluster=self._name)

    def _beat(self) -> None:
        self._operator.health.beat(self._name)

    def _stand_by(self) -> float:
        """Whoever leads has the figures of today; ours are those of the past."""
        self._operator.metrics.forget(cluster=self._name)
        return self._operator.pace.resync

    async def _wait(self, delay: float) -> None:
        self._operator.health.beat(self._name, silent_for=delay)
        if self._heard <= self._telling.stored and not self._is_over:
            # We may have heard of it before we knew that it was stored.
            self._wake.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), delay)

    async def _turn(self) -> float:
        """One cycle; how long to wait after it. One that was told to end does not wait."""
        started = time.monotonic()
        began = self._begin_to_look()
        try:
            done = await self._operator.cycle_of(self._key, self._telling, self._looking_since)
        except Exception as error:  # noqa: BLE001 - whatever it was, the next cycle looks again
            outcome, delay = "failed", self._failed(error)
        else:
            self._last_look = began
            outcome, delay = self._outcome(done)
        self._count(outcome, time.monotonic() - started)
        return delay

    def _begin_to_look(self) -> int:
        """This moment. Patience begins anew with whoever has just begun to lead, or was blind for a while.

        What others have noted is by their clocks, and what was noted before may long be over.
        """
        epoch, now = self._operator.lease.epoch, self._operator.clock()
        if epoch != self._epoch or now - self._last_look > _BLIND:
            self._epoch, self._looking_since, self._last_look = epoch, now, now
        return now

    def _outcome(self, done: ReconcileOutcome) -> tuple[str, float]:
        pace = self._operator.pace
        self._writes_in_a_row = self._writes_in_a_row + 1 if done.wrote else 0
        self._rounds = self._rounds + 1 if done.is_oscillating else 0
        self._failures = self._failures + 1 if done.denied and not done.wrote else 0
        self._tell_denied(done.denied)
        if done.wrote and not done.is_cosmetic:
            is_endless = self._writes_in_a_row >= _SUSPICIOUS or self._rounds >= OSCILLATION_LIMIT
            return "wrote", self._fought_over() if is_endless else 0
        if done.denied and not done.wrote:
            return "denied", min(pace.after_failures(self._failures), pace.resync)
        if done.converged:
            return "converged", pace.resync
        left = pace.busy if done.wake_at is None else done.wake_at - self._operator.clock()
        return "wrote" if done.wrote else "waits", min(max(left, pace.least_backoff), pace.busy)

    def _tell_denied(self, denied: Sequence[DeniedOperation]) -> None:
        """What was refused, whatever else was written: an event is not asked for again.

        The rest is, each time later, and with every look that all clusters get.
        """
        operator = self._operator
        for each in denied:
            kind = type(each.error).__name__
            operator.metrics.add("searchkeeper_failures_total", error=kind, cluster=self._name)
            fields = {"cluster": self._name, "cycle": self._telling.cycle, "action": each.action}
            words = "refused: not told" if isinstance(each.operation, EmitEvent) else "refused: asking again"
            operator.log.warning(words, **fields, error=str(each))

    def _fought_over(self) -> float:
        """Somebody undoes what is written, or an API server does not keep it, or an engine says now this and
        now that: no reason to hurry."""
        told = self._telling
        if self._writes_in_a_row % _SUSPICIOUS == 0 or self._rounds == OSCILLATION_LIMIT:
            self._operator.log.warning("writes without an end", cluster=self._name, cycle=told.cycle)
        return self._operator.pace.busy

    def _failed(self, error: Exception) -> float:
        """Others were quicker: that is no fault. Anything unforeseen is told with its trace."""
        operator = self._operator
        fields: dict[str, Any] = {"cluster": self._name, "cycle": self._telling.cycle, "error": str(error)}
        operator.metrics.add("searchkeeper_failures_total", error=type(error).__name__, cluster=self._name)
        if isinstance(error, ShuttingDown | NotLeader):
            operator.log.info("not written", **fields)
            return 0 if operator.is_stopping else operator.pace.busy
        self._failures += 1
        if isinstance(error, Conflict | NotFound):
            operator.log.info("somebody was quicker: looking again", **fields)
        elif isinstance(error, ApiError | CallFailed):
            operator.log.warning("no cycle: looking again", **fields)
        else:
            operator.log.error("a fault of the operator: looking again", trace=True, **fields)
        return operator.pace.after_failures(self._failures)

    def _count(self, outcome: str, seconds: float) -> None:
        metrics = self._operator.metrics
        metrics.add("searchkeeper_cycles_total", cluster=self._name, outcome=outcome)
        metrics.add("searchkeeper_cycle_seconds_sum", seconds, cluster=self._name)
        metrics.add("searchkeeper_cycle_seconds_count", cluster=self._name)
        metrics.set("searchkeeper_last_cycle_timestamp_seconds", time.time(), cluster=self._name)
