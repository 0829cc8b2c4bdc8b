"""Everything that may go wrong between an operator and its world, one at a time, at a chosen write."""

from __future__ import annotations

__all__ = [
    "ENGINE",
    "EVERYTHING",
    "Crashed",
    "Fault",
    "FaultInjection",
    "FaultyPorts",
    "killed",
    "without_volume",
]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, Protocol, TypeVar

from searchkeeper.kubernetes.api import Conflict, KubernetesApi, Rejected, Unavailable
from searchkeeper.kubernetes.operations import Create, Delete, EmitEvent, EngineCall, Key, Manifest, Patch
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import CallFailed, CallRejected, EngineClient
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.planner import Operation
from searchkeeper.testing.fake_cluster import FakeClusterState
from searchkeeper.testing.fake_kubernetes import object_store as verbs
from searchkeeper.testing.fake_opensearch import get_state

T = TypeVar("T")


class Crashed(Exception):
    """The operator is gone; another one begins with nothing but what is written down."""


class Fault(StrEnum):
    """What happens at a write, or to what is read after it."""

    CRASH_BEFORE = "crash before"
    CRASH_AFTER = "crash after"
    LOST_RESPONSE = "lost response"
    UNAVAILABLE = "unavailable"
    CONFLICT = "conflict"
    REFUSED = "refused"
    DENIED = "refused again and again"
    CONFLICT_STORM = "conflict storm"
    TOLD_TWICE = "told twice"
    TOLD_LATE = "told late"
    STALE_READS = "stale reads"
    ENGINE_SILENT = "engine silent"


_ON_READS: Final = frozenset({Fault.STALE_READS, Fault.ENGINE_SILENT})
_ON_CALLS: Final = frozenset({Fault.TOLD_TWICE, Fault.TOLD_LATE})
# How many writes in a row somebody else is quicker, and how often one and the same write is refused.
_STORM: Final = 10
# What may be stale besides a kind of object.
ENGINE: Final = "engine"
EVERYTHING: Final = "everything"


@dataclass(frozen=True, slots=True)
class FaultInjection:
    """One fault at the write of this number, counted from 0.

    Stale reads are of one kind of object, or of the engine, or of all there is, as it was `back` writes
    before, for one look at the cluster.
    """

    at: int
    fault: Fault
    kind: str = ""
    back: int = 1


class Ports(KubernetesApi, EngineClient, Protocol):
    """Both ports, as one object has them."""


