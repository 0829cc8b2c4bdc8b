"""Rollout: replace outdated pods, one by one or in batches.

`roll_out` is called once a reconcile and returns one step. It reads from top to bottom like the upgrade
itself: resume what was interrupted, choose the pool, wait until all pods are ready, check the health of the
cluster, prepare the engine, replace the pod, go on with the next. New engine versions and new configurations
take the same steps. What must survive a crash is recorded before it is done; whether it was done is observed.
"""

from __future__ import annotations

__all__ = ["Rollout", "roll_out"]

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from searchkeeper.api.reasons import Reason
from searchkeeper.kubernetes.operations import Delete, EngineCall, Key
from searchkeeper.opensearch.calls import Flush, SetAllocation
from searchkeeper.opensearch.view import Allocation, EngineView, Unreachable
from searchkeeper.planner import LedgerChange, Result, done, in_progress, wait
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.batches import (
    batch_limit,
    doubled_batch,
    record_batch_failure,
    record_batch_size,
    record_halved_batch,
)
from searchkeeper.upgrade.drain import (
    delete_volume,
    delete_volume_before_pod,
    drain,
    drain_steps,
    has_single_copies,
    needs_full_drain,
    wait_at_gate,
)
from searchkeeper.upgrade.engine_settings import (
    record_changes,
    record_setting,
    restore_for_other_pods,
    restore_settings,
)
from searchkeeper.upgrade.failed_pods import abandon_lost_pods, needs_early_replacement
from searchkeeper.upgrade.gates import Candidate, first_blocking_gate, is_not_in_cluster, recent_restarts
from searchkeeper.upgrade.ledger import (
    ALLOCATION,
    BATCH_FAILED,
    BATCH_SIZE,
    FLUSHED,
    PARTITION,
    PENDING_DELETE,
    REPLACED_PODS,
    WIPED_VOLUME,
    UpgradeLedger,
)
from searchkeeper.upgrade.order import candidates
from searchkeeper.upgrade.pending_delete import cancel_pending_delete, pending_delete
from searchkeeper.upgrade.rollback import failure, forward_hint, rollback_blockers
from searchkeeper.upgrade.statefulset_rollout import advance_partition, uses_statefulset_rollout
from searchkeeper.upgrade.volumes import claim_of, needs_empty_disk
from searchkeeper.upgrade.voting import move_vote

# Ledger entries that end with a batch. The rollout also removes those that an abandoned batch left.
_BATCH_KEYS: Final = (REPLACED_PODS, PENDING_DELETE, FLUSHED, BATCH_FAILED, WIPED_VOLUME)
_ROLLOUT_KEYS: Final = (*_BATCH_KEYS[1:], BATCH_SIZE, PARTITION)


@dataclass(frozen=True, slots=True)
class Rollout:
    """The snapshot, the ledger, and the pools in the order of their replacement.

    A pool in `pending_pools` is not rolled out yet; only its failed pods that cannot wait are replaced.
    """

    snapshot: ClusterSnapshot
    ledger: UpgradeLedger
    pools: tuple[PoolView, ...]
    pending_pools: frozenset[str] = frozenset()

    @property
    def deadline(self) -> int:
        return self.snapshot.cluster.spec.upgrade.health_deadline

    @property
    def is_rollback(self) -> bool:
        return self.ledger.rollback_to is not None

    def candidates(self, pool: PoolView) -> tuple[Pod, ...]:
        """Return the pods of a pool that may be replaced, the next one first."""
        unstable = {pod.name for pod in pool.pods if recent_restarts(pod, self.snapshot) is not None}
        pods = candidates(pool, self.snapshot.engine, backwards=self.is_rollback, unstable=unstable)
        if pool.spec.name not in self.pending_pools:
            return pods
        return tuple(
            pod for pod in pods if needs_early_replacement(self.snapshot, self.ledger, Candidate(pod, pool))
        )

    def choose_pool(self) -> PoolView | None:
        """Return the first pool with outdated pods or with pods of the batch.

        A pending pool with a failed pod comes first: all others would wait for that pod.
        """
        batch = self.ledger.replaced_pods
        failing = (
            pool for pool in self.pools if pool.spec.name in self.pending_pools and self.candidates(pool)
        )
        unfinished = (
            pool
            for pool in self.pools
            if pool.spec.name not in self.pending_pools
            and (pool.outdated_pods or any(pod.name in batch for pod in pool.pods))
        )
        return next(chain(failing, unfinished), None)


