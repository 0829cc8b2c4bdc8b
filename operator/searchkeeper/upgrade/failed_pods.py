"""Failed pods: which are replaced before the turn of their pool, and which are no longer waited for."""

from __future__ import annotations

__all__ = [
    "abandon_lost_pods",
    "is_unrelated_failure",
    "needs_early_replacement",
    "replicas_after_abandoning",
]

from typing import Final

from searchkeeper.api.reasons import Reason
from searchkeeper.opensearch.view import Color, EngineView
from searchkeeper.planner import LedgerChange, Result, in_progress
from searchkeeper.snapshot import ClusterSnapshot, PoolView
from searchkeeper.upgrade.gates import Candidate, has_failed
from searchkeeper.upgrade.ledger import REPLACED_PODS, UpgradeLedger
from searchkeeper.upgrade.rollback import failure, rollback_blockers
from searchkeeper.upgrade.shards import hold_nothing
from searchkeeper.upgrade.volumes import claim_of

# Another version does not help a pod that fits on no machine.
_UNSCHEDULABLE: Final = "Unschedulable"


def needs_early_replacement(snapshot: ClusterSnapshot, ledger: UpgradeLedger, candidate: Candidate) -> bool:
    """Whether a failed, outdated pod is replaced before the turn of its pool.

    Without this the pools before its own would wait for the pod, and the pod for them. A pod that still has
    the version that the upgrade leaves is replaced early only as a last resort, when the upgrade has timed
    out and a rollback is blocked: with a new template, every pod of the pool that is evicted would be
    upgraded too.
    """
    pod = candidate.pod
    if pod.is_ready or pod.is_terminating:
        return False
    is_lost, timed_out = has_failed(candidate, snapshot), failure(snapshot, ledger) is not None
    before, target = ledger.upgrade or ("", pod.engine_version)
    if pod.engine_version == (ledger.rollback_to or target):
        return is_lost
    if ledger.rollback_to is not None or pod.engine_version != before:
        return is_lost or timed_out
    is_last_resort = timed_out and bool(rollback_blockers(snapshot, ledger, before))
    return is_lost and is_last_resort and pod.problem != _UNSCHEDULABLE


def is_unrelated_failure(snapshot: ClusterSnapshot, ledger: UpgradeLedger, candidate: Candidate) -> bool:
    """Whether a pod failed for another reason than the upgrade: the lock is not held for it.

    Either every node had reached the target, or a rollback runs and the pod has the older version. A node
    that has run the newer version on its present volume needs an empty one first.
    """
    pod, claim = candidate.pod, claim_of(snapshot, candidate.pod.name)
    if ledger.upgrade is None or not has_failed(candidate, snapshot):
        return False
    if ledger.rollback_to is None:
        return pod.engine_version == ledger.upgrade[1] == snapshot.cluster.engine_version
    ran_newer = claim is not None and ledger.upgraded_nodes.get(pod.name) == claim.uid
    return pod.engine_version == ledger.rollback_to and not ran_newer


def replicas_after_abandoning(snapshot: ClusterSnapshot, pool: PoolView, count: int, wanted: int) -> int:
    """Return how many of a pool's first `count` nodes remain if failed ones at the end are abandoned.

    At least `wanted` remain. Only nodes without shards and votes are abandoned, and none while the cluster is
    red: the missing primary may be on one of their volumes.
    """
    engine, pods = snapshot.engine, {pod.ordinal: pod for pod in pool.pods}
    is_paused = snapshot.cluster.spec.upgrade.paused
    if is_paused or not isinstance(engine, EngineView) or engine.color is Color.RED:
        return count
    while count > wanted and (pod := pods.get(count - 1)) is not None:
        if not (has_failed(Candidate(pod, pool), snapshot) and hold_nothing(engine, [pod.name])):
            break
        count -= 1
    return count


def abandon_lost_pods(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> Result | None:
    """Stop waiting for pods of the batch that are surplus, or failed for an unrelated reason."""
    batch, lost = ledger.replaced_pods, set()
    for pool in snapshot.pools:
        for pod in pool.pods:
            candidate = Candidate(pod, pool)
            is_surplus = pod in pool.surplus_pods and has_failed(candidate, snapshot)
            is_lost = is_surplus or (
                pod in pool.retained_pods and is_unrelated_failure(snapshot, ledger, candidate)
            )
            if pod.name in batch and is_lost:
                lost.add(pod.name)
    if not lost:
        return None
    left = tuple(sorted((name, uid) for name, uid in batch.items() if name not in lost))
    return in_progress(
        Reason.PODS_ABANDONED,
        f"no longer waiting for {', '.join(sorted(lost))}",
        ledger_changes=(LedgerChange(REPLACED_PODS, left or None),),
    )
