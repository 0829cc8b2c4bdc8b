"""Nodes that have to begin anew: their shards leave, then their volume goes, then their pod."""

from __future__ import annotations

__all__ = ["emptied", "is_as_empty_as_can_be", "must_be_emptied", "on_empty_disk"]

from typing import Final

from searchkeeper.engine.view import EngineView, ShardState, Unreachable
from searchkeeper.kernel import Answer, Note, unchanged, working
from searchkeeper.observed import Observed, Pod
from searchkeeper.upgrade.journal import WIPED, Journal
from searchkeeper.upgrade.volumes import Claim, claim_of, is_writable_by, taken_away

# After that many seconds an engine has begun to move whatever it is ever going to.
_SETTLING: Final = 30


def must_be_emptied(seen: Observed, journal: Journal, pod: Pod) -> bool:
    """On the way back: it has a volume that the older version cannot start on."""
    if journal.returns_to is None or isinstance(seen.engine, Unreachable):
        return False
    has_volume = claim_of(seen, pod.name) is not None
    return has_volume and not is_writable_by(seen.engine, pod.name, journal.returns_to)


def on_empty_disk(seen: Observed, journal: Journal, pod: Pod) -> Answer | None:
    """Its volume goes before it does. Until the pod is gone Kubernetes keeps it."""
    claim = claim_of(seen, pod.name)
    if claim is None or claim.is_leaving or not must_be_emptied(seen, journal, pod):
        return None
    return emptied(claim, pod)


def emptied(claim: Claim, pod: Pod) -> Answer:
    message = f"{pod.name} begins anew: what it has written cannot be read by the older version"
    notes = (Note(WIPED, (claim.key.name, claim.uid)),)
    return working("WipingVolume", message, taken_away(claim), notes=notes)


def is_as_empty_as_can_be(seen: Observed, journal: Journal, pod: Pod, engine: EngineView) -> bool:
    """Nothing moves from it or to it any more, nor is about to; on the way back nothing at all does. Whether
    it may go with what is left is asked by whoever drains, and whether the way back is open by the roll.
    """
    moving = [copy for copy in engine.copies_on(pod.name) if copy.state is not ShardState.STARTED]
    if moving or not _has_settled(seen, journal):
        return False
    return journal.returns_to is None or not engine.is_moving


def _has_settled(seen: Observed, journal: Journal) -> bool:
    match unchanged(journal.ledger, "PodsAreCurrent", seen.now):
        case ("Drains", seconds):
            return seconds >= _SETTLING
        case _:
            return False