def roll_out(rollout: Rollout) -> Result:
    """Return the next step. True when no pod is outdated or being replaced and all settings are restored."""
    unfinished = (
        _retry_pending_delete(rollout)
        or cancel_pending_delete(rollout.snapshot, rollout.ledger)
        or abandon_lost_pods(rollout.snapshot, rollout.ledger)
        or _recreate_with_empty_volume(rollout)
        or _replace_pod_outside_cluster(rollout)
    )
    if unfinished is not None:
        return unfinished
    pool = rollout.choose_pool()
    unready = _unready_pods_of_batch(rollout)
    if unready:
        return _extend_batch(rollout, pool) or _wait_for_pods(rollout, pool, unready)
    if rollout.ledger.replaced_pods:
        return _finish_batch(rollout)
    if pool is None:
        changes = tuple(LedgerChange(key, None) for key in _ROLLOUT_KEYS if key in rollout.ledger)
        return restore_settings(rollout.snapshot, rollout.ledger) or done(
            "every pod has the current template", ledger_changes=changes
        )
    if uses_statefulset_rollout(pool):
        return advance_partition(rollout.snapshot, rollout.ledger, pool)
    return _replace_next_pod(rollout, Candidate(rollout.candidates(pool)[0], pool))


def _retry_pending_delete(rollout: Rollout) -> Result | None:
    """Forget the recorded delete, decide again, and retry it if the decision is the same.

    So a delete that is denied for days is retried without another write to the pod or the ledger.
    """
    pod = pending_delete(rollout.snapshot, rollout.ledger)
    if pod is None:
        return None
    others = tuple(sorted((n, uid) for n, uid in rollout.ledger.replaced_pods.items() if n != pod.name))
    ledger = rollout.ledger.with_changes({REPLACED_PODS: others, PENDING_DELETE: None})
    step = roll_out(replace(rollout, ledger=UpgradeLedger.of(ledger)))
    is_same = any(isinstance(write, Delete) and write.uid == pod.uid for write in step.operations)
    return step if is_same else None


def _recreate_with_empty_volume(rollout: Rollout) -> Result | None:
    """In a rollback: delete the volume, then the pod, of a node that cannot start on what it wrote.

    It first has its time to start, unless its pool has neither data nor votes.
    """
    if rollout.snapshot.cluster.spec.upgrade.paused:
        return None
    timed_out = failure(rollout.snapshot, rollout.ledger) is not None
    for pool in rollout.pools:
        for pod in pool.pods:
            claim = claim_of(rollout.snapshot, pod.name)
            if claim is None or not needs_empty_disk(rollout.snapshot, rollout.ledger, pod):
                continue
            if claim.is_terminating:
                return _delete_pod(rollout, Candidate(pod, pool))
            if timed_out or uses_statefulset_rollout(pool):
                return delete_volume(claim, pod)
    return None


def _replace_pod_outside_cluster(rollout: Rollout) -> Result | None:
    """Replace an outdated pod that is not in the cluster although the batch is not complete.

    Without this the batch never completes.
    """
    if not rollout.ledger.replaced_pods:
        return None
    for pool in rollout.pools:
        if uses_statefulset_rollout(pool):
            continue
        for pod in rollout.candidates(pool):
            candidate = Candidate(pod, pool)
            is_outside = is_not_in_cluster(candidate, rollout.snapshot) and not pod.is_terminating
            if is_outside and first_blocking_gate(candidate, rollout.snapshot) is None:
                changes = record_batch_failure(rollout.ledger, pool.spec.name)
                return _delete_pod(rollout, candidate, *changes)
    return None


def _unready_pods_of_batch(rollout: Rollout) -> list[str]:
    """Return the pods of the batch that are not replaced yet, except those that are outdated again."""
    pods = {pod.name: (pod, pool) for pool in rollout.snapshot.pools for pod in pool.pods}
    outdated = _pods_outdated_again(rollout)
    return [
        name
        for name, uid in rollout.ledger.replaced_pods.items()
        if name not in outdated and (name not in pods or not _is_replaced(*pods[name], uid, rollout.snapshot))
    ]


def _pods_outdated_again(rollout: Rollout) -> set[str]:
    """Return the pods that were recreated in this batch and are outdated again: the template has changed."""
    batch = rollout.ledger.replaced_pods
    outdated = (pod for pool in rollout.pools for pod in pool.outdated_pods if not pod.is_terminating)
    return {pod.name for pod in outdated if pod.name in batch and batch[pod.name] != pod.uid}


