"""What is left to do for a cluster that is being deleted: leave no trace but its volumes."""

from __future__ import annotations

__all__ = ["DELETION_RECONCILER"]

from collections.abc import Iterator
from typing import Final

from searchkeeper.desired import names
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Manifest, Patch
from searchkeeper.planner import LedgerChange, Reconciler, Result, action, done, in_progress, wait
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.migrations import orphaned_revisions
from searchkeeper.reconcilers.objects import delete_all
from searchkeeper.upgrade.engine_settings import SETTINGS, restore_all
from searchkeeper.upgrade.ledger import DELETING

_PATIENCE: Final = 300


@action()
def engine_settings_restored(ctx: ReconcileContext) -> Result:
    """Whatever was set in the engine is undone. One that never answers does not hold the cluster for ever."""
    undoing = restore_all(ctx.snapshot, ctx.ledger)
    if undoing is None:
        return done()
    since, now = ctx.ledger.deleting_since, ctx.snapshot.now
    if since is None or since > now:
        return in_progress(
            "Tidying", "what was set in the engine is undone", ledger_changes=(LedgerChange(DELETING, now),)
        )
    if now - max(since, ctx.snapshot.observing_since) < ctx.spec.upgrade.health_deadline:
        return undoing
    lines = [line for line in SETTINGS if line in ctx.ledger]
    message = f"the engine is left as it is: {', '.join(lines)} could not be undone ({undoing.message})"
    event = EmitEvent(ctx.snapshot.cluster.key, "EngineNotTidied", message)
    return in_progress(
        "EngineNotTidied", message, event, ledger_changes=tuple(LedgerChange(line, None) for line in lines)
    )


@action()
def orphans_deleted(ctx: ReconcileContext) -> Result:
    """Pods between two StatefulSets belong to nobody, nor do histories, and nobody else takes them along."""
    for each in _stateful_sets(ctx):
        if "deletionTimestamp" in each["metadata"]:
            return wait("Orphaning", f"{each['metadata']['name']} lets its pods go", deadline=_PATIENCE)
    for pod in ctx.snapshot.pods:
        key = ctx.key("v1", "Pod", pod.name)
        if not pod.is_terminating and not ctx.snapshot.objects[key]["metadata"].get("ownerReferences"):
            delete = Delete(key, pod.uid, pod.resource_version)
            return in_progress("Removing", f"{pod.name} belongs to nobody", delete)
    return delete_all(ctx, orphaned_revisions(ctx))


def _stateful_sets(ctx: ReconcileContext) -> Iterator[Manifest]:
    return (each for key, each in ctx.snapshot.objects.items() if key.kind == "StatefulSet")


@action(requires=[engine_settings_restored, orphans_deleted])
def finalizer_removed(ctx: ReconcileContext) -> Result:
    """From here on the garbage collector takes what the cluster owns; volumes are nobody's."""
    cluster = ctx.snapshot.cluster
    if names.FINALIZER not in cluster.finalizers:
        return done()
    others = [each for each in cluster.finalizers if each != names.FINALIZER]
    patch = Patch(cluster.key, {"metadata": {"finalizers": others}}, cluster.resource_version)
    return in_progress("RemovingFinalizer", "nothing of it is left in the engine", patch)


# For every configuration version: what is undone is in the journal, not in what was deployed.
DELETION_RECONCILER: Final = Reconciler(0, 0, (engine_settings_restored, orphans_deleted, finalizer_removed))
