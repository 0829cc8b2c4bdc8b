"""The operator: one loop a SearchCluster, woken by kopf's watches, writing only while it has the lease.

kopf watches and tells; nothing else. Its daemons and change handlers would put a finalizer and annotations
of their own on every resource, and act on what they remember; these loops look afresh before they act.
"""

from __future__ import annotations

__all__ = ["Operator", "Pace", "Ports"]

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import kopf

from searchkeeper.configuration.names import FINALIZER, GROUP
from searchkeeper.engine.driver import CallFailed, Driver
from searchkeeper.kube import Conflict, Gone, Kube, KubeError
from searchkeeper.loop import Cycle, cycle
from searchkeeper.shell.health import Health
from searchkeeper.shell.lease import Fenced, FencedDriver, Lease, NotOurs
from searchkeeper.shell.logs import Log
from searchkeeper.shell.metrics import Metrics
from searchkeeper.shell.telling import Telling, TellingDriver
from searchkeeper.versions import Release
from searchkeeper.writes import Key

T = TypeVar("T")

_API: Final = f"{GROUP}/v1alpha1"
# What wakes a loop besides its own resource: group, version, plural.
WATCHED: Final = (
    (GROUP, "v1alpha1", "searchpools"),
    ("apps", "v1", "statefulsets"),
    ("", "v1", "pods"),
)
# A pod names its cluster by the label of the configuration version that made it.
_INSTANCE: Final = ("app.kubernetes.io/instance", "app")
# Cycles that wrote, one after the other: no cluster has that much to be done without waiting for anything.
_SUSPICIOUS: Final = 200
# Longer than any request takes to fail.
_LAST_WRITE: Final = 25


class _Stopping(KubeError):
    """The operator is asked to end: no further write."""


@dataclass(frozen=True, slots=True)
class Pace:
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


@dataclass(frozen=True, slots=True)
class Ports:
    """How a cluster and its engine are reached, and where OLM reads that it must not replace us now."""

    kube: Kube
    driver: Callable[[Key], Driver]
    login: Callable[[], kopf.ConnectionInfo]
    operator_condition: Key | None = None


