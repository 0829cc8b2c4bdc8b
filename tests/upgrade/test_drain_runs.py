"""Runs with drains, also beside exclusions of users."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from operator_runs import (
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
from operator_scenarios import pod_versions, running_cluster
from searchkeeper.kubernetes.operations import Key
from searchkeeper.opensearch.calls import Exclude
from searchkeeper.opensearch.view import Color
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.faults import kill_pod

NEW = "3.4.0"
MANAGERS = pool("managers", 3, "cluster_manager")


def ephemeral_cluster() -> FakeCluster:
    """Return a cluster with data nodes on ephemeral storage. Each is drained before it restarts."""
    storage: dict[str, Any] = {"storage": {"ephemeral": True}}
    return running_cluster({**pool("data", 4, "data"), **storage}, MANAGERS)


def test_ephemeral_nodes_are_drained_and_readmitted() -> None:
    world = edit_spec(ephemeral_cluster(), version=NEW)
    excluded = {name for state in reconcile_steps(world) for name in state.state.engine.excluded}
    assert excluded == {f"logs-data-{n}" for n in range(4)}
    assert not world.state.engine.excluded


@pytest.mark.parametrize("name", ["logs-data-0", "logs-data-2", "logs-data-9", "*-data-2", "l*-[0-9]"])
def test_exclusions_of_users_are_kept_during_a_rollout(name: str) -> None:
    """I9: a rollout restores only its own settings."""
    world = ephemeral_cluster()
    world.execute(Exclude(frozenset({name})))
    for state in reconcile_steps(edit_spec(world, version=NEW)):
        assert name in state.state.engine.excluded
    assert world.state.engine.excluded == {name}
    assert set(pod_versions(world).values()) == {NEW}
    assert not status(world)["ledger"]


def test_node_that_a_pattern_excludes_is_not_excluded_by_name() -> None:
    world = ephemeral_cluster()
    world.execute(Exclude(frozenset({"*-data-2"})))
    excluded = {
        name
        for state in reconcile_steps(edit_spec(world, version=NEW))
        for name in state.state.engine.excluded
    }
    assert excluded == {"*-data-2", "logs-data-0", "logs-data-1", "logs-data-3"}


def upgrading_cluster(nodes: int, *replicas: int, ephemeral: bool = False) -> FakeCluster:
    """Return a cluster with one index for each of these replica counts, whose upgrade starts."""
    storage: dict[str, Any] = {"storage": {"ephemeral": ephemeral}}
    world = new_cluster({**pool("data", nodes, "data"), **storage}, MANAGERS)
    reconcile_until_converged(world, "0.5.0")
    for number, count in enumerate(replicas):
        add_index(world, f"index{number}", replicas=count)
    return edit_spec(world, version=NEW)


@pytest.mark.parametrize(
    ("nodes", "replicas", "ephemeral"),
    [(2, (1, 0), False), (3, (2, 0), False), (2, (1,), True), (2, (1, 0), True)],
    ids=["two nodes", "three nodes", "ephemeral storage", "the same without a replica"],
)
def test_unmovable_copy_with_a_replica_is_not_waited_for(
    nodes: int, replicas: tuple[int, ...], ephemeral: bool
) -> None:
    """S09: last copies move, and on ephemeral storage every other copy that can."""
    world = upgrading_cluster(nodes, *replicas, ephemeral=ephemeral)
    for state in reconcile_steps(world):
        assert getattr(state.get_state(), "color", None) is not Color.RED
    assert set(pod_versions(world).values()) == {NEW}
    assert not world.state.engine.excluded


def is_drained(world: FakeCluster) -> bool:
    engine = world.state.engine
    occupied = {name for copy in engine.copies for name in (copy.node, copy.to)}
    return bool(engine.excluded) and not engine.excluded & occupied


def test_drain_is_kept_while_another_pod_is_not_ready() -> None:
    """S21: otherwise its shards would move back and forth."""
    world = reconcile_until(upgrading_cluster(2, 0), is_drained)
    [name] = world.state.engine.excluded
    world.state = kill_pod(world.state, Key("v1", "Pod", "search", "logs-managers-2"))
    reconcile_for_ticks(world, ticks=1)
    assert world.state.engine.excluded == {name}
    reconcile_until_converged(world, "0.5.0")
    assert not world.state.engine.excluded


def test_drain_is_undone_during_a_pause() -> None:
    world = edit_spec(reconcile_until(upgrading_cluster(2, 0), is_drained), upgrade={"paused": True})
    reconcile_for_ticks(world, ticks=30)
    assert not world.state.engine.excluded
    reconcile_until_converged(edit_spec(world, upgrade={"paused": False}), "0.5.0")
    assert set(pod_versions(world).values()) == {NEW}


@pytest.mark.parametrize("excluded", [("logs-data-0", "logs-data-1"), ("logs-data-*",), ("*-0", "*a-1")])
def test_unmovable_last_copy_is_reported_with_a_remedy(excluded: tuple[str, ...]) -> None:
    """S09: nodes are excluded by name or by pattern."""
    world = upgrading_cluster(2, 0)
    world.execute(Exclude(frozenset(excluded)))
    reconcile_for_ticks(world, ticks=30)
    assert condition(world, "PodsCurrent") == (
        "False ShardsCannotMove: no node may take index0[0] from logs-data-0: "
        "logs-data-1 is excluded from allocation; "
        "set spec.upgrade.acceptSingleCopyLoss to restart logs-data-0 anyway"
    )
    edit_spec(world, upgrade={"acceptSingleCopyLoss": True})
    reconcile_until(world, lambda world: pod_versions(world).get("data-0") == NEW)


def node_of_last_copy(world: FakeCluster) -> str:
    """Return the node with the last copy."""
    node = world.state.engine.copies[-1].node
    assert node is not None
    return node


@pytest.mark.parametrize("ephemeral", [False, True])
def test_node_without_a_target_is_not_drained_if_the_loss_is_accepted(ephemeral: bool) -> None:
    """S09: the user has excluded the only other node. The disk may be lost with the pod."""
    world = upgrading_cluster(2, 0, ephemeral=ephemeral)
    [other] = {"logs-data-0", "logs-data-1"} - {node_of_last_copy(world)}
    others = {other.replace("logs", "*")}
    world.execute(Exclude(frozenset(others)))
    edit_spec(world, upgrade={"acceptSingleCopyLoss": True})
    reconcile_until(world, lambda world: NEW in pod_versions(world).values())
    assert world.state.engine.excluded == others


def test_only_data_node_on_ephemeral_storage_is_replaced_if_the_loss_is_accepted() -> None:
    """The lost index makes the cluster red until the user deletes it. Then the rollout continues."""
    world = edit_spec(upgrading_cluster(1, 0, ephemeral=True), upgrade={"acceptSingleCopyLoss": True})
    reconcile_for_ticks(world, ticks=30)
    assert pod_versions(world)["data-0"] == NEW
    assert condition(world, "PodsCurrent") == "False EngineRed: the cluster is red: index0[0] has no primary"
    world.state = replace(world.state, engine=replace(world.state.engine, indices=(), copies=()))
    reconcile_until_converged(world, "0.5.0")
    assert set(pod_versions(world).values()) == {NEW}


def test_drain_is_undone_when_a_user_excludes_the_last_other_node() -> None:
    """I7: otherwise no index could be created."""
    world = reconcile_until(upgrading_cluster(2, 0), lambda world: bool(world.state.engine.excluded))
    ours = world.state.engine.excluded
    others = {"logs-data-0", "logs-data-1"} - ours
    world.execute(Exclude(ours | others))
    reconcile_for_ticks(world, ticks=30)
    assert world.state.engine.excluded == others
    assert condition(world, "PodsCurrent").startswith("False ")


@pytest.mark.parametrize("ephemeral", [False, True])
def test_departing_node_takes_the_shards_of_the_last_remaining_node_during_its_replacement(
    ephemeral: bool,
) -> None:
    """S09: otherwise the rollout would wait for an excluded target, and the scale-in for the rollout."""
    data: dict[str, Any] = {**pool("data", 2, "data"), "storage": {"ephemeral": ephemeral}}
    world = new_cluster(data, MANAGERS)
    reconcile_until_converged(world, "0.5.0")
    add_index(add_index(world, "alone", replicas=0), "lonely", replicas=0)
    reconcile_until(
        edit_spec(world, pools=[{**data, "replicas": 1}, MANAGERS]),
        lambda world: bool(world.state.engine.excluded),
    )
    roles = {**data, "replicas": 1, "roles": ["data", "ingest"]}
    for state in reconcile_steps(edit_spec(world, pools=[roles, MANAGERS])):
        assert getattr(state.get_state(), "color", None) is not Color.RED
    assert not world.state.engine.excluded
    assert sorted(pod_versions(world)) == ["data-0", "managers-0", "managers-1", "managers-2"]