def _is_replaced(pod: Pod, pool: PoolView, deleted_uid: str, snapshot: ClusterSnapshot) -> bool:
    """Whether a new pod exists, is ready, and has joined with its version."""
    if pod.uid == deleted_uid or pod.is_terminating or not pod.is_ready:
        return False
    if isinstance(snapshot.engine, Unreachable) or pool.stateful_set is None:
        return False
    node = snapshot.engine.node(pod.name)
    return node is not None and node.version == pod.engine_version


def _extend_batch(rollout: Rollout, pool: PoolView | None) -> Result | None:
    """Replace another pod beside the batch, if the batch may be larger and the pod needs no preparation."""
    batch = frozenset(rollout.ledger.replaced_pods)
    if pool is None or _replaces_one_by_one(rollout, pool):
        return None
    if len(batch) >= batch_limit(rollout.snapshot, rollout.ledger, pool.spec.name):
        return None
    for pod in rollout.candidates(pool):
        candidate = Candidate(pod, pool, batch)
        if pod.name in batch or pod.is_terminating:
            continue
        is_blocked = first_blocking_gate(candidate, rollout.snapshot) is not None
        if not is_blocked and next(_preparations(rollout, candidate), None) is None:
            return _delete_pod(rollout, candidate)
    return None


def _replaces_one_by_one(rollout: Rollout, pool: PoolView) -> bool:
    """Whether a batch has one pod: of voters, and in a rollback, which depends on every older node."""
    return pool.spec.votes or rollout.is_rollback


def _wait_for_pods(rollout: Rollout, pool: PoolView | None, unready: list[str]) -> Result:
    """Wait for the batch. If that takes too long, the next batch is smaller."""
    timed_out = failure(rollout.snapshot, rollout.ledger) is not None
    problems = {pod.name: pod.problem for pod in rollout.snapshot.pods if pod.problem}
    names = (f"{name} ({problems[name]})" if name in problems else name for name in unready)
    return wait(
        Reason.WAITING_FOR_PODS,
        f"waiting until {', '.join(names)} is ready and has joined",
        deadline=rollout.deadline,
        ledger_changes=record_batch_failure(rollout.ledger, pool.spec.name) if timed_out and pool else (),
    )


def _finish_batch(rollout: Rollout) -> Result:
    """Restore the settings of the batch, then end it. The next batch may be twice as large.

    After a failure the size stays as it is. If a pod is outdated again, the size is halved.
    """
    undo = restore_settings(rollout.snapshot, rollout.ledger)
    if undo is not None:
        return undo
    ledger = rollout.ledger
    pools = {pod.name: pool.spec.name for pool in rollout.pools for pod in pool.pods}
    pool = next((pools[name] for name in ledger.replaced_pods if name in pools), None)
    size: tuple[LedgerChange, ...] = ()
    if pool is not None and not ledger.batch_failed:
        if _pods_outdated_again(rollout):
            size = record_halved_batch(ledger, pool)
        else:
            size = (record_batch_size(pool, doubled_batch(rollout.snapshot, ledger, pool)),)
    return in_progress(
        Reason.BATCH_REPLACED,
        f"{', '.join(ledger.replaced_pods)} replaced",
        ledger_changes=(*(LedgerChange(key, None) for key in _BATCH_KEYS), *size),
    )


def _replace_next_pod(rollout: Rollout, candidate: Candidate) -> Result:
    """Return the next step for a pod: check the cluster, prepare the engine, delete the pod."""
    snapshot, ledger = rollout.snapshot, rollout.ledger
    if candidate.pod.is_terminating:
        return _adopt_terminating_pod(rollout, candidate.pod)
    keeps_allocation = _restarts_with_its_shards(rollout, candidate)
    return (
        restore_for_other_pods(snapshot, ledger, candidate.pod.name, keep_allocation=keeps_allocation)
        or _stop_blocked_rollback(rollout, candidate)
        or drain(snapshot, ledger, candidate)
        or _wait_for_healthy_cluster(rollout, candidate)
        or next(_preparations(rollout, candidate), None)
        or delete_volume_before_pod(snapshot, ledger, candidate.pod)
        or _delete_pod(rollout, candidate)
    )


def _adopt_terminating_pod(rollout: Rollout, pod: Pod) -> Result:
    """Wait for a pod that another client deletes as for one of the batch. It is not deleted twice."""
    batch = tuple(sorted({**rollout.ledger.replaced_pods, pod.name: pod.uid}.items()))
    return in_progress(
        Reason.POD_TERMINATING,
        f"{pod.name} is terminating",
        ledger_changes=(LedgerChange(REPLACED_PODS, batch),),
    )


