"""Actions that replace or delete objects that cannot be patched."""

from __future__ import annotations

__all__ = [
    "both_labels_set",
    "is_replaced_next",
    "old_configuration_deleted",
    "old_revisions_deleted",
    "orphaned_revisions",
    "stateful_set_relabelled",
    "stateful_set_resized",
]

import json
from typing import Final

from searchkeeper.api.messages import join
from searchkeeper.api.reasons import Reason
from searchkeeper.desired import names
from searchkeeper.desired.apply import added_pod_fields
from searchkeeper.desired.quantities import is_less
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.planner import LedgerChange, Result, action, done, in_progress, wait
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.objects import delete_all
from searchkeeper.reconcilers.pools import (
    ADDED_POD_FIELDS,
    PoolContext,
    keep_last_applied,
    pools_converged,
    stateful_set_applied,
)
from searchkeeper.reconcilers.volumes import paused, resize_volumes
from searchkeeper.snapshot import PoolView

_ORPHANING_DEADLINE: Final = 300
_POOL_DEADLINE: Final = 24 * 3600


@action(requires=[pools_converged])
def old_configuration_deleted(ctx: ReconcileContext) -> Result:
    """True when the objects of version 1 are gone. Pods that read them are replaced before."""
    name = ctx.desired.name
    return delete_all(
        ctx,
        [
            ctx.key("v1", "Service", names.discovery_service(name, 1)),
            ctx.key("v1", "Secret", names.old_config_secret(name)),
        ],
    )


@action()
def both_labels_set(ctx: ReconcileContext) -> Result:
    """True when every pod has the labels of version 4 beside its old ones, so that both selectors match."""
    for pool in ctx.pools:
        wanted = ctx.desired.labels(pool.spec.name)
        for pod in pool.pods:
            live = ctx.snapshot.objects[ctx.key("v1", "Pod", pod.name)]
            labels = live["metadata"].get("labels") or {}
            if not wanted.items() <= labels.items() and not pod.is_terminating:
                patch = Patch(Key.of(live), {"metadata": {"labels": wanted}}, pod.resource_version)
                return in_progress(Reason.LABELLING_POD, f"{pod.name} gets the labels of version 4", patch)
    return done()


@action()
def stateful_set_relabelled(ctx: PoolContext) -> Result:
    """True when the StatefulSet selects by the labels of version 4.

    A selector is immutable, so the StatefulSet is replaced.
    A pool that is not active yet still gets missing nodes, because earlier pools wait for those.
    """
    cluster, pool = ctx.cluster, ctx.pool
    live = _stateful_set_with_old_labels(cluster, pool)
    if live is None:
        return done()
    if cluster.active_pool != pool.spec.name:
        restored = keep_last_applied(ctx, live)
        if not restored.is_true:
            return restored
        message = f"pool {cluster.active_pool} is relabelled first"
        return wait(Reason.WAITING_FOR_POOL, message, deadline=_POOL_DEADLINE)
    return _replace_stateful_set(ctx, live, "the labels of version 4")


@action(requires=[stateful_set_applied])
def stateful_set_resized(ctx: PoolContext) -> Result:
    """True when the StatefulSet gives new pods volumes of the size that the spec names, and owns all pods.

    Claim templates are immutable, so the StatefulSet is replaced: after the volumes that exist are enlarged,
    while no pool is being changed, and one pool after the other.
    """
    cluster, pool = ctx.cluster, ctx.pool
    if not cluster.has_small_claim_templates(pool):
        return _wait_for_adoption(ctx) or done()
    live = _stateful_set(cluster, pool)
    if live is not None and is_replaced_next(cluster, pool):
        return _replace_stateful_set(ctx, live, f"volumes of {cluster.wanted_storage(pool).size}")
    message = "other changes come first, and the volumes that exist are enlarged"
    return paused(cluster) or wait(Reason.WAITING_FOR_POOL, message, deadline=_POOL_DEADLINE)


