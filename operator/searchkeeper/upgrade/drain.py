"""Drains: shards leave a node before it goes, those that would be missed and those that can."""

from __future__ import annotations

__all__ = [
    "drain",
    "drain_steps",
    "has_single_copies",
    "needs_full_drain",
    "temporary_shard_hosts",
    "wait_at_gate",
]

from collections.abc import Iterator

from searchkeeper.kubernetes.operations import EngineCall
from searchkeeper.opensearch.calls import Exclude
from searchkeeper.opensearch.view import EngineView, ShardCopy, ShardState, Unreachable
from searchkeeper.planner import Result, in_progress, wait
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.engine_settings import record_setting, restore_settings
from searchkeeper.upgrade.gates import Candidate, GateResult, first_blocking_gate, is_not_in_cluster
from searchkeeper.upgrade.ledger import EXCLUDED, UpgradeLedger
from searchkeeper.upgrade.role_removal import loses_role, nodes_keeping_role
from searchkeeper.upgrade.shards import allocation_targets, is_unmovable, last_copies_on, unmovable_shard
from searchkeeper.upgrade.volume_wipe import drain_is_settled, needs_volume_wipe


def drain(snapshot: ClusterSnapshot, ledger: UpgradeLedger, candidate: Candidate) -> Result | None:
    """Goes on with a drain that has begun, and begins one for whoever must not go with what it has.

    The shards that move are why other gates are closed meanwhile. Nothing moves while a person says so.
    """
    engine = snapshot.engine
    if isinstance(engine, Unreachable) or is_not_in_cluster(candidate, snapshot):
        return None
    closed = first_blocking_gate(candidate, snapshot)
    if closed is not None and closed.gate == "NotPaused":
        return None
    is_needed = closed is not None and closed.gate == "LastCopySafe"
    has_begun = candidate.pod.name in ledger.excluded
    if not allocation_targets(snapshot, engine, candidate.pod.name):
        undoing = restore_settings(snapshot, ledger) if has_begun else None
        return undoing or (_told_why(snapshot, candidate, engine) if is_needed else None)
    if has_begun or (is_needed and _may_be_emptied(snapshot, engine, candidate)):
        return next(drain_steps(snapshot, ledger, candidate, engine), None)
    return None


def _told_why(snapshot: ClusterSnapshot, candidate: Candidate, engine: EngineView) -> Result | None:
    """Last copies that nobody takes, and the way out where there is one: nothing is set in the engine."""
    name, deadline = candidate.pod.name, snapshot.cluster.spec.upgrade.health_deadline
    cause = unmovable_shard(engine, last_copies_on(snapshot, engine, name), frozenset({name}))
    if cause is None or loses_role("data", engine, name, candidate.pool):
        return None
    message = f"{cause}; to go on all the same, set spec.upgrade.acceptSingleCopyLoss"
    return wait("NobodyTakesShards", message, deadline=deadline)


