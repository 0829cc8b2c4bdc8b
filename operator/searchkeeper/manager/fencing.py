"""The fence in front of every write: it checks for shutdown first, then for the Lease."""

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
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails
from searchkeeper.opensearch.view import EngineView, Unreachable


class ShuttingDown(ApiError):
    """The operator shuts down: no further request is sent."""


class Fence:
    """Admits the writes of one process. Once it is closed and idle, the Lease may be released."""

    def __init__(self, lease: LeaderLease) -> None:
        self._lease = lease
        self._writes_in_progress = 0
        self._lock = threading.Lock()
        self.closed = threading.Event()

    def close(self) -> None:
        """Admit no further write. Safe to call from any thread and from a signal handler."""
        self.closed.set()

    @property
    def is_closed(self) -> bool:
        return self.closed.is_set()

    @property
    def is_idle(self) -> bool:
        """True when no write is in progress."""
        with self._lock:
            return not self._writes_in_progress

    def check_open(self) -> None:
        """Raises ShuttingDown when the fence is closed. Reads stop too, so that reconciles end sooner."""
        if self.is_closed:
            raise ShuttingDown("the operator is shutting down")

    @contextmanager
    def admit_write(self) -> Iterator[None]:
        """Enclose one write. Raises ShuttingDown, NotLeader, ApiError when it is not admitted."""
        with self._lock:
            self._writes_in_progress += 1
        try:
            # Counted before the checks: after close(), is_idle misses no write that passed them.
            self.check_open()
            self._lease.confirm()
            yield
        finally:
            with self._lock:
                self._writes_in_progress -= 1


@dataclass(frozen=True, slots=True)
class FencedApi:
    """A KubernetesApi whose reads stop at shutdown and whose writes need the fence's admission."""

    kube: KubernetesApi
    fence: Fence

    def get(self, key: Key) -> Manifest | None:
        self.fence.check_open()
        return self.kube.get(key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        self.fence.check_open()
        return self.kube.list(api, kind, namespace, labels)

    def create(self, manifest: Manifest) -> Manifest:
        with self.fence.admit_write():
            return self.kube.create(manifest)

    def patch(self, patch: Patch) -> Manifest:
        with self.fence.admit_write():
            return self.kube.patch(patch)

    def patch_status(self, patch: Patch) -> Manifest:
        with self.fence.admit_write():
            return self.kube.patch_status(patch)

    def delete(self, delete: Delete) -> None:
        with self.fence.admit_write():
            self.kube.delete(delete)

    def record(self, event: EmitEvent) -> None:
        with self.fence.admit_write():
            self.kube.record(event)


@dataclass(frozen=True, slots=True)
class FencedEngine:
    """An EngineClient whose reads stop at shutdown and whose calls need the fence's admission."""

    engine: EngineClient
    fence: Fence

    def get_state(self) -> EngineView | Unreachable:
        """Raises ShuttingDown."""
        self.fence.check_open()
        return self.engine.get_state()

    def get_details(self, request: DetailsRequest) -> EngineDetails:
        """Raises ShuttingDown."""
        self.fence.check_open()
        return self.engine.get_details(request)

    def execute(self, call: Call) -> None:
        try:
            with self.fence.admit_write():
                self.engine.execute(call)
        except ApiError as error:
            raise CallFailed(f"call not sent: {error}") from error
