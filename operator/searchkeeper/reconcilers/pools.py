"""Actions about pools: the parent's, which permits and replaces, and each pool's own, which deploys."""

from __future__ import annotations

__all__ = [
    "PoolContext",
    "keep_last_applied",
    "pods_current",
    "pods_ready",
    "pools_applied",
    "pools_converged",
    "stateful_set_applied",
    "storage_unchanged",
]

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from searchkeeper.api.spec import PoolSpec
from searchkeeper.desired import names
from searchkeeper.desired.apply import apply, last_applied
from searchkeeper.desired.manifests import search_pool, stateful_set
from searchkeeper.kubernetes.operations import Key, Manifest, Patch
from searchkeeper.memoize import memoize_by_identity
from searchkeeper.opensearch.view import Color, EngineView
from searchkeeper.planner import (
    ERROR_DEADLINE,
    NOT_COUNTED,
    Result,
    action,
    done,
    in_progress,
    wait,
)
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.objects import apply_all, name_conflict
from searchkeeper.snapshot import PoolView
from searchkeeper.upgrade.failed_pods import replicas_after_abandoning
from searchkeeper.upgrade.gates import NO_DEADLINE
from searchkeeper.upgrade.rollback import choose_direction
from searchkeeper.upgrade.rollout import Rollout, roll_out
from searchkeeper.upgrade.shards import hold_nothing
from searchkeeper.upgrade.statefulset_rollout import partition

# Waiting changes nothing: a person has to.
_STORAGE_PATIENCE: Final = 60


@dataclass(frozen=True)
class PoolContext:
    """A scene with one pool in the middle."""

    ctx: ReconcileContext
    pool: PoolView


@action()
def pools_applied(ctx: ReconcileContext) -> Result:
    """Every pool has a SearchPool, which permits the old version until its turn has come.

    More nodes are allotted at once; fewer only by whoever has seen them off.
    """
    if ctx.refusal is not None and ctx.snapshot.cluster.engine_version is None:
        return wait("VersionRefused", ctx.refusal.message, deadline=NO_DEADLINE)
    if ctx.missing_secret is not None and not ctx.has_credentials:
        return wait("CredentialsMissing", f"{ctx.missing_secret} comes first", deadline=NO_DEADLINE)
    pools = [(_allotted(ctx, pool), _permitted(ctx, pool)) for pool in ctx.pools]
    wanted = [search_pool(ctx.deployed, spec, permitted_version) for spec, permitted_version in pools]
    return apply_all(ctx, wanted, "PermittingPool")


def _allotted(ctx: ReconcileContext, pool: PoolView) -> PoolSpec:
    """Nobody sees those off who are down for good, once nobody expects them back.

    Where somebody has deleted the SearchPool, its nodes have what they had: they leave as any others do.
    """
    had = _standing(pool) if pool.allotted_replicas is None else pool.allotted_replicas
    left = replicas_after_abandoning(ctx.snapshot, pool, had, pool.replicas)
    expected = {
        pod.name for pod in pool.surplus_pods if pod.ordinal >= left
    } & ctx.ledger.replaced_pods.keys()
    count = had if expected else left
    return replace(pool.spec, replicas=max(pool.replicas, count))


def _standing(pool: PoolView) -> int:
    """How many nodes there are, or are about to be, whatever a SearchPool allots."""
    asked = 0 if pool.stateful_set is None else pool.stateful_set.replicas
    return max([asked, *(pod.ordinal + 1 for pod in pool.pods)])


def _permitted(ctx: ReconcileContext, pool: PoolView) -> str:
    if pool.permitted_version is None or ctx.is_due(pool):
        return ctx.target
    return pool.permitted_version


@action()
def pods_current(ctx: ReconcileContext) -> Result:
    """True when no pod is of an older template, and nothing that was set for its sake is left."""
    if ctx.ledger.upgrade is not None and choose_direction(ctx.snapshot, ctx.ledger).ledger_changes:
        # Another course is another wait: nobody is late for the one that was left.
        return wait("CourseChanges", "no step before it is known where to", deadline=NO_DEADLINE)
    deploying = tuple(pool for pool in ctx.pools if _deploys_target(ctx, pool))
    return roll_out(Rollout(ctx.snapshot, ctx.ledger, deploying, ctx.pending_pools))


def _deploys_target(ctx: ReconcileContext, pool: PoolView) -> bool:
    """No pod is replaced by one of a version, or of roles, that are not, or no longer, what is wanted."""
    found = pool.stateful_set
    if found is None:
        return True
    return found.engine_version == ctx.target and found.template == ctx.template(pool)


@action(requires=[pools_applied, pods_current])
def pools_converged(ctx: ReconcileContext) -> Result:
    """Every pool has what its version and its engine version want, and all its pods are made from that."""
    fault = next(_faults(ctx), None)
    if fault is not None:
        return fault
    if ctx.active_pool is None:
        return done()
    if any(pool.spec.name == ctx.active_pool and ctx.is_paused(pool) for pool in ctx.pools):
        return wait("NotPaused", "spec.upgrade.paused is set", deadline=NO_DEADLINE)
    waits = wait("InTurn", f"{ctx.active_pool} is not there yet", deadline=ctx.spec.upgrade.health_deadline)
    name = names.pool_name(ctx.deployed.name, ctx.active_pool)
    return name_conflict(ctx, ctx.key("apps/v1", "StatefulSet", name)) or waits