def temporary_shard_hosts(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> frozenset[str]:
    """Nodes that leave, and have to take shards once more: a stale one has nobody else to leave its own to.

    Nobody leaves before that one is replaced, and with both of them excluded neither would ever be empty.
    """
    engine, policy = snapshot.engine, snapshot.cluster.spec.upgrade
    if isinstance(engine, Unreachable) or policy.paused or policy.accept_single_copy_loss:
        return frozenset()
    stale = (pod.name for pool in snapshot.pools for pod in pool.outdated_pods)
    needy = (
        name
        for name in stale
        if last_copies_on(snapshot, engine, name) and not allocation_targets(snapshot, engine, name)
    )
    return ledger.scale_in_excluded if any(needy) else frozenset()


def drain_steps(
    snapshot: ClusterSnapshot, ledger: UpgradeLedger, candidate: Candidate, engine: EngineView
) -> Iterator[Result]:
    """Whom somebody else has excluded is not in the journal: that is not for us to undo."""
    name, deadline = candidate.pod.name, snapshot.cluster.spec.upgrade.health_deadline
    if not engine.excludes(name) and allocation_targets(snapshot, engine, name):
        ours = ledger.excluded | {name}
        call, ledger_changes = (
            EngineCall(Exclude(engine.excluded | ours)),
            record_setting(EXCLUDED, tuple(sorted(ours))),
        )
        yield in_progress(
            "Draining", f"shards leave {name}", call, ledger_changes=ledger_changes, deadline=deadline
        )
    elif not _is_over(snapshot, ledger, candidate, engine):
        cause = unmovable_shard(engine, _missed(snapshot, ledger, candidate, engine), frozenset({name}))
        if cause is not None:
            yield wait("NobodyTakesShards", cause, deadline=deadline)
        left = len(engine.copies_on(name))
        yield wait("Drains", f"{left} shards are still on {name}", deadline=deadline)


def wait_at_gate(
    snapshot: ClusterSnapshot, ledger: UpgradeLedger, candidate: Candidate, closed: GateResult
) -> Result:
    """What was set for a pod is taken back while a gate is closed, but for its drain, unless it is paused.

    Shards would come back to it, only to leave again when the gate opens.
    """
    keeps = () if closed.gate == "NotPaused" else (candidate.pod.name,)
    undoing = restore_settings(snapshot, ledger, keeps)
    return undoing or wait(closed.gate, closed.message, deadline=closed.deadline)


def needs_full_drain(snapshot: ClusterSnapshot, ledger: UpgradeLedger, candidate: Candidate) -> bool:
    """Its disk goes with it, so that all that can leave it does."""
    return candidate.pool.spec.storage.ephemeral or needs_volume_wipe(snapshot, ledger, candidate.pod)


def has_single_copies(snapshot: ClusterSnapshot, candidate: Candidate, engine: EngineView) -> bool:
    """It has a copy that is to have no second one, and there is another data node that could take it."""
    others = allocation_targets(snapshot, engine, candidate.pod.name)
    single = {index.name for index in engine.indices if index.replicas == 0}
    return bool(others) and any(
        copy.index in single for copy in last_copies_on(snapshot, engine, candidate.pod.name)
    )


def _may_be_emptied(snapshot: ClusterSnapshot, engine: EngineView, candidate: Candidate) -> bool:
    if loses_role("data", engine, candidate.pod.name, candidate.pool):
        return bool(nodes_keeping_role("data", snapshot, engine))
    return has_single_copies(snapshot, candidate, engine)


def _missed(
    snapshot: ClusterSnapshot, ledger: UpgradeLedger, candidate: Candidate, engine: EngineView
) -> tuple[ShardCopy, ...]:
    """The copies without which it may go nowhere: a node without the role does not start with any.

    Where their loss is accepted nobody waits for those that have nowhere to go, unless the disk goes too.
    """
    name = candidate.pod.name
    if loses_role("data", engine, name, candidate.pool):
        return engine.copies_on(name)
    alone = last_copies_on(snapshot, engine, name)
    accepts = snapshot.cluster.spec.upgrade.accept_single_copy_loss
    if not accepts or needs_volume_wipe(snapshot, ledger, candidate.pod):
        return alone
    return tuple(copy for copy in alone if not is_unmovable(engine, copy, frozenset({name})))


def _is_over(
    snapshot: ClusterSnapshot, ledger: UpgradeLedger, candidate: Candidate, engine: EngineView
) -> bool:
    """A copy whose only other home has one already never leaves: nobody waits for it who need not."""
    here = engine.copies_on(candidate.pod.name)
    if not here or _missed(snapshot, ledger, candidate, engine):
        return not here
    if needs_full_drain(snapshot, ledger, candidate):
        return drain_is_settled(snapshot, ledger, candidate.pod, engine)
    return all(copy.state is ShardState.STARTED for copy in here)
