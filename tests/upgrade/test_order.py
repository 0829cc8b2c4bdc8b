"""The order of pools and of the pods of a pool."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.opensearch.view import EngineView
from searchkeeper.snapshot import PoolView
from searchkeeper.upgrade.order import candidates, pools_in_order
from worlds import NEW, OLD, engine, pod, pool

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
def test_data_pools_come_first_and_managers_last(leaves_major: bool, expected: list[str]) -> None:
    ordered = pools_in_order(FOUR, engine(FOUR), leaves_major=leaves_major)
    assert [each.spec.name for each in ordered] == expected


def test_pools_of_one_kind_keep_the_order_of_the_spec() -> None:
    hot, cold = pool("hot", 1), pool("cold", 1)
    assert pools_in_order([hot, cold], engine([hot, cold]), leaves_major=False) == (hot, cold)


@pytest.mark.parametrize(("lost", "kept"), [("data", "cluster_manager"), ("cluster_manager", "data")])
def test_pool_that_loses_a_role_comes_after_the_pools_that_keep_it(lost: str, kept: str) -> None:
    before, getting = pool("giving", 3, roles=lost), pool("getting", 3, roles="data cluster_manager")
    giving = replace(before, spec=replace(before.spec, roles=frozenset({kept})))
    view = engine([before, pool("getting", 3, roles=kept)])
    assert pools_in_order([giving, getting], view, leaves_major=False) == (getting, giving)


def led_by(name: str, *pools: PoolView) -> EngineView:
    nodes = (replace(node, is_elected=node.name == name) for node in engine(pools).nodes)
    return engine(pools, nodes=tuple(nodes))


def test_pool_of_the_elected_manager_comes_last_of_its_kind() -> None:
    zones = [pool(f"zone{n}", 1, roles="cluster_manager") for n in range(3)]
    ordered = pools_in_order([*zones, DATA], led_by("zone0-0", *zones, DATA), leaves_major=False)
    assert [each.spec.name for each in ordered] == ["data", "zone1", "zone2", "zone0"]


def test_kind_of_a_pool_counts_more_than_the_elected_manager() -> None:
    ordered = pools_in_order(FOUR, led_by("both-0", *FOUR), leaves_major=False)
    assert [each.spec.name for each in ordered] == ["data", "both", "routers", "managers"]


def test_rollback_reverses_the_order_of_pools() -> None:
    for name in ("managers-0", "both-0"):
        back = pools_in_order(FOUR, led_by(name, *FOUR), leaves_major=True, rollback_to=OLD)
        assert [each.spec.name for each in back] == ["managers", "both", "routers", "data"]


def test_rollback_ends_with_an_elected_manager_of_the_newer_version() -> None:
    led = led_by("managers-0", *FOUR)
    newer = tuple(replace(node, version=NEW) if node.is_elected else node for node in led.nodes)
    back = pools_in_order(FOUR, replace(led, nodes=newer), leaves_major=True, rollback_to=OLD)
    assert [each.spec.name for each in back] == ["both", "routers", "data", "managers"]


def with_pod_roles(before: PoolView, *roles: str) -> PoolView:
    """Return the pool with these roles in its pods."""
    return replace(before, pods=tuple(replace(each, roles=frozenset(roles)) for each in before.pods))


def test_nodes_that_become_managers_come_before_managers() -> None:
    """I3: until their restart they run the old major and are no managers."""
    becoming = with_pod_roles(pool("becoming", 2, roles="cluster_manager"), "ingest")
    pools = [with_pod_roles(MANAGERS, "cluster_manager"), becoming]
    assert pools_in_order(pools, engine(pools), leaves_major=True) == (becoming, pools[0])


def test_nodes_that_are_still_managers_come_last() -> None:
    ending = with_pod_roles(pool("ending", 2, roles="ingest"), "cluster_manager")
    pools = [ending, with_pod_roles(ROUTERS)]
    assert pools_in_order(pools, engine(pools), leaves_major=True) == (pools[1], ending)


def test_only_outdated_pods_are_candidates() -> None:
    mixed = pool("data", 2, pods=[pod("data-0", template="new", engine_version=NEW), pod("data-1")])
    assert [each.name for each in candidates(mixed, engine([mixed]))] == ["data-1"]


def test_pod_that_is_not_ready_comes_first() -> None:
    mixed = pool("data", 3, pods=[pod("data-0"), pod("data-1", is_ready=False), pod("data-2")])
    assert candidates(mixed, engine([mixed]))[0].name == "data-1"


def mixed_versions() -> PoolView:
    """A rollback after a template change: every pod is outdated, and two run the newer version."""
    newer = [pod("data-0", engine_version=NEW), pod("data-1", engine_version=NEW)]
    home = pool("data", 4, pods=[*newer, pod("data-2"), pod("data-3", is_ready=False)])
    assert home.stateful_set is not None
    return replace(home, stateful_set=replace(home.stateful_set, engine_version=OLD))


def test_rollback_ends_with_pods_of_the_older_version() -> None:
    """L4: a pod that is not ready still comes first."""
    home = mixed_versions()
    names = [each.name for each in candidates(home, engine([home]), backwards=True)]
    assert names == ["data-3", "data-1", "data-0", "data-2"]


def test_versions_do_not_count_in_an_upgrade() -> None:
    home = mixed_versions()
    names = [each.name for each in candidates(home, engine([home]))]
    assert names == ["data-3", "data-0", "data-1", "data-2"]


def test_elected_manager_comes_last() -> None:
    view = engine([MANAGERS])
    elected = tuple(
        type(node)(node.name, node.version, node.roles, node.name == "managers-0") for node in view.nodes
    )
    names = [each.name for each in candidates(MANAGERS, engine([MANAGERS], nodes=elected))]
    assert names == ["managers-1", "managers-2", "managers-0"]


def test_elected_manager_comes_last_even_if_it_is_not_ready() -> None:
    """Otherwise its successor may be outdated too, and there is one more election."""
    leader = pod("managers-0", is_ready=False)
    home = pool("managers", 3, roles="cluster_manager", pods=[leader, *MANAGERS.pods[1:]])
    names = [each.name for each in candidates(home, led_by("managers-0", MANAGERS))]
    assert names == ["managers-1", "managers-2", "managers-0"]
