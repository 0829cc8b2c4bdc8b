"""Nodes that have to begin anew: their shards leave, then their volume goes, then their pod."""

from __future__ import annotations

__all__ = ["drain_is_settled", "needs_volume_wipe", "wipe_volume", "wipe_volume_before_delete"]

from typing import Final

from searchkeeper.opensearch.view import EngineView, ShardState, Unreachable
from searchkeeper.planner import LedgerChange, Result, in_progress, waiting_without_change
from searchkeeper.snapshot import ClusterSnapshot, Pod
from searchkeeper.upgrade.ledger import WIPED_VOLUME, UpgradeLedger
from searchkeeper.upgrade.volumes import Claim, claim_of, delete_claim, is_writable_by

# After that many seconds an engine has begun to move whatever it is ever going to.
_SETTLING: Final = 30


def needs_volume_wipe(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pod: Pod) -> bool:
    """On the way back: it has a volume that the older version cannot start on."""
    if ledger.rollback_to is None or isinstance(snapshot.engine, Unreachable):
        return False
    has_volume = claim_of(snapshot, pod.name) is not None
    return has_volume and not is_writable_by(snapshot.engine, pod.name, ledger.rollback_to)


def wipe_volume_before_delete(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pod: Pod) -> Result | None:
    """Its volume goes before it does. Until the pod is gone Kubernetes keeps it."""
    claim = claim_of(snapshot, pod.name)
    if claim is None or claim.is_leaving or not needs_volume_wipe(snapshot, ledger, pod):
        return None
    return wipe_volume(claim, pod)


def wipe_volume(claim: Claim, pod: Pod) -> Result:
    message = f"{pod.name} begins anew: what it has written cannot be read by the older version"
    ledger_changes = (LedgerChange(WIPED_VOLUME, (claim.key.name, claim.uid)),)
    return in_progress("WipingVolume", message, delete_claim(claim), ledger_changes=ledger_changes)


def drain_is_settled(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pod: Pod, engine: EngineView) -> bool:
    """Nothing moves from it or to it any more, nor is about to; on the way back nothing at all does. Whether
    it may go with what is left is asked by whoever drains, and whether the way back is open by the roll.
    """
    moving = [copy for copy in engine.copies_on(pod.name) if copy.state is not ShardState.STARTED]
    if moving or not _has_settled(snapshot, ledger):
        return False
    return ledger.rollback_to is None or not engine.is_moving


def _has_settled(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> bool:
    match waiting_without_change(ledger, "PodsCurrent", snapshot.now):
        case ("Drains", seconds):
            return seconds >= _SETTLING
        case _:
            return False
