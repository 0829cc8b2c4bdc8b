"""Pods that were to go and are still there: whoever noted it was stopped before the deed, or is only late."""

from __future__ import annotations

__all__ = ["DELETE_CANCELLED", "cancel_pending_delete", "pending_delete", "pods_still_present"]

from typing import Final

from searchkeeper.kubernetes.operations import Key, Patch
from searchkeeper.planner import LedgerChange, Result, in_progress
from searchkeeper.snapshot import ClusterSnapshot, Pod
from searchkeeper.upgrade.ledger import PENDING_DELETE, REPLACED_PODS, UpgradeLedger

# Its text means nothing: a pod that has it has another resource version than the one that was aimed at.
DELETE_CANCELLED: Final = "search.everpath.dev/spared"


def cancel_pending_delete(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> Result | None:
    """Whether they may go is decided anew: the world may be another one by now.

    First the pod is touched, so that a deletion which is still on its way names a state that is past. Only
    then nobody is expected back: otherwise it would go without anybody's knowing.
    """
    found = pods_still_present(snapshot, ledger)
    if not found:
        return None
    names, deadline = ", ".join(pod.name for pod in found), snapshot.cluster.spec.upgrade.health_deadline
    target = pending_delete(snapshot, ledger)
    if target is not None:
        return in_progress("Sparing", f"{names} still there", _touch(snapshot, target), deadline=deadline)
    kept = {pod.name for pod in found}
    left = tuple(sorted((name, uid) for name, uid in ledger.replaced_pods.items() if name not in kept))
    ledger_changes = (LedgerChange(REPLACED_PODS, left or None), LedgerChange(PENDING_DELETE, None))
    return in_progress("NotTaken", f"{names} still there", ledger_changes=ledger_changes, deadline=deadline)


def pending_delete(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> Pod | None:
    """Who was to go last, as it was seen then: a deletion that was noted then would still be carried out."""
    return next(
        (
            pod
            for pod in pods_still_present(snapshot, ledger)
            if pod.resource_version == ledger.pending_delete
        ),
        None,
    )


def pods_still_present(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> tuple[Pod, ...]:
    """Those who are noted as away, and are the very ones who were there before."""
    away = ledger.replaced_pods
    return tuple(pod for pod in snapshot.pods if away.get(pod.name) == pod.uid and not pod.is_terminating)


def _touch(snapshot: ClusterSnapshot, pod: Pod) -> Patch:
    key = Key("v1", "Pod", snapshot.cluster.key.namespace, pod.name)
    return Patch(
        key, {"metadata": {"annotations": {DELETE_CANCELLED: pod.resource_version}}}, pod.resource_version
    )