def _faults(ctx: ReconcileContext) -> Iterator[Result]:
    """What could not be done for a pool in the last cycle: people look at the cluster first."""
    for pool in ctx.pools:
        for each in pool.records.conditions:
            if each.reason in NOT_COUNTED:
                message = f"{each.type} of {pool.spec.name}: {each.message}"
                yield wait(each.reason, message, deadline=ERROR_DEADLINE)


@action()
def storage_unchanged(ctx: ReconcileContext) -> Result:
    """Whoever takes a pool away and puts it back before its nodes have left gets the same nodes again.

    The claims of a StatefulSet cannot be changed, and what nodes keep on ephemeral storage would be lost.
    """
    asked = {pool.name: pool.storage for pool in ctx.spec.pools}
    for pool in ctx.pools:
        name, storage = pool.spec.name, pool.spec.storage
        if pool.is_wanted and asked[name] != storage:
            kind = f" of class {storage.storage_class}" if storage.storage_class else ""
            made = "ephemeral storage" if storage.ephemeral else f"volumes of {storage.size}{kind}"
            message = (
                f"the nodes of {name} have {made}, which cannot be changed:"
                " ask for that again, or add another pool and take this one away"
            )
            return wait("StorageIsSettled", message, deadline=_STORAGE_PATIENCE)
    return done()


@action()
def stateful_set_applied(this: PoolContext) -> Result:
    """The pool's StatefulSet is what its version wants. Its template waits for the pool's turn.

    How many nodes it has does not: new ones are made from the template that it has. Until then it is kept as
    it was last asked for, whoever edits it.
    """
    ctx, pool = this.ctx, this.pool
    if pool.permitted_version is None or pool.allotted_replicas is None:
        return wait("NotPermitted", "its SearchPool does not exist yet", deadline=300)
    if pool.stateful_set is None and pool.is_over:
        return done()
    lowest = partition(pool, ctx.template(pool), ctx.ledger)
    spec = replace(pool.spec, replicas=_replicas(this))
    wanted = stateful_set(ctx.deployed, spec, pool.permitted_version, lowest)
    live = ctx.live(wanted)
    if live is not None and not ctx.is_due(pool):
        wanted = _as_it_stands(live, spec.replicas) or wanted
    return name_conflict(ctx, Key.of(wanted)) or _changed(this, wanted, live)


def keep_last_applied(this: PoolContext, live: Manifest) -> Result:
    """The StatefulSet that is there is as it was last asked for, and has as many nodes as it may."""
    wanted = None if this.pool.allotted_replicas is None else _as_it_stands(live, _replicas(this))
    return done() if wanted is None else _changed(this, wanted, live)


def _changed(this: PoolContext, wanted: Manifest, live: Manifest | None) -> Result:
    found, write = this.pool.stateful_set, apply(wanted, live)
    if isinstance(write, Patch) and found is not None and wanted["spec"]["replicas"] < found.replicas:
        write = replace(write, is_destructive=True)
    return done() if write is None else in_progress("ApplyingStatefulSet", f"{Key.of(wanted)} changes", write)


def _replicas(this: PoolContext) -> int:
    found, allotted_replicas = this.pool.stateful_set, this.pool.allotted_replicas or 0
    return allotted_replicas if found is None or _may_shrink(this) else max(allotted_replicas, found.replicas)


@memoize_by_identity(4096)
def _as_it_stands(live: Manifest, replicas: int) -> Manifest | None:
    """What was last asked for, but for how many nodes; None where nobody knows any more."""
    last = last_applied(live)
    return {**last, "spec": {**last["spec"], "replicas": replicas}} if "spec" in last else None


def _may_shrink(this: PoolContext) -> bool:
    """Whoever would go has neither shards nor a vote: seen now, whatever anybody has written.

    Of one that is away nobody sees what it has: what is missing may be on its volume.
    """
    engine, found, left = this.ctx.snapshot.engine, this.pool.stateful_set, this.pool.allotted_replicas or 0
    here = {pod.name for pod in this.pool.pods if pod.ordinal >= left}
    name = names.pool_name(this.ctx.deployed.name, this.pool.spec.name)
    asked = {f"{name}-{each}" for each in range(left, 0 if found is None else found.replicas)}
    is_missed = not asked <= here and isinstance(engine, EngineView) and engine.color is Color.RED
    return hold_nothing(engine, asked | here) and not is_missed


@action(requires=[stateful_set_applied])
def pods_ready(this: PoolContext) -> Result:
    unready = [pod.name for pod in this.pool.pods if not pod.is_ready or pod.is_terminating]
    missing = this.pool.replicas - len(this.pool.pods)
    if not unready and missing <= 0:
        return done()
    deadline = this.ctx.spec.upgrade.health_deadline
    return wait("PodsNotReady", f"{len(unready)} not ready, {max(0, missing)} missing", deadline=deadline)
