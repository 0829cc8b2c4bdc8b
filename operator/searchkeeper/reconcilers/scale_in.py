"""Nodes that are one too many: they give away their shards and their votes before they go, one by one."""

from __future__ import annotations

__all__ = ["exclusions_cleared", "scale_in_complete"]

from dataclasses import dataclass, replace

from searchkeeper.desired import names
from searchkeeper.desired.apply import apply
from searchkeeper.desired.manifests import search_pool
from searchkeeper.kubernetes.operations import EngineCall, Patch
from searchkeeper.opensearch.calls import Exclude, ExcludeFromVoting
from searchkeeper.opensearch.view import Color, EngineView, Unreachable
from searchkeeper.planner import Result, action, done, in_progress, wait
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.objects import delete_all
from searchkeeper.reconcilers.pools import pools_converged
from searchkeeper.snapshot import Pod, PoolView
from searchkeeper.upgrade.drain import temporary_shard_hosts
from searchkeeper.upgrade.engine_settings import clear_exclusions, record_setting
from searchkeeper.upgrade.gates import NO_DEADLINE, Candidate, first_blocking_gate, has_failed
from searchkeeper.upgrade.ledger import SCALE_IN_EXCLUDED, SCALE_IN_VOTING
from searchkeeper.upgrade.rollback import was_abandoned
from searchkeeper.upgrade.shards import unmovable_shard
from searchkeeper.upgrade.voting import loses_role, nodes_keeping_role