def _replace_stateful_set(ctx: PoolContext, live: Manifest, new: str) -> Result:
    """Delete a StatefulSet with its pods orphaned. The next one, of StatefulSetApplied, adopts them.

    What others added to the pod template, such as limits, is in the ledger meanwhile.
    """
    if "deletionTimestamp" in live["metadata"]:
        message = f"{Key.of(live)} is orphaning its pods"
        return wait(Reason.ORPHANING_PODS, message, deadline=_ORPHANING_DEADLINE)
    if ctx.pool.spec.votes and not _budget_counts_orphans(ctx.cluster):
        message = "the PodDisruptionBudget of the voters does not count pods without a StatefulSet yet"
        return wait(Reason.WAITING_FOR_DISRUPTION_BUDGET, message, deadline=_ORPHANING_DEADLINE)
    metadata = live["metadata"]
    delete = Delete(Key.of(live), metadata["uid"], metadata["resourceVersion"], orphan=True)
    added = added_pod_fields(live)
    return in_progress(
        Reason.ORPHANING_PODS,
        f"{Key.of(live)} is replaced by one with {new}",
        delete,
        ledger_changes=(LedgerChange(ADDED_POD_FIELDS, json.dumps(added) if added else None),),
    )


def _wait_for_adoption(ctx: PoolContext) -> Result | None:
    """Wait until the pods of the pool have an owner: until then Kubernetes replaces none that is lost."""
    pods = (ctx.cluster.snapshot.objects[ctx.cluster.key("v1", "Pod", pod.name)] for pod in ctx.pool.pods)
    orphans = [pod["metadata"]["name"] for pod in pods if not pod["metadata"].get("ownerReferences")]
    if not orphans:
        return None
    message = f"the StatefulSet has not adopted {join(orphans)} yet"
    return wait(Reason.WAITING_FOR_STATEFUL_SET, message, deadline=_ORPHANING_DEADLINE)


def is_replaced_next(ctx: ReconcileContext, pool: PoolView) -> bool:
    """Whether the StatefulSet of this pool is the one that is replaced now.

    One that is being deleted has pods without an owner soon, whatever comes in between.
    """
    if _stateful_set_with_old_labels(ctx, pool) is not None:
        return ctx.active_pool == pool.spec.name
    live = _stateful_set(ctx, pool)
    if live is not None and "deletionTimestamp" in live["metadata"]:
        return True
    may_start = ctx.active_pool is None and paused(ctx) is None
    ready = (each.spec.name for each in ctx.pools if _has_larger_volumes(ctx, each))
    return may_start and next(ready, None) == pool.spec.name


def _has_larger_volumes(ctx: ReconcileContext, pool: PoolView) -> bool:
    """Whether all volumes are larger than the claim templates, and the SearchPool has their size.

    The next StatefulSet is made from the SearchPool. With the old size there it would be replaced again.
    """
    if not ctx.has_small_claim_templates(pool) or is_less(pool.allotted_size, ctx.wanted_storage(pool).size):
        return False
    return resize_volumes(ctx, pool) is None


def _stateful_set_with_old_labels(ctx: ReconcileContext, pool: PoolView) -> Manifest | None:
    live = _stateful_set(ctx, pool)
    if live is None or live["spec"]["selector"]["matchLabels"] == ctx.desired.labels(pool.spec.name):
        return None
    return live


def _stateful_set(ctx: ReconcileContext, pool: PoolView) -> Manifest | None:
    name = names.pool_name(ctx.desired.name, pool.spec.name)
    return ctx.snapshot.objects.get(ctx.key("apps/v1", "StatefulSet", name))


def _budget_counts_orphans(ctx: ReconcileContext) -> bool:
    """Whether the budget of the voters has an absolute number, which counts pods without an owner too."""
    key = ctx.key("policy/v1", "PodDisruptionBudget", names.voters_budget(ctx.desired.name))
    budget = ctx.snapshot.objects.get(key)
    return budget is not None and "minAvailable" in budget["spec"]


@action()
def old_revisions_deleted(ctx: ReconcileContext) -> Result:
    """True when no ControllerRevision with the old labels is left: no StatefulSet selects and prunes them."""
    return delete_all(ctx, orphaned_revisions(ctx))


def orphaned_revisions(ctx: ReconcileContext) -> list[Key]:
    """ControllerRevisions without an owner, by the names of our StatefulSets: others may use the labels."""
    cluster = ctx.snapshot.cluster.key.name
    stateful_sets = {names.pool_name(cluster, pool.spec.name) for pool in ctx.snapshot.pools}
    return [
        key
        for key in sorted(ctx.snapshot.objects)
        if key.kind == "ControllerRevision"
        and key.name.rpartition("-")[0] in stateful_sets
        and not ctx.snapshot.objects[key]["metadata"].get("ownerReferences")
    ]
