"""Rollback: when an upgrade has failed, where it goes from there, and what blocks a rollback."""

from __future__ import annotations

__all__ = [
    "ROLLBACK_ANNOTATION",
    "choose_direction",
    "failure",
    "forward_hint",
    "point_of_no_return",
    "remove_rollback_request",
    "requested_rollback",
    "rollback_blockers",
    "rollback_hint",
    "upgraded_nodes",
    "was_abandoned",
]

from collections.abc import Iterable, Iterator
from typing import Final

from semver import Version

from searchkeeper.api.reasons import Reason
from searchkeeper.api.spec import Rollback
from searchkeeper.kubernetes.operations import Patch
from searchkeeper.opensearch.view import EngineView, ShardState, Unreachable
from searchkeeper.planner import (
    NO_DEADLINE,
    NOT_COUNTED,
    LedgerChange,
    Result,
    done,
    in_progress,
    wait,
    waiting_for,
)
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.gates import FATAL_POD_PROBLEMS
from searchkeeper.upgrade.ledger import (
    ABANDONED,
    ACTIONS_WAITING_FOR_NODES,
    PODS_CURRENT,
    ROLLBACK_TO,
    UPGRADE,
    UpgradeLedger,
)
from searchkeeper.upgrade.version_policy import index_refusal, version_refusal
from searchkeeper.upgrade.volumes import claim_of
from searchkeeper.versions import is_newer, parse

# The annotation with which a user requests a rollback. Its value is the version to roll back to.
ROLLBACK_ANNOTATION: Final = "search.everpath.dev/rollback"
# What only a user can fix, whatever the version.
_USER_REASONS: Final = frozenset({Reason.NAME_CONFLICT, Reason.SECRET_MISSING})