class Operator:
    """One process's share of the work. `run` ends when `stop` is called, or when watching fails for good."""

    def __init__(
        self,
        ports: Ports,
        release: Release,
        lease: Lease,
        *,
        namespaces: Sequence[str] = (),
        pace: Pace | None = None,
        clock: Callable[[], int] = lambda: int(time.time()),
    ) -> None:
        self.ports = ports
        self.release = release
        self.lease = lease
        self.namespaces = tuple(namespaces)
        self.pace = pace or Pace()
        self.clock = clock
        self.health = Health()
        self.metrics = Metrics()
        self.log = Log(operator=release.version, identity=lease.identity)
        self._stop = threading.Event()
        self._loops: dict[Key, _Loop] = {}
        # The lease has a thread to itself: cycles that hang must not cost us the lease unnoticed.
        self._cycles = ThreadPoolExecutor(16, thread_name_prefix="cycle")
        self._leases = ThreadPoolExecutor(1, thread_name_prefix="lease")

    def stop(self) -> None:
        """No write is begun from now on. May be called from any thread."""
        self._stop.set()

    @property
    def is_stopping(self) -> bool:
        return self._stop.is_set()

    def allowed(self) -> None:
        """Asked before every write. Raises KubeError."""
        if self._stop.is_set():
            raise _Stopping("the operator is ending")
        self.lease.confirm()

    async def run(self) -> None:
        self.log.info("started", namespaces=self.namespaces or "all")
        keeping = asyncio.create_task(self._keep_lease())
        ready = asyncio.Event()
        watching = asyncio.create_task(self._watch(ready))
        noting = asyncio.create_task(self._note_ready(ready))
        try:
            await watching
        finally:
            self.stop()
            noting.cancel()
            has_ended = await self._end_loops()
            await asyncio.gather(keeping, noting, return_exceptions=True)
            if has_ended:
                await self._release()
            self._leases.shutdown(wait=False)
            self.log.info("stopped")

    async def _watch(self, ready: asyncio.Event) -> None:
        await kopf.operator(
            registry=self._registry(),
            settings=_settings(),
            standalone=True,
            clusterwide=not self.namespaces,
            namespaces=self.namespaces,
            ready_flag=ready,
            stop_flag=self._stop,
        )

    async def _note_ready(self, ready: asyncio.Event) -> None:
        await ready.wait()
        self.health.is_watching = True

    def _registry(self) -> kopf.OperatorRegistry:
        """Only raw events: they change nothing on the resources, and are never replayed."""
        registry = kopf.OperatorRegistry()

        @kopf.on.login(registry=registry)
        def login(**_: Any) -> kopf.ConnectionInfo:
            return self.ports.login()

        @kopf.on.event(GROUP, "v1alpha1", "searchclusters", registry=registry)
        async def cluster_changed(namespace: str | None, name: str, event: Any, **_: Any) -> None:
            key = Key(_API, "SearchCluster", namespace or "", name)
            self._cluster_changed(key, gone=event["type"] == "DELETED")

        async def part_changed(namespace: str | None, meta: Any, **_: Any) -> None:
            name = _cluster_of(meta)
            if name is not None:
                self._wake(Key(_API, "SearchCluster", namespace or "", name))

        for watched in WATCHED:
            kopf.on.event(*watched, registry=registry)(part_changed)
        return registry

    def _cluster_changed(self, key: Key, *, gone: bool) -> None:
        if gone:
            found = self._loops.pop(key, None)
            if found is not None:
                found.end()
            return
        if key not in self._loops and not self._stop.is_set():
            self._loops[key] = _Loop(self, key)
        self._wake(key)

    def _wake(self, key: Key) -> None:
        if key in self._loops:
            self._loops[key].wake()

    async def _keep_lease(self) -> None:
        """Renews it in a third of its time, and tells the loops when it came or went."""
        was_ours = False
        while not self._stop.is_set():
            try:
                await self._in(self._leases, self.lease.keep)
            except Exception as error:  # noqa: BLE001 - without an answer the lease runs out by itself
                self.log.warning("the lease cannot be renewed", error=str(error))
            self.health.beat()
            is_ours = self.lease.is_ours
            if is_ours != was_ours:
                self.log.info("has the lease" if is_ours else "has lost the lease", epoch=self.lease.epoch)
                self.metrics.set("searchkeeper_leads", is_ours)
                for each in self._loops.values():
                    each.wake()
            was_ours = is_ours
            await self._sleep(self.pace.lease / 3)
        for each in tuple(self._loops.values()):
            each.end()

    async def _sleep(self, seconds: float) -> None:
        """Not longer than until the end."""
        until = time.monotonic() + seconds
        while not self._stop.is_set() and time.monotonic() < until:
            await asyncio.sleep(min(0.1, seconds))

    async def _end_loops(self) -> bool:
        """Waits for the write that each may be in the middle of. Whether all of them came to an end."""
        for each in self._loops.values():
            each.end()
        ended = asyncio.to_thread(self._cycles.shutdown)
        try:
            await asyncio.wait_for(ended, _LAST_WRITE)
        except TimeoutError:
            return False
        return True

    async def _release(self) -> None:
        try:
            await self._in(self._leases, self.lease.release)
        except KubeError as error:
            self.log.warning("the lease is left to run out", error=str(error))

    async def cycle_of(self, key: Key, telling: Telling) -> Cycle:
        return await self._in(self._cycles, lambda: self._cycle(key, telling))

    def _cycle(self, key: Key, telling: Telling) -> Cycle:
        driver = TellingDriver(FencedDriver(self.ports.driver(key), self.allowed), telling)
        condition = self.ports.operator_condition
        return cycle(telling, driver, key, self.release, self.clock(), operator_condition=condition)

    async def _in(self, executor: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(executor, call)


class _Loop:
    """One cluster's loop: look, act, wait until there is a reason to look again. Never ends by an error."""

    def __init__(self, operator: Operator, key: Key) -> None:
        self._operator = operator
        self._key = key
        self._name = f"{key.namespace}/{key.name}"
        self._wake = asyncio.Event()
        self._is_over = False
        self._failures = 0
        self._writes_in_a_row = 0
        fenced = Fenced(operator.ports.kube, operator.allowed)
        self._telling = Telling(fenced, operator.log, operator.metrics, self._name)
        self.task = asyncio.create_task(self._run())

    def wake(self) -> None:
        self._wake.set()

    def end(self) -> None:
        self._is_over = True
        self._wake.set()

    async def _run(self) -> None:
        while not (self._is_over or self._operator.is_stopping):
            self._operator.health.beat(self._name)
            self._wake.clear()
            delay = await self._turn() if self._operator.lease.is_ours else self._operator.pace.resync
            if delay:
                await self._wait(delay)
        self._operator.health.forget(self._name)
        self._operator.metrics.forget(cluster=self._name)

    async def _wait(self, delay: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), delay)

    async def _turn(self) -> float:
        """One cycle; how long to wait after it. One that was told to end does not wait."""
        started = time.monotonic()
        self._telling.cycle += 1
        try:
            done = await self._operator.cycle_of(self._key, self._telling)
        except Exception as error:  # noqa: BLE001 - whatever it was, the next cycle looks again
            outcome, delay = "failed", self._failed(error)
        else:
            self._failures = 0
            outcome, delay = self._outcome(done)
        self._count(outcome, time.monotonic() - started)
        return delay

    def _outcome(self, done: Cycle) -> tuple[str, float]:
        pace = self._operator.pace
        self._writes_in_a_row = self._writes_in_a_row + 1 if done.wrote else 0
        if done.wrote:
            return "wrote", 0 if self._writes_in_a_row < _SUSPICIOUS else self._fought_over()
        if done.converged:
            return "converged", pace.resync
        left = pace.busy if done.wake_at is None else done.wake_at - self._operator.clock()
        return "waits", min(max(left, pace.least_backoff), pace.busy)

    def _fought_over(self) -> float:
        """Somebody undoes what is written, or an API server does not keep it: no reason to hurry."""
        told = self._telling
        if self._writes_in_a_row % _SUSPICIOUS == 0:
            self._operator.log.warning("writes without an end", cluster=self._name, cycle=told.cycle)
        return self._operator.pace.busy

    def _failed(self, error: Exception) -> float:
        """Others were quicker: that is no fault. Anything unforeseen is told with its trace."""
        operator = self._operator
        fields: dict[str, Any] = {"cluster": self._name, "cycle": self._telling.cycle, "error": str(error)}
        operator.metrics.add("searchkeeper_failures_total", error=type(error).__name__, cluster=self._name)
        if isinstance(error, _Stopping | NotOurs):
            operator.log.info("not written", **fields)
            return 0 if operator.is_stopping else operator.pace.busy
        self._failures += 1
        if isinstance(error, Conflict | Gone):
            operator.log.info("somebody was quicker: looking again", **fields)
        elif isinstance(error, KubeError | CallFailed):
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


def _settings() -> kopf.OperatorSettings:
    settings = kopf.OperatorSettings()
    # Events are ours to post, once each; and a watch that has gone quiet is begun again.
    settings.posting.enabled = False
    # Our definitions are there before us, and namespaces are named: no need to be allowed to look at either.
    settings.scanning.disabled = True
    settings.watching.server_timeout = 60
    settings.watching.client_timeout = 70
    settings.watching.connect_timeout = 10
    settings.networking.request_timeout = 30
    settings.queueing.exit_timeout = 0.5
    settings.queueing.idle_timeout = 0.5
    # Never used, since nothing here asks for one; if it were, it would be told apart from ours.
    settings.persistence.finalizer = f"{FINALIZER}-watch"
    return settings


def _cluster_of(meta: Mapping[str, Any]) -> str | None:
    """The SearchCluster that an object belongs to, by its owner or its labels."""
    for owner in meta.get("ownerReferences") or ():
        if owner["kind"] == "SearchCluster":
            return str(owner["name"])
    labels = meta.get("labels") or {}
    return next((labels[name] for name in _INSTANCE if name in labels), None)
