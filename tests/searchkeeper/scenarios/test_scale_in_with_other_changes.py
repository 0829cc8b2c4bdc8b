"""Scale-in together with user edits, upgrades and crashes."""

from __future__ import annotations

from contextlib import suppress

import pytest

from searchkeeper.kubernetes.api import ApiError
from searchkeeper.kubernetes.operations import Delete, Key, Patch
from searchkeeper.opensearch.view import Color
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    WriteLimitReached,
    add_index,
    annotate,
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
    RecordingPorts,
    color,
    object_kinds,
    pod_versions,
    pods,
    running_cluster,
    stateful_set,
    unavailable_pods,
)
from tests.support.searchkeeper.scale_in_clusters import cluster_before_scale_in, copy_count, data, pod_names


@pytest.mark.parametrize("together", [True, False], ids=["in one edit", "after the scale-in started"])
def test_destructive_operations_are_executed_one_at_a_time(together: bool) -> None:
    """One reconcile executes one destructive operation, whatever action requests it."""
    edge = pool("edge", 2, "ingest")
    cluster = running_cluster(*data(2), edge, dashboards={"enabled": True})
    edit_spec(cluster, pools=[*data(2), {**edge, "replicas": 1}])
    if not together:
        reconcile_until(cluster, lambda cluster: pool_replicas(cluster, "edge") == 1)
    edit_spec(cluster, dashboards={"enabled": False})
    ports, destructive = RecordingPorts(cluster), []
    for _ in reconcile_steps(cluster, ports=ports):
        destructive.append([str(each) for each in (*ports.deleted, *filter(is_scale_in, ports.patched))])
        ports.deleted.clear()
        ports.patched.clear()
    assert max(map(len, destructive)) == 1, destructive
    assert "Deployment" not in object_kinds(cluster)


def pool_replicas(cluster: FakeCluster, name: str) -> int:
    search_pool = cluster.get(Key(CLUSTER.api, "SearchPool", "search", f"logs-{name}"))
    assert search_pool is not None
    return int(search_pool["spec"]["replicas"])


def is_scale_in(patch: Patch) -> bool:
    return patch.key.name == "logs-edge" and patch.changes.get("spec", {}).get("replicas") == 1


def test_nodes_of_a_deleted_statefulset_are_restored_before_scale_in() -> None:
    # Guard: no shrinking while red.
    cluster = running_cluster(*data(2), pool("more", 1, "data"))
    for name in ("films", "songs", "plays"):
        add_index(cluster, name, replicas=0)
    assert copy_count(cluster, "more-0")
    cluster.delete(Delete(Key("apps/v1", "StatefulSet", "search", "logs-more"), "", ""))
    for _ in range(3):
        cluster.tick()
    reconcile_until_converged(edit_spec(cluster, pools=data(2)))
    assert color(cluster) is Color.GREEN
    assert not pod_names(cluster, "more")


def test_searchpool_reduced_by_a_user_loses_no_node() -> None:
    cluster = running_cluster()
    child = Key("search.everpath.dev/v1alpha1", "SearchPool", "search", "logs-data")
    cluster.patch(Patch(child, {"spec": {"replicas": 1}}, ""))
    for current in reconcile_steps(cluster):
        assert not unavailable_pods(current, {"data-0", "data-1"})


def test_statefulset_is_reduced_only_by_drained_nodes() -> None:
    """A user who reduces the SearchPool during the drain does not remove a node."""
    cluster = edit_spec(running_cluster(), pools=data(1))
    reconcile_for_ticks(cluster, ticks=5)
    child = Key("search.everpath.dev/v1alpha1", "SearchPool", "search", "logs-data")
    cluster.patch(Patch(child, {"spec": {"replicas": 1}}, ""))
    reconcile_for_ticks(cluster, ticks=20)
    assert not unavailable_pods(cluster, {"data-0", "data-1"})


def removing_cold_pool() -> FakeCluster:
    """Return a cluster whose spec removes the second of two data pools; both have shards."""
    cluster = running_cluster(*data(2), pool("cold", 2, "data"))
    add_index(add_index(cluster, "films"), "songs")
    assert copy_count(cluster, "cold-0") + copy_count(cluster, "cold-1")
    return edit_spec(cluster, pools=data(2))


