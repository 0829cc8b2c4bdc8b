"""Which pool is next, and which of its pods."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.opensearch.view import EngineView
from searchkeeper.snapshot import PoolView
from searchkeeper.upgrade.order import candidates, pools_in_order
from snapshots import NEW, OLD, engine, pod, pool

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
    assert [each.spec.name for each in ordered] == expected


def test_pools_of_one_kind_keep_the_order_of_the_spec() -> None:
    hot, cold = pool("hot", 1), pool("cold", 1)
    assert pools_in_order([hot, cold], engine([hot, cold]), leaves_major=False) == (hot, cold)


@pytest.mark.parametrize(("lost", "kept"), [("data", "cluster_manager"), ("cluster_manager", "data")])
def test_pool_that_loses_a_role_follows_the_pool_that_gains_it(lost: str, kept: str) -> None:
    before, getting = pool("giving", 3, roles=lost), pool("getting", 3, roles="data cluster_manager")
    giving = replace(before, spec=replace(before.spec, roles=frozenset({kept})))
    view = engine([before, pool("getting", 3, roles=kept)])
    assert pools_in_order([giving, getting], view, leaves_major=False) == (getting, giving)


def led_by(name: str, *pools: PoolView) -> EngineView:
    nodes = (replace(node, is_elected=node.name == name) for node in engine(pools).nodes)
    return engine(pools, nodes=tuple(nodes))


def test_pool_of_the_elected_manager_is_last_of_its_kind() -> None:
    zones = [pool(f"zone{n}", 1, roles="cluster_manager") for n in range(3)]
    ordered = pools_in_order([*zones, DATA], led_by("zone0-0", *zones, DATA), leaves_major=False)
    assert [each.spec.name for each in ordered] == ["data", "zone1", "zone2", "zone0"]


def test_roles_count_more_than_the_elected_manager() -> None:
    ordered = pools_in_order(FOUR, led_by("both-0", *FOUR), leaves_major=False)
    assert [each.spec.name for each in ordered] == ["data", "both", "routers", "managers"]


def test_pools_are_rolled_back_in_reverse_order() -> None:
    for name in ("managers-0", "both-0"):
        back = pools_in_order(FOUR, led_by(name, *FOUR), leaves_major=True, rollback_to=OLD)
        assert [each.spec.name for each in back] == ["managers", "both", "routers", "data"]


def test_elected_manager_of_the_newer_version_is_last_in_a_rollback() -> None:
    led = led_by("managers-0", *FOUR)
    newer = tuple(replace(node, version=NEW) if node.is_elected else node for node in led.nodes)
    back = pools_in_order(FOUR, replace(led, nodes=newer), leaves_major=True, rollback_to=OLD)
    assert [each.spec.name for each in back] == ["both", "routers", "data", "managers"]


def made_with(before: PoolView, *roles: str) -> PoolView:
    """A pool whose pods were made with the roles that it had."""
    return replace(before, pods=tuple(replace(each, roles=frozenset(roles)) for each in before.pods))


def test_nodes_that_become_managers_precede_managers() -> None:
    """I3: until they are, they are of the old major, and no managers."""
    becoming = made_with(pool("becoming", 2, roles="cluster_manager"), "ingest")
    pools = [made_with(MANAGERS, "cluster_manager"), becoming]
    assert pools_in_order(pools, engine(pools), leaves_major=True) == (becoming, pools[0])


def test_managers_that_lose_the_role_are_last() -> None:
    ending = made_with(pool("ending", 2, roles="ingest"), "cluster_manager")
    pools = [ending, made_with(ROUTERS)]
    assert pools_in_order(pools, engine(pools), leaves_major=True) == (pools[1], ending)


def test_only_outdated_pods_are_candidates() -> None:
    mixed = pool("data", 2, pods=[pod("data-0", template="new", engine_version=NEW), pod("data-1")])
    assert [each.name for each in candidates(mixed, engine([mixed]))] == ["data-1"]


def test_pod_that_is_not_ready_is_first() -> None:
    mixed = pool("data", 3, pods=[pod("data-0"), pod("data-1", is_ready=False), pod("data-2")])
    assert candidates(mixed, engine([mixed]))[0].name == "data-1"


def mixed_versions() -> PoolView:
    """On the way back, after somebody has changed the template: everybody is stale, and two are newer."""
    newer = [pod("data-0", engine_version=NEW), pod("data-1", engine_version=NEW)]
    home = pool("data", 4, pods=[*newer, pod("data-2"), pod("data-3", is_ready=False)])
    assert home.stateful_set is not None
    return replace(home, stateful_set=replace(home.stateful_set, engine_version=OLD))


def test_pods_of_the_older_version_are_last_in_a_rollback() -> None:
    """L4: but for one that is broken, which nobody would miss."""
    home = mixed_versions()
    names = [each.name for each in candidates(home, engine([home]), backwards=True)]
    assert names == ["data-3", "data-1", "data-0", "data-2"]


def test_versions_do_not_change_the_order_in_an_upgrade() -> None:
    home = mixed_versions()
    names = [each.name for each in candidates(home, engine([home]))]
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
    home = pool("managers", 3, roles="cluster_manager", pods=[leader, *MANAGERS.pods[1:]])
    names = [each.name for each in candidates(home, led_by("managers-0", MANAGERS))]
    assert names == ["managers-1", "managers-2", "managers-0"]
