"""The manager: one reconcile loop a SearchCluster, woken by watches, writing only with the Lease."""

from __future__ import annotations

__all__ = ["Clients", "Manager", "RequeueIntervals"]

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from searchkeeper.desired.names import GROUP
from searchkeeper.images import PUBLISHED, Images
from searchkeeper.kubernetes.api import KubernetesApi
from searchkeeper.kubernetes.operations import Key
from searchkeeper.manager.clock import SteadyClock
from searchkeeper.manager.fencing import Fence, FencedEngine
from searchkeeper.manager.health import Health
from searchkeeper.manager.instrumentation import InstrumentedApi, InstrumentedEngine
from searchkeeper.manager.leader_election import LeaderLease
from searchkeeper.manager.logging import Log
from searchkeeper.manager.metrics import Metrics
from searchkeeper.manager.reconcile_loop import ReconcileLoop, RequeueIntervals
from searchkeeper.manager.shutdown import GracefulShutdown
from searchkeeper.manager.watches import WatchClient, Watches, WatchHandlers
from searchkeeper.manager.workers import FastSlowPool, WorkerPool
from searchkeeper.opensearch.client import EngineClient
from searchkeeper.reconcile import ReconcileOutcome, reconcile
from searchkeeper.versions import Release

_API: Final = f"{GROUP}/v1alpha1"
# Seconds between two checks for shutdown: a signal handler cannot wake the event loop.
_POLL: Final = 0.1


@dataclass(frozen=True, slots=True)
class Clients:
    """Access to the API server and to the engines.

    `watch` is the client of the watches. `operator_condition` is where OLM reads whether it may replace this
    operator now. `images` names the repositories of the engine's images.
    """

    kube: KubernetesApi
    engine_client: Callable[[Key], EngineClient]
    watch: WatchClient
    operator_condition: Key | None = None
    images: Images = PUBLISHED


class Manager:
    """One operator process. `run` ends after `stop`."""

    def __init__(
        self,
        clients: Clients,
        release: Release,
        lease: LeaderLease,
        *,
        namespaces: Sequence[str] = (),
        intervals: RequeueIntervals | None = None,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self.clients = clients
        self.release = release
        self.lease = lease
        self.namespaces = tuple(namespaces)
        self.intervals = intervals or RequeueIntervals()
        self.clock: Callable[[], int] = clock or SteadyClock()
        self.health = Health()
        self.metrics = Metrics()
        self.log = Log()
        self.fence = Fence(lease)
        self.shutdown = GracefulShutdown(self.fence, lease, self.log)
        self._loops: dict[Key, ReconcileLoop] = {}
        self._workers = FastSlowPool()
        # Threads of their own: reconciles that hang must delay neither the Lease nor the list of clusters.
        self._lease_worker, self._list_worker = WorkerPool(1, "lease"), WorkerPool(1, "list")

    def stop(self) -> None:
        """Admit no further write and end `run`. Safe to call from any thread and from a signal handler."""
        self.fence.close()

    @property
    def is_stopping(self) -> bool:
        return self.fence.is_closed

    @property
    def kube(self) -> KubernetesApi:
        return self.clients.kube

    async def run(self) -> None:
        scope = ", ".join(self.namespaces) or "all namespaces"
        self.log.info(f"starting searchkeeper {self.release.version} as {self.lease.identity} for {scope}")
        self.shutdown.start()
        self._start_watches()
        background = [asyncio.create_task(self._keep_lease()), asyncio.create_task(self._sync_loops())]
        try:
            while not self.is_stopping:
                await asyncio.sleep(_POLL)
        finally:
            self.stop()
            while not self.shutdown.is_done:
                await asyncio.sleep(_POLL)
            tasks = [*background, *(loop.task for loop in self._loops.values())]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for workers in (self._workers, self._lease_worker, self._list_worker):
                workers.close()
            self.log.info("stopped")

    def _start_watches(self) -> None:
        """Start the watches, whose threads pass events to this event loop."""
        loop = asyncio.get_running_loop()

        def call(handler: Callable[..., None], *event: object) -> None:
            # The event loop is closed when a watch reports its last event during the shutdown.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(handler, *event)

        handlers = WatchHandlers(partial(call, self._on_cluster), partial(call, self._wake))
        watches = Watches(
            self.clients.watch, handlers, self.log, stop=self.fence.closed, ready=self.health.watching
        )
        watches.start(self.namespaces, self.intervals)

    def _on_cluster(self, key: Key, resource_version: str, is_deleted: bool) -> None:
        if is_deleted:
            self._stop_loop(key)
            return
        if key not in self._loops and not self.is_stopping:
            self._loops[key] = ReconcileLoop(self, key)
        self._wake(key, resource_version)

    def _stop_loop(self, key: Key) -> None:
        loop = self._loops.pop(key, None)
        if loop is not None:
            loop.stop()
            self._workers.remove(f"{key.namespace}/{key.name}")

    def _wake(self, key: Key, resource_version: str) -> None:
        if key in self._loops:
            self._loops[key].wake(resource_version)

    async def _sync_loops(self) -> None:
        """List all clusters at every resync: a watch may have missed a new or a deleted one."""
        while not self.is_stopping:
            await self._sleep(self.intervals.resync)
            known = set(self._loops)
            try:
                existing = await self._list_worker.run(self._list_clusters)
            except Exception as error:  # noqa: BLE001 - an error must not end this task
                self.log.warning("list of SearchClusters failed; retrying", error=str(error))
                continue
            for key in sorted(existing - known):
                self._on_cluster(key, "", False)
            for key in sorted(known - existing):
                self._stop_loop(key)

    def _list_clusters(self) -> set[Key]:
        lists = (self.kube.list(_API, "SearchCluster", name, {}) for name in self.namespaces or ("",))
        return {Key.of(cluster) for clusters in lists for cluster in clusters}

    async def _keep_lease(self) -> None:
        """Renew the Lease every third of its duration; wake all loops when leadership changes."""
        was_leader = False
        while not self.is_stopping:
            try:
                await self._lease_worker.run(self.lease.acquire_or_renew)
            except Exception as error:  # noqa: BLE001 - without a renewal the Lease expires
                self.log.warning("lease renewal failed; retrying", error=str(error))
            self.health.heartbeat()
            is_leader = self.lease.is_leader
            if is_leader != was_leader:
                self.log.info("acquired lease" if is_leader else "lost lease")
                self.metrics.leader.set(is_leader)
                for loop in self._loops.values():
                    loop.wake()
            was_leader = is_leader
            await self._sleep(self.intervals.lease / 3)

    async def _sleep(self, seconds: float) -> None:
        """Sleep, but not past the start of the shutdown."""
        deadline = time.monotonic() + seconds
        while not self.is_stopping and time.monotonic() < deadline:
            await asyncio.sleep(min(_POLL, seconds))

    async def reconcile_cluster(
        self, key: Key, api: InstrumentedApi, observing_since: int
    ) -> ReconcileOutcome:
        def run() -> ReconcileOutcome:
            api.start_reconcile()
            engine = InstrumentedEngine(FencedEngine(self.clients.engine_client(key), self.fence), api)
            try:
                return reconcile(
                    api,
                    engine,
                    key,
                    self.release,
                    self.clock(),
                    observing_since=observing_since,
                    settling=int(self.intervals.resync),
                    operator_condition=self.clients.operator_condition,
                    images=self.clients.images,
                )
            finally:
                api.measure()

        return await self._workers.run(f"{key.namespace}/{key.name}", run)
