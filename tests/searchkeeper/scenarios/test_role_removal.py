"""Runs in which a pool loses a role: its shards and votes move first, or the role stays."""

from __future__ import annotations

from typing import Any

import pytest

from searchkeeper.opensearch.view import Color, EngineView
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import (
    add_index,
    condition,
    edit_spec,
    pool,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until_converged,
)
from tests.support.searchkeeper.operator_scenarios import pods, running_cluster

MANAGERS = pool("managers", 3, "cluster_manager")


def roles(cluster: FakeCluster) -> dict[str, frozenset[str]]:
    return {node.name.removeprefix("logs-"): node.roles for node in cluster.state.engine.nodes}


def uids(cluster: FakeCluster) -> dict[str, str]:
    return {name: pod["metadata"]["uid"] for name, pod in pods(cluster).items()}


def change_roles(cluster: FakeCluster, *pools: dict[str, Any]) -> None:
    """Change the roles. The engine always has a manager and every primary."""
    for state in reconcile_steps(edit_spec(cluster, pools=list(pools))):
        view = state.get_state()
        assert isinstance(view, EngineView)
        assert view.color is not Color.RED
    for spec in pools:
        for number in range(spec["replicas"]):
            assert roles(cluster)[f"{spec['name']}-{number}"] == set(spec["roles"])


def test_only_data_pool_keeps_the_role_and_its_pods() -> None:
    cluster = add_index(running_cluster(pool("mixed", 3, "cluster_manager", "data")), "more", replicas=2)
    before = uids(cluster)
    reconcile_for_ticks(edit_spec(cluster, pools=[pool("mixed", 3, "cluster_manager")]), ticks=30)
    assert uids(cluster) == before
    assert "no other node keeps it" in condition(cluster, "PodsCurrent")
    reconcile_until_converged(edit_spec(cluster, pools=[pool("mixed", 3, "cluster_manager", "data")]))


@pytest.mark.parametrize("other", ["ingest", "cluster_manager"])
def test_pool_that_loses_the_data_role_is_drained(other: str) -> None:
    """Also one whose new roles would allow a StatefulSet rollout: its nodes still hold data."""
    stays = pool("stays", 2, "data")
    cluster = running_cluster(pool("data", 2, "data"), stays, MANAGERS)
    add_index(add_index(cluster, "alone", replicas=0), "lonely", replicas=0)
    change_roles(cluster, pool("data", 2, other), stays, MANAGERS)
    assert not cluster.state.engine.excluded


def test_data_role_can_move_between_pools_in_one_edit() -> None:
    cluster = running_cluster(pool("data", 2, "data"), pool("more", 2, "ingest"), MANAGERS)
    change_roles(cluster, pool("data", 2, "ingest"), pool("more", 2, "data"), MANAGERS)


@pytest.mark.exhaustive
def test_votes_can_move_between_pools_in_one_edit() -> None:
    """I1: the vote of a node moves before the node restarts without the role."""
    cluster = running_cluster(pool("data", 3, "data"), MANAGERS)
    change_roles(cluster, pool("data", 3, "data", "cluster_manager"), pool("managers", 3, "data"))
    assert cluster.state.engine.voters == {f"logs-data-{n}" for n in range(3)}
    assert not cluster.state.engine.voting_exclusions


@pytest.mark.parametrize("managers", [1, 3])
def test_votes_move_to_managers_that_the_same_edit_adds(managers: int) -> None:
    cluster = running_cluster(pool("data", 3, "data", "cluster_manager"))
    change_roles(cluster, pool("data", 3, "data"), pool("managers", managers, "cluster_manager"))
    assert cluster.state.engine.voters == {f"logs-managers-{n}" for n in range(managers)}


def test_pools_that_would_swap_their_only_roles_keep_them() -> None:
    cluster = running_cluster(pool("data", 2, "data"), MANAGERS)
    before = uids(cluster)
    reconcile_for_ticks(
        edit_spec(cluster, pools=[pool("data", 2, "cluster_manager"), pool("managers", 3, "data")]), ticks=30
    )
    assert uids(cluster) == before
    assert condition(cluster, "PodsCurrent").startswith("False ")
