"""Run a release of the operator on a fake cluster: once, for some ticks, until it converges, or with faults.

A tick is a step of the fake time. Unless a test passes other ports, a run checks every write against
the invariants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeVar

from searchkeeper.api.codec import decode_records, decode_summary
from searchkeeper.api.status import SummaryType
from searchkeeper.images import engine_image
from searchkeeper.kubernetes.api import ApiError
from searchkeeper.kubernetes.operations import Key, Patch
from searchkeeper.opensearch.client import CallFailed
from searchkeeper.planner import Operation
from searchkeeper.reconcile import ReconcileOutcome, reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_opensearch import create_index
from searchkeeper.testing.faults import Crashed, Fault, FaultInjection, FaultyPorts
from searchkeeper.testing.fingerprints import Fingerprint, fingerprint
from searchkeeper.testing.invariants.checks import leftovers
from searchkeeper.testing.invariants.recorder import InvariantRecorder, shuffled
from searchkeeper.testing.invariants.transitions import Transition
from searchkeeper.testing.ports import PortsDecorator
from tests.support import failure_context

T = TypeVar("T")
NEWEST: Final = "0.5.0"
CLUSTER: Final = Key("search.everpath.dev/v1alpha1", "SearchCluster", "search", "logs")
# Reconciles without a write after which the operator counts as stuck.
_MAX_IDLE_RECONCILES: Final = 200
# More than any change needs: an operator that writes in every one of them oscillates.
MAX_RECONCILES_PER_TICK: Final = 300
_MAX_RECONCILES: Final = 3000


class WriteLimitReached(Exception):
    """The operator tried to write more often than CountingPorts allow."""


@dataclass
class CountingPorts(PortsDecorator):
    """Count writes. Raise WriteLimitReached instead of executing more than `max_writes`."""

    max_writes: int | None = None
    writes: int = 0

    def _write(self, _: Operation, execute: Callable[[], T]) -> T:
        if self.max_writes is not None and self.writes >= self.max_writes:
            raise WriteLimitReached
        self.writes += 1
        return execute()


def pool(name: str, replicas: int, *roles: str) -> dict[str, Any]:
    return {"name": name, "roles": list(roles), "replicas": replicas}


SMALL: Final = (pool("data", 2, "data"), pool("managers", 3, "cluster_manager"))


def new_cluster(*pools: dict[str, Any], version: str = "2.19.4", **spec: Any) -> FakeCluster:
    """Return a fake cluster with a SearchCluster that was never reconciled. Pools default to SMALL."""
    cluster = FakeCluster()
    wanted = {"version": version, "pools": list(pools or SMALL), **spec}
    metadata = {"name": CLUSTER.name, "namespace": CLUSTER.namespace}
    cluster.create({"apiVersion": CLUSTER.api, "kind": CLUSTER.kind, "metadata": metadata, "spec": wanted})
    return cluster


def add_index(cluster: FakeCluster, name: str = "books", *, replicas: int = 1) -> FakeCluster:
    """Create an index with documents, and wait until its shards are allocated."""
    cluster.state = replace(cluster.state, engine=create_index(cluster.state.engine, name, replicas=replicas))
    for _ in range(3):
        cluster.tick()
    return cluster


def edit_spec(cluster: FakeCluster, **spec: Any) -> FakeCluster:
    """Merge fields into the spec of the SearchCluster, and return the same fake cluster."""
    cluster.patch(Patch(CLUSTER, {"spec": spec}, ""))
    return cluster


def copy_cluster(cluster: FakeCluster) -> FakeCluster:
    """Return another fake cluster in the same state. States are immutable, so this is cheap."""
    return FakeCluster(cluster.state)


def checked_ports(
    cluster: FakeCluster, version: str = NEWEST, *, max_writes: int | None = None
) -> CountingPorts:
    """Return ports that check every write against the invariants."""
    return CountingPorts(InvariantRecorder(cluster, CLUSTER, release(version)), max_writes)


def reconcile_once(ports: Any, cluster: FakeCluster, version: str, **options: Any) -> ReconcileOutcome:
    """Reconcile, with the actions in a random order that depends only on the state."""
    failure_context.add("fake cluster", partial(describe_cluster, cluster))
    now, order = cluster.state.now, shuffled(cluster.state)
    return reconcile(ports, ports, CLUSTER, release(version), now, order=order, **options)


def try_reconcile(ports: Any, cluster: FakeCluster, version: str, **options: Any) -> ReconcileOutcome | None:
    """Reconcile once; return None if a port fails or the operator crashes, after which it would retry."""
    try:
        return reconcile_once(ports, cluster, version, **options)
    except (Crashed, ApiError, CallFailed):
        return None


def reconcile_until_converged(
    cluster: FakeCluster, version: str = NEWEST, *, max_writes: int | None = None
) -> int:
    """Reconcile until the cluster has converged, and return the number of writes.

    Raises WriteLimitReached after `max_writes`, and AssertionError if the cluster does not converge.
    """
    ports = checked_ports(cluster, version, max_writes=max_writes)
    idle = busy = 0
    while idle < _MAX_IDLE_RECONCILES and busy < MAX_RECONCILES_PER_TICK:
        outcome = reconcile_once(ports, cluster, version)
        if outcome.converged:
            return ports.writes
        idle, busy = (0, busy + 1) if outcome.wrote else (idle + 1, 0)
        if not outcome.wrote:
            cluster.tick()
    raise AssertionError(f"{version} is stuck: {unmet_conditions(cluster)}")


def reconcile_for_ticks(
    cluster: FakeCluster, ports: Any = None, version: str = NEWEST, *, ticks: int
) -> FakeCluster:
    """Reconcile for this many ticks, whether the cluster converges or not.

    In each tick the operator reconciles until it writes nothing. Ports default to checked_ports.
    """
    ports = ports or checked_ports(cluster, version)
    for _ in range(ticks):
        for _ in range(MAX_RECONCILES_PER_TICK):
            if not reconcile_once(ports, cluster, version).wrote:
                break
        else:
            raise AssertionError(f"the operator does not stop writing: {unmet_conditions(cluster)}")
        cluster.tick()
    return cluster


def reconcile_steps(
    cluster: FakeCluster, version: str = NEWEST, *, ports: Any = None, **options: Any
) -> Iterator[FakeCluster]:
    """Yield the cluster after each reconcile and after each tick, until it has converged.

    Ports default to checked_ports. Raises AssertionError if the cluster does not converge.
    """
    ports = ports or checked_ports(cluster, version)
    for _ in range(_MAX_RECONCILES):
        outcome = reconcile_once(ports, cluster, version, **options)
        yield cluster
        if outcome.converged:
            return
        if not outcome.wrote:
            cluster.tick()
            yield cluster
    raise AssertionError(f"{version} does not converge: {unmet_conditions(cluster)}")


def reconcile_until(
    cluster: FakeCluster, is_reached: Callable[[FakeCluster], bool], version: str = NEWEST
) -> FakeCluster:
    """Reconcile until a condition holds. Raises AssertionError if the cluster converges before."""
    if is_reached(cluster):
        return cluster
    for _ in reconcile_steps(cluster, version):
        if is_reached(cluster):
            return cluster
    raise AssertionError(f"{version} has converged before the condition held: {unmet_conditions(cluster)}")


def reconcile_until_deleted(ports: Any, cluster: FakeCluster, version: str, *, ticks: int = 60) -> None:
    """Reconcile once a tick until the SearchCluster is gone; the caller checks whether it is."""
    for _ in range(ticks):
        try_reconcile(ports, cluster, version)
        cluster.tick()
        if cluster.get(CLUSTER) is None:
            return


def set_pod_faults(cluster: FakeCluster, **faults: PodFault) -> FakeCluster:
    """Replace the faults of pods, by version (`v3_4_0`) or pod (`logs_data_0`); without any, all recover."""
    named = {
        engine_image(name[1:].replace("_", ".")) if name[1].isdecimal() else name.replace("_", "-"): fault
        for name, fault in faults.items()
    }
    cluster.state = replace(cluster.state, faults=tuple(sorted(named.items())))
    return cluster


def annotate(cluster: FakeCluster, **annotations: str) -> FakeCluster:
    """Set annotations of the SearchCluster: `rollback` is `search.everpath.dev/rollback`."""
    named = {f"search.everpath.dev/{name}": text for name, text in annotations.items()}
    cluster.patch(Patch(CLUSTER, {"metadata": {"annotations": named}}, ""))
    return cluster


def node_versions(cluster: FakeCluster) -> dict[str, str]:
    """Return the version of every node that has joined, by the short name of its pod: `data-0`."""
    nodes = cluster.state.engine.nodes
    return {node.name.removeprefix("logs-"): node.version for node in sorted(nodes, key=lambda n: n.name)}


def claim_uids(cluster: FakeCluster) -> dict[str, str]:
    """Return the UID of every volume claim."""
    found = cluster.list("v1", "PersistentVolumeClaim", CLUSTER.namespace, {})
    return {each["metadata"]["name"]: each["metadata"]["uid"] for each in found}


def condition(cluster: FakeCluster, name: str) -> str:
    """Return `True RollbackAvailable: possible to 2.19.4`, or `False LastDataNode: stalled: …` if stalled."""
    conditions = {each.type: each for each in decode_records(status(cluster)).conditions}
    found = (conditions | decode_summary(status(cluster)))[name]
    stalled = "stalled: " if found.is_stalled else ""
    return f"{found.status} {found.reason}: {stalled}{found.message}"


def status(cluster: FakeCluster) -> Mapping[str, Any]:
    """Return the status of the SearchCluster."""
    found = cluster.get(CLUSTER)
    assert found is not None
    return found.get("status") or {}


def unmet_conditions(cluster: FakeCluster) -> str:
    """Return the conditions of actions that are not True, and the ledger, as text."""
    unmet = [
        f"{each['type']}={each['status']} {each['reason']}: {each['message']}"
        for each in status(cluster).get("conditions", ())
        if each["status"] != "True" and each["type"] not in list(SummaryType)
    ]
    return "\n".join([*unmet, str(status(cluster).get("ledger"))])


def describe_cluster(cluster: FakeCluster) -> str:
    """Return the time, the nodes, the unmet conditions and the events of a fake cluster, as text."""
    nodes = ", ".join(f"{name} {version}" for name, version in node_versions(cluster).items())
    unmet = unmet_conditions(cluster) if cluster.get(CLUSTER) is not None else "the SearchCluster is deleted"
    events = [f"event {event.reason}: {event.message}" for event in cluster.state.events]
    return "\n".join([f"after {cluster.state.now} s; nodes: {nodes or 'none'}", unmet, *events])


def deployed_state(state: FakeClusterState) -> tuple[Any, ...]:
    """Return what is deployed, without UIDs, times and pods; equal if a user cannot see a difference."""
    objects = {
        key: (manifest.get("spec"), manifest.get("data"))
        for key, manifest in state.cluster.objects.items()
        if key.kind not in ("Pod", "ControllerRevision", "SearchCluster")
    }
    nodes = sorted((node.name, node.version) for node in state.engine.nodes)
    return objects, nodes, state.engine.allocation, state.engine.excluded


@dataclass
class KnownStates:
    """States from which the operator is known to reach the same end, so that a run may stop at them."""

    end: tuple[Any, ...] | None = None
    states: set[Fingerprint] = field(default_factory=set)


@dataclass(frozen=True)
class ReconcileStart:
    """The state in which a reconcile starts, and the number of writes before it."""

    state: FakeClusterState
    writes_before: int


@dataclass(frozen=True)
class RecordedRun:
    """A run without faults until the cluster has converged: all reconciles and all writes."""

    version: str
    starts: tuple[ReconcileStart, ...]
    transitions: tuple[Transition, ...]
    known: KnownStates

    def start_before(self, write: int) -> ReconcileStart:
        """Return the start of the reconcile that makes this write; the first write is 0."""
        return next(start for start in reversed(self.starts) if start.writes_before <= write)


def record_run(cluster: FakeCluster, version: str = NEWEST, known: KnownStates | None = None) -> RecordedRun:
    """Reconcile until the cluster has converged, and record the run. Adds its states to `known`."""
    known = known or KnownStates()
    ports = InvariantRecorder(cluster, CLUSTER, release(version))
    starts, idle = [ReconcileStart(cluster.state, 0)], 0
    while True:
        known.states.add(fingerprint(cluster.state))
        outcome = reconcile_once(ports, cluster, version)
        if outcome.converged:
            break
        idle = 0 if outcome.wrote else idle + 1
        if not outcome.wrote:
            cluster.tick()
        starts.append(ReconcileStart(cluster.state, len(ports.steps)))
        is_stuck = max(idle, len(starts) // 10) >= _MAX_IDLE_RECONCILES
        assert not is_stuck, f"{version} is stuck: {unmet_conditions(cluster)}"
    _check_end(cluster, known, version)
    return RecordedRun(version, tuple(starts), tuple(ports.steps), known)


def run_with_faults(run: RecordedRun, *faults: FaultInjection) -> int:
    """Repeat a run with faults, and check that it has the same end. Return the number of reconciles."""
    start = run.start_before(min(each.at for each in faults))
    cluster = FakeCluster(start.state)
    past = [transition.before.state for transition in run.transitions[: start.writes_before]]
    ports: Any = InvariantRecorder(cluster, CLUSTER, release(run.version))
    for each in sorted(faults, key=lambda each: each.fault is Fault.STATUS_LOST):
        ports = FaultyPorts(ports, lambda: cluster.state, each, start.writes_before, list(past))
    return run_to_known_end(cluster, run.version, run.known, ports)


def run_to_known_end(
    cluster: FakeCluster, version: str, known: KnownStates, ports: Any = None, *, limit: int = 4000
) -> int:
    """Reconcile until the cluster has converged or is in a known state, and return the number of reconciles.

    Failed reconciles are retried. Raises AssertionError if the cluster has another end, or none.
    """
    ports = ports or InvariantRecorder(cluster, CLUSTER, release(version))
    visited, idle = [fingerprint(cluster.state)], 0
    for _ in range(limit):
        outcome = try_reconcile(ports, cluster, version)
        if outcome is not None and outcome.converged and _stays_converged(ports, cluster, version):
            _check_end(cluster, known, version)
            break
        idle = 0 if outcome is None or outcome.wrote else idle + 1
        if outcome is None or not outcome.wrote:
            cluster.tick()
        assert idle < _MAX_IDLE_RECONCILES, f"{version} is stuck: {unmet_conditions(cluster)}"
        state = fingerprint(cluster.state)
        if state in known.states and getattr(ports, "is_over", True):
            break
        visited.append(state)
    else:
        raise AssertionError(f"{version} does not converge: {unmet_conditions(cluster)}")
    known.states.update(visited)
    return len(visited)


def _stays_converged(ports: Any, cluster: FakeCluster, version: str) -> bool:
    """Return whether the cluster is still converged after controllers have seen the last writes."""
    cluster.tick()
    outcome = try_reconcile(ports, cluster, version)
    return outcome is not None and outcome.converged


def _check_end(cluster: FakeCluster, known: KnownStates, version: str) -> None:
    left = leftovers(cluster.state, CLUSTER)
    assert left is None, left
    end = deployed_state(cluster.state)
    known.end = known.end or end
    assert end == known.end, f"{version} converges to another state"
