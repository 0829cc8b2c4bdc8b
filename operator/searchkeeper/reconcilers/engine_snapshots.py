"""The snapshot that is taken before an upgrade touches anything, if the spec names a repository."""

from __future__ import annotations

__all__ = ["restore_hint", "take_snapshot"]

import hashlib
from typing import Final

from searchkeeper.api.reasons import Reason
from searchkeeper.kubernetes.operations import EngineCall
from searchkeeper.opensearch.calls import TakeSnapshot
from searchkeeper.opensearch.details import SnapshotState, SnapshotView
from searchkeeper.planner import (
    USER_DEADLINE,
    LedgerChange,
    Result,
    in_progress,
    wait,
    waiting_without_change,
)
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.upgrade.ledger import SNAPSHOT, UpgradeLedger, UpgradeSnapshot

# The action that takes the snapshot: its waits are read from the ledger.
_UPGRADE_STARTED: Final = "UpgradeStarted"
# In seconds. A snapshot of a large cluster takes hours.
_SNAPSHOT_DEADLINE: Final = 24 * 3600
# A failed snapshot is followed by another one after this time. Each stays in the repository.
_RETRY_SECONDS: Final = 600
_MAX_ATTEMPTS: Final = 3


def take_snapshot(ctx: ReconcileContext) -> Result | None:  # noqa: PLR0911 - one a state
    """Return the next step towards the snapshot; None when it is complete, or none is wanted."""
    repository = ctx.spec.upgrade.snapshot_repository
    if repository is None:
        return None
    deadline = ctx.spec.upgrade.health_deadline
    view = ctx.snapshot.details.snapshot or SnapshotView(SnapshotState.UNKNOWN, "its state was not requested")
    recorded = ctx.ledger.snapshot
    if recorded is not None and recorded.repository != repository:
        recorded = None
    if view.state is SnapshotState.REPOSITORY_MISSING:
        message = f"OpenSearch has no snapshot repository {repository}; register it, or {_without_snapshot()}"
        return wait(Reason.SNAPSHOT_REPOSITORY_MISSING, message, deadline=USER_DEADLINE)
    if view.state is SnapshotState.UNKNOWN:
        message = f"the state of snapshot repository {repository} is unknown: {view.cause}"
        return wait(Reason.ENGINE_UNREACHABLE, message, deadline=deadline)
    if recorded is None:
        return _start(ctx, repository, 1)
    message = f"snapshot {recorded} is in progress"
    match view.state:
        case SnapshotState.SUCCESS:
            return None
        case SnapshotState.IN_PROGRESS:
            return wait(Reason.TAKING_SNAPSHOT, message, deadline=_SNAPSHOT_DEADLINE)
        case SnapshotState.MISSING:
            # The call was recorded and not executed. It has no effect on a snapshot that exists.
            call = EngineCall(TakeSnapshot(recorded.repository, recorded.name))
            return in_progress(Reason.TAKING_SNAPSHOT, message, call, deadline=deadline)
        case _:
            return _handle_failure(ctx, recorded, view)


def _handle_failure(ctx: ReconcileContext, recorded: UpgradeSnapshot, view: SnapshotView) -> Result:
    """Wait, then take another snapshot under a new name: a few times, and again after an edit of the spec."""
    if recorded.generation != ctx.snapshot.cluster.generation:
        return _start(ctx, recorded.repository, 1)
    is_last = recorded.attempt >= _MAX_ATTEMPTS
    waiting = waiting_without_change(ctx.ledger, _UPGRADE_STARTED, ctx.snapshot.now)
    match waiting:
        case (Reason.SNAPSHOT_FAILED, seconds) if seconds >= _RETRY_SECONDS and not is_last:
            return _start(ctx, recorded.repository, recorded.attempt + 1)
    hint = f"to try again, edit the spec; or {_without_snapshot()}" if is_last else "it is tried again"
    attempt = f"attempt {recorded.attempt} of {_MAX_ATTEMPTS}"
    message = f"snapshot {recorded} is {view.state}, {attempt}: {view.cause}; {hint}"
    return wait(Reason.SNAPSHOT_FAILED, message, deadline=USER_DEADLINE)


def _without_snapshot() -> str:
    return "remove spec.upgrade.snapshotRepository to upgrade without a snapshot"


def _start(ctx: ReconcileContext, repository: str, attempt: int) -> Result:
    """Record the name, then start the snapshot. No other cluster, upgrade or attempt has the same name."""
    cluster = ctx.snapshot.cluster
    identity = f"{cluster.uid}/{cluster.generation}/{attempt}"
    unique = hashlib.sha256(identity.encode()).hexdigest()[:8]
    name = f"searchkeeper-{cluster.key.name}-{cluster.engine_version}-{unique}"
    snapshot = UpgradeSnapshot(repository, name, cluster.generation, attempt)
    return in_progress(
        Reason.TAKING_SNAPSHOT,
        f"starting snapshot {snapshot}",
        EngineCall(TakeSnapshot(repository, name)),
        ledger_changes=(LedgerChange(SNAPSHOT, snapshot.entry),),
    )


def restore_hint(ledger: UpgradeLedger, before: str) -> str:
    """Say how to get back what the cluster had before the upgrade; empty without a snapshot."""
    if ledger.snapshot is None:
        return ""
    return f"; to go back, restore snapshot {ledger.snapshot} into a cluster of {before}"
