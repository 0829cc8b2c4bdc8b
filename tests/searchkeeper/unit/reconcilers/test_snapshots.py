"""Single steps of the snapshot before an upgrade."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.kubernetes.operations import EngineCall
from searchkeeper.opensearch.calls import TakeSnapshot
from searchkeeper.opensearch.details import EngineDetails, SnapshotState, SnapshotView
from searchkeeper.planner import Ledger, Records, Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.engine_snapshots import take_snapshot
from searchkeeper.upgrade.ledger import SNAPSHOT
from tests.support.searchkeeper.snapshots import cluster_snapshot, pool

TAKEN = ("nightly", "searchkeeper-logs-2.19.4-0", 1, 1)


def step(
    state: SnapshotState,
    *,
    taken: Entry | None = TAKEN,
    uid: str = "uid",
    generation: int = 1,
    waited: int = 0,
) -> Result | None:
    """Return the step for a snapshot in this state that was reported as failed for `waited` seconds."""
    plain = cluster_snapshot(pool("data", 1), snapshot_repository="nightly")
    entries: dict[str, Entry] = {"wait/UpgradeStarted": ("SnapshotFailed", plain.now - waited)}
    if taken is not None:
        entries[SNAPSHOT] = taken
    cluster = replace(plain.cluster, uid=uid, generation=generation, records=Records(Ledger.of(entries)))
    details = EngineDetails(snapshot=SnapshotView(state, "a cause"))
    return take_snapshot(ReconcileContext(replace(plain, cluster=cluster, details=details), 4))


def started_snapshot(result: Result | None) -> str:
    """Return the name of the snapshot that a step starts. It is in the ledger."""
    assert result is not None
    [operation], [change] = result.operations, result.ledger_changes
    assert isinstance(operation, EngineCall)
    assert isinstance(operation.call, TakeSnapshot)
    assert change.key == SNAPSHOT
    assert isinstance(change.value, tuple)
    assert change.value[:2] == (operation.call.repository, operation.call.name)
    return operation.call.name


def test_no_step_is_left_when_the_snapshot_has_succeeded() -> None:
    assert step(SnapshotState.SUCCESS) is None


def test_snapshot_of_another_repository_does_not_count() -> None:
    assert started_snapshot(step(SnapshotState.MISSING, taken=("weekly", "any", 1, 1)))


def test_no_other_cluster_generation_or_attempt_has_the_same_name() -> None:
    """A cluster that is deleted and created again starts with generation 1."""
    first = started_snapshot(step(SnapshotState.MISSING, taken=None))
    second = started_snapshot(step(SnapshotState.FAILED, waited=600))
    edited = started_snapshot(step(SnapshotState.FAILED, generation=2))
    other = started_snapshot(step(SnapshotState.MISSING, taken=None, uid="other"))
    assert len({first, second, edited, other}) == 4
    assert all(each.startswith("searchkeeper-logs-2.19.4-") for each in (first, second, edited, other))


@pytest.mark.parametrize("state", [SnapshotState.FAILED, SnapshotState.PARTIAL])
def test_failed_snapshot_is_tried_again_after_ten_minutes(state: SnapshotState) -> None:
    early, late = step(state, waited=599), step(state, waited=600)
    assert early is not None
    assert (early.reason, early.operations) == ("SnapshotFailed", ())
    assert started_snapshot(late)


def test_last_attempt_is_not_followed_by_another() -> None:
    last = step(SnapshotState.FAILED, taken=(*TAKEN[:3], 3), waited=100_000)
    assert last is not None
    assert (last.reason, last.operations) == ("SnapshotFailed", ())


def test_unknown_state_is_waited_for() -> None:
    unknown = step(SnapshotState.UNKNOWN)
    assert unknown is not None
    assert (unknown.reason, unknown.operations) == ("EngineUnreachable", ())
    assert "a cause" in unknown.message


def test_snapshot_in_progress_may_take_a_day() -> None:
    waiting = step(SnapshotState.IN_PROGRESS)
    assert waiting is not None
    assert (waiting.reason, waiting.deadline, waiting.operations) == ("TakingSnapshot", 86400, ())
