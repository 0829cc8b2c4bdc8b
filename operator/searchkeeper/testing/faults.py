"""Fault injection between the operator and its ports: one fault at a chosen write."""

from __future__ import annotations

__all__ = [
    "ENGINE",
    "EVERYTHING",
    "Crashed",
    "Fault",
    "FaultInjection",
    "FaultyPorts",
    "kill_pod",
    "kill_pod_and_volume",
    "lose_status",
]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, TypeVar

from searchkeeper.kubernetes.api import Conflict, Rejected, Unavailable
from searchkeeper.kubernetes.operations import Delete, EngineCall, Key, Manifest, Patch
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import CallFailed, CallRejected
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.planner import Operation
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.fake_kubernetes import object_store
from searchkeeper.testing.fake_opensearch import get_details, get_state
from searchkeeper.testing.ports import Ports, PortsDecorator

T = TypeVar("T")


class Crashed(Exception):
    """The operator process is gone. The next one starts from what is persisted."""


class Fault(StrEnum):
    """What happens at a write, or to the reads after it."""

    CRASH_BEFORE = "crash before"
    CRASH_AFTER = "crash after"
    LOST_RESPONSE = "lost response"
    UNAVAILABLE = "unavailable"
    CONFLICT = "conflict"
    REJECTED = "rejected"
    DENIED = "rejected repeatedly"
    CONFLICT_STORM = "conflict storm"
    REPEATED_CALL = "call executed twice"
    DELAYED_CALL = "call executed late"
    STALE_READS = "stale reads"
    ENGINE_SILENT = "engine unreachable"
    STATUS_LOST = "status lost"


_ON_READS: Final = frozenset({Fault.STALE_READS, Fault.ENGINE_SILENT})
_EXECUTED: Final = _ON_READS | frozenset({Fault.REPEATED_CALL, Fault.DELAYED_CALL, Fault.STATUS_LOST})
# How many writes in a row conflict, and how often the same write is denied.
_REPETITIONS: Final = 10
# Values of FaultInjection.kind besides the kinds of objects.
ENGINE: Final = "engine"
EVERYTHING: Final = "everything"


@dataclass(frozen=True, slots=True)
class FaultInjection:
    """One fault at the write with this number, counted from 0.

    Stale reads affect one kind of object, the engine or everything. For one reconcile they return the state
    of `back` writes before.
    """

    at: int
    fault: Fault
    kind: str = ""
    back: int = 1