@dataclass
class FaultyPorts:
    """Both ports with one disturbance. `past` are the states before each write, for reads that are stale."""

    ports: Ports
    state: Callable[[], FakeClusterState]
    disturbance: FaultInjection
    operations: int = 0
    past: list[FakeClusterState] = field(default_factory=list)
    _looks: int = 0
    _late: list[Call] = field(default_factory=list)
    # Of the write that is refused again and again, the refusals that are left.
    _denied: list[str] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether it has happened, and nothing of it is left; also of a disturbance underneath."""
        is_left = self._late or self._denied
        is_past = self.operations > self.disturbance.at and self._looks > 0 and not is_left
        return (
            is_past
            and not self._hits(self.operations)
            and (not isinstance(self.ports, FaultyPorts) or self.ports.is_over)
        )

    def get(self, key: Key) -> Manifest | None:
        if self._is_behind(key.kind):
            return verbs.get(self._then.cluster, key)
        return self.ports.get(key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        if self._is_behind(kind):
            return verbs.list_objects(self._then.cluster, api, kind, namespace, labels)
        return self.ports.list(api, kind, namespace, labels)

    def get_state(self) -> EngineView | Unreachable:
        """The last that is read in a cycle."""
        is_silent, is_behind = self._is_now(Fault.ENGINE_SILENT), self._is_behind(ENGINE)
        self._looks += self.operations > self.disturbance.at
        snapshot = self.ports.get_state()
        if self._looks > 1:
            self._arrive()
        if is_behind:
            return get_state(self._then.engine)
        return Unreachable("timed out") if is_silent else snapshot

    def create(self, manifest: Manifest) -> Manifest:
        return self._written(Create(manifest), lambda: self.ports.create(manifest), Unavailable)

    def patch(self, patch: Patch) -> Manifest:
        return self._written(patch, lambda: self.ports.patch(patch), Unavailable)

    def patch_status(self, patch: Patch) -> Manifest:
        return self._written(f"store {patch.key}", lambda: self.ports.patch_status(patch), Unavailable)

    def delete(self, delete: Delete) -> None:
        self._written(delete, lambda: self.ports.delete(delete), Unavailable)

    def record(self, event: EmitEvent) -> None:
        self._written(event, lambda: self.ports.record(event), Unavailable)

    def execute(self, call: Call) -> None:
        """A call that is late stands in the engine's queue: it is carried out before any other."""
        is_now, fault = self.operations == self.disturbance.at, self.disturbance.fault
        self._arrive()
        is_late = is_now and fault is Fault.TOLD_LATE
        self._written(EngineCall(call), lambda: self._told(call, is_late=is_late), CallFailed)
        if is_now and fault is Fault.TOLD_TWICE:
            self.ports.execute(call)

    def _told(self, call: Call, *, is_late: bool) -> None:
        if is_late:
            self._late.append(call)
            raise CallFailed("timed out, and is carried out later")
        self.ports.execute(call)

    def _arrive(self) -> None:
        while self._late:
            self.ports.execute(self._late.pop(0))

    @property
    def _then(self) -> FakeClusterState:
        return self.past[max(0, len(self.past) - self.disturbance.back)]

    def _is_behind(self, what: str) -> bool:
        return self._is_now(Fault.STALE_READS) and self.disturbance.kind in (what, EVERYTHING)

    def _is_now(self, fault: Fault) -> bool:
        """For all that the first cycle after the write reads."""
        happening = self.disturbance.fault is fault and self.operations > self.disturbance.at
        return happening and self._looks == 0

    def _written(self, write: Operation | str, carry_out: Callable[[], T], silence: type[Exception]) -> T:
        number, fault = self.operations, self.disturbance.fault
        self.operations += 1
        self.past.append(self.state())
        is_denied = self._is_denied(number, str(write))
        if not (self._hits(number) or is_denied) or fault in _ON_READS | _ON_CALLS:
            return carry_out()
        if fault in (Fault.CRASH_AFTER, Fault.LOST_RESPONSE):
            carry_out()
        raise {
            Fault.CRASH_BEFORE: Crashed,
            Fault.CRASH_AFTER: Crashed,
            Fault.CONFLICT: silence if silence is CallFailed else Conflict,
            Fault.CONFLICT_STORM: silence if silence is CallFailed else Conflict,
            Fault.REFUSED: CallRejected if silence is CallFailed else Rejected,
            Fault.DENIED: CallRejected if silence is CallFailed else Rejected,
        }.get(fault, silence)(f"{fault} at write {number}")

    def _is_denied(self, number: int, write: str) -> bool:
        """Whether it is the write that is refused again and again; others are not."""
        if self.disturbance.fault is not Fault.DENIED:
            return False
        if number == self.disturbance.at:
            self._denied = [write] * _STORM
        is_denied = self._denied[-1:] == [write]
        del self._denied[len(self._denied) - is_denied :]
        return is_denied

    def _hits(self, number: int) -> bool:
        length = _STORM if self.disturbance.fault is Fault.CONFLICT_STORM else 1
        return 0 <= number - self.disturbance.at < length


def killed(state: FakeClusterState, pod: Key) -> FakeClusterState:
    """The machine under a pod is gone, and no budget was asked: another one takes its place."""
    found = state.cluster.objects.get(pod)
    if found is None:
        return state
    gone = verbs.delete(state.cluster, Delete(pod, found["metadata"]["uid"], ""), now=state.now)
    return replace(state, cluster=gone)


def without_volume(state: FakeClusterState, pod: Key) -> FakeClusterState:
    """The same, and its disk with it."""
    claim = Key("v1", "PersistentVolumeClaim", pod.namespace, f"data-{pod.name}")
    return replace(killed(state, pod), cluster=verbs.remove(killed(state, pod).cluster, claim))
