"""Actions about pools: of the SearchCluster, and of each SearchPool, which owns a StatefulSet."""

from __future__ import annotations

__all__ = [
    "ADDED_POD_FIELDS",
    "PoolContext",
    "keep_last_applied",
    "pods_current",
    "pods_ready",
    "pool_error",
    "pools_applied",
    "pools_converged",
    "stateful_set_applied",
    "storage_unchanged",
]

import json
from dataclasses import dataclass, replace
from typing import Final

from searchkeeper.api.reasons import Reason
from searchkeeper.api.spec import PoolSpec
from searchkeeper.desired import names
from searchkeeper.desired.apply import apply, create_with, last_applied
from searchkeeper.desired.manifests import search_pool, stateful_set
from searchkeeper.kubernetes.operations import Key, Manifest, Patch
from searchkeeper.memoize import memoize_by_identity
from searchkeeper.opensearch.view import Color, EngineView
from searchkeeper.planner import (
    ERROR_DEADLINE,
    NO_DEADLINE,
    NOT_COUNTED,
    LedgerChange,
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
from searchkeeper.upgrade.rollout import Rollout, roll_out
from searchkeeper.upgrade.shards import hold_nothing
from searchkeeper.upgrade.statefulset_rollout import partition

# Only a user can resolve it.
_STORAGE_DEADLINE: Final = 60
_SEARCH_POOL_DEADLINE: Final = 300
# Ledger key of a SearchPool: what others added to the pod template of a StatefulSet that is being recreated.
ADDED_POD_FIELDS: Final = "template/added"

# The actions of a SearchPool that enlarge volumes.
_RESIZE_ACTIONS: Final = frozenset({"VolumesResized", "StatefulSetResized"})


@dataclass(frozen=True)
class PoolContext:
    """One reconcile of one SearchPool: the context of its cluster, and the pool."""

    cluster: ReconcileContext
    pool: PoolView


@action()
def pools_applied(ctx: ReconcileContext) -> Result:
    """True when every pool has a SearchPool with the version and the replicas that it may have now.

    The version changes when the pool becomes active. More replicas are allotted at once, fewer by scale-in.
    """
    if ctx.refusal is not None and ctx.snapshot.cluster.engine_version is None:
        return wait(Reason.VERSION_REFUSED, ctx.refusal.message, deadline=NO_DEADLINE)
    missing = ctx.credentials.missing_secret
    if missing is not None and not ctx.credentials.has_own_copy:
        return wait(Reason.CREDENTIALS_MISSING, f"{missing} is missing", deadline=NO_DEADLINE)
    manifests = []
    for pool in ctx.pools:
        version = pool.permitted_version
        if version is None or ctx.may_change_template(pool):
            version = ctx.target
        manifests.append(search_pool(ctx.desired, _allotment(ctx, pool), version))
    return apply_all(ctx, manifests, Reason.APPLYING_POOL)


def _allotment(ctx: ReconcileContext, pool: PoolView) -> PoolSpec:
    """The pool's spec with the replicas that its SearchPool may have now, and with the storage that it gets.

    Failed nodes that the spec no longer contains lose their allotment at once, unless the rollout waits for
    them. Where the SearchPool was deleted, its nodes keep what they had, and leave by scale-in.
    """
    allotted = pool.allotted_replicas
    if allotted is None:
        deployed = 0 if pool.stateful_set is None else pool.stateful_set.replicas
        allotted = max([deployed, *(pod.ordinal + 1 for pod in pool.pods)])
    remaining = replicas_after_abandoning(ctx.snapshot, pool, allotted, pool.replicas)
    abandoned = {pod.name for pod in pool.surplus_pods if pod.ordinal >= remaining}
    if abandoned & ctx.ledger.replaced_pods.keys():
        remaining = allotted
    storage = ctx.wanted_storage(pool)
    return replace(pool.spec, replicas=max(pool.replicas, remaining), storage=storage)


@action()
def pods_current(ctx: ReconcileContext) -> Result:
    """True when no pod is outdated and no engine setting of the rollout is left."""
    if ctx.is_changing_direction:
        # Without a deadline: the time spent on the earlier direction does not count for the next one.
        message = "no pod is replaced while the direction of the upgrade changes"
        return wait(Reason.CHANGING_DIRECTION, message, deadline=NO_DEADLINE)
    deploying = tuple(pool for pool in ctx.pools if _deploys_target(ctx, pool))
    return roll_out(Rollout(ctx.snapshot, ctx.ledger, deploying, ctx.pending_pools))


def _deploys_target(ctx: ReconcileContext, pool: PoolView) -> bool:
    """Whether a pod that is deleted now comes back with the wanted version and the wanted roles."""
    deployed = pool.stateful_set
    if deployed is None:
        return True
    return deployed.engine_version == ctx.target and deployed.template == ctx.template(pool)


@action(requires=[pools_applied, pods_current])
def pools_converged(ctx: ReconcileContext) -> Result:
    """True when every pool runs its configuration version and its engine version on every pod.

    Errors and denied operations of a SearchPool are repeated here: users read the SearchCluster first. Those
    about volumes are in PoolsResized, for which no upgrade and no scale-in waits.
    """
    error = pool_error(ctx, about_volumes=False)
    if error is not None:
        return error
    if ctx.active_pool is None:
        return done()
    if any(pool.spec.name == ctx.active_pool and ctx.is_paused(pool) for pool in ctx.pools):
        return wait(Reason.UPGRADE_PAUSED, "spec.upgrade.paused is set", deadline=NO_DEADLINE)
    name = names.pool_name(ctx.desired.name, ctx.active_pool)
    return name_conflict(ctx, ctx.key("apps/v1", "StatefulSet", name)) or wait(
        Reason.WAITING_FOR_POOL,
        f"pool {ctx.active_pool} is not complete",
        deadline=ctx.spec.upgrade.health_deadline,
    )


def pool_error(ctx: ReconcileContext, *, about_volumes: bool) -> Result | None:
    """Wait while an action of a SearchPool has an error or a denied operation."""
    for pool in ctx.pools:
        for condition in pool.records.conditions:
            is_reported = (condition.type in _RESIZE_ACTIONS) is about_volumes
            if is_reported and condition.reason in NOT_COUNTED:
                message = f"{condition.type} of {pool.spec.name}: {condition.message}"
                return wait(condition.reason, message, deadline=ERROR_DEADLINE)
    return None


@action()
def storage_unchanged(ctx: ReconcileContext) -> Result:
    """True when every pool has the storage that its spec names, or smaller volumes, which can grow.

    A removed pool that is added again before its nodes have left keeps them, and so their storage: volumes
    neither shrink nor get another class, and data on ephemeral storage would be lost.
    """
    wanted = {pool.name: pool.storage for pool in ctx.spec.pools}
    for pool in ctx.pools:
        name, storage = pool.spec.name, pool.spec.storage
        if pool.is_wanted and wanted[name] != ctx.wanted_storage(pool):
            storage_class = f" of class {storage.storage_class}" if storage.storage_class else ""
            deployed = (
                "ephemeral storage" if storage.ephemeral else f"volumes of {storage.size}{storage_class}"
            )
            is_smaller = replace(wanted[name], size=storage.size) == storage
            change = "reduced" if is_smaller and ctx.desired.has_expandable_volumes else "changed"
            message = (
                f"the nodes of {name} have {deployed}, which cannot be {change}:"
                " restore that in the spec, or add another pool and remove this one"
            )
            return wait(Reason.STORAGE_IMMUTABLE, message, deadline=_STORAGE_DEADLINE)
    return done()


@action()
def stateful_set_applied(ctx: PoolContext) -> Result:
    """True when the StatefulSet is applied. Its template changes only when the pool is active.

    Replicas do not wait for that: new pods are created from the deployed template. Until the pool is active
    the StatefulSet is kept as it was last applied, also against edits.
    """
    cluster, pool = ctx.cluster, ctx.pool
    if pool.permitted_version is None or pool.allotted_replicas is None:
        message = "the SearchPool does not exist yet"
        return wait(Reason.WAITING_FOR_SEARCH_POOL, message, deadline=_SEARCH_POOL_DEADLINE)
    if pool.stateful_set is None and pool.is_over:
        return done()
    spec = replace(pool.spec, replicas=_replicas(ctx))
    lowest_ordinal = partition(pool, cluster.template(pool), cluster.ledger)
    manifest = stateful_set(cluster.desired, spec, pool.permitted_version, lowest_ordinal)
    live = cluster.live(manifest)
    if live is not None and not cluster.may_change_template(pool):
        manifest = _last_applied_with_replicas(live, spec.replicas) or manifest
    return name_conflict(cluster, Key.of(manifest)) or _apply(ctx, manifest, live)


def keep_last_applied(ctx: PoolContext, live: Manifest) -> Result:
    """Revert edits of a StatefulSet, but for the replicas that it may have now."""
    if ctx.pool.allotted_replicas is None:
        return done()
    manifest = _last_applied_with_replicas(live, _replicas(ctx))
    return done() if manifest is None else _apply(ctx, manifest, live)


def _apply(ctx: PoolContext, manifest: Manifest, live: Manifest | None) -> Result:
    """Apply a StatefulSet; fewer replicas are a destructive operation."""
    deployed, operation = ctx.pool.stateful_set, apply(manifest, live)
    added = ctx.pool.records.ledger.get(ADDED_POD_FIELDS)
    if isinstance(added, str) and live is None:
        operation = create_with(manifest, json.loads(added))
    if operation is None:
        is_obsolete = added is not None and not _is_being_replaced(ctx, live)
        return done(ledger_changes=(LedgerChange(ADDED_POD_FIELDS, None),) if is_obsolete else ())
    if (
        isinstance(operation, Patch)
        and deployed is not None
        and manifest["spec"]["replicas"] < deployed.replicas
    ):
        operation = replace(operation, is_destructive=True)
    return in_progress(Reason.APPLYING_STATEFUL_SET, f"{Key.of(manifest)} is patched", operation)


def _is_being_replaced(ctx: PoolContext, live: Manifest | None) -> bool:
    """Whether another StatefulSet, with what others added to this one, follows."""
    is_terminating = live is not None and "deletionTimestamp" in live["metadata"]
    return is_terminating or ctx.cluster.has_small_claim_templates(ctx.pool)


@memoize_by_identity(4096)
def _last_applied_with_replicas(live: Manifest, replicas: int) -> Manifest | None:
    """The manifest that was last applied, with other replicas; None where the annotation is lost."""
    last = last_applied(live)
    return {**last, "spec": {**last["spec"], "replicas": replicas}} if "spec" in last else None


def _replicas(ctx: PoolContext) -> int:
    """The allotted replicas; never fewer than deployed while a surplus node has a shard or a vote.

    That is observed now, whatever was recorded. In a red cluster a surplus pod that does not exist may have
    the missing primary on its volume.
    """
    deployed, allotted = ctx.pool.stateful_set, ctx.pool.allotted_replicas or 0
    if deployed is None or deployed.replicas <= allotted:
        return allotted
    engine = ctx.cluster.snapshot.engine
    name = names.pool_name(ctx.cluster.desired.name, ctx.pool.spec.name)
    existing = {pod.name for pod in ctx.pool.pods if pod.ordinal >= allotted}
    surplus = {f"{name}-{ordinal}" for ordinal in range(allotted, deployed.replicas)}
    is_red = isinstance(engine, EngineView) and engine.color is Color.RED
    may_shrink = hold_nothing(engine, surplus | existing) and not (is_red and not surplus <= existing)
    return allotted if may_shrink else deployed.replicas


@action(requires=[stateful_set_applied])
def pods_ready(ctx: PoolContext) -> Result:
    """True when every pod of the pool exists and is ready."""
    unready = [pod.name for pod in ctx.pool.pods if not pod.is_ready or pod.is_terminating]
    missing = max(0, ctx.pool.replicas - len(ctx.pool.pods))
    if not unready and not missing:
        return done()
    message = f"{len(unready)} pods are not ready, {missing} are missing"
    return wait(Reason.WAITING_FOR_PODS, message, deadline=ctx.cluster.spec.upgrade.health_deadline)
