"""Pods that were to go and are still there: whoever noted it was stopped before the deed, or is only late."""

from __future__ import annotations

__all__ = ["SPARED", "aimed_at", "spared", "stayed"]

from typing import Final

from searchkeeper.kernel import Answer, Note, working
from searchkeeper.observed import Observed, Pod
from searchkeeper.upgrade.journal import AIMED, AWAY, Journal
from searchkeeper.writes import Key, Patch

# Its text means nothing: a pod that has it has another resource version than the one that was aimed at.
SPARED: Final = "search.everpath.dev/spared"


def spared(seen: Observed, journal: Journal) -> Answer | None:
    """Whether they may go is decided anew: the world may be another one by now.

    First the pod is touched, so that a deletion which is still on its way names a state that is past. Only
    then nobody is expected back: otherwise it would go without anybody's knowing.
    """
    found = stayed(seen, journal)
    if not found:
        return None
    names, patience = ", ".join(pod.name for pod in found), seen.cluster.spec.upgrade.health_deadline
    target = aimed_at(seen, journal)
    if target is not None:
        return working("Sparing", f"{names} still there", _touch(seen, target), patience=patience)
    kept = {pod.name for pod in found}
    left = tuple(sorted((name, uid) for name, uid in journal.away.items() if name not in kept))
    notes = (Note(AWAY, left or None), Note(AIMED, None))
    return working("NotTaken", f"{names} still there", notes=notes, patience=patience)


def aimed_at(seen: Observed, journal: Journal) -> Pod | None:
    """Who was to go last, as it was seen then: a deletion that was noted then would still be carried out."""
    return next((pod for pod in stayed(seen, journal) if pod.resource_version == journal.aimed_at), None)


def stayed(seen: Observed, journal: Journal) -> tuple[Pod, ...]:
    """Those who are noted as away, and are the very ones who were there before."""
    away = journal.away
    return tuple(pod for pod in seen.pods if away.get(pod.name) == pod.uid and not pod.is_terminating)


def _touch(seen: Observed, pod: Pod) -> Patch:
    key = Key("v1", "Pod", seen.cluster.key.namespace, pod.name)
    return Patch(key, {"metadata": {"annotations": {SPARED: pod.resource_version}}}, pod.resource_version)
