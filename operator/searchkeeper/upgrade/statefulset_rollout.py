"""Pools without data and votes: the StatefulSet controller replaces their pods, down to a partition."""

from __future__ import annotations

__all__ = ["advance_partition", "partition", "uses_statefulset_rollout"]

from searchkeeper.api.reasons import Reason
from searchkeeper.opensearch.view import Unreachable
from searchkeeper.planner import LedgerChange, Result, in_progress, wait
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.batches import batch_limit, doubled_batch, record_batch_failure, record_batch_size
from searchkeeper.upgrade.drain import drain, wait_at_gate
from searchkeeper.upgrade.engine_settings import restore_for_other_pods
from searchkeeper.upgrade.gates import Candidate, first_blocking_gate, is_not_in_cluster
from searchkeeper.upgrade.ledger import BATCH_FAILED, PARTITION, UpgradeLedger
from searchkeeper.upgrade.rollback import failure
from searchkeeper.upgrade.voting import loses_role, move_vote


def uses_statefulset_rollout(pool: PoolView) -> bool:
    """Whether the pool neither holds data nor votes."""
    return not (pool.spec.holds_data or pool.spec.votes)


def partition(pool: PoolView, template: str, ledger: UpgradeLedger) -> int:
    """Return the lowest ordinal that may be replaced. Before it is recorded, no outdated pod may be."""
    recorded = ledger.partition(pool.spec.name, template)
    if recorded is not None:
        return recorded
    is_outdated = any(pod.template != template for pod in pool.retained_pods)
    return max(pod.ordinal for pod in pool.retained_pods) + 1 if is_outdated else 0


def advance_partition(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pool: PoolView) -> Result:
    """Return the next step towards a pool without outdated pods: wait for a batch, or start the next one."""
    assert pool.stateful_set is not None
    template = pool.stateful_set.template
    late = _late_pods(snapshot, ledger, pool, template)
    if late is not None:
        has_failed = failure(snapshot, ledger) is not None
        return wait(
            Reason.WAITING_FOR_STATEFUL_SET,
            f"the StatefulSet controller is replacing {late} of pool {pool.spec.name}",
            deadline=snapshot.cluster.spec.upgrade.health_deadline,
            ledger_changes=record_batch_failure(ledger, pool.spec.name) if has_failed else (),
        )
    pod = max(pool.outdated_pods, key=lambda pod: pod.ordinal)
    # The controller replaces pods from the highest ordinal down and repairs failed ones on the way.
    failed = (other for other in pool.outdated_pods if is_not_in_cluster(Candidate(other, pool), snapshot))
    candidate = Candidate(pod, pool, frozenset(other.name for other in failed))
    preparation = restore_for_other_pods(snapshot, ledger, pod.name, keep_allocation=False) or drain(
        snapshot, ledger, candidate
    )
    if preparation is not None:
        return preparation
    blocker = first_blocking_gate(candidate, snapshot)
    if blocker is not None:
        return wait_at_gate(snapshot, ledger, candidate, blocker)
    vote = move_vote(snapshot, ledger, pod.name, pool)
    if vote is not None:
        return vote
    size = _next_batch_size(snapshot, ledger, pool, template)
    lowest = max(0, pod.ordinal + 1 - size)
    changes = [
        LedgerChange(PARTITION, (pool.spec.name, template, lowest)),
        record_batch_size(pool.spec.name, size),
    ]
    changes += [LedgerChange(BATCH_FAILED, None)] if ledger.batch_failed else []
    message = f"setting the partition of pool {pool.spec.name} to {lowest}"
    return in_progress(Reason.ADVANCING_PARTITION, message, ledger_changes=tuple(changes))


def _late_pods(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pool: PoolView, template: str) -> str | None:
    """Name the pods of the batch that are not replaced yet; None when all are."""
    lowest = partition(pool, template, ledger)
    batch = (pod for pod in pool.retained_pods if pod.ordinal >= lowest)
    late = [pod.name for pod in batch if not _is_replaced(pod, pool, snapshot)]
    wanted = pool.replicas if pool.stateful_set is None else min(pool.replicas, pool.stateful_set.replicas)
    if not late and len(pool.retained_pods) >= wanted:
        return None
    return ", ".join(late) or "a pod"


def _is_replaced(pod: Pod, pool: PoolView, snapshot: ClusterSnapshot) -> bool:
    """Whether the pod has the current template, is ready, and has joined with its version."""
    if pod in pool.outdated_pods or pod.is_terminating or not pod.is_ready:
        return False
    node = None if isinstance(snapshot.engine, Unreachable) else snapshot.engine.node(pod.name)
    return node is not None and node.version == pod.engine_version


def _next_batch_size(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pool: PoolView, template: str) -> int:
    """Return twice the size of a batch that succeeded; after a failure the size that it left.

    While a node still votes or holds data, in a pool that loses the role, pods are replaced one by one.
    """
    voters = frozenset() if isinstance(snapshot.engine, Unreachable) else snapshot.engine.voters
    for pod in pool.outdated_pods:
        if pod.name in voters or loses_role("data", snapshot.engine, pod.name, pool):
            return 1
    is_first = ledger.partition(pool.spec.name, template) is None
    size = batch_limit if is_first or ledger.batch_failed else doubled_batch
    return size(snapshot, ledger, pool.spec.name)