@dataclass
class FaultyPorts(PortsDecorator):
    """Both ports with one fault. `past` has the state before each write, for stale reads.

    Faults are combined by nesting: `ports` may be a FaultyPorts too. A lost status is the outermost one.
    """

    state: Callable[[], FakeClusterState]
    injection: FaultInjection
    operations: int = 0
    past: list[FakeClusterState] = field(default_factory=list)
    # Reconciles since the fault.
    _reconciles: int = 0
    _delayed: list[Call] = field(default_factory=list)
    # The denied write, once for each time that it is still to be denied.
    _denied: list[str] = field(default_factory=list)
    _is_engine_stale: bool = False

    @property
    def is_over(self) -> bool:
        """Whether the fault has happened completely, here and in nested ports."""
        is_pending = self._delayed or self._denied or self._hits(self.operations)
        return (
            self.operations > self.injection.at
            and self._reconciles > 0
            and not is_pending
            and (not isinstance(self.ports, FaultyPorts) or self.ports.is_over)
        )

    def get(self, key: Key) -> Manifest | None:
        if self._is_stale(key.kind):
            return object_store.get(self._past_state.cluster, key)
        return self.ports.get(key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        if self._is_stale(kind):
            return object_store.list_objects(self._past_state.cluster, api, kind, namespace, labels)
        return self.ports.list(api, kind, namespace, labels)

    def get_state(self) -> EngineView | Unreachable:
        """Read the engine, which a reconcile reads last."""
        if self.injection.fault is Fault.STATUS_LOST and not self._has_delayed_calls:
            self._world.state = replace(self._world.state, lost_statuses=())
        is_silent, is_stale = self._affects_reads(Fault.ENGINE_SILENT), self._is_stale(ENGINE)
        self._reconciles += self.operations > self.injection.at
        self._is_engine_stale = is_stale
        view = self.ports.get_state()
        if self._reconciles > 1:
            self._execute_delayed()
        if is_stale:
            return get_state(self._past_state.engine)
        return Unreachable("timed out") if is_silent else view

    def get_details(self, request: DetailsRequest) -> EngineDetails:
        """Read details, which a reconcile reads after the state: they are as old."""
        if self._is_engine_stale:
            return get_details(self._past_state.engine, request)
        return self.ports.get_details(request)

    def execute(self, call: Call) -> None:
        """Execute a call. A delayed call stays in the engine's queue and runs before the next one."""
        is_now = self.operations == self.injection.at
        self._execute_delayed()

        def execute() -> None:
            if is_now and self.injection.fault is Fault.DELAYED_CALL:
                self._delayed.append(call)
                raise CallFailed("timed out; executed later")
            self.ports.execute(call)

        self._write(EngineCall(call), execute)
        if is_now and self.injection.fault is Fault.REPEATED_CALL:
            self.ports.execute(call)

    def _execute_delayed(self) -> None:
        while self._delayed:
            self.ports.execute(self._delayed.pop(0))

    @property
    def _has_delayed_calls(self) -> bool:
        return bool(self._delayed) or (isinstance(self.ports, FaultyPorts) and self.ports._has_delayed_calls)

    @property
    def _world(self) -> FakeCluster:
        """The fake cluster behind all decorators."""
        ports: Ports = self
        while isinstance(ports, PortsDecorator):
            ports = ports.ports
        assert isinstance(ports, FakeCluster)
        return ports

    @property
    def _past_state(self) -> FakeClusterState:
        return self.past[max(0, len(self.past) - self.injection.back)]

    def _is_stale(self, kind: str) -> bool:
        return self._affects_reads(Fault.STALE_READS) and self.injection.kind in (kind, EVERYTHING)

    def _affects_reads(self, fault: Fault) -> bool:
        """Whether this is the fault, and the first reconcile after the write reads."""
        has_happened = self.injection.fault is fault and self.operations > self.injection.at
        return has_happened and self._reconciles == 0

    def _write(self, write: Operation, execute: Callable[[], T]) -> T:
        """Execute a write, with the fault if it hits this one."""
        number, fault = self.operations, self.injection.fault
        self.operations += 1
        self.past.append(self.state())
        is_denied = self._is_denied(number, str(write))
        if self._hits(number) and fault is Fault.STATUS_LOST:
            lost = _statuses(self._world.state)
            self._world.state = replace(lose_status(self._world.state), lost_statuses=lost)
        if not (self._hits(number) or is_denied) or fault in _EXECUTED:
            return execute()
        if fault in (Fault.CRASH_AFTER, Fault.LOST_RESPONSE):
            execute()
        is_call = isinstance(write, EngineCall)
        conflict = CallFailed if is_call else Conflict
        rejection = CallRejected if is_call else Rejected
        errors: dict[Fault, type[Exception]] = {
            Fault.CRASH_BEFORE: Crashed,
            Fault.CRASH_AFTER: Crashed,
            Fault.CONFLICT: conflict,
            Fault.CONFLICT_STORM: conflict,
            Fault.REJECTED: rejection,
            Fault.DENIED: rejection,
        }
        raise errors.get(fault, CallFailed if is_call else Unavailable)(f"{fault} at write {number}")

    def _is_denied(self, number: int, write: str) -> bool:
        """Count down the denials of the write that the fault hit; other writes are not denied."""
        if self.injection.fault is not Fault.DENIED:
            return False
        if number == self.injection.at:
            self._denied = [write] * _REPETITIONS
        is_denied = self._denied[-1:] == [write]
        if is_denied:
            self._denied.pop()
        return is_denied

    def _hits(self, number: int) -> bool:
        length = _REPETITIONS if self.injection.fault is Fault.CONFLICT_STORM else 1
        return 0 <= number - self.injection.at < length


def lose_status(state: FakeClusterState) -> FakeClusterState:
    """Remove the status of every SearchCluster and SearchPool, as a restore from a backup does."""
    cluster = state.cluster
    for key, _ in _statuses(state):
        cluster, _ = object_store.patch(cluster, Patch(key, {"status": None}, ""), status=True)
    return replace(state, cluster=cluster)


def _statuses(state: FakeClusterState) -> tuple[tuple[Key, Manifest], ...]:
    return tuple(
        (key, manifest["status"])
        for key, manifest in state.cluster.objects.items()
        if key.kind in ("SearchCluster", "SearchPool") and "status" in manifest
    )


def kill_pod(state: FakeClusterState, pod: Key) -> FakeClusterState:
    """Delete a pod as a node failure does: no disruption budget applies, the controller replaces it."""
    manifest = state.cluster.objects.get(pod)
    if manifest is None:
        return state
    delete = Delete(pod, manifest["metadata"]["uid"], "")
    return replace(state, cluster=object_store.delete(state.cluster, delete, now=state.now))


def kill_pod_and_volume(state: FakeClusterState, pod: Key) -> FakeClusterState:
    """Delete a pod together with its volume claim."""
    claim = Key("v1", "PersistentVolumeClaim", pod.namespace, f"data-{pod.name}")
    killed = kill_pod(state, pod)
    return replace(killed, cluster=object_store.remove(killed.cluster, claim))
