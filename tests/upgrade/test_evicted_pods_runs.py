"""Pods that restart while no operator runs: settings that were made for them are restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from operator_runs import (
    NEWEST,
    add_index,
    claim_uids,
    condition,
    edit_spec,
    new_cluster,
    pool,
    reconcile_once,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from operator_scenarios import pod_versions
from searchkeeper.kubernetes.operations import Key
from searchkeeper.opensearch.view import Allocation, Color
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.faults import kill_pod

OLD, MIDDLE, NEW = "2.19.4", "3.3.2", "3.4.0"
MANAGERS = pool("managers", 3, "cluster_manager")


def upgrading(*pools: dict[str, Any], replicas: tuple[int, ...] = (1,)) -> FakeCluster:
    """Return a cluster with one index for each of these replica counts, whose upgrade starts."""
    world = new_cluster(*pools, upgrade={"healthDeadlineSeconds": 600})
    reconcile_until_converged(world)
    for number, count in enumerate(replicas):
        add_index(world, f"index{number}", replicas=count)
    reconcile_until_converged(world)
    return edit_spec(world, version=NEW)


def evict(world: FakeCluster, pod: str, ticks: int = 6) -> FakeCluster:
    """Delete a pod and let its replacement start while no operator runs."""
    world.state = kill_pod(world.state, Key("v1", "Pod", "search", f"logs-{pod}"))
    for _ in range(ticks):
        world.tick()
    return world


def has_entry(key: str) -> Callable[[FakeCluster], bool]:
    return lambda world: key in status(world)["ledger"]


def finish(world: FakeCluster) -> None:
    """The upgrade completes, is never red, and leaves no setting and no ledger entry."""
    for state in reconcile_steps(world):
        assert getattr(state.get_state(), "color", None) is not Color.RED
        assert not {"logs-data-0", "logs-data-1"} <= state.state.engine.excluded
    assert set(pod_versions(world).values()) == {NEW}
    assert not world.state.engine.excluded
    assert world.state.engine.allocation is None
    assert not world.state.engine.voting_exclusions
    assert not status(world)["ledger"]


@pytest.mark.parametrize(
    ("replicas", "ephemeral"), [((0, 0), False), ((1,), True)], ids=["last copies", "disks"]
)
@pytest.mark.parametrize("ticks", [3, 6])
def test_exclusion_of_evicted_pod_ends_before_the_next_drain(
    replicas: tuple[int, ...], ephemeral: bool, ticks: int
) -> None:
    """S09, L4: with both data nodes excluded neither would ever be drained."""
    data = {**pool("data", 2, "data"), "storage": {"ephemeral": ephemeral}}
    world = upgrading(data, MANAGERS, replicas=replicas)
    reconcile_until(world, lambda world: world.state.engine.excluded == {"logs-data-0"})
    finish(evict(world, "data-0", ticks))


def test_allocation_that_was_disabled_for_evicted_pod_is_restored() -> None:
    world = reconcile_until(
        upgrading(pool("data", 2, "data"), MANAGERS),
        lambda world: world.state.engine.allocation is Allocation.PRIMARIES,
    )
    finish(evict(world, "data-0"))


def test_flush_for_evicted_pod_does_not_count_for_the_next() -> None:
    world = reconcile_until(upgrading(pool("data", 2, "data"), MANAGERS), has_entry("roll/flushed"))
    flushed = status(world)["ledger"]["roll/flushed"]
    evict(world, "data-0")
    reconcile_until(world, lambda world: status(world)["ledger"].get("roll/flushed") not in (None, flushed))
    finish(world)


def test_voting_exclusion_of_evicted_manager_ends() -> None:
    """S29: with the vote of one of two managers moved, the next candidate must not hide that exclusion."""
    world = upgrading(pool("both", 2, "data", "cluster_manager"))
    reconcile_until(world, lambda world: bool(world.state.engine.voting_exclusions))
    [name] = world.state.engine.voting_exclusions
    finish(evict(world, name.removeprefix("logs-")))


def test_partition_outlives_evicted_pod_without_harm() -> None:
    world = upgrading(pool("data", 2, "data"), pool("routers", 3, "coordinating"), MANAGERS)
    reconcile_until(world, has_entry("roll/partition"))
    evict(world, "routers-0")
    assert pod_versions(world)["routers-0"] == OLD
    finish(world)


def test_volume_that_was_deleted_for_evicted_pod_is_not_deleted_again() -> None:
    world = upgrading(pool("data", 3, "data"), MANAGERS)
    reconcile_until(
        world, lambda world: pod_versions(world).get("data-0") == NEW and not has_entry("roll/away")(world)
    )
    reconcile_until(edit_spec(world, version=OLD), has_entry("roll/wiped"))
    for _ in reconcile_steps(evict(world, "data-0")):
        pass
    assert set(pod_versions(world).values()) == {OLD}
    assert not status(world)["ledger"]
    assert len(claim_uids(world)) == 6


def test_target_returns_to_the_version_that_a_pod_started_with_just_after_it_was_lowered() -> None:
    """S24, L4: the older version could not start on the pod's disk."""
    world = upgrading(pool("data", 2, "data"), MANAGERS)
    reconcile_until(world, lambda world: pod_versions(world).get("data-0") == NEW)
    lowered = f'["{OLD}","{MIDDLE}"]'
    edit_spec(world, version=MIDDLE)
    reconcile_once(world, world, NEWEST)
    assert status(world)["ledger"]["upgrade"] == lowered
    for _ in range(3):
        world.tick()
    reconcile_until(world, lambda world: status(world)["ledger"]["upgrade"] != lowered)
    reconcile_once(world, world, NEWEST)
    assert condition(world, "UpgradeStarted") == (
        "False TargetQueued: 3.3.2 cannot start on the disk of logs-data-0, which 3.4.0 wrote; "
        "to continue, set spec.version to 3.4.0; "
        "to roll back, annotate the SearchCluster with search.everpath.dev/rollback=2.19.4"
    )
    reconcile_until(world, lambda world: "upgrade" not in status(world)["ledger"])
    reconcile_once(world, world, NEWEST)
    assert set(pod_versions(world).values()) == {NEW}
    assert condition(world, "VersionAccepted").startswith("False Downgrade: ")
