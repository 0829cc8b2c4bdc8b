"""Runs with failed pods: a failed pod never blocks its own replacement."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from searchkeeper.kubernetes.operations import Key
from searchkeeper.opensearch.view import ShardState
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.faults import kill_pod
from tests.support.searchkeeper.operator_runs import (
    SMALL,
    add_index,
    claim_uids,
    condition,
    edit_spec,
    new_cluster,
    node_versions,
    pool,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    set_pod_faults,
    status,
    unmet_conditions,
)

OLD, BAD, NEW = "2.19.4", "3.3.2", "3.4.0"
FAULTS = (PodFault.CRASH, PodFault.IMAGE, PodFault.PENDING)
THREE = (pool("data", 3, "data"), pool("managers", 3, "cluster_manager"))
ALL_IN_ONE = (pool("all", 1, "cluster_manager", "data"),)


def deployed_cluster(*pools: dict[str, Any], **upgrade: Any) -> FakeCluster:
    cluster = new_cluster(*(pools or SMALL), upgrade={"healthDeadlineSeconds": 60, **upgrade})
    reconcile_until_converged(cluster)
    reconcile_until_converged(add_index(cluster))
    return cluster


def failed_upgrade(cluster: FakeCluster, version: str, fault: PodFault) -> FakeCluster:
    """Start an upgrade to a version whose pods fail, and let it fail."""
    broken = {f"v{version.replace('.', '_')}": fault}
    return reconcile_for_ticks(set_pod_faults(edit_spec(cluster, version=version), **broken), ticks=15)


@pytest.mark.parametrize("fault", FAULTS)
def test_newer_target_replaces_a_version_that_does_not_start(fault: PodFault) -> None:
    """S17, S18: a rollout that waits for the failed pod before it replaces it would never end."""
    cluster = failed_upgrade(deployed_cluster(), BAD, fault)
    reconcile_until_converged(edit_spec(cluster, version=NEW))
    assert set(node_versions(cluster).values()) == {NEW}


@pytest.mark.exhaustive
def test_newer_target_replaces_a_failing_version_before_the_deadline() -> None:
    cluster = set_pod_faults(edit_spec(deployed_cluster(), version=BAD), v3_3_2=PodFault.IMAGE)
    reconcile_until(cluster, lambda w: "roll/away" in status(w)["ledger"])
    reconcile_for_ticks(cluster, ticks=3)
    reconcile_until_converged(edit_spec(cluster, version=NEW))
    assert set(node_versions(cluster).values()) == {NEW}


def test_newer_target_waits_for_an_upgrade_that_makes_progress() -> None:
    cluster = edit_spec(deployed_cluster(), version=BAD)
    reconcile_until(cluster, lambda w: BAD in node_versions(w).values())
    reconcile_for_ticks(edit_spec(cluster, version=NEW), ticks=1)
    assert condition(cluster, "UpgradeStarted") == (
        "False TargetQueued: 3.4.0 waits until the upgrade to 3.3.2 completes"
    )
    reconcile_until_converged(cluster)
    assert set(node_versions(cluster).values()) == {NEW}


def test_older_target_than_nodes_run_needs_a_rollback_first() -> None:
    cluster = edit_spec(deployed_cluster(), version=NEW)
    reconcile_until(cluster, lambda w: NEW in node_versions(w).values())
    reconcile_for_ticks(set_pod_faults(cluster, logs_data_0=PodFault.NEVER_READY), ticks=15)
    reconcile_until_converged(edit_spec(set_pod_faults(cluster), version=BAD))
    assert set(node_versions(cluster).values()) == {BAD}


@pytest.mark.parametrize("fault", FAULTS)
def test_only_node_that_never_ran_the_newer_version_is_rolled_back_with_its_volume(fault: PodFault) -> None:
    """The engine is unreachable, but no node has run the newer version."""
    cluster = failed_upgrade(deployed_cluster(*ALL_IN_ONE), NEW, fault)
    before = claim_uids(cluster)
    if fault is PodFault.CRASH:
        assert condition(cluster, "RollbackPossible").startswith("False PointOfNoReturnPassed: ")
        return
    reconcile_until_converged(edit_spec(cluster, version=OLD))
    assert set(node_versions(cluster).values()) == {OLD}
    assert claim_uids(cluster) == before


def test_only_node_that_cannot_be_rolled_back_is_fixed_by_a_newer_target() -> None:
    cluster = failed_upgrade(deployed_cluster(*ALL_IN_ONE), BAD, PodFault.CRASH)
    reconcile_until_converged(edit_spec(cluster, version=NEW))
    assert node_versions(cluster) == {"all-0": NEW}


@pytest.mark.parametrize("fault", FAULTS)
def test_cluster_that_never_started_starts_after_its_version_is_corrected(fault: PodFault) -> None:
    cluster = set_pod_faults(new_cluster(version="2.19.3"), v2_19_3=fault)
    reconcile_for_ticks(cluster, ticks=5)
    reconcile_until_converged(edit_spec(cluster, version=OLD))
    assert set(node_versions(cluster).values()) == {OLD}


def test_upgrade_starts_although_a_pod_has_failed() -> None:
    cluster = reconcile_for_ticks(set_pod_faults(deployed_cluster(), logs_data_1=PodFault.CRASH), ticks=5)
    reconcile_for_ticks(edit_spec(cluster, version=NEW), ticks=5)
    assert "upgrade" in status(cluster)["ledger"]


def crashed_on_its_own_disk() -> FakeCluster:
    """Return a cluster with a node that crashed on the newer version: it wrote its disk and never joined."""
    cluster = failed_upgrade(deployed_cluster(), NEW, PodFault.CRASH)
    engine = cluster.state.engine
    disks = {**dict(engine.disks), "logs-data-0": NEW}
    cluster.state = replace(cluster.state, engine=replace(engine, disks=tuple(sorted(disks.items()))))
    return edit_spec(cluster, version=OLD)


def test_node_that_cannot_start_on_its_disk_gets_an_empty_volume_after_the_deadline() -> None:
    cluster = crashed_on_its_own_disk()
    before = claim_uids(cluster)
    reconcile_until_converged(cluster)
    after = claim_uids(cluster)
    assert set(node_versions(cluster).values()) == {OLD}
    assert [name for name in before if before[name] != after[name]] == ["data-logs-data-0"]


def test_volume_is_not_deleted_before_the_deadline() -> None:
    cluster = crashed_on_its_own_disk()
    before, started = claim_uids(cluster), None
    for current in reconcile_steps(cluster):
        if started is None and "upgrade/return" in status(current)["ledger"]:
            started = current.state.now
        if claim_uids(current) != before:
            break
    assert started is not None
    assert cluster.state.now - started >= 60


def test_node_that_first_runs_the_newer_version_during_a_rollback_gets_an_empty_volume() -> None:
    """L4: it was unschedulable when the rollback started. Then it starts, writes its disk and is evicted."""
    cluster = failed_upgrade(deployed_cluster(*THREE), NEW, PodFault.PENDING)
    reconcile_for_ticks(edit_spec(cluster, version=OLD, upgrade={"paused": True}), ticks=3)
    reconcile_for_ticks(set_pod_faults(cluster), ticks=5)
    assert node_versions(cluster)["data-0"] == NEW
    before = claim_uids(cluster)
    cluster.state = kill_pod(cluster.state, Key("v1", "Pod", "search", "logs-data-0"))
    reconcile_until_converged(edit_spec(cluster, upgrade={"paused": False}))
    after = claim_uids(cluster)
    assert set(node_versions(cluster).values()) == {OLD}
    assert [name for name in before if before[name] != after[name]] == ["data-logs-data-0"]


def test_volume_is_not_deleted_while_the_engine_is_red() -> None:
    cluster = edit_spec(failed_upgrade(deployed_cluster(), NEW, PodFault.CRASH), version=OLD)
    reconcile_until(cluster, lambda w: "upgrade/return" in status(w)["ledger"])
    engine = cluster.state.engine
    disks = {**dict(engine.disks), "logs-data-0": NEW}
    missing = [
        replace(copy, state=ShardState.UNASSIGNED, node=None, left_on="logs-data-0") for copy in engine.copies
    ]
    cluster.state = replace(
        cluster.state, engine=replace(engine, disks=tuple(sorted(disks.items())), copies=tuple(missing))
    )
    before = claim_uids(cluster)
    reconcile_for_ticks(cluster, ticks=40)
    assert claim_uids(cluster) == before


def test_nodes_without_data_and_votes_are_rolled_back_without_waiting() -> None:
    """The StatefulSet controller replaces them, on volumes that the older version cannot read."""
    cluster = new_cluster(*SMALL, pool("routers", 2, "coordinating"), upgrade={"healthDeadlineSeconds": 3600})
    reconcile_until_converged(cluster)
    edit_spec(cluster, version=NEW)
    reconcile_until(cluster, lambda w: node_versions(w).get("routers-0") == NEW)
    reconcile_until_converged(edit_spec(cluster, version=OLD))
    assert set(node_versions(cluster).values()) == {OLD}
    assert not status(cluster)["ledger"]


def batch(cluster: FakeCluster) -> list[str]:
    """Return the pods of the batch."""
    return [name for name, _ in json.loads(status(cluster)["ledger"].get("roll/away", "[]"))]


def test_batches_double_up_to_the_limit() -> None:
    cluster = edit_spec(deployed_cluster(pool("data", 8, "data"), SMALL[1], maxBatch=4), version=NEW)
    sizes: list[int] = []

    def is_finished(now: FakeCluster) -> bool:
        sizes.append(len(batch(now)))
        return node_versions(now).get("data-7") == NEW

    reconcile_until(cluster, is_finished)
    growth = [size for size, before in pairwise([*sizes, 0]) if before < size]
    assert growth == [1, 2, 4, 1]


def test_failed_batch_halves_the_next_one() -> None:
    cluster = edit_spec(deployed_cluster(pool("data", 8, "data"), SMALL[1], maxBatch=4), version=NEW)
    reconcile_until(cluster, lambda w: len(batch(w)) == 4)
    fault = {batch(cluster)[0].replace("-", "_"): PodFault.NEVER_READY}
    reconcile_for_ticks(set_pod_faults(cluster, **fault), ticks=12)
    assert status(cluster)["ledger"]["roll/size"] == '["data",2]', unmet_conditions(cluster)
    reconcile_until_converged(set_pod_faults(cluster))
    assert set(node_versions(cluster).values()) == {NEW}
    assert not status(cluster)["ledger"]


@pytest.mark.exhaustive
def test_failed_batch_of_a_statefulset_rollout_halves_the_next_one() -> None:
    """I12: the StatefulSet controller replaces its pods."""
    cluster = edit_spec(
        deployed_cluster(*SMALL, pool("routers", 11, "coordinating"), maxBatch=4), version=NEW
    )
    reconcile_until(cluster, lambda w: status(w)["ledger"].get("roll/size") == '["routers",4]')
    reconcile_for_ticks(set_pod_faults(cluster, logs_routers_5=PodFault.NEVER_READY), ticks=20)
    assert status(cluster)["ledger"]["roll/size"] == '["routers",2]', unmet_conditions(cluster)
    reconcile_until_converged(set_pod_faults(cluster))
    assert set(node_versions(cluster).values()) == {NEW}
    assert not status(cluster)["ledger"]
