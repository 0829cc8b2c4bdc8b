"""`run --once`: every cluster until there is nothing to write, behind the same lease and the same fence."""

from __future__ import annotations

__all__ = ["ClusterOutcome", "RunOnce"]

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from searchkeeper.desired.names import GROUP
from searchkeeper.images import PUBLISHED, Images
from searchkeeper.kubernetes.api import ApiError, Conflict, KubernetesApi, NotFound
from searchkeeper.kubernetes.operations import Key
from searchkeeper.manager.fencing import Fence, FencedApi, FencedEngine, ShuttingDown
from searchkeeper.manager.leader_election import LeaderLease, NotLeader
from searchkeeper.manager.logging import Log
from searchkeeper.manager.shutdown import GracefulShutdown
from searchkeeper.opensearch.client import CallFailed, EngineClient
from searchkeeper.reconcile import OSCILLATION_LIMIT, ReconcileOutcome, reconcile
from searchkeeper.versions import Release

# Looks at a cluster that others change at the same time: a person, or Kubernetes' own controllers.
_LOOKS: Final = 10


@dataclass(frozen=True, slots=True)
class ClusterOutcome:
    """What has become of one cluster. An error is that of the last look at it."""

    cluster: Key
    is_done: bool
    error: ApiError | CallFailed | None = None


class RunOnce:
    """One pass over all clusters. What fails for one of them keeps no other from its turn."""

    def __init__(
        self,
        kube: KubernetesApi,
        driver: Callable[[Key], EngineClient],
        release: Release,
        lease: LeaderLease,
        *,
        images: Images = PUBLISHED,
        clock: Callable[[], int] = lambda: int(time.time()),
    ) -> None:
        self._kube = kube
        self._driver = driver
        self._release = release
        self._lease = lease
        self._images = images
        self._clock = clock
        self.fence = Fence(lease)
        self._log = Log(operator=release.version, identity=lease.identity)
        self.farewell = GracefulShutdown(self.fence, lease, self._log)

    def stop(self) -> None:
        """No write is begun from now on, and no further cluster is looked at."""
        self.fence.shut()

    @property
    def is_stopping(self) -> bool:
        return self.fence.is_shut

    def run(self, namespaces: Sequence[str], tell: Callable[[ClusterOutcome], None]) -> None:
        """Raises NotOurs where another operator has the lease and keeps it, Stopping, KubeError."""
        with self._held():
            for namespace in namespaces or ("",):
                found = self._kube.list(f"{GROUP}/v1alpha1", "SearchCluster", namespace, {})
                for each in found:
                    tell(self._worked_off(Key.of(each)))

    def _worked_off(self, key: Key) -> ClusterOutcome:
        """Raises NotOurs, Stopping: then nobody else's turn comes either.

        Words in a status may call for an event, and nothing else: who finds other ones again is done. So is
        who does again and again what an engine that says now this, now that has him undo.
        """
        looks, rounds, has_told = 0, 0, False
        while True:
            if self.is_stopping:
                raise ShuttingDown("stopped before everything was done")
            try:
                done = self._cycle(key)
            except (NotLeader, ShuttingDown):
                raise
            except (ApiError, CallFailed) as error:
                looks += 1
                if looks == _LOOKS or not isinstance(error, Conflict | NotFound):
                    return ClusterOutcome(key, False, error)
            else:
                rounds = rounds + 1 if done.is_oscillating else 0
                if not done.wrote or (done.is_cosmetic and has_told) or rounds == OSCILLATION_LIMIT:
                    return ClusterOutcome(
                        key, done.converged, next((each.error for each in done.denied), None)
                    )
                has_told = done.is_cosmetic

    def _cycle(self, key: Key) -> ReconcileOutcome:
        kube = FencedApi(self._kube, self.fence)
        driver = FencedEngine(self._driver(key), self.fence)
        return reconcile(kube, driver, key, self._release, self._clock(), images=self._images)

    @contextmanager
    def _held(self) -> Iterator[None]:
        """With the lease, which is renewed however long a look takes, and given back in any case."""
        self.farewell.begin()
        self._obtain()
        over = threading.Event()
        renewing = threading.Thread(target=self._renew, args=(over,), name="lease", daemon=True)
        renewing.start()
        try:
            yield
        finally:
            over.set()
            renewing.join()
            self.stop()
            self.farewell.wait()

    def _obtain(self) -> None:
        """Whoever ended uncleanly has left it behind: it is waited for as long as it lasts, and no longer."""
        if self._lease.keep():
            return
        until = time.monotonic() + self._lease.free_in
        while True:
            is_last = time.monotonic() >= until
            if self._lease.keep():
                return
            if is_last or self.is_stopping:
                raise NotLeader(f"another operator, {self._lease.holder}, has the lease")
            self.fence.shutting.wait(self._lease.duration / 15)

    def _renew(self, over: threading.Event) -> None:
        while not over.wait(self._lease.duration / 3):
            try:
                self._lease.keep()
            except ApiError as error:
                # Without an answer it runs out by itself, and no write passes any more.
                self._log.warning("the lease cannot be renewed", error=str(error))
