"""Who is waited for, who may go beside them, and how large the next batch is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rollouts import deleted_object, engine_calls, ledger_changes, rollout_step
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
from snapshots import NEW, cluster_snapshot, engine, pod, pool

GONE: dict[str, Entry] = {"roll__away": (("data-0", "earlier"),)}
PREPARED: dict[str, Entry] = {"engine__allocation": "all", "roll__flushed": "earlier"}
LATE: dict[str, Entry] = {"wait__PodsCurrent": ("WaitingForPods", 100)}
FOUR: dict[str, Entry] = {"roll__size": ("data", 4)}
DOWN: dict[str, Any] = {"is_ready": False, "problem": "CrashLoopBackOff"}


def current(name: str, **differences: Any) -> Pod:
    return pod(name, **{"template": "new", "engine_version": NEW, **differences})


def data(*pods: Pod) -> PoolView:
    return pool("data", len(pods), pods=pods)


def seen(*pods: Pod, **policy: Any) -> ClusterSnapshot:
    """Data nodes, for whose sake shards are kept where they are."""
    home = data(*pods)
    return cluster_snapshot(
        home, view=engine([home], allocation=Allocation.PRIMARIES), **{"max_batch": 4, **policy}
    )


def test_batch_ends_when_its_pods_are_replaced() -> None:
    found = rollout_step(seen(current("data-0"), pod("data-1")), **GONE)
    assert found.reason == "BatchReplaced"
    assert ledger_changes(found) == {
        **dict.fromkeys((REPLACED_PODS, PENDING_DELETE, FLUSHED, BATCH_FAILED, WIPED_VOLUME)),
        BATCH_SIZE: ("data", 2),
    }


@pytest.mark.parametrize(
    "late",
    [(), (current("data-0", is_terminating=True),), (current("data-0", is_ready=False),)],
    ids=["gone", "on its way out once more", "not ready"],
)
def test_batch_waits_for_a_pod_that_is_missing_terminating_or_not_ready(late: tuple[Pod, ...]) -> None:
    """I2, I12: also where the engine still has its node."""
    home = replace(data(current("data-0"), current("data-1")), pods=(*late, current("data-1")))
    joined = engine([data(current("data-0"), current("data-1"))])
    assert rollout_step(cluster_snapshot(home, view=joined), **GONE).reason == "WaitingForPods"


@pytest.mark.parametrize("joined", [(), (pod("data-0"),)], ids=["not at all", "as what it was"])
def test_batch_waits_until_the_node_has_joined_with_its_new_version(joined: tuple[Pod, ...]) -> None:
    home = data(current("data-0"), current("data-1"))
    view = engine([data(*joined, current("data-1"))])
    assert rollout_step(cluster_snapshot(home, view=view), **GONE).reason == "WaitingForPods"


def test_batch_waits_while_the_engine_is_unreachable() -> None:
    home = data(current("data-0"), current("data-1"))
    assert (
        rollout_step(cluster_snapshot(home, view=Unreachable("timed out")), **GONE).reason == "WaitingForPods"
    )


def test_batch_waits_while_its_statefulset_is_missing() -> None:
    """What it should have been made from is not there to compare it with."""
    home = replace(data(current("data-0"), current("data-1")), stateful_set=None)
    assert rollout_step(cluster_snapshot(home), **GONE).reason == "WaitingForPods"


def test_outdated_pod_of_the_batch_is_not_waited_for_and_halves_the_next_batch() -> None:
    found = rollout_step(seen(pod("data-0", is_ready=False), pod("data-1")), **GONE, **FOUR)
    assert deleted_object(found) == "data-0"
    home = data(pod("data-0", is_ready=False), pod("data-1"))
    for there in (seen(pod("data-0"), pod("data-1")), cluster_snapshot(home, view=engine([pool("data", 2)]))):
        found = rollout_step(there, **GONE, **FOUR)
        assert (found.reason, ledger_changes(found).get(BATCH_SIZE)) == ("BatchReplaced", ("data", 2))


def test_outdated_pod_of_the_batch_is_waited_for_while_it_terminates() -> None:
    """I8."""
    assert (
        rollout_step(seen(pod("data-0", is_terminating=True), current("data-1")), **GONE).reason
        == "WaitingForPods"
    )


def test_settings_are_restored_before_the_batch_ends() -> None:
    """I9."""
    assert engine_calls(rollout_step(seen(current("data-0"), pod("data-1")), **GONE, **PREPARED)) == [
        SetAllocation(None)
    ]


def test_batch_size_does_not_grow_after_a_failure() -> None:
    """I12."""
    found = rollout_step(
        seen(current("data-0"), pod("data-1")), **GONE, roll__trouble=True, roll__size=("data", 2)
    )
    assert (found.reason, BATCH_SIZE in ledger_changes(found)) == ("BatchReplaced", False)


def waited_for(*others: Pod, lines: dict[str, Entry] = FOUR, **policy: Any) -> str | None:
    """Who goes while the first one is waited for."""
    first = current("data-0", is_ready=False)
    return deleted_object(rollout_step(seen(first, *others, **policy), **GONE, **{**PREPARED, **lines}))


def test_batch_is_extended_up_to_its_limit() -> None:
    assert waited_for(pod("data-1")) == "data-1"
    assert waited_for(pod("data-1"), lines={}) is None
    assert waited_for(pod("data-1"), max_batch=1) is None


def test_batch_is_not_extended_with_a_terminating_pod() -> None:
    """I8."""
    assert waited_for(pod("data-1", is_terminating=True)) is None


def test_batch_is_not_extended_while_a_gate_is_closed() -> None:
    assert waited_for(pod("data-1"), current("data-2", is_ready=False)) is None


def test_batch_is_not_extended_with_its_own_outdated_pod() -> None:
    """It goes in the next one."""
    both: dict[str, Entry] = {"roll__away": (("data-0", "earlier"), ("data-1", "earlier"))}
    there = seen(current("data-0", is_ready=False), pod("data-1"))
    assert rollout_step(there, **both, **PREPARED, **FOUR).reason == "WaitingForPods"


def test_batch_is_not_extended_with_a_pod_that_needs_preparation() -> None:
    """Shards are kept for a batch as a whole."""
    assert waited_for(pod("data-1"), lines={**FOUR, "roll__flushed": "another"}) is None


def test_late_batch_halves_the_next_one() -> None:
    """I12: also the last of its pool; and not while it is only slow."""
    there = seen(current("data-0", is_ready=False), current("data-1"))
    assert ledger_changes(rollout_step(there, **GONE, **FOUR, **LATE)) == {
        BATCH_FAILED: True,
        BATCH_SIZE: ("data", 2),
    }
    assert ledger_changes(rollout_step(there, **GONE, **FOUR)) == {}


def test_late_pod_of_a_pool_outside_the_rollout_halves_no_batch() -> None:
    there = seen(current("data-0", is_ready=False), current("data-1"))
    lines = {"roll/away": GONE["roll__away"], "wait/PodsCurrent": LATE["wait__PodsCurrent"]}
    found = roll_out(Rollout(there, UpgradeLedger.of(lines), ()))
    assert (found.reason, found.ledger_changes) == ("WaitingForPods", ())


def test_failed_outdated_pod_is_replaced_while_the_batch_is_not_complete() -> None:
    """S17: and that counts as trouble."""
    there = seen(current("data-0", is_ready=False), pod("data-1", **DOWN))
    found = rollout_step(there, **GONE, **FOUR)
    assert (
        deleted_object(found),
        ledger_changes(found)[BATCH_SIZE],
        ledger_changes(found)[BATCH_FAILED],
    ) == (
        "data-1",
        ("data", 2),
        True,
    )
    assert ledger_changes(found)[REPLACED_PODS] == (("data-0", "earlier"), ("data-1", "uid-data-1"))


@pytest.mark.parametrize(
    ("differences", "policy"), [({"is_terminating": True}, {}), ({}, {"paused": True})], ids=str
)
def test_failed_outdated_pod_is_not_replaced_while_it_terminates_or_during_a_pause(
    differences: dict[str, Any], policy: dict[str, Any]
) -> None:
    """I8."""
    there = seen(current("data-0", is_ready=False), pod("data-1", **DOWN, **differences), **policy)
    assert deleted_object(rollout_step(there, **GONE, **FOUR)) is None


def test_failed_pod_of_a_statefulset_rollout_is_left_to_the_statefulset() -> None:
    routers = pool("routers", 1, roles="ingest", pods=[pod("routers-0", **DOWN)])
    home = data(current("data-0", is_ready=False), current("data-1"))
    assert deleted_object(rollout_step(cluster_snapshot(home, routers), **GONE)) is None
    assert rollout_step(cluster_snapshot(data(current("data-1")), routers)).reason == "AdvancingPartition"


def test_finished_rollout_restores_settings_and_removes_its_ledger_entries() -> None:
    """I9."""
    there = seen(current("data-0"))
    assert engine_calls(rollout_step(there, **PREPARED)) == [SetAllocation(None)]
    over = rollout_step(there, roll__flushed="earlier")
    assert (over.is_true, ledger_changes(over)) == (True, {FLUSHED: None})
    assert rollout_step(there).ledger_changes == ()


AIMING: dict[str, Entry] = {"roll__away": (("data-0", "uid-data-0"),), "roll__aimed": "1"}


def test_recorded_delete_that_was_not_executed_is_retried_unchanged() -> None:
    flushed: dict[str, Entry] = {**PREPARED, "roll__flushed": "uid-data-0"}
    there = seen(pod("data-0"), pod("data-1"))
    again = rollout_step(there, **AIMING, **flushed)
    assert (deleted_object(again), ledger_changes(again)) == (
        "data-0",
        {REPLACED_PODS: (("data-0", "uid-data-0"),), PENDING_DELETE: "1"},
    )


def test_recorded_delete_is_cancelled_if_the_decision_has_changed() -> None:
    """I8: nothing else is done before the deletion that may be late would miss."""
    for there in (seen(pod("data-0"), pod("data-1"), paused=True), seen(current("data-0"), pod("data-1"))):
        assert rollout_step(there, **AIMING, **PREPARED).reason == "CancellingDelete"
    first = seen(pod("data-0"), pod("data-1", **DOWN))
    assert rollout_step(first, **AIMING, **PREPARED).reason == "CancellingDelete"
    moved = seen(pod("data-0", resource_version="2"), pod("data-1"))
    assert rollout_step(moved, **AIMING, **PREPARED).reason == "DeleteCancelled"


def test_recorded_delete_is_retried_or_cancelled_beside_the_rest_of_the_batch() -> None:
    """I12: it is asked for again beside them, or not at all."""
    lines: dict[str, Entry] = {
        "roll__away": (("data-0", "earlier"), ("data-1", "uid-data-1")),
        "roll__aimed": "1",
        **PREPARED,
    }
    there = seen(current("data-0", is_ready=False), pod("data-1"))
    assert deleted_object(rollout_step(there, **lines, **FOUR)) == "data-1"
    assert rollout_step(there, **lines).reason == "CancellingDelete"
