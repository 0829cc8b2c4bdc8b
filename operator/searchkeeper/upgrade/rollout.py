"""The roll: stale pods are replaced one after the other, or a few at a time, without losing anything.

Every step is one cycle. What must survive a crash is noted before it is done; what was done is seen in the
world, never remembered. The same road serves a new engine version and a new configuration.
"""

from __future__ import annotations

__all__ = ["Rollout", "roll_out"]

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

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
from searchkeeper.upgrade.drain import drain, drain_steps, has_single_copies, needs_full_drain, wait_at_gate
from searchkeeper.upgrade.engine_settings import record_setting, restore_settings
from searchkeeper.upgrade.failed_pods import abandon_lost_pods, needs_early_replacement
from searchkeeper.upgrade.gates import Candidate, first_blocking_gate, is_not_in_cluster
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
from searchkeeper.upgrade.rollback import ROLLBACK_BLOCKED, failure, forward_hint
from searchkeeper.upgrade.rollback_blockers import rollback_blockers
from searchkeeper.upgrade.statefulset_rollout import advance_partition, uses_statefulset_rollout
from searchkeeper.upgrade.volume_wipe import wipe_volume, wipe_volume_before_delete
from searchkeeper.upgrade.volumes import claim_of, needs_empty_disk
from searchkeeper.upgrade.voting import move_vote

# What is of no use to anybody when no pod is stale and nobody is away.
_OF_THE_ROLL: Final = (BATCH_SIZE, PARTITION, FLUSHED, BATCH_FAILED, WIPED_VOLUME, PENDING_DELETE)


@dataclass(frozen=True, slots=True)
class Rollout:
    """What a roll works on: the world, its journal, and the pools in the order they go.

    `ahead` are those whose turn has not come: of them only whoever cannot wait for it is replaced.
    """

    snapshot: ClusterSnapshot
    ledger: UpgradeLedger
    pools: tuple[PoolView, ...]
    pending_pools: frozenset[str] = frozenset()

    @property
    def deadline(self) -> int:
        return self.snapshot.cluster.spec.upgrade.health_deadline

    @property
    def pool(self) -> PoolView | None:
        """The first pool that has anything to replace, or somebody away.

        Before all others one that is ahead, with somebody who awaits a cure: everybody would wait for it.
        """
        ailing = (
            pool for pool in self.pools if pool.spec.name in self.pending_pools and self.candidates(pool)
        )
        due = (
            pool for pool in self.pools if pool.spec.name not in self.pending_pools and self._is_left(pool)
        )
        return next(chain(ailing, due), None)

    @property
    def is_rollback(self) -> bool:
        return self.ledger.rollback_to is not None

    def candidates(self, pool: PoolView) -> tuple[Pod, ...]:
        found = candidates(pool, self.snapshot.engine, backwards=self.is_rollback)
        if pool.spec.name not in self.pending_pools:
            return found
        return tuple(
            pod for pod in found if needs_early_replacement(self.snapshot, self.ledger, Candidate(pod, pool))
        )

    def _is_left(self, pool: PoolView) -> bool:
        return bool(pool.outdated_pods) or any(pod.name in self.ledger.replaced_pods for pod in pool.pods)


def roll_out(this: Rollout) -> Result:
    """True when no pod is stale, nobody is away, and nothing that was set for it is left."""
    rethought = (
        _once_more(this)
        or cancel_pending_delete(this.snapshot, this.ledger)
        or abandon_lost_pods(this.snapshot, this.ledger)
    )
    mending = rethought or _emptied(this) or _mended(this)
    if mending is not None:
        return mending
    missing = _missing(this)
    pool = this.pool
    if missing:
        return (None if pool is None else _next_of_batch(this, pool)) or _patient(this, pool, missing)
    if this.ledger.replaced_pods:
        return _welcome(this)
    if pool is None:
        over = tuple(LedgerChange(line, None) for line in _OF_THE_ROLL if line in this.ledger)
        return restore_settings(this.snapshot, this.ledger) or done(
            "every pod is of the newest template", ledger_changes=over
        )
    if uses_statefulset_rollout(pool):
        return advance_partition(this.snapshot, this.ledger, pool)
    return _take(this, Candidate(this.candidates(pool)[0], pool))


def _once_more(this: Rollout) -> Result | None:
    """A deletion that was noted and not made, where it would be decided again word for word.

    So whoever is refused it for days asks for it and for nothing else: nobody is touched for that, and no
    line of the ledger changes. Decided otherwise, the pod is spared first.
    """
    pod = pending_delete(this.snapshot, this.ledger)
    if pod is None:
        return None
    away = tuple(sorted((name, uid) for name, uid in this.ledger.replaced_pods.items() if name != pod.name))
    anew = roll_out(
        replace(
            this,
            ledger=UpgradeLedger.of(this.ledger.with_changes({REPLACED_PODS: away, PENDING_DELETE: None})),
        )
    )
    return anew if any(isinstance(each, Delete) and each.uid == pod.uid for each in anew.operations) else None


