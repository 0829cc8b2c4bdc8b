"""Roles that are taken from a pool: shards and votes are given away first, or the role stays."""

from __future__ import annotations

from typing import Any

import pytest

from operators_at_work import condition, edited, pool, settled, with_index
from searchkeeper.opensearch.view import Color, EngineView
from searchkeeper.testing.fake_cluster import FakeCluster
from tales import at_work, pods, running, unfolding

MANAGERS = pool("managers", 3, "cluster_manager")


def roles(world: FakeCluster) -> dict[str, frozenset[str]]:
    return {node.name.removeprefix("logs-"): node.roles for node in world.state.engine.nodes}


def uids(world: FakeCluster) -> dict[str, str]:
    return {name: each["metadata"]["uid"] for name, each in pods(world).items()}


def changed(world: FakeCluster, *pools: dict[str, Any]) -> None:
    """The roles change, and there is no moment without a manager or a primary."""
    for moment in unfolding(edited(world, pools=list(pools))):
        view = moment.get_state()
        assert isinstance(view, EngineView)
        assert view.color is not Color.RED
    for each in pools:
        for number in range(each["replicas"]):
            assert roles(world)[f"{each['name']}-{number}"] == set(each["roles"])


def test_only_data_pool_keeps_the_role_and_its_pods() -> None:
    world = with_index(running(pool("mixed", 3, "cluster_manager", "data")), "more", replicas=2)
    before = uids(world)
    at_work(edited(world, pools=[pool("mixed", 3, "cluster_manager")]))
    assert uids(world) == before
    assert "no other node keeps it" in condition(world, "PodsCurrent")
    settled(edited(world, pools=[pool("mixed", 3, "cluster_manager", "data")]), "0.4.0")


@pytest.mark.parametrize("other", ["ingest", "cluster_manager"])
def test_pool_that_loses_the_data_role_is_drained(other: str) -> None:
    """Also one that Kubernetes would replace afterwards: it goes by what is on its nodes."""
    stays = pool("stays", 2, "data")
    world = running(pool("data", 2, "data"), stays, MANAGERS)
    with_index(with_index(world, "alone", replicas=0), "lonely", replicas=0)
    changed(world, pool("data", 2, other), stays, MANAGERS)
    assert not world.state.engine.excluded


def test_data_role_can_move_between_pools_in_one_edit() -> None:
    world = running(pool("data", 2, "data"), pool("more", 2, "ingest"), MANAGERS)
    changed(world, pool("data", 2, "ingest"), pool("more", 2, "data"), MANAGERS)


def test_votes_can_move_between_pools_in_one_edit() -> None:
    """I1: who comes back without the role has left its vote to another one before."""
    world = running(pool("data", 3, "data"), MANAGERS)
    changed(world, pool("data", 3, "data", "cluster_manager"), pool("managers", 3, "data"))
    assert world.state.engine.voters == {f"logs-data-{n}" for n in range(3)}
    assert not world.state.engine.voting_exclusions


@pytest.mark.parametrize("heirs", [1, 3])
def test_votes_move_to_managers_that_the_same_edit_adds(heirs: int) -> None:
    world = running(pool("data", 3, "data", "cluster_manager"))
    changed(world, pool("data", 3, "data"), pool("managers", heirs, "cluster_manager"))
    assert world.state.engine.voters == {f"logs-managers-{n}" for n in range(heirs)}


def test_pools_that_would_swap_their_only_roles_keep_them() -> None:
    world = running(pool("data", 2, "data"), MANAGERS)
    before = uids(world)
    at_work(edited(world, pools=[pool("data", 2, "cluster_manager"), pool("managers", 3, "data")]))
    assert uids(world) == before
    assert condition(world, "PodsCurrent").startswith("False ")
