"""Deletion: engine settings are restored and every object but the volume claims is removed."""

from __future__ import annotations

import pytest

from searchkeeper.kubernetes.operations import Patch
from searchkeeper.opensearch.calls import Exclude
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    WriteLimitReached,
    copy_cluster,
    edit_spec,
    pool,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import (
    UnreachableEnginePorts,
    delete_cluster,
    object_kinds,
    pods,
    running_cluster,
)

KEPT = {"PersistentVolumeClaim"}


def delete_and_reconcile(cluster: FakeCluster, version: str = NEWEST) -> FakeCluster:
    return reconcile_for_ticks(delete_cluster(cluster), version=version, ticks=12)


def states_after_each_write(start: FakeCluster, version: str) -> list[FakeCluster]:
    """Return the state after each write that this release makes."""
    states = []
    for cut in range(reconcile_until_converged(copy_cluster(start), version)):
        cluster = copy_cluster(start)
        with pytest.raises(WriteLimitReached):
            reconcile_until_converged(cluster, version, max_writes=cut)
        states.append(cluster)
    return states


@pytest.mark.parametrize("version", ["0.1.0", "0.2.2", "0.3.1", "0.4.0", "0.5.0"])
def test_deletion_keeps_only_volume_claims(version: str) -> None:
    cluster = running_cluster(version=version, dashboards={"enabled": True})
    volumes = {key for key in cluster.state.cluster.objects if key.kind == "PersistentVolumeClaim"}
    delete_and_reconcile(cluster, version)
    assert set(cluster.state.cluster.objects) == volumes


def test_cluster_with_another_finalizer_is_deleting_and_not_upgraded() -> None:
    cluster = edit_spec(running_cluster(), version="3.4.0")
    cluster.patch(
        Patch(CLUSTER, {"metadata": {"finalizers": ["search.everpath.dev/searchkeeper", "x/y"]}}, "")
    )
    before = pods(cluster)
    reconcile_for_ticks(delete_cluster(cluster), ticks=5)
    assert status(cluster)["phase"] == "Deleting"
    assert pods(cluster) == before
    resource = cluster.get(CLUSTER)
    assert resource is not None
    assert resource["metadata"]["finalizers"] == ["x/y"]


@pytest.mark.exhaustive
def test_deletion_during_an_upgrade_restores_engine_settings() -> None:
    start = edit_spec(running_cluster(upgrade={"maxBatch": 2}), version="3.4.0")
    for cluster in states_after_each_write(start, "0.5.0"):
        cluster.execute(Exclude(cluster.state.engine.excluded | {"a-users-own"}))
        ledger = status(cluster).get("ledger", {})
        engine = None
        delete_cluster(cluster)
        for _ in range(12):
            reconcile_for_ticks(cluster, ticks=1)
            engine = cluster.state.engine if CLUSTER in cluster.state.cluster.objects else engine
        assert object_kinds(cluster) <= KEPT, ledger
        last = engine or cluster.state.engine
        assert not last.voting_exclusions
        assert last.allocation is None
        assert last.excluded == {"a-users-own"}


@pytest.mark.exhaustive
def test_deletion_removes_orphaned_pods() -> None:
    """Orphaned pods have no owner, so the garbage collector does not delete them."""
    start = running_cluster(version="0.3.1")
    for cluster in states_after_each_write(start, "0.5.0"):
        delete_and_reconcile(cluster)
        assert object_kinds(cluster) <= {*KEPT, "ControllerRevision"}


def upgrading() -> FakeCluster:
    """Return a cluster in an upgrade that has changed the allocation setting."""
    cluster = edit_spec(running_cluster(), version="3.4.0")
    return reconcile_until(cluster, lambda cluster: cluster.state.engine.allocation is not None)


def test_deletion_waits_for_an_unreachable_engine() -> None:
    cluster = delete_cluster(upgrading())
    reconcile_for_ticks(cluster, UnreachableEnginePorts(cluster), ticks=20)
    assert cluster.get(CLUSTER) is not None
    reconcile_for_ticks(cluster, ticks=10)
    assert object_kinds(cluster) <= KEPT


def test_deletion_ends_although_the_engine_stays_unreachable() -> None:
    cluster = delete_cluster(upgrading())
    reconcile_for_ticks(cluster, UnreachableEnginePorts(cluster), ticks=100)
    assert object_kinds(cluster) <= KEPT
    [event] = [each for each in cluster.state.events if each.reason == "EngineSettingsNotRestored"]
    assert "not restored: engine/allocation (cannot restore engine settings: timed out)" in event.message


def test_deletion_during_scale_in_clears_exclusions() -> None:
    cluster = edit_spec(
        running_cluster(), pools=[pool("data", 1, "data"), pool("managers", 3, "cluster_manager")]
    )
    reconcile_until(cluster, lambda cluster: bool(cluster.state.engine.excluded))
    delete_cluster(cluster)
    for _ in reconcile_steps(cluster):
        if CLUSTER not in cluster.state.cluster.objects:
            break
    assert not cluster.state.engine.excluded