def failure(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> str | None:
    """Say why the rollout has failed: an action has waited for nodes longer than the health deadline.

    No wait counts while the upgrade is paused, nor before this process has observed for as long itself: the
    times in the ledger may come from another clock. Errors of the operator, denied operations and what only a
    user can fix do not count: another version would not fix them.
    """
    policy = snapshot.cluster.spec.upgrade
    if policy.paused or _has_just_started(snapshot):
        return None
    for action in ACTIONS_WAITING_FOR_NODES:
        reason, seconds = waiting_for(ledger, action, snapshot.now) or ("", 0)
        if reason and reason not in NOT_COUNTED | _USER_REASONS and seconds >= policy.health_deadline:
            return f"{action} has been waiting for {policy.health_deadline} seconds ({reason})"
    return None


def _has_just_started(snapshot: ClusterSnapshot) -> bool:
    return snapshot.now - snapshot.observing_since < snapshot.cluster.spec.upgrade.health_deadline


def requested_rollback(snapshot: ClusterSnapshot) -> str | None:
    """Return the version that a user requests a rollback to."""
    return dict(snapshot.cluster.annotations).get(ROLLBACK_ANNOTATION)


def rollback_hint(snapshot: ClusterSnapshot, ledger: UpgradeLedger, before: str) -> str | None:
    """Say how a user rolls back an upgrade that has failed and does not roll back by itself.

    None while a rollback is in progress or blocked: the annotation would have no effect.
    """
    if snapshot.cluster.spec.upgrade.rollback is not Rollback.MANUAL or failure(snapshot, ledger) is None:
        return None
    if ledger.rollback_to is not None or rollback_blockers(snapshot, ledger, before):
        return None
    return _how_to_roll_back(before)


def _how_to_roll_back(before: str) -> str:
    return f"to roll back, annotate the SearchCluster with {ROLLBACK_ANNOTATION}={before}"


def forward_hint(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> str:
    """Say how a user continues an upgrade whose rollback is blocked half-way."""
    before, target = ledger.upgrade or ("", "")
    edit = f"set spec.version to {target}" if snapshot.cluster.spec.version == before else "change the spec"
    return f"to continue the upgrade, {edit}"


def remove_rollback_request(snapshot: ClusterSnapshot) -> Patch:
    """Remove the annotation: it counts for one upgrade, not for the next."""
    cluster = snapshot.cluster
    return Patch(
        cluster.key, {"metadata": {"annotations": {ROLLBACK_ANNOTATION: None}}}, cluster.resource_version
    )


def was_abandoned(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> bool:
    """Whether the wanted version has failed and the spec has not changed since."""
    return ledger.abandoned == (snapshot.cluster.spec.version, snapshot.cluster.generation)


def choose_direction(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> Result:
    """Decide where the upgrade in progress goes: on, to another target, or back.

    A rollback runs to its end unless it is blocked half-way and the spec wants to continue. If a rollback is
    blocked from the start, the upgrade goes on: half an upgrade would hold the lock without end.
    """
    assert ledger.upgrade is not None
    before, target = ledger.upgrade
    if ledger.rollback_to is not None:
        return _resume_upgrade(snapshot, ledger) or done(f"rolling back to {before}")
    cause = _rollback_cause(snapshot, ledger)
    if cause is None:
        return _raise_target(snapshot, ledger) or (
            done() if snapshot.cluster.spec.version == target else _change_target(snapshot, ledger)
        )
    if rollback_blockers(snapshot, ledger, before):
        if snapshot.cluster.spec.version not in (before, target):
            return _change_target(snapshot, ledger)
        message = f"the upgrade to {target} continues: a rollback to {before} is blocked"
        return done(message, reason=Reason.ROLLBACK_BLOCKED)
    return _start_rollback(snapshot, before, target, cause)


def _resume_upgrade(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> Result | None:
    """Continue the upgrade if the rollout waits at a blocked rollback and the spec wants another version."""
    before, target = ledger.upgrade or ("", "")
    wanted = snapshot.cluster.spec.version
    is_wanted = wanted != before and version_refusal(before, wanted, snapshot.release) is None
    reason, _ = waiting_for(ledger, PODS_CURRENT, snapshot.now) or ("", 0)
    is_blocked = reason == Reason.ROLLBACK_BLOCKED and bool(rollback_blockers(snapshot, ledger, before))
    if not (is_blocked and is_wanted) or was_abandoned(snapshot, ledger):
        return None
    if requested_rollback(snapshot) is not None:
        message = f"a rollback to {before} is blocked"
        return in_progress(Reason.REMOVING_ROLLBACK_ANNOTATION, message, remove_rollback_request(snapshot))
    message = f"continuing the upgrade to {target}: a rollback to {before} is blocked"
    changes = (LedgerChange(ROLLBACK_TO, None), LedgerChange(ABANDONED, None))
    return in_progress(Reason.RESUMING_UPGRADE, message, ledger_changes=changes)


def _rollback_cause(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> str | None:
    before, _ = ledger.upgrade or ("", "")
    policy = snapshot.cluster.spec.upgrade.rollback
    if snapshot.cluster.spec.version == before:
        return f"spec.version is {before}"
    if policy is not Rollback.OFF and requested_rollback(snapshot) == before:
        return f"the annotation {ROLLBACK_ANNOTATION} requests it"
    return failure(snapshot, ledger) if policy is Rollback.AUTOMATIC else None


def _start_rollback(snapshot: ClusterSnapshot, before: str, target: str, cause: str) -> Result:
    changes = [LedgerChange(ROLLBACK_TO, before)]
    if snapshot.cluster.spec.version == target:
        changes.append(LedgerChange(ABANDONED, (target, snapshot.cluster.generation)))
    message = f"rolling back to {before}: {cause}"
    return in_progress(Reason.STARTING_ROLLBACK, message, ledger_changes=tuple(changes))


def _raise_target(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> Result | None:
    """Return to the newest version that a pod runs, if the target is older.

    A pod may start with the earlier target just after that was changed to an older version. From then on the
    older version cannot start on its disk.
    """
    before, target = ledger.upgrade or ("", "")
    started = [pod for pod in snapshot.pods if pod.has_started and parse(pod.engine_version) is not None]
    pod = max(started, key=lambda pod: Version.parse(pod.engine_version), default=None)
    if pod is None or not is_newer(pod.engine_version, target):
        return None
    if version_refusal(before, pod.engine_version, snapshot.release) is not None:
        return None
    message = f"{pod.name} already runs {pod.engine_version}: {target} cannot start on its disk"
    changes = (LedgerChange(UPGRADE, (before, pod.engine_version)),)
    return in_progress(Reason.CHANGING_TARGET, message, ledger_changes=changes)


def _change_target(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> Result:
    """Decide what to do with a spec that wants another version than the upgrade's target.

    The version waits for an upgrade that goes well and replaces the target of one that fails. A refused
    version changes nothing: an upgrade that waited for another edit would hold the lock without end.
    """
    before, target = ledger.upgrade or ("", "")
    wanted, nodes = snapshot.cluster.spec.version, upgraded_nodes(snapshot, ledger, before)
    indices = snapshot.engine.indices if isinstance(snapshot.engine, EngineView) else ()
    if version_refusal(before, wanted, snapshot.release) or index_refusal(indices, wanted):
        return done(f"the upgrade to {target} continues: {wanted} is refused")
    is_reachable = not nodes or version_refusal(target, wanted, snapshot.release) is None
    blockers = rollback_blockers(snapshot, ledger, before)
    if nodes and not _is_failing(snapshot, ledger, target):
        message = f"{wanted} waits until the upgrade to {target} completes"
        if not is_reachable:
            message = f"{wanted} cannot start on the disk of {', '.join(sorted(nodes))}, which {target} wrote"
            message += f"; to continue, set spec.version to {target}"
            message += "" if blockers else f"; {_how_to_roll_back(before)}"
        return wait(Reason.TARGET_QUEUED, message, deadline=NO_DEADLINE)
    if is_reachable:
        message = f"the target changes from {target} to {wanted}"
        changes = (LedgerChange(UPGRADE, (before, wanted)),)
        return in_progress(Reason.CHANGING_TARGET, message, ledger_changes=changes)
    if blockers:
        message = f"{wanted} needs a rollback to {before} first, which is blocked: {blockers[0]}"
        return wait(Reason.ROLLBACK_BLOCKED, f"{message}; set spec.version to {target}", deadline=NO_DEADLINE)
    return _start_rollback(snapshot, before, target, f"{wanted} cannot be reached from {target}")


def _is_failing(snapshot: ClusterSnapshot, ledger: UpgradeLedger, target: str) -> bool:
    unready = (pod for pod in snapshot.pods if pod.engine_version == target and not pod.is_ready)
    return failure(snapshot, ledger) is not None or any(pod.problem in FATAL_POD_PROBLEMS for pod in unready)


def upgraded_nodes(snapshot: ClusterSnapshot, ledger: UpgradeLedger, before: str) -> dict[str, str]:
    """Return the nodes that have run a version newer than `before`, each with the UID of its claim."""
    nodes = ledger.upgraded_nodes
    for pod in snapshot.pods:
        if pod.has_started and is_newer(pod.engine_version, before):
            claim = claim_of(snapshot, pod.name)
            nodes[pod.name] = "" if claim is None else claim.uid
    return nodes


def rollback_blockers(snapshot: ClusterSnapshot, ledger: UpgradeLedger, before: str) -> tuple[str, ...]:
    """Say what blocks a rollback to `before`; empty while it is possible.

    A node that has run the newer version cannot run the older one on the same disk. So every shard needs a
    started copy on a node of the older version, no index may come from the newer version, and the majority of
    voters must run the older one. A terminating pod does not count. Before a node has run the newer version,
    nothing can block, even if the engine does not answer.
    """
    if not upgraded_nodes(snapshot, ledger, before):
        return ()
    engine = snapshot.engine
    if isinstance(engine, Unreachable):
        return (f"the engine does not answer: {engine.cause}",)
    present = {pod.name for pod in snapshot.pods if not pod.is_terminating}
    return tuple(_blockers(engine, before, _older_nodes(engine, before) & present))


def point_of_no_return(engine: EngineView, pods: Iterable[str], before: str) -> tuple[str, str] | None:
    """Return the first of these pods, in this order, whose replacement blocks a rollback, and the blocker."""
    older = _older_nodes(engine, before)
    for pod in pods:
        older -= {pod}
        blocker = next(_blockers(engine, before, older), None)
        if blocker is not None:
            return pod, blocker
    return None


def _older_nodes(engine: EngineView, before: str) -> frozenset[str]:
    return frozenset(node.name for node in engine.nodes if not is_newer(node.version, before))


def _blockers(engine: EngineView, before: str, older: frozenset[str]) -> Iterator[str]:
    yield from _shard_blockers(engine, older)
    yield from _index_blockers(engine, before)
    yield from _quorum_blockers(engine, older)


def _shard_blockers(engine: EngineView, older: frozenset[str]) -> Iterator[str]:
    """Yield shards without an older copy. With segment replication, replicas copy a newer primary's files."""
    safe = {copy.id for copy in engine.shards if copy.state is ShardState.STARTED and copy.node in older}
    for index, shard in sorted({copy.id for copy in engine.shards} - safe):
        yield f"{index}[{shard}] has no copy on a node of the older version"
    segments = {index.name for index in engine.indices if index.segment_replication}
    for copy in engine.shards:
        if copy.index in segments and copy.is_primary and copy.id in safe and copy.node not in older:
            yield f"{copy.index}[{copy.shard}] replicates segments of the newer version"


def _index_blockers(engine: EngineView, before: str) -> Iterator[str]:
    for index in engine.indices:
        if is_newer(index.created_by, before):
            yield f"index {index.name} was created by {index.created_by}"


def _quorum_blockers(engine: EngineView, older: frozenset[str]) -> Iterator[str]:
    left, voters = len(engine.voters & older), len(engine.voters)
    if voters and left < voters // 2 + 1:
        yield f"only {left} of {voters} voters would run the older version"
