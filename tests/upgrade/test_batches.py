"""Batches: which pods they wait for, which pods join them, and how large the next one is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rolls import calls, deleted_object, next_step, notes
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
from worlds import NEW, engine, pod, pool, world

GONE: dict[str, Entry] = {"roll__away": (("data-0", "earlier"),)}
PREPARED: dict[str, Entry] = {"engine__allocation": "all", "roll__flushed": "earlier"}
LATE: dict[str, Entry] = {"wait__PodsCurrent": ("WaitingForPods", 100)}
FOUR: dict[str, Entry] = {"roll__size": ("data", 4)}
DOWN: dict[str, Any] = {"is_ready": False, "problem": "CrashLoopBackOff"}


def current(name: str, **differences: Any) -> Pod:
    return pod(name, **{"template": "new", "engine_version": NEW, **differences})


def data(*pods: Pod) -> PoolView:
    return pool("data", len(pods), pods=pods)


def snapshot_of(*pods: Pod, **policy: Any) -> ClusterSnapshot:
    """Data nodes, with replica allocation disabled for them."""
    home = data(*pods)
    return world(home, snapshot=engine([home], allocation=Allocation.PRIMARIES), **{"max_batch": 4, **policy})


def test_batch_ends_when_its_pods_are_replaced() -> None:
    found = next_step(snapshot_of(current("data-0"), pod("data-1")), **GONE)
    assert found.reason == "BatchReplaced"
    assert notes(found) == {
        **dict.fromkeys((REPLACED_PODS, PENDING_DELETE, FLUSHED, BATCH_FAILED, WIPED_VOLUME)),
        BATCH_SIZE: ("data", 2),
    }


@pytest.mark.parametrize(
    "late",
    [(), (current("data-0", is_terminating=True),), (current("data-0", is_ready=False),)],
    ids=["gone", "terminating again", "not ready"],
)
def test_batch_waits_for_a_pod_that_is_not_replaced(late: tuple[Pod, ...]) -> None:
    """I2, I12: even if the engine still lists its node."""
    home = replace(data(current("data-0"), current("data-1")), pods=(*late, current("data-1")))
    joined = engine([data(current("data-0"), current("data-1"))])
    assert next_step(world(home, snapshot=joined), **GONE).reason == "WaitingForPods"


@pytest.mark.parametrize("joined", [(), (pod("data-0"),)], ids=["not at all", "with the old version"])
def test_batch_waits_until_the_node_joins_with_its_new_version(joined: tuple[Pod, ...]) -> None:
    home = data(current("data-0"), current("data-1"))
    view = engine([data(*joined, current("data-1"))])
    assert next_step(world(home, snapshot=view), **GONE).reason == "WaitingForPods"


def test_batch_waits_while_the_engine_is_unreachable() -> None:
    home = data(current("data-0"), current("data-1"))
    assert next_step(world(home, snapshot=Unreachable("timed out")), **GONE).reason == "WaitingForPods"


def test_batch_waits_for_a_pod_without_a_statefulset() -> None:
    """Without the StatefulSet its template cannot be compared."""
    home = replace(data(current("data-0"), current("data-1")), stateful_set=None)
    assert next_step(world(home), **GONE).reason == "WaitingForPods"


def test_pod_that_is_outdated_again_halves_the_next_batch() -> None:
    found = next_step(snapshot_of(pod("data-0", is_ready=False), pod("data-1")), **GONE, **FOUR)
    assert deleted_object(found) == "data-0"
    home = data(pod("data-0", is_ready=False), pod("data-1"))
    for there in (snapshot_of(pod("data-0"), pod("data-1")), world(home, snapshot=engine([pool("data", 2)]))):
        found = next_step(there, **GONE, **FOUR)
        assert (found.reason, notes(found).get(BATCH_SIZE)) == ("BatchReplaced", ("data", 2))


def test_batch_waits_for_a_terminating_outdated_pod() -> None:
    """I8."""
    assert (
        next_step(snapshot_of(pod("data-0", is_terminating=True), current("data-1")), **GONE).reason
        == "WaitingForPods"
    )


def test_settings_are_restored_before_the_batch_ends() -> None:
    """I9."""
    assert calls(next_step(snapshot_of(current("data-0"), pod("data-1")), **GONE, **PREPARED)) == [
        SetAllocation(None)
    ]


def test_batch_does_not_grow_after_a_failure() -> None:
    """I12."""
    found = next_step(
        snapshot_of(current("data-0"), pod("data-1")), **GONE, roll__trouble=True, roll__size=("data", 2)
    )
    assert (found.reason, BATCH_SIZE in notes(found)) == ("BatchReplaced", False)


def pod_that_joins(*others: Pod, lines: dict[str, Entry] = FOUR, **policy: Any) -> str | None:
    """Return the pod that is replaced while the first one is not ready."""
    first = current("data-0", is_ready=False)
    return deleted_object(next_step(snapshot_of(first, *others, **policy), **GONE, **{**PREPARED, **lines}))


def test_pod_joins_a_batch_that_is_not_full() -> None:
    assert pod_that_joins(pod("data-1")) == "data-1"
    assert pod_that_joins(pod("data-1"), lines={}) is None
    assert pod_that_joins(pod("data-1"), max_batch=1) is None


def test_terminating_pod_does_not_join_a_batch() -> None:
    """I8."""
    assert pod_that_joins(pod("data-1", is_terminating=True)) is None


def test_pod_at_a_closed_gate_does_not_join_a_batch() -> None:
    assert pod_that_joins(pod("data-1"), current("data-2", is_ready=False)) is None


def test_pod_of_the_batch_that_is_outdated_again_does_not_join_it() -> None:
    """It is part of the next batch."""
    both: dict[str, Entry] = {"roll__away": (("data-0", "earlier"), ("data-1", "earlier"))}
    there = snapshot_of(current("data-0", is_ready=False), pod("data-1"))
    assert next_step(there, **both, **PREPARED, **FOUR).reason == "WaitingForPods"


def test_pod_that_needs_preparation_does_not_join_a_batch() -> None:
    """Allocation is disabled and indices are flushed once for the batch."""
    assert pod_that_joins(pod("data-1"), lines={**FOUR, "roll__flushed": "another"}) is None


def test_pod_that_takes_too_long_halves_the_next_batch() -> None:
    """I12: even the last pod of its pool, but not before the deadline."""
    there = snapshot_of(current("data-0", is_ready=False), current("data-1"))
    assert notes(next_step(there, **GONE, **FOUR, **LATE)) == {BATCH_FAILED: True, BATCH_SIZE: ("data", 2)}
    assert notes(next_step(there, **GONE, **FOUR)) == {}


def test_late_pod_of_another_pool_does_not_halve_the_batch() -> None:
    there = snapshot_of(current("data-0", is_ready=False), current("data-1"))
    lines = {"roll/away": GONE["roll__away"], "wait/PodsCurrent": LATE["wait__PodsCurrent"]}
    found = roll_out(Rollout(there, UpgradeLedger.of(lines), ()))
    assert (found.reason, found.ledger_changes) == ("WaitingForPods", ())


def test_failed_outdated_pod_is_replaced_while_a_batch_is_incomplete() -> None:
    """S17: it counts as a failure of the batch."""
    there = snapshot_of(current("data-0", is_ready=False), pod("data-1", **DOWN))
    found = next_step(there, **GONE, **FOUR)
    assert (deleted_object(found), notes(found)[BATCH_SIZE], notes(found)[BATCH_FAILED]) == (
        "data-1",
        ("data", 2),
        True,
    )
    assert notes(found)[REPLACED_PODS] == (("data-0", "earlier"), ("data-1", "uid-data-1"))


@pytest.mark.parametrize(
    ("differences", "policy"), [({"is_terminating": True}, {}), ({}, {"paused": True})], ids=str
)
def test_failed_outdated_pod_is_not_replaced_if_terminating_or_paused(
    differences: dict[str, Any], policy: dict[str, Any]
) -> None:
    """I8."""
    there = snapshot_of(current("data-0", is_ready=False), pod("data-1", **DOWN, **differences), **policy)
    assert deleted_object(next_step(there, **GONE, **FOUR)) is None


def test_failed_pod_of_a_statefulset_rollout_is_left_to_the_controller() -> None:
    routers = pool("routers", 1, roles="ingest", pods=[pod("routers-0", **DOWN)])
    home = data(current("data-0", is_ready=False), current("data-1"))
    assert deleted_object(next_step(world(home, routers), **GONE)) is None
    assert next_step(world(data(current("data-1")), routers)).reason == "AdvancingPartition"


def test_finished_rollout_leaves_no_setting_and_no_entry() -> None:
    """I9."""
    there = snapshot_of(current("data-0"))
    assert calls(next_step(there, **PREPARED)) == [SetAllocation(None)]
    over = next_step(there, roll__flushed="earlier")
    assert (over.is_true, notes(over)) == (True, {FLUSHED: None})
    assert next_step(there).ledger_changes == ()


AIMING: dict[str, Entry] = {"roll__away": (("data-0", "uid-data-0"),), "roll__aimed": "1"}


def test_pending_delete_is_retried_unchanged() -> None:
    flushed: dict[str, Entry] = {**PREPARED, "roll__flushed": "uid-data-0"}
    there = snapshot_of(pod("data-0"), pod("data-1"))
    again = next_step(there, **AIMING, **flushed)
    assert (deleted_object(again), notes(again)) == (
        "data-0",
        {REPLACED_PODS: (("data-0", "uid-data-0"),), PENDING_DELETE: "1"},
    )


def test_pending_delete_is_cancelled_if_it_would_not_be_decided_again() -> None:
    """I8: a late delete must fail its precondition before anything else is done."""
    for there in (
        snapshot_of(pod("data-0"), pod("data-1"), paused=True),
        snapshot_of(current("data-0"), pod("data-1")),
    ):
        assert next_step(there, **AIMING, **PREPARED).reason == "CancellingDelete"
    first = snapshot_of(pod("data-0"), pod("data-1", **DOWN))
    assert next_step(first, **AIMING, **PREPARED).reason == "CancellingDelete"
    moved = snapshot_of(pod("data-0", resource_version="2"), pod("data-1"))
    assert next_step(moved, **AIMING, **PREPARED).reason == "DeleteCancelled"


def test_pending_delete_is_retried_beside_its_batch_or_cancelled() -> None:
    """I12: the batch limit holds for the retry too."""
    lines: dict[str, Entry] = {
        "roll__away": (("data-0", "earlier"), ("data-1", "uid-data-1")),
        "roll__aimed": "1",
        **PREPARED,
    }
    there = snapshot_of(current("data-0", is_ready=False), pod("data-1"))
    assert deleted_object(next_step(there, **lines, **FOUR)) == "data-1"
    assert next_step(there, **lines).reason == "CancellingDelete"
