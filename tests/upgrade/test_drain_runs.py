"""What a roll keeps shards away from, beside what users do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from operators_at_work import asked_for, condition, edited, pool, settled, status, with_index
from searchkeeper.kubernetes.operations import Key
from searchkeeper.opensearch.calls import Exclude
from searchkeeper.opensearch.view import Color
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.faults import kill_pod
from tales import at_work, running, unfolding, until, versions

NEW = "3.4.0"
MANAGERS = pool("managers", 3, "cluster_manager")


def brief() -> FakeCluster:
    """Data nodes whose data goes with them: each is emptied before it restarts."""
    storage: dict[str, Any] = {"storage": {"ephemeral": True}}
    return running({**pool("data", 4, "data"), **storage}, MANAGERS)


def test_ephemeral_nodes_are_drained_and_readmitted() -> None:
    world = edited(brief(), version=NEW)
    snapshot = {name for moment in unfolding(world) for name in moment.state.engine.excluded}
    assert snapshot == {f"logs-data-{n}" for n in range(4)}
    assert not world.state.engine.excluded


@pytest.mark.parametrize("name", ["logs-data-0", "logs-data-2", "logs-data-9", "*-data-2", "l*-[0-9]"])
def test_exclusions_of_users_are_kept_during_a_rollout(name: str) -> None:
    """I9: a roll undoes what it has set itself, and nothing else."""
    world = brief()
    world.execute(Exclude(frozenset({name})))
    for moment in unfolding(edited(world, version=NEW)):
        assert name in moment.state.engine.excluded
    assert world.state.engine.excluded == {name}
    assert set(versions(world).values()) == {NEW}
    assert not status(world)["ledger"]


def test_node_that_a_pattern_excludes_is_not_excluded_by_name() -> None:
    world = brief()
    world.execute(Exclude(frozenset({"*-data-2"})))
    snapshot = {
        name for moment in unfolding(edited(world, version=NEW)) for name in moment.state.engine.excluded
    }
    assert snapshot == {"*-data-2", "logs-data-0", "logs-data-1", "logs-data-3"}


def crowded(nodes: int, *replicas: int, ephemeral: bool = False) -> FakeCluster:
    """Data nodes with an index for each of these numbers of replicas, of which a newer version is wanted."""
    storage: dict[str, Any] = {"storage": {"ephemeral": ephemeral}}
    world = asked_for({**pool("data", nodes, "data"), **storage}, MANAGERS)
    settled(world, "0.4.0")
    for number, each in enumerate(replicas):
        with_index(world, f"index{number}", replicas=each)
    return edited(world, version=NEW)


@pytest.mark.parametrize(
    ("nodes", "replicas", "ephemeral"),
    [(2, (1, 0), False), (3, (2, 0), False), (2, (1,), True), (2, (1, 0), True)],
    ids=["two nodes", "three nodes", "ephemeral storage", "the same without a replica"],
)
def test_unmovable_copy_with_a_replica_is_not_waited_for(
    nodes: int, replicas: tuple[int, ...], ephemeral: bool
) -> None:
    """S09: the last copies leave, and with ephemeral storage whatever else can."""
    world = crowded(nodes, *replicas, ephemeral=ephemeral)
    for moment in unfolding(world):
        assert getattr(moment.get_state(), "color", None) is not Color.RED
    assert set(versions(world).values()) == {NEW}
    assert not world.state.engine.excluded


def drained(world: FakeCluster) -> bool:
    engine = world.state.engine
    there = {name for copy in engine.copies for name in (copy.node, copy.to)}
    return bool(engine.excluded) and not engine.excluded & there


def test_drain_is_kept_while_another_pod_is_not_ready() -> None:
    """S21: its shards would move back and forth."""
    world = until(drained, crowded(2, 0))
    [name] = world.state.engine.excluded
    world.state = kill_pod(world.state, Key("v1", "Pod", "search", "logs-managers-2"))
    at_work(world, ticks=1)
    assert world.state.engine.excluded == {name}
    settled(world, "0.4.0")
    assert not world.state.engine.excluded


def test_drain_is_undone_during_a_pause() -> None:
    world = edited(until(drained, crowded(2, 0)), upgrade={"paused": True})
    at_work(world)
    assert not world.state.engine.excluded
    settled(edited(world, upgrade={"paused": False}), "0.4.0")
    assert set(versions(world).values()) == {NEW}


@pytest.mark.parametrize("excluded", [("logs-data-0", "logs-data-1"), ("logs-data-*",), ("*-0", "*a-1")])
def test_unmovable_last_copy_is_reported_with_a_remedy(excluded: tuple[str, ...]) -> None:
    """S09: by name or by pattern."""
    world = crowded(2, 0)
    world.execute(Exclude(frozenset(excluded)))
    at_work(world)
    assert condition(world, "PodsCurrent") == (
        "False ShardsCannotMove: no node may take index0[0] from logs-data-0: "
        "logs-data-1 is excluded from allocation; "
        "set spec.upgrade.acceptSingleCopyLoss to restart logs-data-0 anyway"
    )
    edited(world, upgrade={"acceptSingleCopyLoss": True})
    until(lambda world: versions(world).get("data-0") == NEW, world)


def holder(world: FakeCluster) -> str:
    """The node that has the first copy of the last index."""
    found = world.state.engine.copies[-1].node
    assert found is not None
    return found


@pytest.mark.parametrize("ephemeral", [False, True])
def test_node_without_a_target_is_not_drained_if_the_loss_is_accepted(ephemeral: bool) -> None:
    """S09: not even where users have excluded the only other node, and where the disk goes with the pod."""
    world = crowded(2, 0, ephemeral=ephemeral)
    [other] = {"logs-data-0", "logs-data-1"} - {holder(world)}
    others = {other.replace("logs", "*")}
    world.execute(Exclude(frozenset(others)))
    edited(world, upgrade={"acceptSingleCopyLoss": True})
    until(lambda world: NEW in versions(world).values(), world)
    assert world.state.engine.excluded == others


def test_only_data_node_on_ephemeral_storage_is_replaced_if_the_loss_is_accepted() -> None:
    """What is lost makes the cluster red until its owner deletes it; then the others follow."""
    world = edited(crowded(1, 0, ephemeral=True), upgrade={"acceptSingleCopyLoss": True})
    at_work(world)
    assert versions(world)["data-0"] == NEW
    assert condition(world, "PodsCurrent") == "False EngineRed: the cluster is red: index0[0] has no primary"
    world.state = replace(world.state, engine=replace(world.state.engine, indices=(), copies=()))
    settled(world, "0.4.0")
    assert set(versions(world).values()) == {NEW}


def test_drain_is_undone_when_a_user_excludes_the_last_other_node() -> None:
    """I7: no index could be made any more."""
    world = until(lambda world: bool(world.state.engine.excluded), crowded(2, 0))
    ours = world.state.engine.excluded
    others = {"logs-data-0", "logs-data-1"} - ours
    world.execute(Exclude(ours | others))
    at_work(world)
    assert world.state.engine.excluded == others
    assert condition(world, "PodsCurrent").startswith("False ")


@pytest.mark.parametrize("ephemeral", [False, True])
def test_departing_node_takes_the_shards_of_the_last_remaining_node_during_its_replacement(
    ephemeral: bool,
) -> None:
    """S09: the roll would wait for shards to go to one that is excluded, and the leave for the roll."""
    data: dict[str, Any] = {**pool("data", 2, "data"), "storage": {"ephemeral": ephemeral}}
    world = asked_for(data, MANAGERS)
    settled(world, "0.4.0")
    with_index(with_index(world, "alone", replicas=0), "lonely", replicas=0)
    until(
        lambda world: bool(world.state.engine.excluded),
        edited(world, pools=[{**data, "replicas": 1}, MANAGERS]),
    )
    roles = {**data, "replicas": 1, "roles": ["data", "ingest"]}
    for moment in unfolding(edited(world, pools=[roles, MANAGERS])):
        assert getattr(moment.get_state(), "color", None) is not Color.RED
    assert not world.state.engine.excluded
    assert sorted(versions(world)) == ["data-0", "managers-0", "managers-1", "managers-2"]
