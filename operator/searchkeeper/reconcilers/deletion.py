"""Actions of a cluster that is being deleted: restore the engine's settings, delete orphans, keep volumes."""

from __future__ import annotations

__all__ = ["DELETION_RECONCILER"]

from typing import Final

from searchkeeper.api.reasons import Reason
from searchkeeper.desired import names
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Patch
from searchkeeper.planner import LedgerChange, Reconciler, Result, action, done, in_progress, wait
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.migrations import orphaned_revisions
from searchkeeper.reconcilers.objects import delete_all
from searchkeeper.upgrade.engine_settings import SETTINGS, restore_all
from searchkeeper.upgrade.ledger import DELETING

_ORPHANING_DEADLINE: Final = 300


@action()
def engine_settings_restored(ctx: ReconcileContext) -> Result:
    """True when no engine setting of the operator is left.

    An engine that does not answer delays the deletion for `healthDeadlineSeconds`, and no longer.
    """
    restoring = restore_all(ctx.snapshot, ctx.ledger)
    if restoring is None:
        return done()
    since, now = ctx.ledger.deleting_since, ctx.snapshot.now
    if since is None or since > now:
        return in_progress(
            Reason.RESTORING_ENGINE_SETTINGS,
            "engine settings are restored before the cluster is deleted",
            ledger_changes=(LedgerChange(DELETING, now),),
        )
    if now - max(since, ctx.snapshot.observing_since) < ctx.spec.upgrade.health_deadline:
        return restoring
    settings = [setting for setting in SETTINGS if setting in ctx.ledger]
    message = f"engine settings are not restored: {', '.join(settings)} ({restoring.message})"
    event = EmitEvent(ctx.snapshot.cluster.key, Reason.ENGINE_SETTINGS_NOT_RESTORED, message)
    return in_progress(
        Reason.ENGINE_SETTINGS_NOT_RESTORED,
        message,
        event,
        ledger_changes=tuple(LedgerChange(setting, None) for setting in settings),
    )


@action()
def orphans_deleted(ctx: ReconcileContext) -> Result:
    """True when no pod and no ControllerRevision is without an owner: nothing else would delete those."""
    for key, manifest in ctx.snapshot.objects.items():
        if key.kind == "StatefulSet" and "deletionTimestamp" in manifest["metadata"]:
            return wait(
                Reason.ORPHANING_PODS, f"{key.name} is orphaning its pods", deadline=_ORPHANING_DEADLINE
            )
    for pod in ctx.snapshot.pods:
        key = ctx.key("v1", "Pod", pod.name)
        if not pod.is_terminating and not ctx.snapshot.objects[key]["metadata"].get("ownerReferences"):
            delete = Delete(key, pod.uid, pod.resource_version)
            return in_progress(Reason.DELETING, f"{pod.name} has no owner", delete)
    return delete_all(ctx, orphaned_revisions(ctx))


@action(requires=[engine_settings_restored, orphans_deleted])
def finalizer_removed(ctx: ReconcileContext) -> Result:
    """True when the finalizer is gone. The garbage collector then deletes all but the volumes."""
    cluster = ctx.snapshot.cluster
    if names.FINALIZER not in cluster.finalizers:
        return done()
    others = [finalizer for finalizer in cluster.finalizers if finalizer != names.FINALIZER]
    patch = Patch(cluster.key, {"metadata": {"finalizers": others}}, cluster.resource_version)
    return in_progress(Reason.REMOVING_FINALIZER, "engine settings are restored", patch)


# One for all configuration versions: what has to be restored is in the ledger.
DELETION_RECONCILER: Final = Reconciler(0, 0, (engine_settings_restored, orphans_deleted, finalizer_removed))
