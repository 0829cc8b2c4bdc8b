"""Pods that are down: who does not wait for the turn of its pool, and who is not waited for any more."""

from __future__ import annotations

__all__ = [
    "abandon_lost_pods",
    "is_unrelated_failure",
    "needs_early_replacement",
    "replicas_after_abandoning",
]

from typing import Final

from searchkeeper.opensearch.view import Color, EngineView
from searchkeeper.planner import LedgerChange, Result, in_progress
from searchkeeper.snapshot import ClusterSnapshot, PoolView
from searchkeeper.upgrade.gates import Candidate, has_failed
from searchkeeper.upgrade.ledger import REPLACED_PODS, UpgradeLedger
from searchkeeper.upgrade.rollback import failure
from searchkeeper.upgrade.rollback_blockers import rollback_blockers
from searchkeeper.upgrade.shards import hold_nothing
from searchkeeper.upgrade.volumes import claim_of

# No version makes room on a machine.
_HOMELESS: Final = "Unschedulable"


def needs_early_replacement(snapshot: ClusterSnapshot, ledger: UpgradeLedger, candidate: Candidate) -> bool:
    """Whether a pod that is down, and not what it is to be, is replaced before its pool's turn.

    Otherwise all pools before its own would wait for it, and it for them. A pod of the version that an
    upgrade leaves is one of a pool whose turn has never come: it waits until that has not helped and nothing
    goes back any more, for whoever is evicted meanwhile would come back on the newer version as well.
    """
    pod, under_way = candidate.pod, ledger.upgrade
    if pod.is_ready or pod.is_terminating:
        return False
    is_lost, timed_out = has_failed(candidate, snapshot), failure(snapshot, ledger) is not None
    before, target = under_way or ("", pod.engine_version)
    if pod.engine_version == (ledger.rollback_to or target):
        return is_lost
    if ledger.rollback_to is not None or pod.engine_version != before:
        return is_lost or timed_out
    is_last_resort = timed_out and bool(rollback_blockers(snapshot, ledger, before))
    return is_lost and is_last_resort and pod.problem != _HOMELESS


def is_unrelated_failure(snapshot: ClusterSnapshot, ledger: UpgradeLedger, candidate: Candidate) -> bool:
    """Whether a pod is down for another reason than the upgrade under way, whose lock is not held for it.

    It is what it was before, and the upgrade is on its way back; or every node had arrived. A node that ran
    the newer version has first to begin anew on an empty volume.
    """
    pod, claim = candidate.pod, claim_of(snapshot, candidate.pod.name)
    if ledger.upgrade is None or not has_failed(candidate, snapshot):
        return False
    if ledger.rollback_to is None:
        return pod.engine_version == ledger.upgrade[1] == snapshot.cluster.engine_version
    has_crossed = claim is not None and ledger.upgraded_nodes.get(pod.name) == claim.uid
    return pod.engine_version == ledger.rollback_to and not has_crossed


def replicas_after_abandoning(snapshot: ClusterSnapshot, pool: PoolView, count: int, wanted: int) -> int:
    """How many of a pool's first `count` nodes are left when those at its end are given up, down to `wanted`.

    Only those that are down for good and have neither a shard nor a vote; nobody while a primary is missing,
    for it may be on the volume of one of them.
    """
    engine, pods = snapshot.engine, {pod.ordinal: pod for pod in pool.pods}
    if (
        snapshot.cluster.spec.upgrade.paused
        or not isinstance(engine, EngineView)
        or engine.color is Color.RED
    ):
        return count
    while count > wanted and (pod := pods.get(count - 1)) is not None:
        if not (has_failed(Candidate(pod, pool), snapshot) and hold_nothing(engine, [pod.name])):
            break
        count -= 1
    return count


def abandon_lost_pods(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> Result | None:
    """Nobody is waited for who need not come back, or does not for a reason that is none of ours."""
    away = ledger.replaced_pods
    pods = (Candidate(pod, pool) for pool in snapshot.pools for pod in pool.pods if pod.name in away)
    lost = {each.pod.name for each in pods if _is_given_up(snapshot, ledger, each)}
    if not lost:
        return None
    left = tuple(sorted((name, uid) for name, uid in away.items() if name not in lost))
    message = f"{', '.join(sorted(lost))} is not waited for"
    return in_progress("GivenUp", message, ledger_changes=(LedgerChange(REPLACED_PODS, left or None),))


def _is_given_up(snapshot: ClusterSnapshot, ledger: UpgradeLedger, candidate: Candidate) -> bool:
    if candidate.pod in candidate.pool.surplus_pods:
        return has_failed(candidate, snapshot)
    return is_unrelated_failure(snapshot, ledger, candidate)
