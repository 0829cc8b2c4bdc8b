"""Runs with drains, also beside exclusions of users."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.kubernetes.operations import Key
from searchkeeper.opensearch.calls import Exclude
from searchkeeper.opensearch.view import Color
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.faults import kill_pod
from tests.support.searchkeeper.operator_runs import (
    add_index,
    condition,
    edit_spec,
    new_cluster,
    pool,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import pod_versions, running_cluster

NEW = "3.4.0"
MANAGERS = pool("managers", 3, "cluster_manager")


def ephemeral_cluster() -> FakeCluster:
    """Return a cluster with data nodes on ephemeral storage. Each is drained before it restarts."""
    storage: dict[str, Any] = {"storage": {"ephemeral": True}}
    return running_cluster({**pool("data", 4, "data"), **storage}, MANAGERS)


def test_ephemeral_nodes_are_drained_and_readmitted() -> None:
    cluster = edit_spec(ephemeral_cluster(), version=NEW)
    excluded = {name for state in reconcile_steps(cluster) for name in state.state.engine.excluded}
    assert excluded == {f"logs-data-{n}" for n in range(4)}
    assert not cluster.state.engine.excluded


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("name", ["logs-data-0", "logs-data-2", "logs-data-9", "*-data-2", "l*-[0-9]"])
def test_exclusions_of_users_are_kept_during_a_rollout(name: str) -> None:
    """I9: a rollout restores only its own settings."""
    cluster = ephemeral_cluster()
    cluster.execute(Exclude(frozenset({name})))
    for state in reconcile_steps(edit_spec(cluster, version=NEW)):
        assert name in state.state.engine.excluded
    assert cluster.state.engine.excluded == {name}
    assert set(pod_versions(cluster).values()) == {NEW}
    assert not status(cluster)["ledger"]


def test_node_that_a_pattern_excludes_is_not_excluded_by_name() -> None:
    cluster = ephemeral_cluster()
    cluster.execute(Exclude(frozenset({"*-data-2"})))
    excluded = {
        name
        for state in reconcile_steps(edit_spec(cluster, version=NEW))
        for name in state.state.engine.excluded
    }
    assert excluded == {"*-data-2", "logs-data-0", "logs-data-1", "logs-data-3"}


def upgrading_cluster(nodes: int, *replicas: int, ephemeral: bool = False) -> FakeCluster:
    """Return a cluster with one index for each of these replica counts, whose upgrade starts."""
    storage: dict[str, Any] = {"storage": {"ephemeral": ephemeral}}
    cluster = new_cluster({**pool("data", nodes, "data"), **storage}, MANAGERS)
    reconcile_until_converged(cluster)
    for number, count in enumerate(replicas):
        add_index(cluster, f"index{number}", replicas=count)
    return edit_spec(cluster, version=NEW)


@pytest.mark.parametrize(
    ("nodes", "replicas", "ephemeral"),
    [(2, (1, 0), False), (3, (2, 0), False), (2, (1,), True), (2, (1, 0), True)],
    ids=["two nodes", "three nodes", "ephemeral storage", "the same without a replica"],
)
def test_unmovable_copy_with_a_replica_is_not_waited_for(
    nodes: int, replicas: tuple[int, ...], ephemeral: bool
) -> None:
    """S09: last copies move, and on ephemeral storage every other copy that can."""
    cluster = upgrading_cluster(nodes, *replicas, ephemeral=ephemeral)
    for state in reconcile_steps(cluster):
        assert getattr(state.get_state(), "color", None) is not Color.RED
    assert set(pod_versions(cluster).values()) == {NEW}
    assert not cluster.state.engine.excluded


def is_drained(cluster: FakeCluster) -> bool:
    engine = cluster.state.engine
    occupied = {name for copy in engine.copies for name in (copy.node, copy.to)}
    return bool(engine.excluded) and not engine.excluded & occupied


def test_drain_is_kept_while_another_pod_is_not_ready() -> None:
    """S21: otherwise its shards would move back and forth."""
    cluster = reconcile_until(upgrading_cluster(2, 0), is_drained)
    [name] = cluster.state.engine.excluded
    cluster.state = kill_pod(cluster.state, Key("v1", "Pod", "search", "logs-managers-2"))
    reconcile_for_ticks(cluster, ticks=1)
    assert cluster.state.engine.excluded == {name}
    reconcile_until_converged(cluster)
    assert not cluster.state.engine.excluded


def test_drain_is_undone_during_a_pause() -> None:
    cluster = edit_spec(reconcile_until(upgrading_cluster(2, 0), is_drained), upgrade={"paused": True})
    reconcile_for_ticks(cluster, ticks=30)
    assert not cluster.state.engine.excluded
    reconcile_until_converged(edit_spec(cluster, upgrade={"paused": False}))
    assert set(pod_versions(cluster).values()) == {NEW}


@pytest.mark.parametrize("excluded", [("logs-data-0", "logs-data-1"), ("logs-data-*",), ("*-0", "*a-1")])
def test_unmovable_last_copy_is_reported_with_a_remedy(excluded: tuple[str, ...]) -> None:
    """S09: nodes are excluded by name or by pattern."""
    cluster = upgrading_cluster(2, 0)
    cluster.execute(Exclude(frozenset(excluded)))
    reconcile_for_ticks(cluster, ticks=30)
    assert condition(cluster, "PodsCurrent") == (
        "False ShardsCannotMove: no node may take index0[0] from logs-data-0: "
        "logs-data-1 is excluded from allocation; "
        "set spec.upgrade.acceptSingleCopyLoss to restart logs-data-0 anyway"
    )
    edit_spec(cluster, upgrade={"acceptSingleCopyLoss": True})
    reconcile_until(cluster, lambda cluster: pod_versions(cluster).get("data-0") == NEW)


def node_of_last_copy(cluster: FakeCluster) -> str:
    """Return the node with the last copy."""
    node = cluster.state.engine.copies[-1].node
    assert node is not None
    return node


@pytest.mark.parametrize("ephemeral", [False, True])
def test_node_without_a_target_is_not_drained_if_the_loss_is_accepted(ephemeral: bool) -> None:
    """S09: the user has excluded the only other node. The disk may be lost with the pod."""
    cluster = upgrading_cluster(2, 0, ephemeral=ephemeral)
    [other] = {"logs-data-0", "logs-data-1"} - {node_of_last_copy(cluster)}
    others = {other.replace("logs", "*")}
    cluster.execute(Exclude(frozenset(others)))
    edit_spec(cluster, upgrade={"acceptSingleCopyLoss": True})
    reconcile_until(cluster, lambda cluster: NEW in pod_versions(cluster).values())
    assert cluster.state.engine.excluded == others


def test_only_data_node_on_ephemeral_storage_is_replaced_if_the_loss_is_accepted() -> None:
    """The lost index makes the cluster red until the user deletes it. Then the rollout continues."""
    cluster = edit_spec(upgrading_cluster(1, 0, ephemeral=True), upgrade={"acceptSingleCopyLoss": True})
    reconcile_for_ticks(cluster, ticks=30)
    assert pod_versions(cluster)["data-0"] == NEW
    assert (
        condition(cluster, "PodsCurrent") == "False EngineRed: the cluster is red: index0[0] has no primary"
    )
    cluster.state = replace(cluster.state, engine=replace(cluster.state.engine, indices=(), copies=()))
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster).values()) == {NEW}


def test_drain_is_undone_when_a_user_excludes_the_last_other_node() -> None:
    """I7: otherwise no index could be created."""
    cluster = reconcile_until(upgrading_cluster(2, 0), lambda cluster: bool(cluster.state.engine.excluded))
    ours = cluster.state.engine.excluded
    others = {"logs-data-0", "logs-data-1"} - ours
    cluster.execute(Exclude(ours | others))
    reconcile_for_ticks(cluster, ticks=30)
    assert cluster.state.engine.excluded == others
    assert condition(cluster, "PodsCurrent").startswith("False ")


@pytest.mark.parametrize("ephemeral", [False, True])
def test_departing_node_takes_the_shards_of_the_last_remaining_node_during_its_replacement(
    ephemeral: bool,
) -> None:
    """S09: otherwise the rollout would wait for an excluded target, and the scale-in for the rollout."""
    data: dict[str, Any] = {**pool("data", 2, "data"), "storage": {"ephemeral": ephemeral}}
    cluster = new_cluster(data, MANAGERS)
    reconcile_until_converged(cluster)
    add_index(add_index(cluster, "alone", replicas=0), "lonely", replicas=0)
    reconcile_until(
        edit_spec(cluster, pools=[{**data, "replicas": 1}, MANAGERS]),
        lambda cluster: bool(cluster.state.engine.excluded),
    )
    roles = {**data, "replicas": 1, "roles": ["data", "ingest"]}
    for state in reconcile_steps(edit_spec(cluster, pools=[roles, MANAGERS])):
        assert getattr(state.get_state(), "color", None) is not Color.RED
    assert not cluster.state.engine.excluded
    assert sorted(pod_versions(cluster)) == ["data-0", "managers-0", "managers-1", "managers-2"]
