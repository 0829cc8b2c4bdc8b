"""Gates: what must hold before a pod is taken away, each with a name, a verdict and a sentence.

Every gate looks at one candidate. All of them are shown to people; the first closed one stops the roll.
"""

from __future__ import annotations

__all__ = [
    "FATAL_POD_PROBLEMS",
    "NO_DEADLINE",
    "Candidate",
    "GateResult",
    "first_blocking_gate",
    "gate_results",
    "has_failed",
    "is_not_in_cluster",
    "yellow_blocker",
]

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from searchkeeper.opensearch.view import Allocation, Color, EngineView, ShardCopy, ShardState, Unreachable
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.upgrade.role_removal import loses_role, loses_vote, nodes_keeping_role
from searchkeeper.upgrade.shards import has_other_manager, last_copies_on, shared_shards

# A person decides when this ends: no deadline would hurry them.
NO_DEADLINE: Final = 2**31
# Why a copy may stay unassigned for as long as this roll lasts, whatever anybody does.
_EXCUSES: Final = frozenset({"node_version", "same_shard", "awareness", "filter", "disk_threshold"})
# The pod has failed for good; another look at it would show the same.
FATAL_POD_PROBLEMS: Final = frozenset(
    {"CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "Unschedulable", "Failed"}
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pod that is to be replaced, beside others of the same batch that are gone already."""

    pod: Pod
    pool: PoolView
    batch: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a gate says. A closed one has a patience: for how long that is no reason to worry."""

    gate: str
    is_open: bool
    message: str
    deadline: int = 0


@dataclass(frozen=True, slots=True)
class _Look:
    """What a gate looks at: the candidate, and the world with an engine that answered."""

    candidate: Candidate
    snapshot: ClusterSnapshot
    engine: EngineView

    @property
    def replaced_pods(self) -> frozenset[str]:
        """The pods that are gone, or will be when all gates are open."""
        return self.candidate.batch | {self.candidate.pod.name}

    def excused(self) -> frozenset[str]:
        """Who need not be there: on the way back nobody who is down for good, or it would never end."""
        if UpgradeLedger.of(self.snapshot.cluster.records.ledger).rollback_to is None:
            return frozenset()
        pods = (Candidate(pod, pool) for pool in self.snapshot.pools for pod in pool.retained_pods)
        return (
            frozenset(each.pod.name for each in pods if has_failed(each, self.snapshot)) - self.replaced_pods
        )


_Gate = Callable[[_Look], str | None]


def is_not_in_cluster(candidate: Candidate, snapshot: ClusterSnapshot) -> bool:
    """Nobody would miss the pod: it is not ready, and it is not part of the engine either.

    Where the engine cannot be asked, only a failure that the kubelet or the scheduler names counts.
    """
    pod = candidate.pod
    if pod.is_ready:
        return False
    if isinstance(snapshot.engine, Unreachable):
        return pod.problem in FATAL_POD_PROBLEMS
    return snapshot.engine.node(pod.name) is None


def has_failed(candidate: Candidate, snapshot: ClusterSnapshot) -> bool:
    """It is lost, and neither just beginning nor just ending."""
    pod = candidate.pod
    return (
        pod.problem in FATAL_POD_PROBLEMS
        and not pod.is_terminating
        and is_not_in_cluster(candidate, snapshot)
    )


def first_blocking_gate(candidate: Candidate, snapshot: ClusterSnapshot) -> GateResult | None:
    return next((verdict for verdict in gate_results(candidate, snapshot) if not verdict.is_open), None)


def gate_results(candidate: Candidate, snapshot: ClusterSnapshot) -> Iterator[GateResult]:
    """Every gate's verdict, in the order in which they stop a roll."""
    policy = snapshot.cluster.spec.upgrade
    yield _verdict("NotPaused", "spec.upgrade.paused is set" if policy.paused else None, NO_DEADLINE)
    if is_not_in_cluster(candidate, snapshot):
        yield GateResult("NothingToLose", True, f"{candidate.pod.name} is not part of the cluster as it is")
        return
    engine = snapshot.engine
    if isinstance(engine, Unreachable):
        objection = f"the engine does not answer: {engine.cause}"
        yield _verdict("EngineReachable", objection, policy.health_deadline)
        return
    yield _verdict("EngineReachable", None, 0)
    for name, gate in _GATES.items():
        yield _verdict(name, gate(_Look(candidate, snapshot, engine)), policy.health_deadline)


def _verdict(gate: str, objection: str | None, deadline: int) -> GateResult:
    return GateResult(gate, objection is None, objection or "nothing stands against it", deadline)


def _pods_are_ready(look: _Look) -> str | None:
    """All others, and as many as are wanted; those of the same batch are away on purpose.

    Whoever leaves for good is not waited for.
    """
    excused = look.excused()
    for pool in look.snapshot.pools:
        here = [pod for pod in pool.retained_pods if pod.name not in look.replaced_pods | excused]
        unready = [pod.name for pod in here if pod.is_terminating or not pod.is_ready]
        if unready:
            return f"{', '.join(unready)} of pool {pool.spec.name} not ready"
        gone = len(look.replaced_pods) if pool is look.candidate.pool else 0
        down = sum(pod.name in excused for pod in pool.retained_pods)
        if len(here) < pool.replicas - gone - down:
            return f"pool {pool.spec.name} has {len(pool.retained_pods)} of {pool.replicas} pods"
    return None


def _nodes_have_joined(look: _Look) -> str | None:
    staying, missing = (
        (pod for pool in look.snapshot.pools for pod in pool.retained_pods),
        look.replaced_pods | look.excused(),
    )
    here = (pod.name for pod in staying if pod.name not in missing)
    absent = [name for name in here if look.engine.node(name) is None]
    verb = "has" if len(absent) == 1 else "have"
    return f"{', '.join(absent)} {verb} not joined the cluster" if absent else None


def _health_allows_it(look: _Look) -> str | None:
    """Green and at rest where the candidate is; or yellow that gets no greener before this roll is over.

    Shards that move elsewhere in a green cluster may do so for ever: every copy is there all the while.
    """
    engine = look.engine
    if engine.color is Color.RED:
        return "the cluster is red: a primary is missing"
    if engine.color is Color.GREEN:
        return _moves_from_or_to(look.candidate.pod.name, engine)
    if look.candidate.batch:
        return None
    return yellow_blocker(engine, UpgradeLedger.of(look.snapshot.cluster.records.ledger))


def yellow_blocker(engine: EngineView, ledger: UpgradeLedger) -> str | None:
    """Why a yellow cluster is waited for; None where waiting would not turn it green."""
    if _data_nodes(engine) == 1:
        return None
    return _reason_to_wait_for_green(engine, ledger.allocation_before is not None)


def _moves_from_or_to(node: str, engine: EngineView) -> str | None:
    moving = [copy for copy in engine.copies_on(node) if copy.state is not ShardState.STARTED]
    return f"{len(moving)} shards are moving from or to {node}" if moving else None


def _reason_to_wait_for_green(engine: EngineView, is_ours: bool) -> str | None:
    """What we hold back ourselves for this pod is no reason: else every step would be taken back for ever."""
    if engine.is_moving:
        return "the cluster is yellow, and shards are on their way"
    if engine.allocation is not Allocation.ALL and not is_ours:
        return f"the cluster is yellow while allocation is {engine.allocation}"
    ours = frozenset({"enable"}) if is_ours else frozenset()
    unexcused = (copy for copy in engine.shards if _is_unexcused(copy, copy.deciders - ours))
    return next(map(_complaint, unexcused), None)


def _data_nodes(engine: EngineView) -> int:
    return sum("data" in node.roles for node in engine.nodes)


def _is_unexcused(copy: ShardCopy, deciders: frozenset[str]) -> bool:
    return copy.state is ShardState.UNASSIGNED and not (deciders and deciders <= _EXCUSES)


def _complaint(copy: ShardCopy) -> str:
    why = f" (deciders: {', '.join(sorted(copy.deciders))})" if copy.deciders else ""
    return f"a copy of shard {copy.shard} of {copy.index} is unassigned{why}"


def _quorum_survives(look: _Look) -> str | None:
    """A majority of the committed voters stays without this one. A lone voter has no majority to lose, but
    the cluster's state, where that is not on a volume and nobody else can have the vote meanwhile.

    Whoever comes back without the role has to leave its vote to a manager that keeps it. A voter that has
    come back like that is none to count on.
    """
    voters, name = look.engine.voters, look.candidate.pod.name
    if name not in voters:
        return None
    is_lost = loses_vote(look.engine, name, look.candidate.pool)
    if is_lost and not nodes_keeping_role("cluster_manager", look.snapshot, look.engine):
        return f"{name} would come back without its vote, and has nobody to leave it to"
    if len(voters) == 1:
        return _state_left_behind(look)
    ready = {pod.name for pod in look.snapshot.pods if pod.is_ready and not pod.is_terminating}
    managers = {node.name for node in look.engine.nodes if "cluster_manager" in node.roles}
    left = (voters - {name}) & ready & managers
    needed = len(voters) // 2 + 1
    if len(left) >= needed:
        return None
    return f"{len(left)} of {len(voters)} voters would be left, and {needed} are needed"


def _state_left_behind(look: _Look) -> str | None:
    """A manager on an empty disk knows no cluster: it would begin another one, or none."""
    name = look.candidate.pod.name
    if not look.candidate.pool.spec.storage.ephemeral or has_other_manager(look.engine, name):
        return None
    return (
        f"the state of the cluster is on the ephemeral storage of {name} and nowhere else:"
        " add a pool of managers with volumes"
    )


def _last_copies_are_safe(look: _Look) -> str | None:
    """No shard disappears with the pod, not even for a moment, unless its owner has accepted that.

    The only data node has every last copy; it may go where its volume stays. Whoever comes back without the
    role data, and could not start with a copy of any shard, gives all of them away.
    """
    name = look.candidate.pod.name
    if loses_role("data", look.engine, name, look.candidate.pool):
        return _data_left_behind(look)
    alone = last_copies_on(look.snapshot, look.engine, name)
    if not alone or look.snapshot.cluster.spec.upgrade.accept_single_copy_loss:
        return None
    if _data_nodes(look.engine) == 1 and not look.candidate.pool.spec.storage.ephemeral:
        return None
    shards = ", ".join(sorted({f"{copy.index}[{copy.shard}]" for copy in alone}))
    return f"{name} has the only copy of {shards}"


def _data_left_behind(look: _Look) -> str | None:
    name = look.candidate.pod.name
    if not nodes_keeping_role("data", look.snapshot, look.engine):
        return f"{name} would come back without the role data, and no other node keeps it"
    left = len(look.engine.copies_on(name))
    return f"{name} would come back without the role data, and has {left} shards" if left else None


def _batch_shares_nothing(look: _Look) -> str | None:
    name = look.candidate.pod.name
    shared = shared_shards(look.engine, name, look.candidate.batch)
    return f"{name} shares {len(shared)} shards with pods that are away" if shared else None


_GATES: Final[dict[str, _Gate]] = {
    "PodsReady": _pods_are_ready,
    "NodesJoined": _nodes_have_joined,
    "Healthy": _health_allows_it,
    "QuorumSafe": _quorum_survives,
    "LastCopySafe": _last_copies_are_safe,
    "BatchSafe": _batch_shares_nothing,
}
