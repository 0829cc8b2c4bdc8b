"""Pools that neither vote nor hold data: Kubernetes replaces their pods, as many as it is told to."""

from __future__ import annotations

__all__ = ["handed_over", "is_handed", "partition"]

from searchkeeper.engine.view import Unreachable
from searchkeeper.kernel import Answer, Note, waiting, working
from searchkeeper.observed import Observed, Pod, PoolView
from searchkeeper.upgrade.batches import allowed, doubled, sized, trouble
from searchkeeper.upgrade.draining import drain, stopped
from searchkeeper.upgrade.failing import failure
from searchkeeper.upgrade.gates import Candidate, first_closed, is_lost_already
from searchkeeper.upgrade.journal import PARTITION, TROUBLE, Journal
from searchkeeper.upgrade.losing import is_going_to_lose
from searchkeeper.upgrade.voting import vote_moved


def is_handed(pool: PoolView) -> bool:
    """Nobody would miss a pod of it for a moment."""
    return not (pool.spec.holds_data or pool.spec.votes)


def partition(pool: PoolView, template: str, journal: Journal) -> int:
    """Below which ordinal nobody is replaced. Until that is decided nobody is, where somebody is stale."""
    decided = journal.partition(pool.spec.name, template)
    if decided is not None:
        return decided
    stale = any(pod.template != template for pod in pool.staying)
    return max(pod.ordinal for pod in pool.staying) + 1 if stale else 0


def handed_over(seen: Observed, journal: Journal, pool: PoolView) -> Answer:
    """The next step towards a pool without stale pods: waits for the last batch, or gives the next away."""
    found = pool.stateful_set
    assert found is not None
    late = _late(seen, journal, pool, found.template)
    if late is not None:
        return _patient(seen, journal, pool, late)
    following = max(pool.stale_pods, key=lambda pod: pod.ordinal)
    candidate = Candidate(following, pool, _lost(seen, pool))
    draining = drain(seen, journal, candidate)
    if draining is not None:
        return draining
    closed = first_closed(candidate, seen)
    if closed is not None:
        return stopped(seen, journal, candidate, closed)
    moving = vote_moved(seen, journal, following.name, pool)
    return moving or _given_away(seen, journal, pool, following.ordinal)


def _given_away(seen: Observed, journal: Journal, pool: PoolView, highest: int) -> Answer:
    found = pool.stateful_set
    assert found is not None
    size = _size(seen, journal, pool, found.template)
    lowest = max(0, highest + 1 - size)
    notes = [Note(PARTITION, (pool.spec.name, found.template, lowest)), sized(pool.spec.name, size)]
    notes += [Note(TROUBLE, None)] if journal.has_trouble else []
    message = f"Kubernetes may replace pool {pool.spec.name} down to {lowest}"
    return working("HandingOver", message, notes=tuple(notes))


def _late(seen: Observed, journal: Journal, pool: PoolView, template: str) -> str | None:
    """Who of those that were given away is not back."""
    lowest, found = partition(pool, template, journal), pool.stateful_set
    late = [pod.name for pod in pool.staying if pod.ordinal >= lowest and not _is_back(pod, pool, seen)]
    expected = pool.replicas if found is None else min(pool.replicas, found.replicas)
    if not late and len(pool.staying) >= expected:
        return None
    return ", ".join(late) or "somebody"


def _patient(seen: Observed, journal: Journal, pool: PoolView, late: str) -> Answer:
    """Whoever takes too long makes the next batch smaller."""
    notes = trouble(journal, pool.spec.name) if failure(seen, journal) is not None else ()
    message = f"{late} of pool {pool.spec.name} is being replaced"
    patience = seen.cluster.spec.upgrade.health_deadline
    return waiting("KubernetesReplaces", message, patience=patience, notes=notes)


def _size(seen: Observed, journal: Journal, pool: PoolView, template: str) -> int:
    """Twice that of a batch that came back, and no more than a failure has left of it.

    Whoever still votes or holds data, in a pool that is not to do so any more, goes alone.
    """
    voters = frozenset() if isinstance(seen.engine, Unreachable) else seen.engine.voters
    holders = (pod for pod in pool.stale_pods if is_going_to_lose("data", seen.engine, pod.name, pool))
    if any(pod.name in voters for pod in pool.stale_pods) or any(holders):
        return 1
    is_first = journal.partition(pool.spec.name, template) is None
    return (allowed if is_first or journal.has_trouble else doubled)(seen, journal, pool.spec.name)


def _lost(seen: Observed, pool: PoolView) -> frozenset[str]:
    """Nobody waits for those: Kubernetes goes from the highest ordinal down, and mends them on its way."""
    lost = (pod for pod in pool.stale_pods if is_lost_already(Candidate(pod, pool), seen))
    return frozenset(pod.name for pod in lost)


def _is_back(pod: Pod, pool: PoolView, seen: Observed) -> bool:
    """Made from the newest template, ready, and part of the engine as what it is."""
    if pod in pool.stale_pods or pod.is_terminating or not pod.is_ready:
        return False
    node = None if isinstance(seen.engine, Unreachable) else seen.engine.node(pod.name)
    return node is not None and node.version == pod.engine_version