def delete_cold_pool(cluster: FakeCluster, *kinds: str) -> FakeCluster:
    """Delete objects of the removed pool, but not its pods."""
    for kind in kinds:
        api = CLUSTER.api if kind == "SearchPool" else "apps/v1"
        with suppress(ApiError):
            cluster.delete(Delete(Key(api, kind, "search", "logs-cold"), "", "", orphan=True))
    return cluster


@pytest.mark.exhaustive
@pytest.mark.parametrize("kinds", [("SearchPool",), ("SearchPool", "StatefulSet")], ids=len)
def test_nodes_of_a_deleted_searchpool_are_drained(kinds: tuple[str, ...]) -> None:
    """I7: every copy stays assigned, and no object or exclusion of the pool is left."""
    for current in [
        copy_cluster(each) for each in reconcile_steps(removing_cold_pool()) if pod_names(each, "cold")
    ][::4]:
        for each in reconcile_steps(delete_cold_pool(current, *kinds)):
            assigned = {copy.id for copy in each.state.engine.copies if copy.node is not None}
            assert assigned == {copy.id for copy in each.state.engine.copies}
            assert {n for n in ("cold-0", "cold-1") if copy_count(each, n)} <= set(pod_names(each, "cold"))
        current.tick()
        assert not [key for key in current.state.cluster.objects if key.name.startswith("logs-cold")]
        assert not current.state.engine.excluded
        assert not status(current)["ledger"]


def test_upgrade_precedes_scale_in_of_the_same_edit() -> None:
    """S19: the upgrade keeps the deployed number of nodes."""
    cluster = running_cluster(*data(3))
    add_index(add_index(cluster, "films"), "songs")
    edit_spec(cluster, version="3.4.0", pools=data(2))
    for current in reconcile_steps(cluster):
        statefulset = stateful_set(current, "data")
        if set(pod_versions(current).values()) != {"3.4.0"}:
            assert statefulset is not None
            assert statefulset["spec"]["replicas"] == 3
            assert not current.state.engine.excluded
    assert pod_names(cluster, "data") == ["data-0", "data-1"]
    assert status(cluster)["engineVersion"] == "3.4.0"


def test_scale_in_waits_for_an_upgrade_that_is_about_to_start() -> None:
    """S19: the removal of an old rollback annotation precedes the upgrade."""
    cluster = annotate(running_cluster(*data(3)), rollback="2.19.4")
    for current in reconcile_steps(edit_spec(cluster, version="3.4.0", pools=data(2))):
        if set(pod_versions(current).values()) != {"3.4.0"}:
            assert not current.state.engine.excluded
    assert pod_names(cluster, "data") == ["data-0", "data-1"]


def test_upgrade_and_removal_of_a_pool_in_one_edit_both_complete() -> None:
    cluster = running_cluster(*data(2), pool("more", 2, "data"))
    edit_spec(cluster, version="3.4.0", pools=data(2))
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster).values()) == {"3.4.0"}
    assert not pod_names(cluster, "more")


def test_impossible_drain_does_not_stop_an_upgrade() -> None:
    """S19: the surplus node stays until the upgrade ends."""
    cluster = reconcile_for_ticks(edit_spec(running_cluster(), pools=data(1)), ticks=10)
    edit_spec(cluster, version="3.4.0")
    reconcile_for_ticks(cluster, ticks=60)
    assert status(cluster)["engineVersion"] == "3.4.0"
    assert pod_names(cluster, "data") == ["data-0", "data-1"]


@pytest.mark.exhaustive
def test_scale_in_completes_after_a_crash_at_any_write() -> None:
    start = edit_spec(
        cluster_before_scale_in(), pools=[pool("data", 2, "data"), pool("managers", 1, "cluster_manager")]
    )
    for cut in range(reconcile_until_converged(copy_cluster(start))):
        cluster = copy_cluster(start)
        with pytest.raises(WriteLimitReached):
            reconcile_until_converged(cluster, max_writes=cut)
        reconcile_until_converged(cluster)
        assert sorted(pods(cluster)) == ["data-0", "data-1", "managers-0"]
        assert not status(cluster)["ledger"]
        assert not cluster.state.engine.excluded
        assert not cluster.state.engine.voting_exclusions
