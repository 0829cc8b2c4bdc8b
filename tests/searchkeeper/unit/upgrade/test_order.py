"""Order: which pool is next, and which of its pods."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.opensearch.view import EngineView
from searchkeeper.snapshot import PoolView
from searchkeeper.upgrade.order import candidates, pools_in_order
from tests.support.searchkeeper.snapshots import NEW, OLD, engine, pod, pool

MANAGERS = pool("managers", 3, roles="cluster_manager")
ROUTERS = pool("routers", 2, roles="coordinating")
DATA = pool("data", 2)
BOTH = pool("both", 3, roles="data cluster_manager")
FOUR = [MANAGERS, ROUTERS, BOTH, DATA]


@pytest.mark.parametrize(
    ("leaves_major", "expected"),
    [
        (False, ["data", "both", "routers", "managers"]),
        (True, ["data", "routers", "both", "managers"]),
    ],
    ids=["within a major", "to the next major"],
)
def test_data_pools_are_first_and_managers_last(leaves_major: bool, expected: list[str]) -> None:
    ordered = pools_in_order(FOUR, engine(FOUR), leaves_major=leaves_major)
    assert [pool_view.spec.name for pool_view in ordered] == expected


def test_pools_of_one_kind_keep_the_order_of_the_spec() -> None:
    hot, cold = pool("hot", 1), pool("cold", 1)
    assert pools_in_order([hot, cold], engine([hot, cold]), leaves_major=False) == (hot, cold)


@pytest.mark.parametrize(("lost", "kept"), [("data", "cluster_manager"), ("cluster_manager", "data")])
def test_pool_that_loses_a_role_follows_the_pool_that_gains_it(lost: str, kept: str) -> None:
    before, gaining = pool("losing", 3, roles=lost), pool("gaining", 3, roles="data cluster_manager")
    losing = replace(before, spec=replace(before.spec, roles=frozenset({kept})))
    view = engine([before, pool("gaining", 3, roles=kept)])
    assert pools_in_order([losing, gaining], view, leaves_major=False) == (gaining, losing)


def with_elected(name: str, *pools: PoolView) -> EngineView:
    nodes = (replace(node, is_elected=node.name == name) for node in engine(pools).nodes)
    return engine(pools, nodes=tuple(nodes))


def test_pool_of_the_elected_manager_is_last_of_its_kind() -> None:
    zones = [pool(f"zone{n}", 1, roles="cluster_manager") for n in range(3)]
    ordered = pools_in_order([*zones, DATA], with_elected("zone0-0", *zones, DATA), leaves_major=False)
    assert [pool_view.spec.name for pool_view in ordered] == ["data", "zone1", "zone2", "zone0"]


def test_roles_count_more_than_the_elected_manager() -> None:
    ordered = pools_in_order(FOUR, with_elected("both-0", *FOUR), leaves_major=False)
    assert [pool_view.spec.name for pool_view in ordered] == ["data", "both", "routers", "managers"]


def test_pools_are_rolled_back_in_reverse_order() -> None:
    for name in ("managers-0", "both-0"):
        ordered = pools_in_order(FOUR, with_elected(name, *FOUR), leaves_major=True, rollback_to=OLD)
        assert [pool_view.spec.name for pool_view in ordered] == ["managers", "both", "routers", "data"]


def test_elected_manager_of_the_newer_version_is_last_in_a_rollback() -> None:
    view = with_elected("managers-0", *FOUR)
    newer = tuple(replace(node, version=NEW) if node.is_elected else node for node in view.nodes)
    ordered = pools_in_order(FOUR, replace(view, nodes=newer), leaves_major=True, rollback_to=OLD)
    assert [pool_view.spec.name for pool_view in ordered] == ["both", "routers", "data", "managers"]


def created_with(before: PoolView, *roles: str) -> PoolView:
    """Return the pool with pods that were created with these roles."""
    return replace(before, pods=tuple(replace(each, roles=frozenset(roles)) for each in before.pods))


def test_nodes_that_become_managers_precede_managers() -> None:
    """I3: until they are replaced, they have the old major version and are no managers."""
    becoming = created_with(pool("becoming", 2, roles="cluster_manager"), "ingest")
    pools = [created_with(MANAGERS, "cluster_manager"), becoming]
    assert pools_in_order(pools, engine(pools), leaves_major=True) == (becoming, pools[0])


def test_managers_that_lose_the_role_are_last() -> None:
    former = created_with(pool("ending", 2, roles="ingest"), "cluster_manager")
    pools = [former, created_with(ROUTERS)]
    assert pools_in_order(pools, engine(pools), leaves_major=True) == (pools[1], former)


def test_only_outdated_pods_are_candidates() -> None:
    mixed = pool("data", 2, pods=[pod("data-0", template="new", engine_version=NEW), pod("data-1")])
    assert [each.name for each in candidates(mixed, engine([mixed]))] == ["data-1"]


def test_pod_that_is_not_ready_is_first() -> None:
    mixed = pool("data", 3, pods=[pod("data-0"), pod("data-1", is_ready=False), pod("data-2")])
    assert candidates(mixed, engine([mixed]))[0].name == "data-1"


def mixed_versions() -> PoolView:
    """Return a pool in a rollback, after a change of the template: all pods are outdated, two are newer."""
    newer = [pod("data-0", engine_version=NEW), pod("data-1", engine_version=NEW)]
    managers = pool("data", 4, pods=[*newer, pod("data-2"), pod("data-3", is_ready=False)])
    assert managers.stateful_set is not None
    return replace(managers, stateful_set=replace(managers.stateful_set, engine_version=OLD))


def test_unstable_pod_is_first_unless_it_is_the_elected_manager() -> None:
    view = engine([MANAGERS])
    nodes = tuple(replace(node, is_elected=node.name == "managers-2") for node in view.nodes)
    ordered = candidates(MANAGERS, replace(view, nodes=nodes), unstable={"managers-1", "managers-2"})
    assert [each.name for each in ordered] == ["managers-1", "managers-0", "managers-2"]


def test_pods_of_the_older_version_are_last_in_a_rollback() -> None:
    """L4: except one that is not ready."""
    managers = mixed_versions()
    names = [each.name for each in candidates(managers, engine([managers]), backwards=True)]
    assert names == ["data-3", "data-1", "data-0", "data-2"]


def test_versions_do_not_change_the_order_in_an_upgrade() -> None:
    managers = mixed_versions()
    names = [each.name for each in candidates(managers, engine([managers]))]
    assert names == ["data-3", "data-0", "data-1", "data-2"]


def test_elected_manager_is_last() -> None:
    view = engine([MANAGERS])
    elected = tuple(
        type(node)(node.name, node.version, node.roles, node.name == "managers-0") for node in view.nodes
    )
    names = [each.name for each in candidates(MANAGERS, engine([MANAGERS], nodes=elected))]
    assert names == ["managers-1", "managers-2", "managers-0"]


def test_elected_manager_is_last_even_if_it_is_not_ready() -> None:
    """Otherwise its successor may be outdated too, and there is one more election."""
    leader = pod("managers-0", is_ready=False)
    managers = pool("managers", 3, roles="cluster_manager", pods=[leader, *MANAGERS.pods[1:]])
    names = [each.name for each in candidates(managers, with_elected("managers-0", MANAGERS))]
    assert names == ["managers-1", "managers-2", "managers-0"]
