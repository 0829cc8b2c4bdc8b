"""Pools that neither vote nor hold data: Kubernetes replaces their pods, as many as it is told to."""

from __future__ import annotations

__all__ = ["advance_partition", "partition", "uses_statefulset_rollout"]

from searchkeeper.opensearch.view import Unreachable
from searchkeeper.planner import LedgerChange, Result, in_progress, wait
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.batches import batch_limit, doubled_batch, record_batch_failure, record_batch_size
from searchkeeper.upgrade.drain import drain, wait_at_gate
from searchkeeper.upgrade.gates import Candidate, first_blocking_gate, is_not_in_cluster
from searchkeeper.upgrade.ledger import BATCH_FAILED, PARTITION, UpgradeLedger
from searchkeeper.upgrade.role_removal import loses_role
from searchkeeper.upgrade.rollback import failure
from searchkeeper.upgrade.voting import move_vote


def uses_statefulset_rollout(pool: PoolView) -> bool:
    """Nobody would miss a pod of it for a moment."""
    return not (pool.spec.holds_data or pool.spec.votes)


def partition(pool: PoolView, template: str, ledger: UpgradeLedger) -> int:
    """Below which ordinal nobody is replaced. Until that is decided nobody is, where somebody is stale."""
    decided = ledger.partition(pool.spec.name, template)
    if decided is not None:
        return decided
    stale = any(pod.template != template for pod in pool.retained_pods)
    return max(pod.ordinal for pod in pool.retained_pods) + 1 if stale else 0


def advance_partition(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pool: PoolView) -> Result:
    """The next step towards a pool without stale pods: waits for the last batch, or gives the next away."""
    found = pool.stateful_set
    assert found is not None
    late = _late(snapshot, ledger, pool, found.template)
    if late is not None:
        return _patient(snapshot, ledger, pool, late)
    following = max(pool.outdated_pods, key=lambda pod: pod.ordinal)
    candidate = Candidate(following, pool, _lost(snapshot, pool))
    draining = drain(snapshot, ledger, candidate)
    if draining is not None:
        return draining
    closed = first_blocking_gate(candidate, snapshot)
    if closed is not None:
        return wait_at_gate(snapshot, ledger, candidate, closed)
    moving = move_vote(snapshot, ledger, following.name, pool)
    return moving or _given_away(snapshot, ledger, pool, following.ordinal)


def _given_away(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pool: PoolView, highest: int) -> Result:
    found = pool.stateful_set
    assert found is not None
    size = _size(snapshot, ledger, pool, found.template)
    lowest = max(0, highest + 1 - size)
    ledger_changes = [
        LedgerChange(PARTITION, (pool.spec.name, found.template, lowest)),
        record_batch_size(pool.spec.name, size),
    ]
    ledger_changes += [LedgerChange(BATCH_FAILED, None)] if ledger.batch_failed else []
    message = f"Kubernetes may replace pool {pool.spec.name} down to {lowest}"
    return in_progress("HandingOver", message, ledger_changes=tuple(ledger_changes))


def _late(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pool: PoolView, template: str) -> str | None:
    """Who of those that were given away is not back."""
    lowest, found = partition(pool, template, ledger), pool.stateful_set
    late = [
        pod.name for pod in pool.retained_pods if pod.ordinal >= lowest and not _is_back(pod, pool, snapshot)
    ]
    expected = pool.replicas if found is None else min(pool.replicas, found.replicas)
    if not late and len(pool.retained_pods) >= expected:
        return None
    return ", ".join(late) or "somebody"


def _patient(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pool: PoolView, late: str) -> Result:
    """Whoever takes too long makes the next batch smaller."""
    ledger_changes = (
        record_batch_failure(ledger, pool.spec.name) if failure(snapshot, ledger) is not None else ()
    )
    message = f"{late} of pool {pool.spec.name} is being replaced"
    deadline = snapshot.cluster.spec.upgrade.health_deadline
    return wait("KubernetesReplaces", message, deadline=deadline, ledger_changes=ledger_changes)


def _size(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pool: PoolView, template: str) -> int:
    """Twice that of a batch that came back, and no more than a failure has left of it.

    Whoever still votes or holds data, in a pool that is not to do so any more, goes alone.
    """
    voters = frozenset() if isinstance(snapshot.engine, Unreachable) else snapshot.engine.voters
    holders = (pod for pod in pool.outdated_pods if loses_role("data", snapshot.engine, pod.name, pool))
    if any(pod.name in voters for pod in pool.outdated_pods) or any(holders):
        return 1
    is_first = ledger.partition(pool.spec.name, template) is None
    return (batch_limit if is_first or ledger.batch_failed else doubled_batch)(
        snapshot, ledger, pool.spec.name
    )


def _lost(snapshot: ClusterSnapshot, pool: PoolView) -> frozenset[str]:
    """Nobody waits for those: Kubernetes goes from the highest ordinal down, and mends them on its way."""
    lost = (pod for pod in pool.outdated_pods if is_not_in_cluster(Candidate(pod, pool), snapshot))
    return frozenset(pod.name for pod in lost)


def _is_back(pod: Pod, pool: PoolView, snapshot: ClusterSnapshot) -> bool:
    """Made from the newest template, ready, and part of the engine as what it is."""
    if pod in pool.outdated_pods or pod.is_terminating or not pod.is_ready:
        return False
    node = None if isinstance(snapshot.engine, Unreachable) else snapshot.engine.node(pod.name)
    return node is not None and node.version == pod.engine_version
