"""The operator: one loop a SearchCluster, woken by kopf's watches, writing only while it has the lease.

kopf watches and tells; nothing else. Its daemons and change handlers would put a finalizer and annotations
of their own on every resource, and act on what they remember; these loops look afresh before they act.
"""

from __future__ import annotations

__all__ = ["Clients", "Manager", "RequeueIntervals"]

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import kopf

from searchkeeper.desired.names import GROUP
from searchkeeper.images import PUBLISHED, Images
from searchkeeper.kubernetes.api import KubernetesApi, NoSuchKind
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
from searchkeeper.manager.watches import run_watches
from searchkeeper.manager.workers import FastSlowPool, WorkerPool
from searchkeeper.opensearch.client import EngineClient
from searchkeeper.reconcile import ReconcileOutcome, reconcile
from searchkeeper.versions import Release

_API: Final = f"{GROUP}/v1alpha1"
_OURS: Final = ("SearchCluster", "SearchPool")
# What wakes a loop besides its own resource: group, version, plural.
WATCHED: Final = (
    (GROUP, "v1alpha1", "searchpools"),
    ("apps", "v1", "statefulsets"),
    ("", "v1", "pods"),
)
# A pod names its cluster by the label of the configuration version that made it.
_INSTANCE: Final = ("app.kubernetes.io/instance", "app")
# Seconds between two looks at whether the end was asked for: signals wake no event loop.
_GLANCE: Final = 0.1


@dataclass(frozen=True, slots=True)
class Clients:
    """How a cluster and its engine are reached, and where OLM reads that it must not replace us now.

    `images` is where those of the engine come from.
    """

    kube: KubernetesApi
    driver: Callable[[Key], EngineClient]
    login: Callable[[], kopf.ConnectionInfo]
    operator_condition: Key | None = None
    images: Images = PUBLISHED


