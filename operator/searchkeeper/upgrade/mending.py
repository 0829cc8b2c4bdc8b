"""Pods that are down: who does not wait for the turn of its pool, and who is not waited for any more."""

from __future__ import annotations

__all__ = ["awaits_cure", "given_up", "is_none_of_ours", "survivors"]

from typing import Final

from searchkeeper.engine.view import Color, EngineView
from searchkeeper.kernel import Answer, Note, working
from searchkeeper.observed import Observed, PoolView
from searchkeeper.upgrade.copies import is_empty
from searchkeeper.upgrade.failing import failure
from searchkeeper.upgrade.gates import Candidate, is_lost_for_good
from searchkeeper.upgrade.journal import AWAY, Journal
from searchkeeper.upgrade.returning import obstacles
from searchkeeper.upgrade.volumes import claim_of

# No version makes room on a machine.
_HOMELESS: Final = "Unschedulable"


def awaits_cure(seen: Observed, journal: Journal, candidate: Candidate) -> bool:
    """Whether a pod that is down, and not what it is to be, is replaced before its pool's turn.

    Otherwise all pools before its own would wait for it, and it for them. A pod of the version that an
    upgrade leaves is one of a pool whose turn has never come: it waits until that has not helped and nothing
    goes back any more, for whoever is evicted meanwhile would come back on the newer version as well.
    """
    pod, under_way = candidate.pod, journal.under_way
    if pod.is_ready or pod.is_terminating:
        return False
    is_lost, has_failed = is_lost_for_good(candidate, seen), failure(seen, journal) is not None
    before, target = under_way or ("", pod.engine_version)
    if pod.engine_version == (journal.returns_to or target):
        return is_lost
    if journal.returns_to is not None or pod.engine_version != before:
        return is_lost or has_failed
    is_last_resort = has_failed and bool(obstacles(seen, journal, before))
    return is_lost and is_last_resort and pod.problem != _HOMELESS


def is_none_of_ours(seen: Observed, journal: Journal, candidate: Candidate) -> bool:
    """Whether a pod is down for another reason than the upgrade under way, whose lock is not held for it.

    It is what it was before, and the upgrade is on its way back; or every node had arrived. A node that ran
    the newer version has first to begin anew on an empty volume.
    """
    pod, claim = candidate.pod, claim_of(seen, candidate.pod.name)
    if journal.under_way is None or not is_lost_for_good(candidate, seen):
        return False
    if journal.returns_to is None:
        return pod.engine_version == journal.under_way[1] == seen.cluster.engine_version
    has_crossed = claim is not None and journal.crossed.get(pod.name) == claim.uid
    return pod.engine_version == journal.returns_to and not has_crossed


def survivors(seen: Observed, pool: PoolView, count: int, wanted: int) -> int:
    """How many of a pool's first `count` nodes are left when those at its end are given up, down to `wanted`.

    Only those that are down for good and have neither a shard nor a vote; nobody while a primary is missing,
    for it may be on the volume of one of them.
    """
    engine, pods = seen.engine, {pod.ordinal: pod for pod in pool.pods}
    if seen.cluster.spec.upgrade.paused or not isinstance(engine, EngineView) or engine.color is Color.RED:
        return count
    while count > wanted and (pod := pods.get(count - 1)) is not None:
        if not (is_lost_for_good(Candidate(pod, pool), seen) and is_empty(engine, [pod.name])):
            break
        count -= 1
    return count


def given_up(seen: Observed, journal: Journal) -> Answer | None:
    """Nobody is waited for who need not come back, or does not for a reason that is none of ours."""
    away = journal.away
    pods = (Candidate(pod, pool) for pool in seen.pools for pod in pool.pods if pod.name in away)
    lost = {each.pod.name for each in pods if _is_given_up(seen, journal, each)}
    if not lost:
        return None
    left = tuple(sorted((name, uid) for name, uid in away.items() if name not in lost))
    message = f"{', '.join(sorted(lost))} is not waited for"
    return working("GivenUp", message, notes=(Note(AWAY, left or None),))


def _is_given_up(seen: Observed, journal: Journal, candidate: Candidate) -> bool:
    if candidate.pod in candidate.pool.departing:
        return is_lost_for_good(candidate, seen)
    return is_none_of_ours(seen, journal, candidate)
