"""What every write passes: first whether the end was asked for, then the lease; and who is under way."""

from __future__ import annotations

__all__ = ["Fence", "Fenced", "FencedDriver", "Stopping"]

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from searchkeeper.engine.calls import Call
from searchkeeper.engine.driver import CallFailed, Driver
from searchkeeper.engine.view import EngineView, Unreachable
from searchkeeper.kube import Kube, KubeError
from searchkeeper.shell.lease import Lease
from searchkeeper.writes import Delete, Event, Key, Manifest, Patch


class Stopping(KubeError):
    """The operator is asked to end: no further write."""


class Fence:
    """One process's way to all that it writes. Once it is shut and quiet, the lease may go."""

    def __init__(self, lease: Lease) -> None:
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

    def look(self) -> None:
        """Before one. Raises Stopping: what is seen from then on is of no use, and to be done with sooner."""
        if self.is_shut:
            raise Stopping("the operator is ending")

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
            self.look()
            self._lease.confirm()
            yield
        finally:
            with self._lock:
                self._under_way -= 1


@dataclass(frozen=True, slots=True)
class Fenced:
    """The port `Kube`: reads pass until the end, writes only by the fence."""

    kube: Kube
    fence: Fence

    def get(self, key: Key) -> Manifest | None:
        self.fence.look()
        return self.kube.get(key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        self.fence.look()
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

    def record(self, event: Event) -> None:
        with self.fence.passed():
            self.kube.record(event)


@dataclass(frozen=True, slots=True)
class FencedDriver:
    """The port `Driver`: looks pass until the end, calls only by the fence."""

    driver: Driver
    fence: Fence

    def look(self) -> EngineView | Unreachable:
        """Raises Stopping."""
        self.fence.look()
        return self.driver.look()

    def tell(self, call: Call) -> None:
        try:
            with self.fence.passed():
                self.driver.tell(call)
        except KubeError as error:
            raise CallFailed(f"not told: {error}") from error
