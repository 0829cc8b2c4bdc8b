"""Nodes that have to begin anew: their shards leave, then their volume goes, then their pod."""

from __future__ import annotations

__all__ = ["emptied", "is_as_empty_as_can_be", "must_be_emptied", "on_empty_disk"]

from typing import Final

from searchkeeper.engine.view import EngineView, Unreachable
from searchkeeper.kernel import Answer, Note, waited, working
from searchkeeper.observed import Observed, Pod
from searchkeeper.upgrade.copies import only_here
from searchkeeper.upgrade.journal import WIPED, Journal
from searchkeeper.upgrade.returning import closed_by
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
    """Nothing moves any more, and nothing is left on it that an older node does not have as well."""
    back = journal.returns_to
    if back is None or not must_be_emptied(seen, journal, pod) or engine.is_moving:
        return False
    match waited(journal.ledger, "PodsAreCurrent", seen.now):
        case ("Drains", seconds) if seconds >= _SETTLING:
            return not only_here(engine, pod.name) and not closed_by(engine, back)
        case _:
            return False
