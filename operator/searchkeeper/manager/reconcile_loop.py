"""The reconcile loop of one cluster: reconcile, wait for an event or a requeue, reconcile again."""

from __future__ import annotations

__all__ = ["LoopHost", "ReconcileLoop", "RequeueIntervals"]

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

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

# Consecutive reconciles with changes after which the loop slows down: no cluster needs so many in a row.
_CHANGE_LIMIT: Final = 200
# Seconds without a successful reconcile after which deadlines start again.
_OBSERVATION_GAP: Final = 120
# Doublings of the backoff that are computed at all; the upper bound is reached long before.
_MAX_DOUBLINGS: Final = 30


@dataclass(frozen=True, slots=True)
class RequeueIntervals:
    """Seconds. `resync` is the interval of a converged cluster, `waiting` that of any other.

    The engine sends no events, so a cluster that waits for it is reconciled more often.
    """

    resync: float = 30
    waiting: float = 5
    min_backoff: float = 0.2
    max_backoff: float = 60
    lease: float = 15

    def backoff(self, failures: int) -> float:
        """Exponential backoff after this number of consecutive failures, with an upper bound."""
        doublings = min(failures - 1, _MAX_DOUBLINGS)
        return float(min(self.min_backoff * 2**doublings, self.max_backoff))


class ReconcileResult(StrEnum):
    """How a reconcile ended: the label `result` of searchkeeper_reconcile_total."""

    CHANGED = "changed"
    WAITING = "waiting"
    CONVERGED = "converged"
    DENIED = "denied"
    ERROR = "error"


class LoopHost(Protocol):
    """What a loop uses of the manager."""

    intervals: RequeueIntervals
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

    async def reconcile_cluster(
        self, key: Key, api: InstrumentedApi, observing_since: int
    ) -> ReconcileOutcome:
        """Reconcile in a worker, as soon as one is free."""


