"""Pods whose delete is recorded and that still exist: the delete was not sent, failed, or arrives late."""

from __future__ import annotations

__all__ = ["DELETE_CANCELLED", "cancel_pending_delete", "pending_delete", "pods_still_present"]

from typing import Final

from searchkeeper.api.reasons import Reason
from searchkeeper.kubernetes.operations import Key, Patch
from searchkeeper.planner import LedgerChange, Result, in_progress
from searchkeeper.snapshot import ClusterSnapshot, Pod
from searchkeeper.upgrade.ledger import PENDING_DELETE, REPLACED_PODS, UpgradeLedger

# The value has no meaning. Setting it gives the pod another resource version than the recorded delete names.
DELETE_CANCELLED: Final = "search.everpath.dev/spared"


def cancel_pending_delete(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> Result | None:
    """Return the next step that cancels recorded deletes: whether the pods may go has to be decided again.

    The pod is annotated first, so that a late delete fails its precondition. Only then the record is removed:
    otherwise a late delete would remove a pod that no batch waits for.
    """
    present = pods_still_present(snapshot, ledger)
    if not present:
        return None
    names, deadline = ", ".join(pod.name for pod in present), snapshot.cluster.spec.upgrade.health_deadline
    target = pending_delete(snapshot, ledger)
    if target is not None:
        key = Key("v1", "Pod", snapshot.cluster.key.namespace, target.name)
        annotation = {"metadata": {"annotations": {DELETE_CANCELLED: target.resource_version}}}
        message = f"cancelling the delete of {target.name}"
        patch = Patch(key, annotation, target.resource_version)
        return in_progress(Reason.CANCELLING_DELETE, message, patch, deadline=deadline)
    kept = {pod.name for pod in present}
    left = tuple(sorted((name, uid) for name, uid in ledger.replaced_pods.items() if name not in kept))
    changes = (LedgerChange(REPLACED_PODS, left or None), LedgerChange(PENDING_DELETE, None))
    return in_progress(
        Reason.DELETE_CANCELLED, f"{names} not deleted", ledger_changes=changes, deadline=deadline
    )


def pending_delete(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> Pod | None:
    """Return the pod that the recorded delete would still remove: its resource version is unchanged."""
    present = pods_still_present(snapshot, ledger)
    return next((pod for pod in present if pod.resource_version == ledger.pending_delete), None)


def pods_still_present(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> tuple[Pod, ...]:
    """Return the pods of the batch that still exist with their old UID and are not terminating."""
    batch = ledger.replaced_pods
    return tuple(pod for pod in snapshot.pods if batch.get(pod.name) == pod.uid and not pod.is_terminating)
