"""Batches: which pods a batch waits for, when it is extended, and the size of the next one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.opensearch.calls import SetAllocation
from searchkeeper.opensearch.view import Allocation, Unreachable
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.ledger import (
    BATCH_FAILED,
    BATCH_SIZE,
    FLUSHED,
    PENDING_DELETE,
    REPLACED_PODS,
    WIPED_VOLUME,
    UpgradeLedger,
)
from searchkeeper.upgrade.rollout import Rollout, roll_out
from tests.support.searchkeeper.rollouts import deleted_object, engine_calls, ledger_changes, rollout_step
from tests.support.searchkeeper.snapshots import NEW, cluster_snapshot, engine, pod, pool

REPLACING: dict[str, Entry] = {"roll__away": (("data-0", "earlier"),)}
PREPARED: dict[str, Entry] = {"engine__allocation": "all", "roll__flushed": "earlier"}
LATE: dict[str, Entry] = {"wait__PodsCurrent": ("WaitingForPods", 100)}
FOUR: dict[str, Entry] = {"roll__size": ("data", 4)}
DOWN: dict[str, Any] = {"is_ready": False, "problem": "CrashLoopBackOff"}


def current(name: str, **changes: Any) -> Pod:
    return pod(name, **{"template": "new", "engine_version": NEW, **changes})


def data_nodes(*pods: Pod) -> PoolView:
    return pool("data", len(pods), pods=pods)


def data_snapshot(*pods: Pod, **policy: Any) -> ClusterSnapshot:
    """Return a snapshot of data nodes while replica allocation is disabled."""
    data_pool = data_nodes(*pods)
    return cluster_snapshot(
        data_pool, view=engine([data_pool], allocation=Allocation.PRIMARIES), **{"max_batch": 4, **policy}
    )


def test_batch_ends_when_its_pods_are_replaced() -> None:
    result = rollout_step(data_snapshot(current("data-0"), pod("data-1")), **REPLACING)
    assert result.reason == "BatchReplaced"
    assert ledger_changes(result) == {
        **dict.fromkeys((REPLACED_PODS, PENDING_DELETE, FLUSHED, BATCH_FAILED, WIPED_VOLUME)),
        BATCH_SIZE: ("data", 2),
    }


@pytest.mark.parametrize(
    "late_pods",
    [(), (current("data-0", is_terminating=True),), (current("data-0", is_ready=False),)],
    ids=["gone", "terminating again", "not ready"],
)
def test_batch_waits_for_a_pod_that_is_missing_terminating_or_not_ready(late_pods: tuple[Pod, ...]) -> None:
    """I2, I12: also if the engine still lists the node."""
    data_pool = replace(
        data_nodes(current("data-0"), current("data-1")), pods=(*late_pods, current("data-1"))
    )
    joined = engine([data_nodes(current("data-0"), current("data-1"))])
    assert rollout_step(cluster_snapshot(data_pool, view=joined), **REPLACING).reason == "WaitingForPods"


@pytest.mark.parametrize("joined", [(), (pod("data-0"),)], ids=["not joined", "joined with the old version"])
def test_batch_waits_until_the_node_has_joined_with_its_new_version(joined: tuple[Pod, ...]) -> None:
    data_pool = data_nodes(current("data-0"), current("data-1"))
    view = engine([data_nodes(*joined, current("data-1"))])
    assert rollout_step(cluster_snapshot(data_pool, view=view), **REPLACING).reason == "WaitingForPods"


def test_batch_waits_while_the_engine_is_unreachable() -> None:
    data_pool = data_nodes(current("data-0"), current("data-1"))
    assert (
        rollout_step(cluster_snapshot(data_pool, view=Unreachable("timed out")), **REPLACING).reason
        == "WaitingForPods"
    )


def test_batch_waits_while_its_statefulset_is_missing() -> None:
    """There is no template to compare the pod with."""
    data_pool = replace(data_nodes(current("data-0"), current("data-1")), stateful_set=None)
    assert rollout_step(cluster_snapshot(data_pool), **REPLACING).reason == "WaitingForPods"


def test_outdated_pod_of_the_batch_is_not_waited_for_and_halves_the_next_batch() -> None:
    result = rollout_step(data_snapshot(pod("data-0", is_ready=False), pod("data-1")), **REPLACING, **FOUR)
    assert deleted_object(result) == "data-0"
    data_pool = data_nodes(pod("data-0", is_ready=False), pod("data-1"))
    for snapshot in (
        data_snapshot(pod("data-0"), pod("data-1")),
        cluster_snapshot(data_pool, view=engine([pool("data", 2)])),
    ):
        result = rollout_step(snapshot, **REPLACING, **FOUR)
        assert (result.reason, ledger_changes(result).get(BATCH_SIZE)) == ("BatchReplaced", ("data", 2))


def test_outdated_pod_of_the_batch_is_waited_for_while_it_terminates() -> None:
    """I8."""
    assert (
        rollout_step(data_snapshot(pod("data-0", is_terminating=True), current("data-1")), **REPLACING).reason
        == "WaitingForPods"
    )


def test_settings_are_restored_before_the_batch_ends() -> None:
    """I9."""
    assert engine_calls(
        rollout_step(data_snapshot(current("data-0"), pod("data-1")), **REPLACING, **PREPARED)
    ) == [SetAllocation(None)]


def test_batch_size_does_not_grow_after_a_failure() -> None:
    """I12."""
    result = rollout_step(
        data_snapshot(current("data-0"), pod("data-1")),
        **REPLACING,
        roll__trouble=True,
        roll__size=("data", 2),
    )
    assert (result.reason, BATCH_SIZE in ledger_changes(result)) == ("BatchReplaced", False)


def extension(*others: Pod, entries: dict[str, Entry] = FOUR, **policy: Any) -> str | None:
    """Return the pod that is deleted while the first one is not ready."""
    late_pod = current("data-0", is_ready=False)
    return deleted_object(
        rollout_step(data_snapshot(late_pod, *others, **policy), **REPLACING, **{**PREPARED, **entries})
    )


def test_batch_is_extended_up_to_its_limit() -> None:
    assert extension(pod("data-1")) == "data-1"
    assert extension(pod("data-1"), entries={}) is None
    assert extension(pod("data-1"), max_batch=1) is None


def test_batch_is_not_extended_with_a_terminating_pod() -> None:
    """I8."""
    assert extension(pod("data-1", is_terminating=True)) is None


def test_batch_is_not_extended_while_a_gate_is_closed() -> None:
    assert extension(pod("data-1"), current("data-2", is_ready=False)) is None


def test_batch_is_not_extended_with_its_own_outdated_pod() -> None:
    """It belongs to the next batch."""
    both_pods: dict[str, Entry] = {"roll__away": (("data-0", "earlier"), ("data-1", "earlier"))}
    snapshot = data_snapshot(current("data-0", is_ready=False), pod("data-1"))
    assert rollout_step(snapshot, **both_pods, **PREPARED, **FOUR).reason == "WaitingForPods"


def test_batch_is_not_extended_with_a_pod_that_needs_preparation() -> None:
    """The engine is prepared once for the whole batch."""
    assert extension(pod("data-1"), entries={**FOUR, "roll__flushed": "another"}) is None


def test_late_batch_halves_the_next_one() -> None:
    """I12: also the last one of a pool, but not before the deadline."""
    snapshot = data_snapshot(current("data-0", is_ready=False), current("data-1"))
    assert ledger_changes(rollout_step(snapshot, **REPLACING, **FOUR, **LATE)) == {
        BATCH_FAILED: True,
        BATCH_SIZE: ("data", 2),
    }
    assert ledger_changes(rollout_step(snapshot, **REPLACING, **FOUR)) == {}


def test_late_pod_of_a_pool_outside_the_rollout_halves_no_batch() -> None:
    snapshot = data_snapshot(current("data-0", is_ready=False), current("data-1"))
    entries = {"roll/away": REPLACING["roll__away"], "wait/PodsCurrent": LATE["wait__PodsCurrent"]}
    result = roll_out(Rollout(snapshot, UpgradeLedger.of(entries), ()))
    assert (result.reason, result.ledger_changes) == ("WaitingForPods", ())


def test_failed_outdated_pod_is_replaced_while_the_batch_is_not_complete() -> None:
    """S17: that counts as a failure of the batch."""
    snapshot = data_snapshot(current("data-0", is_ready=False), pod("data-1", **DOWN))
    result = rollout_step(snapshot, **REPLACING, **FOUR)
    assert (
        deleted_object(result),
        ledger_changes(result)[BATCH_SIZE],
        ledger_changes(result)[BATCH_FAILED],
    ) == (
        "data-1",
        ("data", 2),
        True,
    )
    assert ledger_changes(result)[REPLACED_PODS] == (("data-0", "earlier"), ("data-1", "uid-data-1"))


@pytest.mark.parametrize(
    ("changes", "policy"), [({"is_terminating": True}, {}), ({}, {"paused": True})], ids=str
)
def test_failed_outdated_pod_is_not_replaced_while_it_terminates_or_during_a_pause(
    changes: dict[str, Any], policy: dict[str, Any]
) -> None:
    """I8."""
    snapshot = data_snapshot(current("data-0", is_ready=False), pod("data-1", **DOWN, **changes), **policy)
    assert deleted_object(rollout_step(snapshot, **REPLACING, **FOUR)) is None


def test_failed_pod_of_a_statefulset_rollout_is_left_to_the_statefulset() -> None:
    routers = pool("routers", 1, roles="ingest", pods=[pod("routers-0", **DOWN)])
    data_pool = data_nodes(current("data-0", is_ready=False), current("data-1"))
    assert deleted_object(rollout_step(cluster_snapshot(data_pool, routers), **REPLACING)) is None
    assert (
        rollout_step(cluster_snapshot(data_nodes(current("data-1")), routers)).reason == "AdvancingPartition"
    )


def test_finished_rollout_restores_settings_and_removes_its_ledger_entries() -> None:
    """I9."""
    snapshot = data_snapshot(current("data-0"))
    assert engine_calls(rollout_step(snapshot, **PREPARED)) == [SetAllocation(None)]
    finished = rollout_step(snapshot, roll__flushed="earlier")
    assert (finished.is_true, ledger_changes(finished)) == (True, {FLUSHED: None})
    assert rollout_step(snapshot).ledger_changes == ()


PENDING: dict[str, Entry] = {"roll__away": (("data-0", "uid-data-0"),), "roll__aimed": "1"}


def test_recorded_delete_that_was_not_executed_is_retried_unchanged() -> None:
    flushed: dict[str, Entry] = {**PREPARED, "roll__flushed": "uid-data-0"}
    snapshot = data_snapshot(pod("data-0"), pod("data-1"))
    retried = rollout_step(snapshot, **PENDING, **flushed)
    assert (deleted_object(retried), ledger_changes(retried)) == (
        "data-0",
        {REPLACED_PODS: (("data-0", "uid-data-0"),), PENDING_DELETE: "1"},
    )


def test_recorded_delete_is_cancelled_if_the_decision_has_changed() -> None:
    """I8: no other step is taken until a delayed delete would fail its precondition."""
    for snapshot in (
        data_snapshot(pod("data-0"), pod("data-1"), paused=True),
        data_snapshot(current("data-0"), pod("data-1")),
    ):
        assert rollout_step(snapshot, **PENDING, **PREPARED).reason == "CancellingDelete"
    failed = data_snapshot(pod("data-0"), pod("data-1", **DOWN))
    assert rollout_step(failed, **PENDING, **PREPARED).reason == "CancellingDelete"
    patched = data_snapshot(pod("data-0", resource_version="2"), pod("data-1"))
    assert rollout_step(patched, **PENDING, **PREPARED).reason == "DeleteCancelled"


def test_recorded_delete_is_retried_or_cancelled_beside_the_rest_of_the_batch() -> None:
    """I12: the other pods of the batch count."""
    entries: dict[str, Entry] = {
        "roll__away": (("data-0", "earlier"), ("data-1", "uid-data-1")),
        "roll__aimed": "1",
        **PREPARED,
    }
    snapshot = data_snapshot(current("data-0", is_ready=False), pod("data-1"))
    assert deleted_object(rollout_step(snapshot, **entries, **FOUR)) == "data-1"
    assert rollout_step(snapshot, **entries).reason == "CancellingDelete"
