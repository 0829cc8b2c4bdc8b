"""Which pool is next, and which of its pods."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.upgrade.order import candidates, pools_in_order
from worlds import NEW, engine, pod, pool

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
def test_data_goes_first_and_managers_last(leaves_major: bool, expected: list[str]) -> None:
    ordered = pools_in_order(FOUR, engine(FOUR), leaves_major=leaves_major)
    assert [each.spec.name for each in ordered] == expected


def test_pools_of_one_kind_keep_the_order_their_owner_gave_them() -> None:
    hot, cold = pool("hot", 1), pool("cold", 1)
    assert pools_in_order([hot, cold], engine([hot, cold]), leaves_major=False) == (hot, cold)


@pytest.mark.parametrize(("lost", "kept"), [("data", "cluster_manager"), ("cluster_manager", "data")])
def test_whoever_gives_shards_or_votes_away_goes_after_who_may_get_them(lost: str, kept: str) -> None:
    before, getting = pool("giving", 3, roles=lost), pool("getting", 3, roles="data cluster_manager")
    giving = replace(before, spec=replace(before.spec, roles=frozenset({kept})))
    view = engine([before, pool("getting", 3, roles=kept)])
    assert pools_in_order([giving, getting], view, leaves_major=False) == (getting, giving)


def test_only_stale_pods_are_candidates() -> None:
    mixed = pool("data", 2, pods=[pod("data-0", template="new", engine_version=NEW), pod("data-1")])
    assert [each.name for each in candidates(mixed, engine([mixed]))] == ["data-1"]


def test_a_broken_pod_goes_first() -> None:
    mixed = pool("data", 3, pods=[pod("data-0"), pod("data-1", is_ready=False), pod("data-2")])
    assert candidates(mixed, engine([mixed]))[0].name == "data-1"


def test_the_elected_manager_goes_last_of_all() -> None:
    view = engine([MANAGERS])
    elected = tuple(
        type(node)(node.name, node.version, node.roles, node.name == "managers-0") for node in view.nodes
    )
    names = [each.name for each in candidates(MANAGERS, engine([MANAGERS], nodes=elected))]
    assert names == ["managers-1", "managers-2", "managers-0"]