class Manager:
    """One process's share of the work. `run` ends when `stop` is called."""

    def __init__(
        self,
        ports: Clients,
        release: Release,
        lease: LeaderLease,
        *,
        namespaces: Sequence[str] = (),
        pace: RequeueIntervals | None = None,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self.ports = ports
        self.release = release
        self.lease = lease
        self.namespaces = tuple(namespaces)
        self.pace = pace or RequeueIntervals()
        self.clock: Callable[[], int] = clock or SteadyClock()
        self.health = Health()
        self.metrics = Metrics()
        self.log = Log(operator=release.version, identity=lease.identity)
        self.fence = Fence(lease)
        self.farewell = GracefulShutdown(self.fence, lease, self.log)
        self._stop = self.fence.shutting
        self._loops: dict[Key, ReconcileLoop] = {}
        # Ends the watches: with the operator, or where what they watch is not there any more.
        self._unwatched = asyncio.Event()
        self._watch_failures = 0
        self._lanes = FastSlowPool()
        # Cycles that hang must cost us neither the lease nor the knowledge of who is there; nor may a login
        # by a program that hangs, for which kopf itself would wait to the end.
        self._leases, self._lists, self._logins = (WorkerPool(1, each) for each in ("lease", "list", "login"))

    def stop(self) -> None:
        """No write is begun from now on. May be called from any thread."""
        self.fence.shut()

    @property
    def is_stopping(self) -> bool:
        return self.fence.is_shut

    @property
    def kube(self) -> KubernetesApi:
        return self.ports.kube

    async def run(self) -> None:
        self.log.info("started", namespaces=self.namespaces or "all")
        self.farewell.begin()
        beside = (self._keep_lease(), self._count(), self._end_watches())
        working = [asyncio.create_task(each) for each in beside]
        try:
            await self._watch()
        finally:
            self.stop()
            while not self.farewell.is_over:
                await asyncio.sleep(_GLANCE)
            await _cancelled([*working, *(each.task for each in self._loops.values())])
            for threads in (self._lanes, self._leases, self._lists, self._logins):
                threads.close()
            # What kopf was in the middle of ends with it, and is no news to anybody.
            asyncio.get_running_loop().set_exception_handler(lambda *_: None)
            self.log.info("stopped")

    async def _watch(self) -> None:
        """What cannot be read ends a watch for good, and kopf with it: then all of them are begun again."""
        while not self._stop.is_set():
            try:
                self._unwatched.clear()
                # kopf looks once which kinds there are, and would never watch one that comes later.
                await self._lists.run(self._served)
                await run_watches(self._registry(), self.namespaces, self._unwatched, self._note_ready)
            except Exception as error:  # noqa: BLE001 - the loops go on meanwhile: they look without being told
                self._watch_failures += 1
                self.log.error("watching has failed: beginning again", error=str(error))
                await self._sleep(self._until_next_watch(error))
            finally:
                self.health.is_watching = False

    def _served(self) -> None:
        """Raises NoSuchKind while one of ours is not served, and KubeError."""
        for kind in _OURS:
            self.kube.list(_API, kind, (self.namespaces or ("",))[0], {})

    def _until_next_watch(self, error: Exception) -> float:
        """Definitions come when somebody installs them, and nobody should wait for us then."""
        is_missing = isinstance(error, NoSuchKind)
        return self.pace.busy if is_missing else self.pace.after_failures(self._watch_failures)

    def _note_ready(self) -> None:
        self.health.is_watching = True
        self._watch_failures = 0

    def _registry(self) -> kopf.OperatorRegistry:
        """Only raw events: they change nothing on the resources, and are never replayed."""
        registry = kopf.OperatorRegistry()

        @kopf.on.login(registry=registry)
        async def login(**_: Any) -> kopf.ConnectionInfo:
            return await self._logins.run(self.ports.login)

        @kopf.on.event(GROUP, "v1alpha1", "searchclusters", registry=registry)
        async def cluster_changed(namespace: str | None, name: str, meta: Any, event: Any, **_: Any) -> None:
            key = Key(_API, "SearchCluster", namespace or "", name)
            self._cluster_changed(key, gone=event["type"] == "DELETED", version=_version(meta))

        async def part_changed(namespace: str | None, meta: Any, **_: Any) -> None:
            name = _cluster_of(meta)
            if name is not None:
                self._wake(Key(_API, "SearchCluster", namespace or "", name), _version(meta))

        for kind in WATCHED:
            kopf.on.event(*kind, registry=registry)(part_changed)
        return registry

    def _cluster_changed(self, key: Key, *, gone: bool, version: str = "") -> None:
        if gone:
            found = self._loops.pop(key, None)
            if found is not None:
                found.end()
                self._lanes.forget(f"{key.namespace}/{key.name}")
            return
        if key not in self._loops and not self._stop.is_set():
            self._loops[key] = ReconcileLoop(self, key)
        self._wake(key, version)

    def _wake(self, key: Key, version: str) -> None:
        if key in self._loops:
            self._loops[key].wake(version)

    async def _count(self) -> None:
        """Watches are for haste alone: who was not told of a cluster, or of its end, finds out by a list."""
        while not self._stop.is_set():
            await self._sleep(self.pace.resync)
            known = set(self._loops)
            try:
                there = await self._lists.run(self._listed)
            except Exception as error:  # noqa: BLE001 - who ends here would end in silence, and for good
                self.log.warning("the clusters cannot be counted", error=str(error))
                if isinstance(error, NoSuchKind):
                    self._unwatched.set()
                continue
            for key in sorted(there - known):
                self._cluster_changed(key, gone=False)
            for key in sorted(known - there):
                self._cluster_changed(key, gone=True)

    def _listed(self) -> set[Key]:
        lists = (self.kube.list(_API, "SearchCluster", each, {}) for each in self.namespaces or ("",))
        return {Key.of(each) for found in lists for each in found}

    async def _keep_lease(self) -> None:
        """Renews it in a third of its time, and tells the loops when it came or went."""
        was_ours = False
        while not self._stop.is_set():
            try:
                await self._leases.run(self.lease.keep)
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

    async def _sleep(self, seconds: float) -> None:
        """Not longer than until the end."""
        until = time.monotonic() + seconds
        while not self._stop.is_set() and time.monotonic() < until:
            await asyncio.sleep(min(_GLANCE, seconds))

    async def _end_watches(self) -> None:
        while not self._stop.is_set():
            await asyncio.sleep(_GLANCE)
        self._unwatched.set()

    async def cycle_of(self, key: Key, telling: InstrumentedApi, observing_since: int) -> ReconcileOutcome:
        return await self._lanes.run(telling.cluster, lambda: self._cycle(key, telling, observing_since))

    def _cycle(self, key: Key, telling: InstrumentedApi, observing_since: int) -> ReconcileOutcome:
        telling.begin()
        driver = InstrumentedEngine(FencedEngine(self.ports.driver(key), self.fence), telling)
        try:
            return reconcile(
                telling,
                driver,
                key,
                self.release,
                self.clock(),
                observing_since=observing_since,
                settling=int(self.pace.resync),
                operator_condition=self.ports.operator_condition,
                images=self.ports.images,
            )
        finally:
            telling.measure()


async def _cancelled(tasks: Sequence[asyncio.Task[None]]) -> None:
    for each in tasks:
        each.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _version(meta: Mapping[str, Any]) -> str:
    return str(meta.get("resourceVersion") or "")


def _cluster_of(meta: Mapping[str, Any]) -> str | None:
    """The SearchCluster that an object belongs to, by its owner or its labels."""
    for owner in meta.get("ownerReferences") or ():
        if owner["kind"] == "SearchCluster":
            return str(owner["name"])
    labels = meta.get("labels") or {}
    return next((labels[name] for name in _INSTANCE if name in labels), None)
