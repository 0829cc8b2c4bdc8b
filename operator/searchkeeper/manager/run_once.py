"""`run --once`: reconcile every cluster until nothing changes, with the same Lease and fence."""

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
from searchkeeper.reconcile import OSCILLATION_LIMIT, reconcile
from searchkeeper.versions import Release

# Attempts on a cluster that users or controllers change at the same time.
_ATTEMPTS: Final = 10


@dataclass(frozen=True, slots=True)
class ClusterOutcome:
    """The result for one cluster. `error` is that of the last reconcile."""

    cluster: Key
    is_done: bool
    error: ApiError | CallFailed | None = None


class RunOnce:
    """One pass over all clusters. An error of one cluster does not skip the others."""

    def __init__(
        self,
        kube: KubernetesApi,
        engine_client: Callable[[Key], EngineClient],
        release: Release,
        lease: LeaderLease,
        *,
        images: Images = PUBLISHED,
        clock: Callable[[], int] = lambda: int(time.time()),
    ) -> None:
        self._kube = kube
        self._engine_client = engine_client
        self._release = release
        self._lease = lease
        self._images = images
        self._clock = clock
        self.fence = Fence(lease)
        self._log = Log()
        self.shutdown = GracefulShutdown(self.fence, lease, self._log)

    def stop(self) -> None:
        """Admit no further write and reconcile no further cluster."""
        self.fence.close()

    @property
    def is_stopping(self) -> bool:
        return self.fence.is_closed

    def run(self, namespaces: Sequence[str], report: Callable[[ClusterOutcome], None]) -> None:
        """Reconcile all clusters of the namespaces, or of all. Raises NotLeader, ShuttingDown, ApiError."""
        with self._leading():
            for namespace in namespaces or ("",):
                for cluster in self._kube.list(f"{GROUP}/v1alpha1", "SearchCluster", namespace, {}):
                    report(self._converge(Key.of(cluster)))

    def _converge(self, key: Key) -> ClusterOutcome:
        """Reconcile until nothing changes. Raises NotLeader, ShuttingDown, which end the whole pass.

        A cosmetic change may be followed by an event, so one more reconcile runs after it; a second cosmetic
        change in a row ends the loop. So does an oscillation, which an engine with a flapping state causes.
        """
        kube = FencedApi(self._kube, self.fence)
        errors, oscillations, was_cosmetic = 0, 0, False
        while True:
            if self.is_stopping:
                raise ShuttingDown("stopped before everything was done")
            try:
                engine = FencedEngine(self._engine_client(key), self.fence)
                outcome = reconcile(kube, engine, key, self._release, self._clock(), images=self._images)
            except (NotLeader, ShuttingDown):
                raise
            except (ApiError, CallFailed) as error:
                errors += 1
                if errors == _ATTEMPTS or not isinstance(error, Conflict | NotFound):
                    return ClusterOutcome(key, False, error)
            else:
                oscillations = oscillations + 1 if outcome.is_oscillating else 0
                is_repeated = outcome.is_cosmetic and was_cosmetic
                if not outcome.wrote or is_repeated or oscillations == OSCILLATION_LIMIT:
                    denial = next((denied.error for denied in outcome.denied), None)
                    return ClusterOutcome(key, outcome.converged, denial)
                was_cosmetic = outcome.is_cosmetic

    @contextmanager
    def _leading(self) -> Iterator[None]:
        """Hold the Lease during the block: a thread renews it, and it is released in any case."""
        self.shutdown.start()
        self._acquire()
        done = threading.Event()

        def renew() -> None:
            while not done.wait(self._lease.duration / 3):
                try:
                    self._lease.acquire_or_renew()
                except ApiError as error:
                    # The Lease expires then, and the fence admits no further write.
                    self._log.warning("lease renewal failed; retrying", error=str(error))

        renewing = threading.Thread(target=renew, name="lease", daemon=True)
        renewing.start()
        try:
            yield
        finally:
            done.set()
            renewing.join()
            self.stop()
            self.shutdown.wait()

    def _acquire(self) -> None:
        """Acquire the Lease. Wait for one that a killed process left behind, until it expires.

        Raises NotLeader when its holder renews it, and ApiError.
        """
        if self._lease.acquire_or_renew():
            return
        deadline = time.monotonic() + self._lease.seconds_until_expiry
        while True:
            is_last = time.monotonic() >= deadline
            if self._lease.acquire_or_renew():
                return
            if is_last or self.is_stopping:
                raise NotLeader(f"another operator, {self._lease.holder}, holds the lease")
            self.fence.closed.wait(self._lease.duration / 15)
