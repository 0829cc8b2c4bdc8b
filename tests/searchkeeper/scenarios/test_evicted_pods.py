"""Pods that restart while no operator runs: settings that were made for them are restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from searchkeeper.kubernetes.operations import Key
from searchkeeper.opensearch.view import Allocation, Color
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.faults import kill_pod
from tests.support.searchkeeper.operator_runs import (
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
from tests.support.searchkeeper.operator_scenarios import pod_versions

OLD, MIDDLE, NEW = "2.19.4", "3.3.2", "3.4.0"
MANAGERS = pool("managers", 3, "cluster_manager")


def upgrading(*pools: dict[str, Any], replicas: tuple[int, ...] = (1,)) -> FakeCluster:
    """Return a cluster with one index for each of these replica counts, whose upgrade starts."""
    cluster = new_cluster(*pools, upgrade={"healthDeadlineSeconds": 600})
    reconcile_until_converged(cluster)
    for number, count in enumerate(replicas):
        add_index(cluster, f"index{number}", replicas=count)
    reconcile_until_converged(cluster)
    return edit_spec(cluster, version=NEW)


def evict(cluster: FakeCluster, pod: str, ticks: int = 6) -> FakeCluster:
    """Delete a pod and let its replacement start while no operator runs."""
    cluster.state = kill_pod(cluster.state, Key("v1", "Pod", "search", f"logs-{pod}"))
    for _ in range(ticks):
        cluster.tick()
    return cluster


def has_entry(key: str) -> Callable[[FakeCluster], bool]:
    return lambda cluster: key in status(cluster)["ledger"]


def finish(cluster: FakeCluster) -> None:
    """The upgrade completes, is never red, and leaves no setting and no ledger entry."""
    for state in reconcile_steps(cluster):
        assert getattr(state.get_state(), "color", None) is not Color.RED
        assert not {"logs-data-0", "logs-data-1"} <= state.state.engine.excluded
    assert set(pod_versions(cluster).values()) == {NEW}
    assert not cluster.state.engine.excluded
    assert cluster.state.engine.allocation is None
    assert not cluster.state.engine.voting_exclusions
    assert not status(cluster)["ledger"]


@pytest.mark.parametrize(
    ("replicas", "ephemeral"), [((0, 0), False), ((1,), True)], ids=["last copies", "disks"]
)
@pytest.mark.parametrize("ticks", [3, 6])
def test_exclusion_of_evicted_pod_ends_before_the_next_drain(
    replicas: tuple[int, ...], ephemeral: bool, ticks: int
) -> None:
    """S09, L4: with both data nodes excluded neither would ever be drained."""
    data = {**pool("data", 2, "data"), "storage": {"ephemeral": ephemeral}}
    cluster = upgrading(data, MANAGERS, replicas=replicas)
    reconcile_until(cluster, lambda cluster: cluster.state.engine.excluded == {"logs-data-0"})
    finish(evict(cluster, "data-0", ticks))


def test_allocation_that_was_disabled_for_evicted_pod_is_restored() -> None:
    cluster = reconcile_until(
        upgrading(pool("data", 2, "data"), MANAGERS),
        lambda cluster: cluster.state.engine.allocation is Allocation.PRIMARIES,
    )
    finish(evict(cluster, "data-0"))


def test_flush_for_evicted_pod_does_not_count_for_the_next() -> None:
    cluster = reconcile_until(upgrading(pool("data", 2, "data"), MANAGERS), has_entry("roll/flushed"))
    flushed = status(cluster)["ledger"]["roll/flushed"]
    evict(cluster, "data-0")
    reconcile_until(
        cluster, lambda cluster: status(cluster)["ledger"].get("roll/flushed") not in (None, flushed)
    )
    finish(cluster)


def test_voting_exclusion_of_evicted_manager_ends() -> None:
    """S29: with the vote of one of two managers moved, the next candidate must not hide that exclusion."""
    cluster = upgrading(pool("both", 2, "data", "cluster_manager"))
    reconcile_until(cluster, lambda cluster: bool(cluster.state.engine.voting_exclusions))
    [name] = cluster.state.engine.voting_exclusions
    finish(evict(cluster, name.removeprefix("logs-")))


def test_partition_outlives_evicted_pod_without_harm() -> None:
    cluster = upgrading(pool("data", 2, "data"), pool("routers", 3, "coordinating"), MANAGERS)
    reconcile_until(cluster, has_entry("roll/partition"))
    evict(cluster, "routers-0")
    assert pod_versions(cluster)["routers-0"] == OLD
    finish(cluster)


def test_volume_that_was_deleted_for_evicted_pod_is_not_deleted_again() -> None:
    cluster = upgrading(pool("data", 3, "data"), MANAGERS)
    reconcile_until(
        cluster,
        lambda cluster: pod_versions(cluster).get("data-0") == NEW and not has_entry("roll/away")(cluster),
    )
    reconcile_until(edit_spec(cluster, version=OLD), has_entry("roll/wiped"))
    for _ in reconcile_steps(evict(cluster, "data-0")):
        pass
    assert set(pod_versions(cluster).values()) == {OLD}
    assert not status(cluster)["ledger"]
    assert len(claim_uids(cluster)) == 6


def test_target_returns_to_the_version_that_a_pod_started_with_just_after_it_was_lowered() -> None:
    """S24, L4: the older version could not start on the pod's disk."""
    cluster = upgrading(pool("data", 2, "data"), MANAGERS)
    reconcile_until(cluster, lambda cluster: pod_versions(cluster).get("data-0") == NEW)
    lowered = f'["{OLD}","{MIDDLE}"]'
    edit_spec(cluster, version=MIDDLE)
    reconcile_once(cluster, cluster, NEWEST)
    assert status(cluster)["ledger"]["upgrade"] == lowered
    for _ in range(3):
        cluster.tick()
    reconcile_until(cluster, lambda cluster: status(cluster)["ledger"]["upgrade"] != lowered)
    reconcile_once(cluster, cluster, NEWEST)
    assert condition(cluster, "UpgradeStarted") == (
        "False TargetQueued: 3.3.2 cannot start on the disk of logs-data-0, which 3.4.0 wrote; "
        "to continue, set spec.version to 3.4.0; "
        "to roll back, annotate the SearchCluster with search.everpath.dev/rollback=2.19.4"
    )
    reconcile_until(cluster, lambda cluster: "upgrade" not in status(cluster)["ledger"])
    reconcile_once(cluster, cluster, NEWEST)
    assert set(pod_versions(cluster).values()) == {NEW}
    assert condition(cluster, "VersionAccepted").startswith("False Downgrade: ")
