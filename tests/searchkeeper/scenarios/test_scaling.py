"""Scaling: nodes are added at once, and drained before they are removed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.kubernetes.operations import Key, Patch
from searchkeeper.opensearch.calls import Exclude, SetAllocation
from searchkeeper.opensearch.view import Allocation
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_opensearch import create_index
from tests.support.searchkeeper.operator_runs import (
    add_index,
    condition,
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
    add_pod_fault,
    pods,
    running_cluster,
    stateful_set,
    unavailable_pods,
)
from tests.support.searchkeeper.scale_in_clusters import (
    MANAGERS,
    cluster_before_scale_in,
    copy_count,
    data,
    pod_names,
)


def test_scale_out_adds_nodes_at_once() -> None:
    cluster = edit_spec(running_cluster(), pools=data(4))
    reconcile_until_converged(cluster)
    assert pod_names(cluster, "data") == ["data-0", "data-1", "data-2", "data-3"]
    assert status(cluster)["ready"] == "7/7"


@pytest.mark.parametrize("replicas", [0, 1, 5])
def test_scaling_a_searchpool_has_no_effect(replicas: int) -> None:
    """The SearchCluster has the number. The operator restores it, and no node is added or removed."""
    cluster = running_cluster(*data(2))
    child = Key("search.everpath.dev/v1alpha1", "SearchPool", "search", "logs-data")
    cluster.patch(Patch(child, {"spec": {"replicas": replicas}}, ""))
    for each in reconcile_steps(cluster):
        assert (stateful_set(each, "data") or {})["spec"]["replicas"] == 2

    assert (cluster.get(child) or {})["spec"]["replicas"] == 2


def test_scale_out_restarts_no_node() -> None:
    cluster = running_cluster()
    before = {name: each["metadata"]["uid"] for name, each in pods(cluster).items()}
    reconcile_until_converged(edit_spec(cluster, pools=data(3)))
    after = {name: each["metadata"]["uid"] for name, each in pods(cluster).items()}
    assert before.items() <= after.items()


def test_pool_can_be_added() -> None:
    cluster = edit_spec(running_cluster(), pools=[*data(2), pool("routers", 2, "coordinating")])
    reconcile_until_converged(cluster)
    assert pod_names(cluster, "routers") == ["routers-0", "routers-1"]


def test_surplus_node_is_drained_before_removal() -> None:
    cluster = cluster_before_scale_in()
    assert copy_count(cluster, "data-2")
    for current in reconcile_steps(cluster):
        if "data-2" in unavailable_pods(current, {"data-2"}):
            assert not copy_count(current, "data-2")
    assert pod_names(cluster, "data") == ["data-0", "data-1"]
    assert status(cluster)["ready"] == "5/5"
    assert not status(cluster)["ledger"]


def test_volume_of_a_removed_node_is_kept() -> None:
    cluster = cluster_before_scale_in()
    reconcile_until_converged(cluster)
    assert Key("v1", "PersistentVolumeClaim", "search", "data-logs-data-2") in cluster.state.cluster.objects


def test_scale_in_keeps_every_shard_copy_assigned() -> None:
    for current in reconcile_steps(cluster_before_scale_in()):
        assert not any(copy.node is None for copy in current.state.engine.copies)


def test_exclusions_of_users_are_kept() -> None:
    cluster = cluster_before_scale_in()
    cluster.execute(Exclude(frozenset({"of-a-user"})))
    exclusions = {current.state.engine.excluded for current in reconcile_steps(cluster)}
    assert frozenset({"of-a-user", "logs-data-2"}) in exclusions
    assert cluster.state.engine.excluded == {"of-a-user"}


@pytest.mark.parametrize("text", ["logs-data-2", "*-2"])
def test_existing_exclusion_of_a_surplus_node_is_kept(text: str) -> None:
    """The operator adds no exclusion where a pattern of a user matches the node."""
    cluster = cluster_before_scale_in()
    cluster.execute(Exclude(frozenset({text})))
    for current in reconcile_steps(cluster):
        assert current.state.engine.excluded == {text}
    assert pod_names(cluster, "data") == ["data-0", "data-1"]


def test_impossible_drain_stalls_and_names_the_shard() -> None:
    """S09: the other node has a copy of every shard."""
    cluster = reconcile_for_ticks(edit_spec(running_cluster(), pools=data(1)), ticks=100)
    assert status(cluster)["phase"] == "Stalled"
    assert condition(cluster, "ScaleInComplete") == (
        "False ShardsCannotMove: stalled: no node may take books[0] from logs-data-1: "
        "logs-data-0 already has a copy"
    )
    assert pod_names(cluster, "data") == ["data-0", "data-1"]


def test_retained_node_is_not_excluded_any_more() -> None:
    cluster = edit_spec(running_cluster(), pools=data(1))
    reconcile_until(cluster, lambda cluster: bool(cluster.state.engine.excluded))
    reconcile_until_converged(edit_spec(cluster, pools=data(2)))
    assert not cluster.state.engine.excluded
    assert pod_names(cluster, "data") == ["data-0", "data-1"]


def test_no_scale_in_while_red() -> None:
    """The missing primary may be on a surplus node."""
    cluster = cluster_before_scale_in()
    lost = replace(create_index(cluster.state.engine, "lost", replicas=0), allocation=None)
    primary = replace(lost.copies[-1], has_data=True, left_on="nowhere")
    cluster.state = replace(cluster.state, engine=replace(lost, copies=(*lost.copies[:-1], primary)))
    reconcile_for_ticks(cluster, ticks=10)
    assert (
        condition(cluster, "ScaleInComplete") == "False EngineRed: the cluster is red: a primary is missing"
    )
    assert not cluster.state.engine.excluded


def test_no_scale_in_while_the_engine_is_unreachable() -> None:
    cluster = cluster_before_scale_in()
    reconcile_for_ticks(cluster, UnreachableEnginePorts(cluster), ticks=10)
    assert len(pod_names(cluster, "data")) == 3


def test_no_scale_in_while_yellow() -> None:
    """A scale-in has the gates of a rollout."""
    cluster = running_cluster(*data(2), pool("routers", 1, "coordinating"))
    cluster.execute(SetAllocation(Allocation.PRIMARIES))
    add_index(cluster, "films")
    reconcile_for_ticks(edit_spec(cluster, pools=[*data(2), pool("routers", 0, "coordinating")]), ticks=20)
    assert pod_names(cluster, "routers") == ["routers-0"]
    assert condition(cluster, "ScaleInComplete").startswith("False EngineYellow: the cluster is yellow")


def test_no_scale_in_while_paused() -> None:
    cluster = edit_spec(cluster_before_scale_in(), upgrade={"paused": True})
    reconcile_for_ticks(cluster, ticks=20)
    assert condition(cluster, "ScaleInComplete") == "False UpgradePaused: spec.upgrade.paused is set"
    assert len(pod_names(cluster, "data")) == 3
    assert not cluster.state.engine.excluded


@pytest.mark.parametrize("pools", [[MANAGERS], data(0)], ids=["the pool is removed", "it has no nodes"])
def test_last_data_nodes_are_not_drained(pools: list[dict[str, object]]) -> None:
    """S09: with all data nodes excluded no index could be created."""
    cluster = edit_spec(running_cluster(upgrade={"healthDeadlineSeconds": 60}), pools=pools)
    reconcile_for_ticks(cluster, ticks=30)
    assert not cluster.state.engine.excluded
    assert condition(cluster, "ScaleInComplete") == (
        "False LastDataNode: stalled: no data node would be left without logs-data-0, logs-data-1: "
        "keep one, or add a data pool"
    )
    assert status(cluster)["phase"] == "Stalled"
    reconcile_until_converged(edit_spec(cluster, pools=data(2)))


@pytest.mark.parametrize("text", ["logs-data-0", "logs-*-0"])
def test_no_drain_while_users_exclude_all_remaining_data_nodes(text: str) -> None:
    """S09: the shards of the surplus node have no target."""
    cluster = running_cluster(upgrade={"healthDeadlineSeconds": 60})
    cluster.execute(Exclude(frozenset({text})))
    reconcile_for_ticks(edit_spec(cluster, pools=data(1)), ticks=30)
    assert cluster.state.engine.excluded == {text}
    assert condition(cluster, "ScaleInComplete") == (
        "False LastDataNode: stalled: no node may take shards: logs-data-0 excluded by a user"
    )


def test_data_pool_is_removed_when_another_replaces_it() -> None:
    cluster = edit_spec(running_cluster(), pools=[pool("hot", 2, "data"), MANAGERS])
    reconcile_until_converged(cluster)
    assert sorted(pods(cluster)) == ["hot-0", "hot-1", "managers-0", "managers-1", "managers-2"]


def test_surplus_node_of_a_pool_that_loses_its_data_role_is_drained() -> None:
    """I7: the engine shows its shards, whatever roles the spec has."""
    hot = pool("hot", 2, "data")
    cluster = edit_spec(
        running_cluster(pool("data", 2, "data"), hot, MANAGERS),
        pools=[pool("data", 1, "ingest"), hot, MANAGERS],
    )
    reconcile_until_converged(cluster)
    assert sorted(pods(cluster)) == ["data-0", "hot-0", "hot-1", "managers-0", "managers-1", "managers-2"]
    assert not copy_count(cluster, "data-1")


def test_removed_pool_leaves_only_its_volumes() -> None:
    cluster = running_cluster(*data(2), pool("more", 2, "data"))
    add_index(add_index(cluster, "films"), "songs")
    reconcile_until_converged(edit_spec(cluster, pools=data(2)))
    left = {key.kind for key in cluster.state.cluster.objects if key.name.startswith("logs-more")}
    assert left <= {"ControllerRevision"}
    assert Key("v1", "PersistentVolumeClaim", "search", "data-logs-more-1") in cluster.state.cluster.objects
    assert status(cluster)["ready"] == "5/5"
    assert not status(cluster)["ledger"]


def test_broken_node_can_be_removed() -> None:
    """S18: other work does not wait for a surplus node."""
    cluster = add_pod_fault(running_cluster(*data(3)), "logs-data-2", PodFault.CRASH)
    reconcile_for_ticks(cluster, ticks=10)
    edit_spec(cluster, pools=[pool("data", 2, "data"), pool("leaders", 3, "cluster_manager"), MANAGERS])
    reconcile_until_converged(cluster)
    assert pod_names(cluster, "data") == ["data-0", "data-1"]