class ReconcileLoop:
    """Reconciles one cluster until it is stopped. No error ends it."""

    def __init__(self, host: LoopHost, key: Key) -> None:
        self._host = host
        self._key = key
        self._name = f"{key.namespace}/{key.name}"
        self._wake = asyncio.Event()
        # Resource versions of the events since the last reconcile started.
        self._event_versions: set[str] = set()
        self._is_stopped = False
        self._failures = self._changes_in_a_row = self._oscillations = 0
        self._epoch: int | None = None
        self._observing_since = self._last_observation = 0
        fenced = FencedApi(host.kube, host.fence)
        self._api = InstrumentedApi(
            fenced, host.log, host.metrics, key, lambda: host.health.heartbeat(self._name)
        )
        self.task = asyncio.create_task(self._run())

    def wake(self, resource_version: str = "") -> None:
        """Reconcile soon, unless the event reports a status that this loop has stored itself."""
        self._event_versions.add(resource_version)
        if not self._event_versions <= self._api.stored_versions:
            self._wake.set()

    def stop(self) -> None:
        """End the loop: the cluster is deleted."""
        self._is_stopped = True
        self._wake.set()

    async def _run(self) -> None:
        host = self._host
        while not (self._is_stopped or host.is_stopping):
            self._wake.clear()
            self._event_versions.clear()
            # Not monitored until a worker has it, which sends heartbeats.
            host.health.remove(self._name)
            if host.lease.is_leader:
                delay = await self._reconcile()
            else:
                # Another operator leads, and its gauges count.
                host.metrics.remove_gauges(self._key)
                delay = host.intervals.resync
            if delay:
                await self._wait(delay)
        host.health.remove(self._name)
        if self._is_stopped:
            host.metrics.remove_cluster(self._key)

    async def _wait(self, delay: float) -> None:
        self._host.health.heartbeat(self._name, next_in=delay)
        if self._event_versions <= self._api.stored_versions and not self._is_stopped:
            # The event of a status may arrive before its version is in stored_versions.
            self._wake.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), delay)

    async def _reconcile(self) -> float:
        """Reconcile once; return the seconds until the next reconcile, 0 for at once."""
        host, start = self._host, time.monotonic()
        now = self._observation_time()
        try:
            outcome = await host.reconcile_cluster(self._key, self._api, self._observing_since)
        except Exception as error:  # noqa: BLE001 - the next reconcile starts from fresh objects
            result, delay = ReconcileResult.ERROR, self._handle_error(error)
        else:
            self._last_observation = now
            result, delay = self._handle_outcome(outcome)
        labels = self._key.namespace, self._key.name
        host.metrics.reconciles.labels(*labels, result).inc()
        host.metrics.reconcile_duration.labels(*labels).observe(time.monotonic() - start)
        host.metrics.last_reconcile.labels(*labels).set(time.time())
        return delay

    def _observation_time(self) -> int:
        """Return the current time. Restarts all deadlines for a new leader or after a gap in the observation.

        The ledger's times may come from another clock, and a wait may have ended during the gap.
        """
        epoch, now = self._host.lease.epoch, self._host.clock()
        if epoch != self._epoch or now - self._last_observation > _OBSERVATION_GAP:
            self._epoch, self._observing_since, self._last_observation = epoch, now, now
        return now

    def _handle_outcome(self, outcome: ReconcileOutcome) -> tuple[ReconcileResult, float]:
        intervals, has_changed = self._host.intervals, outcome.wrote
        is_denied = bool(outcome.denied) and not has_changed
        self._changes_in_a_row = self._changes_in_a_row + 1 if has_changed else 0
        self._oscillations = self._oscillations + 1 if outcome.is_oscillating else 0
        self._failures = self._failures + 1 if is_denied else 0
        self._report_denied(outcome.denied)
        if has_changed and not outcome.is_cosmetic:
            return ReconcileResult.CHANGED, self._delay_after_change()
        if is_denied:
            return ReconcileResult.DENIED, min(intervals.backoff(self._failures), intervals.resync)
        if outcome.converged:
            return ReconcileResult.CONVERGED, intervals.resync
        result = ReconcileResult.CHANGED if has_changed else ReconcileResult.WAITING
        wait = intervals.waiting if outcome.wake_at is None else outcome.wake_at - self._host.clock()
        return result, min(max(wait, intervals.min_backoff), intervals.waiting)

    def _delay_after_change(self) -> float:
        """0, or the interval of waiting clusters when changes seem to have no end.

        Another client reverts them, the API server does not keep them, or the engine's state flaps.
        """
        if self._changes_in_a_row < _CHANGE_LIMIT and self._oscillations < OSCILLATION_LIMIT:
            return 0
        if self._changes_in_a_row % _CHANGE_LIMIT == 0 or self._oscillations == OSCILLATION_LIMIT:
            self._log.warning("oscillating operations; slowing down")
        return self._host.intervals.waiting

    def _report_denied(self, denied: Sequence[DeniedOperation]) -> None:
        """Count and log denied operations. Events are not retried: the ledger has them already."""
        for denial in denied:
            self._count_error(denial.error)
            is_event = isinstance(denial.operation, EmitEvent)
            message = "event denied; not retried" if is_event else "operation denied; retrying"
            self._log.warning(message, action=denial.action, attempt=self._failures, error=str(denial))

    def _handle_error(self, error: Exception) -> float:
        """Log an error; return the seconds until the retry. A conflict is logged as info."""
        host, log = self._host, self._log
        self._count_error(error)
        if isinstance(error, ShuttingDown | NotLeader):
            state = "shutting down" if isinstance(error, ShuttingDown) else "not leader"
            log.info(f"{state}; reconcile ended", error=str(error))
            return 0 if host.is_stopping else host.intervals.waiting
        self._failures += 1
        if isinstance(error, Conflict | NotFound):
            state = "conflict" if isinstance(error, Conflict) else "not found"
            message = f"{state} on {self._api.last_request}; requeued"
            log.info(message, attempt=self._failures, error=str(error))
        elif isinstance(error, ApiError | CallFailed):
            log.warning("reconcile failed; retrying", attempt=self._failures, error=str(error))
        else:
            log.exception("reconcile failed unexpectedly; retrying", attempt=self._failures)
        return host.intervals.backoff(self._failures)

    def _count_error(self, error: Exception) -> None:
        labels = self._key.namespace, self._key.name, type(error).__name__
        self._host.metrics.reconcile_errors.labels(*labels).inc()

    @property
    def _log(self) -> Log:
        return self._host.log.bind(cluster=self._name, reconcile=self._api.reconcile)