def _stop_blocked_rollback(rollout: Rollout, candidate: Candidate) -> Result | None:
    """Wait if the rollback has become impossible. Pods that are not in the cluster have nothing to lose."""
    version, is_paused = rollout.ledger.rollback_to, rollout.snapshot.cluster.spec.upgrade.paused
    if version is None or is_paused or is_not_in_cluster(candidate, rollout.snapshot):
        return None
    blockers = rollback_blockers(rollout.snapshot, rollout.ledger, version)
    if not blockers or isinstance(rollout.snapshot.engine, Unreachable):
        return None
    hint = forward_hint(rollout.snapshot, rollout.ledger)
    message = f"cannot roll back to {version}: {blockers[0]}; {hint}"
    undo = restore_settings(rollout.snapshot, rollout.ledger)
    return undo or wait(Reason.ROLLBACK_BLOCKED, message, deadline=rollout.deadline)


def _wait_for_healthy_cluster(rollout: Rollout, candidate: Candidate) -> Result | None:
    """Wait at the first closed gate."""
    blocker = first_blocking_gate(candidate, rollout.snapshot)
    if blocker is None:
        return None
    return wait_at_gate(rollout.snapshot, rollout.ledger, candidate, blocker)


def _preparations(rollout: Rollout, candidate: Candidate) -> Iterator[Result]:
    """Yield what is still to be done in the engine before the pod is deleted."""
    snapshot, ledger, engine = rollout.snapshot, rollout.ledger, rollout.snapshot.engine
    if isinstance(engine, Unreachable) or is_not_in_cluster(candidate, snapshot):
        return
    vote = move_vote(snapshot, ledger, candidate.pod.name, candidate.pool)
    if vote is not None:
        yield vote
    if _restarts_with_its_shards(rollout, candidate):
        yield from _preparations_for_restart(rollout, candidate, engine)
    elif candidate.pool.spec.holds_data:
        yield from drain_steps(snapshot, ledger, candidate, engine)


def _restarts_with_its_shards(rollout: Rollout, candidate: Candidate) -> bool:
    """Whether the node keeps its shards on its disk while it restarts, and is not drained."""
    snapshot, engine = rollout.snapshot, rollout.snapshot.engine
    if not candidate.pool.spec.holds_data or isinstance(engine, Unreachable):
        return False
    return not (
        needs_full_drain(snapshot, rollout.ledger, candidate)
        or has_single_copies(snapshot, candidate, engine)
    )


def _preparations_for_restart(rollout: Rollout, candidate: Candidate, engine: EngineView) -> Iterator[Result]:
    """Disable replica allocation, or replicas would be rebuilt elsewhere; then flush once for the batch."""
    pod, ledger = candidate.pod, rollout.ledger
    if ledger.allocation_before is None or engine.allocation is not Allocation.PRIMARIES:
        yield _disable_replica_allocation(rollout, pod, ledger.allocation_before or str(engine.allocation))
    elif ledger.flushed_for not in (pod.uid, *ledger.replaced_pods.values()):
        yield in_progress(
            Reason.FLUSHING,
            f"flushing all indices before {pod.name} restarts",
            EngineCall(Flush()),
            ledger_changes=(LedgerChange(FLUSHED, pod.uid),),
            deadline=rollout.deadline,
        )


def _disable_replica_allocation(rollout: Rollout, pod: Pod, before: str) -> Result:
    return in_progress(
        Reason.DISABLING_REPLICA_ALLOCATION,
        f"disabling replica allocation before {pod.name} restarts",
        EngineCall(SetAllocation(Allocation.PRIMARIES, record_changes(ALLOCATION, before))),
        ledger_changes=record_setting(ALLOCATION, before),
        deadline=rollout.deadline,
    )


def _delete_pod(rollout: Rollout, candidate: Candidate, *changes: LedgerChange) -> Result:
    """Delete exactly this pod, in the state that was observed, and record it first.

    The first pod of a batch ends what is left of an earlier batch whose pods were abandoned.
    """
    pod, ledger = candidate.pod, rollout.ledger
    batch = tuple(sorted({**ledger.replaced_pods, pod.name: pod.uid}.items()))
    key = Key("v1", "Pod", rollout.snapshot.cluster.key.namespace, pod.name)
    if ledger.batch_failed and not ledger.replaced_pods:
        changes = (*changes, LedgerChange(BATCH_FAILED, None))
    return in_progress(
        Reason.REPLACING_POD,
        f"replacing {pod.name}",
        Delete(key, pod.uid, pod.resource_version),
        ledger_changes=(
            LedgerChange(REPLACED_PODS, batch),
            LedgerChange(PENDING_DELETE, pod.resource_version),
            *changes,
        ),
    )
