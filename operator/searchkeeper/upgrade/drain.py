"""Drain: move shards off a node before its pod is deleted; delete volumes that a rollback cannot reuse."""

from __future__ import annotations

__all__ = [
    "delete_volume",
    "delete_volume_before_pod",
    "drain",
    "drain_steps",
    "has_single_copies",
    "needs_full_drain",
    "temporary_shard_hosts",
    "wait_at_gate",
]

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from searchkeeper.api.reasons import Reason
from searchkeeper.kubernetes.operations import Delete
from searchkeeper.opensearch.view import EngineView, ShardCopy, ShardState, Unreachable
from searchkeeper.planner import LedgerChange, Result, in_progress, wait, waiting_without_change
from searchkeeper.snapshot import ClusterSnapshot, Pod
from searchkeeper.upgrade.engine_settings import exclusion_call, record_setting, restore_settings
from searchkeeper.upgrade.gates import Candidate, Gate, GateResult, first_blocking_gate, is_not_in_cluster
from searchkeeper.upgrade.ledger import EXCLUDED, PODS_CURRENT, WIPED_VOLUME, UpgradeLedger
from searchkeeper.upgrade.shards import allocation_targets, is_unmovable, last_copies_on, unmovable_shard
from searchkeeper.upgrade.volumes import Claim, claim_of, needs_new_volume
from searchkeeper.upgrade.voting import loses_role, nodes_keeping_role

# In seconds. By then the engine has started to move every shard that it is going to move.
_SETTLE_TIME: Final = 30


@dataclass(frozen=True, slots=True)
class _Drain:
    """One node to drain, and what that is decided on."""

    snapshot: ClusterSnapshot
    ledger: UpgradeLedger
    candidate: Candidate
    engine: EngineView

    @property
    def node(self) -> str:
        return self.candidate.pod.name

    @property
    def deadline(self) -> int:
        return self.snapshot.cluster.spec.upgrade.health_deadline

    @property
    def targets(self) -> frozenset[str]:
        """The nodes that may take shards. A node that the ledger lists may be excluded at any moment."""
        return allocation_targets(self.snapshot, self.engine, self.node) - self.ledger.excluded

    @property
    def loses_data_role(self) -> bool:
        return loses_role("data", self.engine, self.node, self.candidate.pool)


def drain(snapshot: ClusterSnapshot, ledger: UpgradeLedger, candidate: Candidate) -> Result | None:
    """Return the next step of a drain that has started, or that the candidate needs to pass the gates.

    A drain continues while other gates are closed: its own moving shards may be what closes them. None if
    there is nothing to do, and while the upgrade is paused.
    """
    engine = snapshot.engine
    if isinstance(engine, Unreachable) or is_not_in_cluster(candidate, snapshot):
        return None
    blocker = first_blocking_gate(candidate, snapshot)
    if blocker is not None and blocker.gate is Gate.NOT_PAUSED:
        return None
    this = _Drain(snapshot, ledger, candidate, engine)
    is_needed = blocker is not None and blocker.gate is Gate.LAST_COPY_SAFE
    has_started = this.node in ledger.excluded
    if not this.targets:
        undo = restore_settings(snapshot, ledger) if has_started else None
        return undo or (_wait_for_target(this) if is_needed else None)
    if this.loses_data_role:
        can_be_drained = bool(nodes_keeping_role("data", snapshot, engine))
    else:
        can_be_drained = has_single_copies(snapshot, candidate, engine)
    if has_started or (is_needed and can_be_drained):
        return next(drain_steps(snapshot, ledger, candidate, engine), None)
    return None


def _wait_for_target(this: _Drain) -> Result | None:
    """Name the last copy that no node can take, and what the user can do. No setting is changed."""
    copies = last_copies_on(this.snapshot, this.engine, this.node)
    cause = unmovable_shard(this.engine, copies, frozenset({this.node}))
    if cause is None or this.loses_data_role:
        return None
    message = f"{cause}; set spec.upgrade.acceptSingleCopyLoss to restart {this.node} anyway"
    return wait(Reason.SHARDS_CANNOT_MOVE, message, deadline=this.deadline)


def drain_steps(
    snapshot: ClusterSnapshot, ledger: UpgradeLedger, candidate: Candidate, engine: EngineView
) -> Iterator[Result]:
    """Exclude the node from allocation, then wait until it is drained; nothing when it is.

    An exclusion that a user has set is not recorded: the operator must not undo it.
    """
    this = _Drain(snapshot, ledger, candidate, engine)
    node, deadline = this.node, this.deadline
    if not engine.excludes(node) and this.targets:
        nodes = ledger.excluded | {node}
        yield in_progress(
            Reason.DRAINING,
            f"draining {node}: excluding it from allocation",
            exclusion_call(ledger, EXCLUDED, nodes, engine.excluded | nodes),
            ledger_changes=record_setting(EXCLUDED, tuple(sorted(nodes))),
            deadline=deadline,
        )
    elif not _is_drained(this):
        cause = unmovable_shard(engine, _copies_to_move(this), frozenset({node}))
        if cause is not None:
            yield wait(Reason.SHARDS_CANNOT_MOVE, cause, deadline=deadline)
        message = f"{node} still holds {len(engine.copies_on(node))} shards"
        yield wait(Reason.WAITING_FOR_DRAIN, message, deadline=deadline)