def _emptied(this: Rollout) -> Result | None:
    """On the way back: whoever cannot start on what a newer version has written begins anew.

    Only when waiting did not help; a node that neither holds data nor votes has nothing to lose by it.
    """
    if this.snapshot.cluster.spec.upgrade.paused:
        return None
    has_failed = failure(this.snapshot, this.ledger) is not None
    for pool in this.pools:
        for pod in pool.pods:
            claim = claim_of(this.snapshot, pod.name)
            is_due = has_failed or uses_statefulset_rollout(pool)
            if claim is None or not needs_empty_disk(this.snapshot, this.ledger, pod):
                continue
            if claim.is_leaving:
                return _deleted(this, Candidate(pod, pool))
            if is_due:
                return wipe_volume(claim, pod)
    return None


def _mended(this: Rollout) -> Result | None:
    """A pod that nobody would miss, of a template that is not wanted any more, waits for nobody else.

    Otherwise the pod that did not come back would be waited for until the end of days.
    """
    if not this.ledger.replaced_pods:
        return None
    for pool in this.pools:
        for pod in () if uses_statefulset_rollout(pool) else this.candidates(pool):
            candidate = Candidate(pod, pool)
            lost = is_not_in_cluster(candidate, this.snapshot) and not pod.is_terminating
            if lost and first_blocking_gate(candidate, this.snapshot) is None:
                return _deleted(this, candidate, *record_batch_failure(this.ledger, pool.spec.name))
    return None


def _patient(this: Rollout, pool: PoolView | None, missing: list[str]) -> Result:
    """Whoever takes too long makes the next batch smaller."""
    has_failed = failure(this.snapshot, this.ledger) is not None
    ledger_changes = (
        record_batch_failure(this.ledger, pool.spec.name) if has_failed and pool is not None else ()
    )
    message = f"{', '.join(missing)} not back yet"
    return wait("PodsComeBack", message, deadline=this.deadline, ledger_changes=ledger_changes)


def _missing(this: Rollout) -> list[str]:
    """Those who are away and not back: another pod, ready, joined, of the newest template.

    Nobody waits for a pod of a template that is not wanted any more.
    """
    pods = {pod.name: (pod, pool) for pool in this.snapshot.pools for pod in pool.pods}
    outdated = _outdated(this)
    return [
        name
        for name, uid in this.ledger.replaced_pods.items()
        if name not in outdated and not _is_back(pods.get(name), uid, this.snapshot)
    ]


def _outdated(this: Rollout) -> set[str]:
    """Those who came back, and are to go again."""
    stale = (pod for pool in this.pools for pod in pool.outdated_pods if not pod.is_terminating)
    return {pod.name for pod in stale if this.ledger.replaced_pods.get(pod.name, pod.uid) != pod.uid}


def _is_back(found: tuple[Pod, PoolView] | None, uid: str, snapshot: ClusterSnapshot) -> bool:
    if found is None or found[0].uid == uid or found[0].is_terminating or not found[0].is_ready:
        return False
    pod, pool = found
    if isinstance(snapshot.engine, Unreachable) or pool.stateful_set is None:
        return False
    node = snapshot.engine.node(pod.name)
    return node is not None and node.version == pod.engine_version


def _next_of_batch(this: Rollout, pool: PoolView) -> Result | None:
    """Another pod for the batch, if it may be larger and nothing stands against this one."""
    batch = frozenset(this.ledger.replaced_pods)
    is_full = len(batch) >= batch_limit(this.snapshot, this.ledger, pool.spec.name)
    if _goes_alone(this, pool) or is_full:
        return None
    left = [pod for pod in this.candidates(pool) if pod.name not in batch and not pod.is_terminating]
    for pod in left:
        candidate = Candidate(pod, pool, batch)
        if first_blocking_gate(candidate, this.snapshot) is None and not _preparation(this, candidate):
            return _deleted(this, candidate)
    return None


def _goes_alone(this: Rollout, pool: PoolView) -> bool:
    """Of voters one is missed at a time, and of what is left of the older version on the way back to it."""
    return pool.spec.votes or this.is_rollback


def _welcome(this: Rollout) -> Result:
    """Everybody is back: what was set for them is undone, then the next batch may be twice as large.

    After a failure it stays as small as that has made it.
    """
    undoing = restore_settings(this.snapshot, this.ledger)
    if undoing is not None:
        return undoing
    over = tuple(
        LedgerChange(each, None)
        for each in (REPLACED_PODS, PENDING_DELETE, FLUSHED, BATCH_FAILED, WIPED_VOLUME)
    )
    return in_progress(
        "PodsAreBack",
        f"{', '.join(this.ledger.replaced_pods)} back",
        ledger_changes=(*over, *_next_size(this)),
    )


