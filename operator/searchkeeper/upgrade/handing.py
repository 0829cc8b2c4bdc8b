"""Pools that neither vote nor hold data: Kubernetes replaces their pods, as many as it is told to."""

from __future__ import annotations

__all__ = ["handed_over", "partition"]

from searchkeeper.engine.view import Unreachable
from searchkeeper.kernel import Answer, Note, waiting, working
from searchkeeper.observed import Observed, Pod, PoolView
from searchkeeper.upgrade.gates import Candidate, first_closed
from searchkeeper.upgrade.journal import PARTITION, SIZE, Journal


def partition(pool: PoolView, template: str, journal: Journal) -> int:
    """Below which ordinal nobody is replaced. Until that is decided nobody is, where somebody is stale."""
    decided = journal.partition(pool.spec.name, template)
    if decided is not None:
        return decided
    stale = any(pod.template != template for pod in pool.staying)
    return max(pod.ordinal for pod in pool.staying) + 1 if stale else 0


def handed_over(seen: Observed, journal: Journal, pool: PoolView) -> Answer:
    """The next step towards a pool without stale pods: waits for the last batch, or gives the next away."""
    found, policy = pool.stateful_set, seen.cluster.spec.upgrade
    assert found is not None
    lowest = partition(pool, found.template, journal)
    late = [pod.name for pod in pool.staying if pod.ordinal >= lowest and not _is_back(pod, pool, seen)]
    if late or len(pool.staying) < min(pool.replicas, found.replicas):
        message = f"{', '.join(late) or 'somebody'} of pool {pool.spec.name} is being replaced"
        return waiting("KubernetesReplaces", message, patience=policy.health_deadline)
    following = max(pool.stale_pods, key=lambda pod: pod.ordinal)
    closed = first_closed(Candidate(following, pool), seen)
    if closed is not None:
        return waiting(closed.gate, closed.sentence, patience=closed.patience)
    size = min(journal.size(pool.spec.name), policy.max_batch)
    lowest = max(0, following.ordinal + 1 - size)
    larger = min(size * 2, policy.max_batch)
    notes = (
        Note(PARTITION, (pool.spec.name, found.template, lowest)),
        Note(SIZE, (pool.spec.name, larger) if larger > 1 else None),
    )
    message = f"Kubernetes may replace pool {pool.spec.name} down to {lowest}"
    return working("HandingOver", message, notes=notes)


def _is_back(pod: Pod, pool: PoolView, seen: Observed) -> bool:
    """Made from the newest template, ready, and part of the engine as what it is."""
    if pod in pool.stale_pods or pod.is_terminating or not pod.is_ready:
        return False
    node = None if isinstance(seen.engine, Unreachable) else seen.engine.node(pod.name)
    return node is not None and node.version == pod.engine_version