def _is_drained(this: _Drain) -> bool:
    """Whether every copy that has to move has moved. A copy that no other node can take may stay.

    If the disk is lost with the pod, the engine gets time to start moves; in a rollback all moves must end.
    """
    copies = this.engine.copies_on(this.node)
    if not copies or _copies_to_move(this):
        return not copies
    if any(copy.state is not ShardState.STARTED for copy in copies):
        return False
    if not needs_full_drain(this.snapshot, this.ledger, this.candidate):
        return True
    match waiting_without_change(this.ledger, PODS_CURRENT, this.snapshot.now):
        case (Reason.WAITING_FOR_DRAIN, seconds) if seconds >= _SETTLE_TIME:
            return this.ledger.rollback_to is None or not this.engine.is_moving
        case _:
            return False


def _copies_to_move(this: _Drain) -> tuple[ShardCopy, ...]:
    """Return the copies that must move before the pod may be deleted.

    A node that loses the role data cannot start with any. If the spec accepts their loss, copies that no node
    can take are not required, unless the volume is deleted too.
    """
    if this.loses_data_role:
        return this.engine.copies_on(this.node)
    copies = last_copies_on(this.snapshot, this.engine, this.node)
    accepts_loss = this.snapshot.cluster.spec.upgrade.accept_single_copy_loss
    if not accepts_loss or needs_new_volume(this.snapshot, this.ledger, this.candidate.pod):
        return copies
    return tuple(copy for copy in copies if not is_unmovable(this.engine, copy, frozenset({this.node})))


def needs_full_drain(snapshot: ClusterSnapshot, ledger: UpgradeLedger, candidate: Candidate) -> bool:
    """Whether the disk is lost with the pod: every shard that can move has to."""
    is_ephemeral = candidate.pool.spec.storage.ephemeral
    return is_ephemeral or needs_new_volume(snapshot, ledger, candidate.pod)


def has_single_copies(snapshot: ClusterSnapshot, candidate: Candidate, engine: EngineView) -> bool:
    """Whether the node holds the only copy of an index without replicas, and another node can take it."""
    targets = allocation_targets(snapshot, engine, candidate.pod.name)
    single = {index.name for index in engine.indices if index.replicas == 0}
    return bool(targets) and any(
        copy.index in single for copy in last_copies_on(snapshot, engine, candidate.pod.name)
    )


def temporary_shard_hosts(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> frozenset[str]:
    """Return the departing nodes that must take shards for now: an outdated node has no other target.

    Scale-in waits until that node is replaced. With both excluded, neither would ever be drained.
    """
    engine, policy = snapshot.engine, snapshot.cluster.spec.upgrade
    if isinstance(engine, Unreachable) or policy.paused or policy.accept_single_copy_loss:
        return frozenset()
    outdated = (pod.name for pool in snapshot.pools for pod in pool.outdated_pods)
    has_no_target = (
        name
        for name in outdated
        if last_copies_on(snapshot, engine, name) and not allocation_targets(snapshot, engine, name)
    )
    return ledger.scale_in_excluded if any(has_no_target) else frozenset()


def wait_at_gate(
    snapshot: ClusterSnapshot, ledger: UpgradeLedger, candidate: Candidate, blocker: GateResult
) -> Result:
    """Restore engine settings while a gate is closed, then wait.

    The candidate's own drain stays, or its shards would return only to move again. A pause ends the drain.
    """
    keep_excluded = () if blocker.gate is Gate.NOT_PAUSED else (candidate.pod.name,)
    undo = restore_settings(snapshot, ledger, keep_excluded)
    return undo or wait(blocker.reason, blocker.message, deadline=blocker.deadline)


def delete_volume_before_pod(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pod: Pod) -> Result | None:
    """Delete the pod's volume claim if the older version cannot start on it; None if nothing is to be done.

    Kubernetes keeps the volume until the pod is gone.
    """
    claim = claim_of(snapshot, pod.name)
    if claim is None or claim.is_terminating or not needs_new_volume(snapshot, ledger, pod):
        return None
    return delete_volume(claim, pod)


def delete_volume(claim: Claim, pod: Pod) -> Result:
    """Delete exactly this claim, in the state that was observed, and record it first."""
    return in_progress(
        Reason.DELETING_VOLUME,
        f"deleting the volume of {pod.name}: the older version cannot read what the newer one wrote",
        Delete(claim.key, claim.uid, claim.resource_version),
        ledger_changes=(LedgerChange(WIPED_VOLUME, (claim.key.name, claim.uid)),),
    )