def _next_size(this: Rollout) -> tuple[LedgerChange, ...]:
    names = {pod.name: pool.spec.name for pool in this.pools for pod in pool.pods}
    pool = next((names[name] for name in this.ledger.replaced_pods if name in names), None)
    if pool is None or this.ledger.batch_failed:
        return ()
    if _outdated(this):
        return record_halved_batch(this.ledger, pool)
    return (record_batch_size(pool, doubled_batch(this.snapshot, this.ledger, pool)),)


def _take(this: Rollout, candidate: Candidate) -> Result:
    """The next step towards taking this pod away, as long as there is no reason to stop."""
    if candidate.pod.is_terminating:
        return _on_its_way_out(this, candidate.pod)
    draining = _dead_end(this, candidate) or drain(this.snapshot, this.ledger, candidate)
    if draining is not None:
        return draining
    closed = first_blocking_gate(candidate, this.snapshot)
    if closed is not None:
        return wait_at_gate(this.snapshot, this.ledger, candidate, closed)
    return (
        next(_preparations(this, candidate), None)
        or wipe_volume_before_delete(this.snapshot, this.ledger, candidate.pod)
        or _deleted(this, candidate)
    )


def _on_its_way_out(this: Rollout, pod: Pod) -> Result:
    """Whoever sent it away, it is waited for like any other, and not sent away twice."""
    away = tuple(sorted({**this.ledger.replaced_pods, pod.name: pod.uid}.items()))
    return in_progress(
        "PodLeaves", f"{pod.name} is on its way out", ledger_changes=(LedgerChange(REPLACED_PODS, away),)
    )


def _dead_end(this: Rollout, candidate: Candidate) -> Result | None:
    """No step back is taken where the way back has closed meanwhile; broken pods are no loss."""
    back, paused = this.ledger.rollback_to, this.snapshot.cluster.spec.upgrade.paused
    if back is None or paused or is_not_in_cluster(candidate, this.snapshot):
        return None
    objections = rollback_blockers(this.snapshot, this.ledger, back)
    if not objections or isinstance(this.snapshot.engine, Unreachable):
        return None
    message = f"cannot go back to {back}: {objections[0]}; {forward_hint(this.snapshot, this.ledger)}"
    undoing = restore_settings(this.snapshot, this.ledger)
    return undoing or wait(ROLLBACK_BLOCKED, message, deadline=this.deadline)


def _preparation(this: Rollout, candidate: Candidate) -> bool:
    return next(_preparations(this, candidate), None) is not None


def _preparations(this: Rollout, candidate: Candidate) -> Iterator[Result]:
    """What is still to be done before the pod goes; nothing for a pod that nobody would miss."""
    engine = this.snapshot.engine
    if isinstance(engine, Unreachable) or is_not_in_cluster(candidate, this.snapshot):
        return
    moving = move_vote(this.snapshot, this.ledger, candidate.pod.name, candidate.pool)
    if moving is not None:
        yield moving
    if not candidate.pool.spec.holds_data:
        return
    if needs_full_drain(this.snapshot, this.ledger, candidate) or has_single_copies(
        this.snapshot, candidate, engine
    ):
        yield from drain_steps(this.snapshot, this.ledger, candidate, engine)
    else:
        yield from _held(this, candidate, engine)


def _held(this: Rollout, candidate: Candidate, engine: EngineView) -> Iterator[Result]:
    """Replicas are not built elsewhere for a node that will be back in a minute. A batch is flushed once."""
    before = this.ledger.allocation_before
    if before is None or engine.allocation is not Allocation.PRIMARIES:
        yield _holding(this, candidate, before or str(engine.allocation))
    elif this.ledger.flushed_for not in (candidate.pod.uid, *this.ledger.replaced_pods.values()):
        ledger_changes = (LedgerChange(FLUSHED, candidate.pod.uid),)
        message = "what is in memory goes to disk"
        yield in_progress(
            "Flushing", message, EngineCall(Flush()), ledger_changes=ledger_changes, deadline=this.deadline
        )


def _holding(this: Rollout, candidate: Candidate, before: str) -> Result:
    call, ledger_changes = EngineCall(SetAllocation(Allocation.PRIMARIES)), record_setting(ALLOCATION, before)
    message = f"shards are kept where they are before {candidate.pod.name} goes"
    return in_progress("HoldingShards", message, call, ledger_changes=ledger_changes, deadline=this.deadline)


def _deleted(this: Rollout, candidate: Candidate, *others: LedgerChange) -> Result:
    pod, namespace = candidate.pod, this.snapshot.cluster.key.namespace
    away = tuple(sorted({**this.ledger.replaced_pods, pod.name: pod.uid}.items()))
    delete = Delete(Key("v1", "Pod", namespace, pod.name), pod.uid, pod.resource_version)
    ledger_changes = (
        LedgerChange(REPLACED_PODS, away),
        LedgerChange(PENDING_DELETE, pod.resource_version),
        *others,
    )
    return in_progress("ReplacingPod", f"{pod.name} is replaced", delete, ledger_changes=ledger_changes)
