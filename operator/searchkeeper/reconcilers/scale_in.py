"""Scale-in: shards are drained and votes are moved before surplus nodes are removed, one by one."""

from __future__ import annotations

__all__ = ["exclusions_cleared", "scale_in_complete"]

from dataclasses import dataclass, replace
from typing import Final

from searchkeeper.api.reasons import Reason
from searchkeeper.desired import names
from searchkeeper.desired.apply import apply
from searchkeeper.desired.manifests import search_pool
from searchkeeper.kubernetes.operations import EngineCall, Patch
from searchkeeper.opensearch.calls import ExcludeFromVoting
from searchkeeper.opensearch.view import Color, EngineView, Unreachable
from searchkeeper.planner import NO_DEADLINE, Result, action, done, in_progress, wait
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.objects import delete_all
from searchkeeper.reconcilers.pools import pools_converged
from searchkeeper.snapshot import Pod, PoolView
from searchkeeper.upgrade.capacity import disk_shortage
from searchkeeper.upgrade.drain import temporary_shard_hosts
from searchkeeper.upgrade.engine_settings import (
    clear_exclusions,
    exclusion_call,
    record_changes,
    record_setting,
)
from searchkeeper.upgrade.gates import Candidate, first_blocking_gate, has_failed
from searchkeeper.upgrade.ledger import SCALE_IN_EXCLUDED, SCALE_IN_VOTING
from searchkeeper.upgrade.rollback import was_abandoned
from searchkeeper.upgrade.shards import unmovable_shard
from searchkeeper.upgrade.voting import loses_role, nodes_keeping_role

_SHRINKING_DEADLINE: Final = 300