@dataclass(frozen=True, slots=True)
class _Leave:
    """What leaving works on: the scene, an engine that answered, and who goes, the last one first."""

    ctx: ReconcileContext
    engine: EngineView
    surplus_pods: tuple[tuple[Pod, PoolView], ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(pod.name for pod, _ in self.surplus_pods)

    @property
    def deadline(self) -> int:
        return self.ctx.spec.upgrade.health_deadline


@action()
def exclusions_cleared(ctx: ReconcileContext) -> Result:
    """True when nothing is set in the engine for the sake of nodes that have left, or may stay after all.

    Or that have to stay until somebody else is replaced.
    """
    departing = [pod.name for pool in ctx.pools for pod in pool.surplus_pods]
    lent = temporary_shard_hosts(ctx.snapshot, ctx.ledger)
    return clear_exclusions(ctx.snapshot, ctx.ledger, departing, lent) or done()


@action(requires=[pools_converged, exclusions_cleared])
def scale_in_complete(ctx: ReconcileContext) -> Result:
    """True when no pool has more nodes than it should."""
    departing = tuple((pod, pool) for pool in ctx.pools for pod in reversed(pool.surplus_pods))
    if departing:
        return _after_upgrade(ctx, departing) or _parting(ctx, departing)
    for pool in ctx.pools:
        if pool.allotted_replicas is not None and pool.allotted_replicas > pool.replicas:
            return _allotted(ctx, pool, pool.replicas)
    return _removed(ctx)


def _after_upgrade(ctx: ReconcileContext, departing: tuple[tuple[Pod, PoolView], ...]) -> Result | None:
    """An upgrade that was asked for together with fewer nodes begins with the nodes that there are.

    Where one of those is down for good it does not begin before they have left.
    """
    cluster = ctx.snapshot.cluster
    is_wanted = cluster.engine_version is not None and cluster.engine_version != cluster.spec.version
    if not is_wanted or ctx.refusal is not None or was_abandoned(ctx.snapshot, ctx.ledger):
        return None
    if any(has_failed(Candidate(pod, pool), ctx.snapshot) for pod, pool in departing):
        return None
    return wait("UpgradeFirst", f"the upgrade to {cluster.spec.version} comes first", deadline=NO_DEADLINE)


def _parting(ctx: ReconcileContext, departing: tuple[tuple[Pod, PoolView], ...]) -> Result:
    engine = ctx.snapshot.engine
    if isinstance(engine, Unreachable):
        return wait("EngineReachable", engine.cause, deadline=ctx.spec.upgrade.health_deadline)
    this = _Leave(ctx, engine, departing)
    pod, pool = departing[0]
    vote = _vote_given(this, pod) if pool.spec.votes or pod.name in engine.voters else None
    return _objection(this) or _drained(this) or vote or _let_go(this, pod, pool)


def _objection(this: _Leave) -> Result | None:
    """Nothing moves while a person says so, nor while something is lost: it may be on one who goes."""
    if this.ctx.spec.upgrade.paused:
        return wait("NotPaused", "spec.upgrade.paused is set", deadline=NO_DEADLINE)
    if this.engine.color is Color.RED:
        return wait("Healthy", "the cluster is red: a primary is missing", deadline=this.deadline)
    return None


def _drained(this: _Leave) -> Result | None:
    """All of them together, so that no shard moves to one that goes next. Users may exclude others, or these.

    Only what we have excluded ourselves is in the journal, and undone.
    """
    holders = {pod.name for pod, pool in this.surplus_pods if _holds_data(this.engine, pod, pool)}
    if holders and not nodes_keeping_role("data", this.ctx.snapshot, this.engine):
        message = (
            f"{', '.join(sorted(holders))} would leave no data node: put one back, or add a pool of them"
        )
        return wait("LastDataNode", message, deadline=this.deadline)
    excluded, ours = this.engine.excluded, this.ctx.ledger.scale_in_excluded
    unlisted = {name for name in holders if not this.engine.excludes(name)}
    if unlisted:
        staying = nodes_keeping_role("data", this.ctx.snapshot, this.engine)
        if all(map(this.engine.excludes, staying)):
            message = f"nobody is left for shards: {', '.join(sorted(staying))} excluded by somebody else"
            return wait("LastDataNode", message, deadline=this.deadline)
        ours |= unlisted
        message = f"shards leave {', '.join(sorted(holders))}"
        ledger_changes = record_setting(SCALE_IN_EXCLUDED, tuple(sorted(ours)))
        return in_progress(
            "Draining", message, EngineCall(Exclude(excluded | ours)), ledger_changes=ledger_changes
        )
    for name in sorted(holders):
        cause = unmovable_shard(this.engine, this.engine.copies_on(name), this.names)
        if cause is not None:
            return wait("NobodyTakesShards", cause, deadline=this.deadline)
    left = sum(len(this.engine.copies_on(name)) for name in holders)
    if not left:
        return None
    return wait("Drains", f"{left} shards are still on nodes that leave", deadline=this.deadline)


def _holds_data(engine: EngineView, pod: Pod, pool: PoolView) -> bool:
    return pool.spec.holds_data or loses_role("data", engine, pod.name, pool)


def _vote_given(this: _Leave, pod: Pod) -> Result | None:
    """One at a time: a manager that goes has no vote any more, and another one has it instead."""
    nodes = this.engine.nodes
    heirs = [n.name for n in nodes if "cluster_manager" in n.roles and n.name not in this.names]
    if not heirs:
        return wait("LastManager", f"{pod.name} has no manager to leave the cluster to", deadline=NO_DEADLINE)
    if this.engine.node(pod.name) is not None:
        return _taken(this, pod, pod.name)
    away = _managers_away(this)
    if away and this.engine.absent_voters:
        message = f"whose vote is that of {pod.name} is known when {', '.join(away)} is back"
        return wait("VoteMoves", message, deadline=this.deadline)
    votes = (_taken(this, pod, vote) for vote in sorted(this.engine.absent_voters))
    return next(filter(None, votes), None)


def _taken(this: _Leave, pod: Pod, vote: str) -> Result | None:
    """The next step towards a cluster that does not count on this vote; None when there is none any more."""
    if vote not in this.engine.voting_exclusions:
        ledger_changes = record_setting(
            SCALE_IN_VOTING, tuple(sorted(this.ctx.ledger.scale_in_voting_excluded | {vote}))
        )
        call = EngineCall(ExcludeFromVoting(vote))
        return in_progress(
            "MovingVote", f"{pod.name} gives its vote away", call, ledger_changes=ledger_changes
        )
    if vote in this.engine.voters:
        return wait("VoteMoves", f"{pod.name} still has a vote", deadline=this.deadline)
    return None


def _managers_away(this: _Leave) -> list[str]:
    """Managers that stay, and are not there: a vote of somebody absent may be one of theirs."""
    cluster, found = this.ctx.deployed.name, []
    for pool in this.ctx.pools:
        numbers = range(pool.replicas) if pool.spec.votes else ()
        wanted = (f"{names.pool_name(cluster, pool.spec.name)}-{number}" for number in numbers)
        found += [name for name in wanted if this.engine.node(name) is None]
    return found


def _let_go(this: _Leave, pod: Pod, pool: PoolView) -> Result:
    """The gates of a roll decide: a node that is gone for good is away like any other."""
    if pod.is_terminating or (pool.allotted_replicas or 0) <= pod.ordinal:
        return wait("Leaves", f"{pod.name} is on its way out", deadline=this.deadline)
    closed = first_blocking_gate(Candidate(pod, pool), this.ctx.snapshot)
    if closed is not None:
        return wait(closed.reason, closed.message, deadline=closed.deadline)
    return _allotted(this.ctx, pool, pod.ordinal)


def _allotted(ctx: ReconcileContext, pool: PoolView, replicas: int) -> Result:
    """The SearchPool is allotted fewer nodes; its StatefulSet follows."""
    spec = replace(pool.spec, replicas=replicas)
    wanted = search_pool(ctx.deployed, spec, pool.permitted_version or ctx.target)
    write = apply(wanted, ctx.live(wanted))
    if not isinstance(write, Patch):
        return wait("Leaves", f"pool {pool.spec.name} shrinks", deadline=300)
    message = f"pool {pool.spec.name} is left with {replicas} nodes"
    return in_progress("LettingGo", message, replace(write, is_destructive=True))


def _removed(ctx: ReconcileContext) -> Result:
    """Of a pool that is not wanted any more nothing stays but its volumes; its SearchPool goes last."""
    for pool in ctx.pools:
        found = pool.stateful_set
        if pool.is_wanted:
            continue
        if found is not None and found.replicas:
            return wait("Leaves", f"pool {pool.spec.name} shrinks", deadline=300)
        name = names.pool_name(ctx.deployed.name, pool.spec.name)
        kinds = (("apps/v1", "StatefulSet"), (f"{names.GROUP}/v1alpha1", "SearchPool"))
        removing = delete_all(ctx, [ctx.key(api, kind, name) for api, kind in kinds])
        if not removing.is_true:
            return removing
    return done()
