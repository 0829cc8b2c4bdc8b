"""Actions that take over from an earlier version what cannot simply be applied."""

from __future__ import annotations

__all__ = [
    "both_labels_set",
    "old_configuration_deleted",
    "old_revisions_deleted",
    "orphaned_revisions",
    "relabelled_next",
    "stateful_set_relabelled",
]

from searchkeeper.desired import names
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.planner import Result, action, done, in_progress, wait
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.objects import delete_all
from searchkeeper.reconcilers.pools import PoolContext, keep_last_applied, pools_converged
from searchkeeper.snapshot import PoolView


@action(requires=[pools_converged])
def old_configuration_deleted(ctx: ReconcileContext) -> Result:
    """What version 1 deployed and nobody reads any more: pods that do are replaced first."""
    name = ctx.deployed.name
    return delete_all(
        ctx,
        [
            ctx.key("v1", "Service", names.discovery_service(name, 1)),
            ctx.key("v1", "Secret", names.old_config_secret(name)),
        ],
    )


@action()
def both_labels_set(ctx: ReconcileContext) -> Result:
    """Every pod has the labels of version 4 beside its old ones, before anything selects by them alone."""
    for pool in ctx.pools:
        wanted = ctx.deployed.labels(pool.spec.name)
        for pod in pool.pods:
            live = ctx.snapshot.objects[ctx.key("v1", "Pod", pod.name)]
            present = live["metadata"].get("labels") or {}
            if not wanted.items() <= present.items() and not pod.is_terminating:
                patch = Patch(Key.of(live), {"metadata": {"labels": wanted}}, pod.resource_version)
                return in_progress("Labelling", f"{pod.name} gets its new labels", patch)
    return done()


@action()
def stateful_set_relabelled(this: PoolContext) -> Result:
    """The selector cannot be changed: the StatefulSet goes, its pods stay, and the next one adopts them.

    Until its turn comes it gets the nodes that it lacks: those before it wait for everybody to be there.
    """
    ctx, pool = this.ctx, this.pool
    live = _set_of_old_labels(ctx, pool)
    if live is None:
        return done()
    if ctx.active_pool != pool.spec.name:
        kept = keep_last_applied(this, live)
        waits = wait("NotItsTurn", f"{ctx.active_pool} comes first", deadline=24 * 3600)
        return waits if kept.is_true else kept
    if "deletionTimestamp" in live["metadata"]:
        return wait("Orphaning", f"{Key.of(live)} lets its pods go", deadline=300)
    if pool.spec.votes and not _voters_are_counted(ctx):
        return wait("Uncounted", "the budget over voters does not count those without a set", deadline=300)
    metadata = live["metadata"]
    delete = Delete(Key.of(live), metadata["uid"], metadata["resourceVersion"], orphan=True)
    return in_progress("Orphaning", f"{Key.of(live)} makes room for one with the new labels", delete)


def relabelled_next(ctx: ReconcileContext, pool: PoolView) -> bool:
    """Its turn has come, and its StatefulSet still has the old labels."""
    return ctx.active_pool == pool.spec.name and _set_of_old_labels(ctx, pool) is not None


def _set_of_old_labels(ctx: ReconcileContext, pool: PoolView) -> Manifest | None:
    name = names.pool_name(ctx.deployed.name, pool.spec.name)
    live = ctx.snapshot.objects.get(ctx.key("apps/v1", "StatefulSet", name))
    if live is None or live["spec"]["selector"]["matchLabels"] == ctx.deployed.labels(pool.spec.name):
        return None
    return live


def _voters_are_counted(ctx: ReconcileContext) -> bool:
    name = names.voters_budget(ctx.deployed.name)
    found = ctx.snapshot.objects.get(ctx.key("policy/v1", "PodDisruptionBudget", name))
    return found is not None and "minAvailable" in found["spec"]


@action()
def old_revisions_deleted(ctx: ReconcileContext) -> Result:
    """The histories that StatefulSets of the old labels left: no set selects them, so none prunes them."""
    return delete_all(ctx, orphaned_revisions(ctx))


def orphaned_revisions(ctx: ReconcileContext) -> list[Key]:
    """Known by name, as pods are: the labels of old are anybody's."""
    sets = {names.pool_name(ctx.snapshot.cluster.key.name, pool.spec.name) for pool in ctx.snapshot.pools}
    return [
        key
        for key, each in sorted(ctx.snapshot.objects.items(), key=lambda found: found[0])
        if key.kind == "ControllerRevision"
        and key.name.rpartition("-")[0] in sets
        and not each["metadata"].get("ownerReferences")
    ]
