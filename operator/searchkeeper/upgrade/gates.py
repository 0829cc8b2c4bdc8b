"""Gates: the checks that must pass before a pod may be removed.

`searchkeeper plan` shows every gate. The first closed gate blocks the rollout.
"""

from __future__ import annotations

__all__ = [
    "FATAL_POD_PROBLEMS",
    "Candidate",
    "Gate",
    "GateResult",
    "first_blocking_gate",
    "gate_results",
    "has_failed",
    "is_not_in_cluster",
    "recent_restarts",
    "yellow_blocker",
]

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from searchkeeper.api.codec import format_timestamp
from searchkeeper.api.reasons import Reason
from searchkeeper.opensearch.view import Allocation, Color, EngineView, ShardState, Unreachable
from searchkeeper.planner import NO_DEADLINE
from searchkeeper.snapshot import ClusterSnapshot, ContainerRestarts, Pod, PoolView
from searchkeeper.upgrade.capacity import copies_to_evacuate, disk_shortage
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.upgrade.secrets import missing_secret
from searchkeeper.upgrade.shards import has_other_manager, last_copies_on, shared_shards
from searchkeeper.upgrade.version_policy import index_refusal
from searchkeeper.upgrade.voting import loses_role, loses_vote, nodes_keeping_role

# Allocation deciders that may keep a copy unassigned for the whole rollout.
_LASTING_DECIDERS: Final = frozenset({"node_version", "same_shard", "awareness", "filter", "disk_threshold"})
# What the kubelet or the scheduler reports of a pod that does not recover by itself.
FATAL_POD_PROBLEMS: Final = frozenset(
    {"CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "Unschedulable", "Failed"}
)
# In seconds. A container that restarts less often is stable enough.
_RESTART_WINDOW: Final = 600
# How many shards a message names.
_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pod to be removed, its pool, and the pods of its batch that are already being replaced."""

    pod: Pod
    pool: PoolView
    batch: frozenset[str] = frozenset()


class Gate(StrEnum):
    """The names of the gates. Each says what holds while the gate is open."""

    NOT_PAUSED = "NotPaused"
    NOT_IN_CLUSTER = "NotInCluster"
    ENGINE_REACHABLE = "EngineReachable"
    SECRETS_FOUND = "SecretsFound"
    PODS_STABLE = "PodsStable"
    PODS_READY = "PodsReady"
    NODES_JOINED = "NodesJoined"
    INDICES_COMPATIBLE = "IndicesCompatible"
    ENGINE_HEALTHY = "EngineHealthy"
    QUORUM_SAFE = "QuorumSafe"
    DISK_SPACE_SUFFICIENT = "DiskSpaceSufficient"
    LAST_COPY_SAFE = "LastCopySafe"
    BATCH_SAFE = "BatchSafe"


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of one gate.

    `reason` is the state that blocks; of an open gate, the state in which it would. `deadline` is how many
    seconds a closed gate may block before the action counts as stalled.
    """

    gate: Gate
    is_open: bool
    reason: Reason
    message: str
    deadline: int = 0


@dataclass(frozen=True, slots=True)
class _Blocker:
    """What closes a gate."""

    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class _GateInput:
    """A candidate, the snapshot, and an engine that answers."""

    candidate: Candidate
    snapshot: ClusterSnapshot
    engine: EngineView

    @property
    def name(self) -> str:
        return self.candidate.pod.name

    @property
    def ledger(self) -> UpgradeLedger:
        return UpgradeLedger.of(self.snapshot.cluster.records.ledger)

    @property
    def pods_to_remove(self) -> frozenset[str]:
        """The candidate and the pods of its batch."""
        return self.candidate.batch | {self.name}

    def ignored_pods(self) -> frozenset[str]:
        """Return the failed pods that a rollback does not wait for. Without this it would never end."""
        if self.ledger.rollback_to is None:
            return frozenset()
        pods = (Candidate(pod, pool) for pool in self.snapshot.pools for pod in pool.retained_pods)
        failed = frozenset(other.pod.name for other in pods if has_failed(other, self.snapshot))
        return failed - self.pods_to_remove


def is_not_in_cluster(candidate: Candidate, snapshot: ClusterSnapshot) -> bool:
    """Whether the pod is not ready and its node has not joined: to remove it costs nothing.

    If the engine does not answer, only a failure that the kubelet or the scheduler reports counts.
    """
    pod = candidate.pod
    if pod.is_ready:
        return False
    if isinstance(snapshot.engine, Unreachable):
        return pod.problem in FATAL_POD_PROBLEMS
    return snapshot.engine.node(pod.name) is None


def has_failed(candidate: Candidate, snapshot: ClusterSnapshot) -> bool:
    """Whether the pod does not recover by itself, and is neither starting nor terminating."""
    pod = candidate.pod
    return (
        pod.problem in FATAL_POD_PROBLEMS
        and not pod.is_terminating
        and is_not_in_cluster(candidate, snapshot)
    )


def first_blocking_gate(candidate: Candidate, snapshot: ClusterSnapshot) -> GateResult | None:
    return next((result for result in gate_results(candidate, snapshot) if not result.is_open), None)


def gate_results(candidate: Candidate, snapshot: ClusterSnapshot) -> Iterator[GateResult]:
    """Yield the result of every gate, in the order in which they block."""
    policy, engine = snapshot.cluster.spec.upgrade, snapshot.engine
    paused = _Blocker(Reason.UPGRADE_PAUSED, "spec.upgrade.paused is set") if policy.paused else None
    yield _result(Gate.NOT_PAUSED, paused, NO_DEADLINE)
    if is_not_in_cluster(candidate, snapshot):
        message = f"{candidate.pod.name} is not part of the cluster: no other gate applies"
        yield GateResult(Gate.NOT_IN_CLUSTER, True, Reason.WAITING_FOR_PODS, message)
        return
    if isinstance(engine, Unreachable):
        blocker = _Blocker(Reason.ENGINE_UNREACHABLE, f"the engine does not answer: {engine.cause}")
        yield _result(Gate.ENGINE_REACHABLE, blocker, policy.health_deadline)
        return
    yield _result(Gate.ENGINE_REACHABLE, None, 0)
    for gate, check in _CHECKS.items():
        deadline = NO_DEADLINE if gate is Gate.SECRETS_FOUND else policy.health_deadline
        yield _result(gate, check(_GateInput(candidate, snapshot, engine)), deadline)


def _result(gate: Gate, blocker: _Blocker | None, deadline: int) -> GateResult:
    if blocker is None:
        return GateResult(gate, True, _DEFAULT_REASONS[gate], "passes", deadline)
    return GateResult(gate, False, blocker.reason, blocker.message, deadline)


def recent_restarts(pod: Pod, snapshot: ClusterSnapshot) -> ContainerRestarts | None:
    """Return the first container of a pod that restarts in a loop, or has restarted lately.

    A restart counts for ten minutes, and no longer than the health deadline: a single one never stalls. One
    by a clock that differs by more than that does not count.
    """
    window = min(_RESTART_WINDOW, snapshot.cluster.spec.upgrade.health_deadline)
    return next(
        (
            each
            for each in pod.restarts
            if each.is_looping or (each.ended_at is not None and abs(snapshot.now - each.ended_at) < window)
        ),
        None,
    )


def _check_secrets_found(given: _GateInput) -> _Blocker | None:
    """The pod finds what it mounts when it comes back. A surplus pod does not come back."""
    if given.candidate.pod not in given.candidate.pool.retained_pods:
        return None
    missing = missing_secret(given.snapshot)
    return None if missing is None else _Blocker(Reason.SECRET_MISSING, missing)


def _check_pods_stable(given: _GateInput) -> _Blocker | None:
    """No container of a pod that stays has restarted lately.

    A candidate that restarts itself passes: its new template may end that. So do the pods of a pool whose
    order the StatefulSet controller chooses, and those of a rollback, which ends restarts of the new version.
    """
    candidate, snapshot = given.candidate, given.snapshot
    if given.ledger.rollback_to is not None or recent_restarts(candidate.pod, snapshot) is not None:
        return None
    for pool in snapshot.pools:
        is_replaced_next = pool is candidate.pool and not (pool.spec.holds_data or pool.spec.votes)
        exempt = pool.outdated_pods if is_replaced_next else ()
        for pod in pool.retained_pods:
            restarts = recent_restarts(pod, snapshot)
            if restarts is None or pod in exempt or pod.name in given.pods_to_remove:
                continue
            times = "once" if restarts.count == 1 else f"{restarts.count} times"
            when = "" if restarts.ended_at is None else f" at {format_timestamp(restarts.ended_at)}"
            message = f"container {restarts.container} of {pod.name} has restarted {times}"
            return _Blocker(Reason.PODS_RESTARTING, f"{message}, last{when}: {restarts.last_exit}")
    return None


def _check_pods_ready(given: _GateInput) -> _Blocker | None:
    """All pods that stay are ready and as many as the spec wants, except those of the batch."""
    ignored = given.ignored_pods()
    for pool in given.snapshot.pools:
        pods = [pod for pod in pool.retained_pods if pod.name not in given.pods_to_remove | ignored]
        unready = [pod.name for pod in pods if pod.is_terminating or not pod.is_ready]
        if unready:
            verb = "is" if len(unready) == 1 else "are"
            message = f"{', '.join(unready)} of pool {pool.spec.name} {verb} not ready"
            return _Blocker(Reason.WAITING_FOR_PODS, message)
        removed = len(given.pods_to_remove) if pool is given.candidate.pool else 0
        failed = sum(pod.name in ignored for pod in pool.retained_pods)
        if len(pods) < pool.replicas - removed - failed:
            message = f"pool {pool.spec.name} has {len(pool.retained_pods)} of {pool.replicas} pods"
            return _Blocker(Reason.WAITING_FOR_PODS, message)
    return None


def _check_nodes_joined(given: _GateInput) -> _Blocker | None:
    exempt = given.pods_to_remove | given.ignored_pods()
    pods = (pod.name for pool in given.snapshot.pools for pod in pool.retained_pods)
    absent = [name for name in pods if name not in exempt and given.engine.node(name) is None]
    if not absent:
        return None
    verb = "has" if len(absent) == 1 else "have"
    return _Blocker(Reason.NODES_NOT_JOINED, f"{', '.join(absent)} {verb} not joined the cluster")


def _check_indices_compatible(given: _GateInput) -> _Blocker | None:
    """The version that the pod comes back with can open every index.

    An upgrade is refused before it starts. A restored snapshot may bring an older index after that, until the
    first node of the new version has joined: then the engine refuses to restore it.
    """
    deployed = given.candidate.pool.stateful_set
    refusal = None if deployed is None else index_refusal(given.engine.indices, deployed.engine_version)
    return None if refusal is None else _Blocker(Reason.INCOMPATIBLE_INDICES, refusal.message)


def _check_engine_healthy(given: _GateInput) -> _Blocker | None:
    """Green with no shard moving from or to the candidate, or yellow that the rollout itself has to end.

    Shards that move elsewhere in a green cluster do not block: rebalancing may never end, and every copy is
    usable meanwhile.
    """
    engine = given.engine
    if engine.color is Color.RED:
        lost = [c for c in engine.shards if c.is_primary and c.state is ShardState.UNASSIGNED]
        names = ", ".join(f"{copy.index}[{copy.shard}]" for copy in lost[:_SHOWN]) or "a shard"
        return _Blocker(Reason.ENGINE_RED, f"the cluster is red: {names} has no primary")
    if engine.color is Color.GREEN:
        return _moving_shards_blocker(given.name, engine)
    if given.candidate.batch:
        return None
    return _yellow_blocker(engine, given.ledger)


def _moving_shards_blocker(node: str, engine: EngineView) -> _Blocker | None:
    moving = [copy for copy in engine.copies_on(node) if copy.state is not ShardState.STARTED]
    if not moving:
        return None
    return _Blocker(Reason.SHARDS_MOVING, f"{len(moving)} shards are moving from or to {node}")


def yellow_blocker(engine: EngineView, ledger: UpgradeLedger) -> str | None:
    """Return why a yellow cluster may still become green without a rollout; None if it cannot."""
    blocker = _yellow_blocker(engine, ledger)
    return None if blocker is None else blocker.message


def _yellow_blocker(engine: EngineView, ledger: UpgradeLedger) -> _Blocker | None:
    """Return why yellow may still become green without the rollout.

    Replica allocation that the operator disabled for this pod must not block the pod, or the setting would be
    made and undone without end.
    """
    if _data_nodes(engine) == 1:
        return None
    is_ours = ledger.allocation_before is not None
    if engine.is_moving:
        return _Blocker(Reason.SHARDS_MOVING, "the cluster is yellow and shards are moving")
    if engine.allocation is not Allocation.ALL and not is_ours:
        message = f"the cluster is yellow while cluster.routing.allocation.enable is {engine.allocation}"
        return _Blocker(Reason.ENGINE_YELLOW, f"{message}; set it to all")
    ours = frozenset({"enable"}) if is_ours else frozenset()
    for copy in engine.shards:
        deciders = copy.deciders - ours
        if copy.state is ShardState.UNASSIGNED and not (deciders and deciders <= _LASTING_DECIDERS):
            cause = f" (deciders: {', '.join(sorted(copy.deciders))})" if copy.deciders else ""
            message = f"a copy of {copy.index}[{copy.shard}] is unassigned{cause}"
            return _Blocker(Reason.ENGINE_YELLOW, message)
    return None


def _data_nodes(engine: EngineView) -> int:
    return sum("data" in node.roles for node in engine.nodes)


def _check_quorum(given: _GateInput) -> _Blocker | None:
    """A majority of the committed voters remains.

    A node that loses the role cluster_manager needs a manager that keeps the role for its vote. A voter that
    has already restarted without the role cannot vote and does not count. A single voter has no majority to
    lose, but may hold the only cluster state.
    """
    voters, name = given.engine.voters, given.name
    if name not in voters:
        return None
    managers_stay = nodes_keeping_role("cluster_manager", given.snapshot, given.engine)
    if loses_vote(given.engine, name, given.candidate.pool) and not managers_stay:
        message = f"{name} votes and loses the role cluster_manager, and no other node keeps it"
        return _Blocker(Reason.QUORUM_AT_RISK, f"{message}; add a pool of cluster managers")
    if len(voters) == 1:
        # A manager with an empty disk may form a new cluster.
        if not given.candidate.pool.spec.storage.ephemeral or has_other_manager(given.engine, name):
            return None
        message = f"only the ephemeral storage of {name} has the cluster state"
        return _Blocker(Reason.QUORUM_AT_RISK, f"{message}; add a pool of cluster managers with volumes")
    ready = {pod.name for pod in given.snapshot.pods if pod.is_ready and not pod.is_terminating}
    managers = {node.name for node in given.engine.nodes if "cluster_manager" in node.roles}
    left, needed = len((voters - {name}) & ready & managers), len(voters) // 2 + 1
    if left >= needed:
        return None
    message = f"without {name}, {left} of {len(voters)} voters remain and {needed} are needed"
    return _Blocker(Reason.QUORUM_AT_RISK, message)


def _check_disk_space(given: _GateInput) -> _Blocker | None:
    """The other data nodes have room for the shards that have to leave the node, if it is not drained yet.

    Before LAST_COPY_SAFE: that gate starts a drain.
    """
    candidate, snapshot, name = given.candidate, given.snapshot, given.name
    ledger = given.ledger
    if name in ledger.excluded or given.engine.excludes(name):
        return None
    copies = copies_to_evacuate(snapshot, ledger, candidate.pod, candidate.pool, given.engine)
    shortage = disk_shortage(snapshot, given.engine, copies, frozenset({name})) if copies else None
    return None if shortage is None else _Blocker(Reason.INSUFFICIENT_DISK_SPACE, shortage)


def _check_last_copies(given: _GateInput) -> _Blocker | None:
    """No shard becomes unavailable, not even for a moment, unless the spec accepts it.

    The only data node holds every last copy. It may restart if its volume stays. A node that loses the role
    data cannot start with a shard on its disk, so it must be empty.
    """
    if loses_role("data", given.engine, given.name, given.candidate.pool):
        left = len(given.engine.copies_on(given.name))
        message = f"{given.name} loses the role data"
        if not nodes_keeping_role("data", given.snapshot, given.engine):
            message += ", and no other node keeps it; add a pool of data nodes"
            return _Blocker(Reason.LAST_SHARD_COPY, message)
        return _Blocker(Reason.LAST_SHARD_COPY, f"{message} and holds {left} shards") if left else None
    copies = last_copies_on(given.snapshot, given.engine, given.name)
    if not copies or given.snapshot.cluster.spec.upgrade.accept_single_copy_loss:
        return None
    if _data_nodes(given.engine) == 1 and not given.candidate.pool.spec.storage.ephemeral:
        return None
    shards = ", ".join(sorted({f"{copy.index}[{copy.shard}]" for copy in copies}))
    message = f"{given.name} holds the only copy of {shards}"
    hint = "set spec.upgrade.acceptSingleCopyLoss to restart it anyway"
    return _Blocker(Reason.LAST_SHARD_COPY, f"{message}; {hint}")


def _check_batch(given: _GateInput) -> _Blocker | None:
    shared = shared_shards(given.engine, given.name, given.candidate.batch)
    if not shared:
        return None
    message = f"{given.name} shares {len(shared)} shards with pods that are being replaced"
    return _Blocker(Reason.BATCH_SHARES_SHARDS, message)


_CHECKS: Final[dict[Gate, Callable[[_GateInput], _Blocker | None]]] = {
    Gate.SECRETS_FOUND: _check_secrets_found,
    Gate.PODS_STABLE: _check_pods_stable,
    Gate.PODS_READY: _check_pods_ready,
    Gate.NODES_JOINED: _check_nodes_joined,
    Gate.INDICES_COMPATIBLE: _check_indices_compatible,
    Gate.ENGINE_HEALTHY: _check_engine_healthy,
    Gate.QUORUM_SAFE: _check_quorum,
    Gate.DISK_SPACE_SUFFICIENT: _check_disk_space,
    Gate.LAST_COPY_SAFE: _check_last_copies,
    Gate.BATCH_SAFE: _check_batch,
}
_DEFAULT_REASONS: Final = {
    Gate.NOT_PAUSED: Reason.UPGRADE_PAUSED,
    Gate.NOT_IN_CLUSTER: Reason.WAITING_FOR_PODS,
    Gate.ENGINE_REACHABLE: Reason.ENGINE_UNREACHABLE,
    Gate.SECRETS_FOUND: Reason.SECRET_MISSING,
    Gate.PODS_STABLE: Reason.PODS_RESTARTING,
    Gate.PODS_READY: Reason.WAITING_FOR_PODS,
    Gate.NODES_JOINED: Reason.NODES_NOT_JOINED,
    Gate.INDICES_COMPATIBLE: Reason.INCOMPATIBLE_INDICES,
    Gate.ENGINE_HEALTHY: Reason.ENGINE_RED,
    Gate.QUORUM_SAFE: Reason.QUORUM_AT_RISK,
    Gate.DISK_SPACE_SUFFICIENT: Reason.INSUFFICIENT_DISK_SPACE,
    Gate.LAST_COPY_SAFE: Reason.LAST_SHARD_COPY,
    Gate.BATCH_SAFE: Reason.BATCH_SHARES_SHARDS,
}
