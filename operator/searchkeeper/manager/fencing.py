"""What every write passes: first whether the end was asked for, then the lease; and who is under way."""

from __future__ import annotations

__all__ = ["Fence", "FencedApi", "FencedEngine", "ShuttingDown"]

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from searchkeeper.kubernetes.api import ApiError, KubernetesApi
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Manifest, Patch
from searchkeeper.manager.leader_election import LeaderLease
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import CallFailed, EngineClient
from searchkeeper.opensearch.view import EngineView, Unreachable


class ShuttingDown(ApiError):
    """The operator is asked to end: no further write."""


class Fence:
    """One process's way to all that it writes. Once it is shut and quiet, the lease may go."""

    def __init__(self, lease: LeaderLease) -> None:
        self._lease = lease
        self._under_way = 0
        self._lock = threading.Lock()
        self.shutting = threading.Event()

    def shut(self) -> None:
        """No write is begun from now on. May be called from any thread."""
        self.shutting.set()

    @property
    def is_shut(self) -> bool:
        return self.shutting.is_set()

    def check_open(self) -> None:
        """Before one. Raises Stopping: what is seen from then on is of no use, and to be done with sooner."""
        if self.is_shut:
            raise ShuttingDown("the operator is ending")

    @property
    def is_quiet(self) -> bool:
        """No write is under way."""
        with self._lock:
            return not self._under_way

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Around one write. Raises Stopping, NotOurs, KubeError."""
        with self._lock:
            self._under_way += 1
        try:
            # Counted before it asks: whoever shuts the fence, and counts then, misses nobody.
            self.check_open()
            self._lease.confirm()
            yield
        finally:
            with self._lock:
                self._under_way -= 1


@dataclass(frozen=True, slots=True)
class FencedApi:
    """The port `Kube`: reads pass until the end, writes only by the fence."""

    kube: KubernetesApi
    fence: Fence

    def get(self, key: Key) -> Manifest | None:
        self.fence.check_open()
        return self.kube.get(key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        self.fence.check_open()
        return self.kube.list(api, kind, namespace, labels)

    def create(self, manifest: Manifest) -> Manifest:
        with self.fence.passed():
            return self.kube.create(manifest)

    def patch(self, patch: Patch) -> Manifest:
        with self.fence.passed():
            return self.kube.patch(patch)

    def patch_status(self, patch: Patch) -> Manifest:
        with self.fence.passed():
            return self.kube.patch_status(patch)

    def delete(self, delete: Delete) -> None:
        with self.fence.passed():
            self.kube.delete(delete)

    def record(self, event: EmitEvent) -> None:
        with self.fence.passed():
            self.kube.record(event)


@dataclass(frozen=True, slots=True)
class FencedEngine:
    """The port `Driver`: looks pass until the end, calls only by the fence."""

    driver: EngineClient
    fence: Fence

    def get_state(self) -> EngineView | Unreachable:
        """Raises Stopping."""
        self.fence.check_open()
        return self.driver.get_state()

    def execute(self, call: Call) -> None:
        try:
            with self.fence.passed():
                self.driver.execute(call)
        except ApiError as error:
            raise CallFailed(f"not told: {error}") from error