@dataclass(frozen=True, slots=True)
class _ScaleIn:
    """A scale-in with a reachable engine: the surplus pods and their pools, in the order of removal."""

    ctx: ReconcileContext
    engine: EngineView
    surplus: tuple[tuple[Pod, PoolView], ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(pod.name for pod, _ in self.surplus)

    @property
    def holders(self) -> frozenset[str]:
        """The surplus nodes that may hold shards."""
        return frozenset(
            pod.name
            for pod, pool in self.surplus
            if pool.spec.holds_data or loses_role("data", self.engine, pod.name, pool)
        )

    @property
    def deadline(self) -> int:
        return self.ctx.spec.upgrade.health_deadline


@action()
def exclusions_cleared(ctx: ReconcileContext) -> Result:
    """True when no node is excluded that has left, that stays, or that must host shards for a rollout."""
    surplus = [pod.name for pool in ctx.pools for pod in pool.surplus_pods]
    hosts = temporary_shard_hosts(ctx.snapshot, ctx.ledger)
    return clear_exclusions(ctx.snapshot, ctx.ledger, surplus, hosts) or done()


@action(requires=[pools_converged, exclusions_cleared])
def scale_in_complete(ctx: ReconcileContext) -> Result:
    """True when no pool has surplus nodes and no removed pool has objects but its volumes."""
    surplus = tuple((pod, pool) for pool in ctx.pools for pod in reversed(pool.surplus_pods))
    if surplus:
        return _wait_for_upgrade(ctx, surplus) or _remove_next(ctx, surplus)
    for pool in ctx.pools:
        if pool.allotted_replicas is not None and pool.allotted_replicas > pool.replicas:
            return _allot(ctx, pool, pool.replicas)
    for pool in ctx.pools:
        removal = done() if pool.is_wanted else _delete_pool(ctx, pool)
        if not removal.is_true:
            return removal
    return done()


def _wait_for_upgrade(ctx: ReconcileContext, surplus: tuple[tuple[Pod, PoolView], ...]) -> Result | None:
    """Wait for an upgrade that was requested together with fewer nodes: it locks the nodes that exist.

    Not where a surplus pod has failed: the upgrade does not start before that one is removed.
    """
    cluster = ctx.snapshot.cluster
    is_requested = cluster.engine_version is not None and cluster.engine_version != cluster.spec.version
    if not is_requested or ctx.refusal is not None or was_abandoned(ctx.snapshot, ctx.ledger):
        return None
    if any(has_failed(Candidate(pod, pool), ctx.snapshot) for pod, pool in surplus):
        return None
    message = f"the upgrade to {cluster.spec.version} comes first"
    return wait(Reason.WAITING_FOR_UPGRADE, message, deadline=NO_DEADLINE)


def _remove_next(ctx: ReconcileContext, surplus: tuple[tuple[Pod, PoolView], ...]) -> Result:
    """Drain all surplus nodes, then remove the first: its vote, then its pod."""
    engine = ctx.snapshot.engine
    if isinstance(engine, Unreachable):
        return wait(Reason.ENGINE_UNREACHABLE, engine.cause, deadline=ctx.spec.upgrade.health_deadline)
    scale_in = _ScaleIn(ctx, engine, surplus)
    blocked = _blocker(scale_in) or _drain(scale_in)
    if blocked is not None:
        return blocked
    pod, pool = surplus[0]
    vote = _move_vote(scale_in, pod) if pool.spec.votes or pod.name in engine.voters else None
    return vote or _remove_pod(scale_in, pod, pool)


def _blocker(scale_in: _ScaleIn) -> Result | None:
    """Change nothing while paused, or while a primary is missing: it may be on a surplus node.

    Nor is a drain begun that would fill the disks of the nodes that stay.
    """
    engine, holders = scale_in.engine, scale_in.holders
    if scale_in.ctx.spec.upgrade.paused:
        return wait(Reason.UPGRADE_PAUSED, "spec.upgrade.paused is set", deadline=NO_DEADLINE)
    if scale_in.engine.color is Color.RED:
        message = "the cluster is red: a primary is missing"
        return wait(Reason.ENGINE_RED, message, deadline=scale_in.deadline)
    if not all(map(engine.excludes, holders)):
        copies = [copy for copy in engine.shards if copy.node in holders]
        shortage = disk_shortage(scale_in.ctx.snapshot, engine, copies, holders)
        if shortage is not None:
            return wait(Reason.INSUFFICIENT_DISK_SPACE, shortage, deadline=scale_in.deadline)
    return None


def _drain(scale_in: _ScaleIn) -> Result | None:
    """Drain all surplus nodes at once, so that no shard moves to one that is removed next.

    Only nodes that the operator excludes are recorded, so exclusions of users are never cleared.
    """
    ctx, engine, deadline = scale_in.ctx, scale_in.engine, scale_in.deadline
    holders = scale_in.holders
    staying = nodes_keeping_role("data", ctx.snapshot, engine) if holders else frozenset()
    shown = ", ".join(sorted(holders))
    if holders and not staying:
        message = f"no data node would be left without {shown}: keep one, or add a data pool"
        return wait(Reason.LAST_DATA_NODE, message, deadline=deadline)
    not_excluded = {name for name in holders if not engine.excludes(name)}
    if not_excluded:
        if all(map(engine.excludes, staying)):
            message = f"no node may take shards: {', '.join(sorted(staying))} excluded by a user"
            return wait(Reason.LAST_DATA_NODE, message, deadline=deadline)
        ours = ctx.ledger.scale_in_excluded | not_excluded
        return in_progress(
            Reason.DRAINING,
            f"shards are moved off {shown}",
            exclusion_call(ctx.ledger, SCALE_IN_EXCLUDED, ours, engine.excluded | ours),
            ledger_changes=record_setting(SCALE_IN_EXCLUDED, tuple(sorted(ours))),
        )
    for name in sorted(holders):
        problem = unmovable_shard(engine, engine.copies_on(name), scale_in.names)
        if problem is not None:
            return wait(Reason.SHARDS_CANNOT_MOVE, problem, deadline=deadline)
    remaining = sum(len(engine.copies_on(name)) for name in holders)
    if not remaining:
        return None
    return wait(Reason.WAITING_FOR_DRAIN, f"{remaining} shards are still on {shown}", deadline=deadline)


def _move_vote(scale_in: _ScaleIn, pod: Pod) -> Result | None:
    """Move the vote of a surplus manager to another one. None when it has no vote.

    The vote of an absent node has no name. It is taken only when every manager that stays has joined.
    """
    engine = scale_in.engine
    managers = {node.name for node in engine.nodes if "cluster_manager" in node.roles}
    if not managers - scale_in.names:
        message = f"no other manager could take the vote of {pod.name}"
        return wait(Reason.LAST_MANAGER, message, deadline=NO_DEADLINE)
    if engine.node(pod.name) is not None:
        return _exclude_from_voting(scale_in, pod, pod.name)
    missing = _missing_managers(scale_in)
    if missing and engine.absent_voters:
        message = f"the absent vote may be of {pod.name} or of {', '.join(missing)}, which has not joined"
        return wait(Reason.WAITING_FOR_VOTE, message, deadline=scale_in.deadline)
    results = (_exclude_from_voting(scale_in, pod, voter) for voter in sorted(engine.absent_voters))
    return next(filter(None, results), None)


def _exclude_from_voting(scale_in: _ScaleIn, pod: Pod, voter: str) -> Result | None:
    """The next step until `voter` has no vote; None when it has none."""
    if voter not in scale_in.engine.voting_exclusions:
        excluded = tuple(sorted(scale_in.ctx.ledger.scale_in_voting_excluded | {voter}))
        return in_progress(
            Reason.MOVING_VOTE,
            f"the vote of {pod.name} is moved to another manager",
            EngineCall(ExcludeFromVoting(voter, record_changes(SCALE_IN_VOTING, excluded))),
            ledger_changes=record_setting(SCALE_IN_VOTING, excluded),
        )
    if voter in scale_in.engine.voters:
        return wait(Reason.WAITING_FOR_VOTE, f"{pod.name} still has a vote", deadline=scale_in.deadline)
    return None


def _missing_managers(scale_in: _ScaleIn) -> list[str]:
    """Managers that stay and have not joined: an absent vote may be one of theirs."""
    cluster = scale_in.ctx.desired.name
    managers = [
        f"{names.pool_name(cluster, pool.spec.name)}-{ordinal}"
        for pool in scale_in.ctx.pools
        if pool.spec.votes
        for ordinal in range(pool.replicas)
    ]
    return [name for name in managers if scale_in.engine.node(name) is None]


def _remove_pod(scale_in: _ScaleIn, pod: Pod, pool: PoolView) -> Result:
    """Reduce the replicas by one pod when every gate of a rollout is open."""
    if pod.is_terminating or (pool.allotted_replicas or 0) <= pod.ordinal:
        message = f"{pod.name} is terminating"
        return wait(Reason.WAITING_FOR_SCALE_IN, message, deadline=scale_in.deadline)
    blocking = first_blocking_gate(Candidate(pod, pool), scale_in.ctx.snapshot)
    if blocking is not None:
        return wait(blocking.reason, blocking.message, deadline=blocking.deadline)
    return _allot(scale_in.ctx, pool, pod.ordinal)


def _allot(ctx: ReconcileContext, pool: PoolView, replicas: int) -> Result:
    """Reduce the replicas of the SearchPool; its StatefulSet follows."""
    spec = replace(pool.spec, replicas=replicas)
    manifest = search_pool(ctx.desired, spec, pool.permitted_version or ctx.target)
    operation = apply(manifest, ctx.live(manifest))
    if not isinstance(operation, Patch):
        return _wait_for_stateful_set(pool)
    message = f"pool {pool.spec.name} is reduced to {replicas} nodes"
    return in_progress(Reason.SCALING_IN, message, replace(operation, is_destructive=True))


def _wait_for_stateful_set(pool: PoolView) -> Result:
    message = f"the StatefulSet of pool {pool.spec.name} is removing pods"
    return wait(Reason.WAITING_FOR_SCALE_IN, message, deadline=_SHRINKING_DEADLINE)


def _delete_pool(ctx: ReconcileContext, pool: PoolView) -> Result:
    """Delete the objects of a removed pool, its SearchPool last. Volumes stay."""
    if pool.stateful_set is not None and pool.stateful_set.replicas:
        return _wait_for_stateful_set(pool)
    name = names.pool_name(ctx.desired.name, pool.spec.name)
    stateful_set = ctx.key("apps/v1", "StatefulSet", name)
    return delete_all(ctx, [stateful_set, ctx.key(f"{names.GROUP}/v1alpha1", "SearchPool", name)])
