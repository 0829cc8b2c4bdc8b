"""Shards: last copies, and nodes that can take a copy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.opensearch.view import ABSENT, EngineView, ShardCopy, ShardState, Unreachable
from searchkeeper.upgrade.shards import (
    allocation_targets,
    hold_nothing,
    is_unmovable,
    last_copies_on,
    unmovable_shard,
)
from tests.support.searchkeeper.snapshots import NEW, OLD, cluster_snapshot, engine, pod, pool

DATA = pool("data", 3)
MANAGERS = pool("managers", 3, roles="cluster_manager")
LEAVING = frozenset({"data-0"})


def view_with(*shards: str, **changes: object) -> EngineView:
    return engine([DATA, MANAGERS], shards, **changes)


def with_initializing_copy(view: EngineView, node: str) -> EngineView:
    """Return the view with an initializing copy of the first shard on a node."""
    index, shard = view.shards[0].id
    return replace(view, shards=(*view.shards, ShardCopy(index, shard, False, ShardState.INITIALIZING, node)))


def test_initializing_copy_is_no_other_copy() -> None:
    view = with_initializing_copy(view_with("logs: data-0*"), "data-1")
    assert [copy.id for copy in last_copies_on(cluster_snapshot(DATA, MANAGERS), view, "data-0")] == [
        ("logs", 0)
    ]


def test_initializing_copy_is_no_last_copy() -> None:
    view = with_initializing_copy(view_with("logs: ?*"), "data-0")
    assert last_copies_on(cluster_snapshot(DATA, MANAGERS), view, "data-0") == ()


def test_relocating_copy_is_on_its_source() -> None:
    assert last_copies_on(cluster_snapshot(DATA, MANAGERS), view_with("logs: data-1>data-0*"), "data-0") == ()
    assert last_copies_on(cluster_snapshot(DATA, MANAGERS), view_with("logs: data-0>data-1*"), "data-0") != ()


def test_nodes_without_shards_and_votes_hold_nothing() -> None:
    view = view_with("logs: data-0* data-1>data-2")
    assert (
        hold_nothing(view, ["data-0"])
        is hold_nothing(view, ["data-1"])
        is hold_nothing(view, ["data-2"])
        is False
    )
    assert not hold_nothing(view, ["managers-0"])
    assert hold_nothing(view_with(), ["data-0"])


def test_no_node_is_known_to_hold_nothing_while_the_engine_is_unreachable() -> None:
    assert not hold_nothing(Unreachable("timed out"), ["data-0"])
    assert hold_nothing(Unreachable("timed out"), [])


def test_vote_of_an_absent_voter_may_belong_to_any_missing_node() -> None:
    view = view_with()
    absent = replace(view, voters=view.voters | {f"{ABSENT}1"})
    assert not hold_nothing(absent, ["data-9"])
    assert hold_nothing(absent, ["data-0"])


def test_allocation_targets_are_data_nodes_that_are_neither_excluded_nor_terminating() -> None:
    members = (pod("data-0"), pod("data-1"), pod("data-2", is_terminating=True))
    snapshot = cluster_snapshot(replace(DATA, pods=members), MANAGERS)
    assert allocation_targets(snapshot, view_with(), "data-0") == {"data-1"}
    assert allocation_targets(snapshot, view_with(excluded=frozenset({"data-1"})), "data-0") == frozenset()


def copy_on_leaving_node(view: EngineView) -> ShardCopy:
    return next(copy for copy in view.shards if copy.node == "data-0")


def with_versions(view: EngineView) -> EngineView:
    """Return the view with the newer version on nodes that leave, and the older one on all others."""
    nodes = (replace(node, version=NEW if node.name in LEAVING else OLD) for node in view.nodes)
    return replace(view, nodes=tuple(nodes))


@pytest.mark.parametrize(
    ("view", "reason"),
    [
        (view_with("logs: data-0* data-1 data-2"), "data-1 already has a copy, data-2 already has a copy"),
        (
            view_with("logs: data-0* data-1", excluded=frozenset({"data-2"})),
            "data-2 is excluded from allocation",
        ),
        (
            with_versions(view_with("logs: data-0*")),
            "data-1 runs an older version, data-2 runs an older version",
        ),
        (engine([pool("data", 1), MANAGERS], ["logs: data-0*"]), "there is no other node with the same role"),
    ],
    ids=["copies", "exclusions", "versions", "no other node"],
)
def test_unmovable_copy_is_reported_with_the_reason(view: EngineView, reason: str) -> None:
    assert is_unmovable(view, copy_on_leaving_node(view), LEAVING)
    message = unmovable_shard(view, view.copies_on("data-0"), LEAVING)
    assert message is not None
    assert message.startswith("no node may take logs[0] from data-0: ")
    assert message.endswith(reason)


def test_copies_move_only_between_nodes_that_share_a_role_for_shards() -> None:
    """Search nodes hold shards that no data node takes, and the other way round."""
    searching = [pool("search", 2, roles="search"), pool("data", 1), MANAGERS]
    view = engine(searching, ["logs: data-0* search-0"])
    on_search = next(copy for copy in view.shards if copy.node == "search-0")
    assert not is_unmovable(view, on_search, frozenset({"search-0"}))
    assert is_unmovable(view, on_search, frozenset({"search-0", "search-1"}))
    assert is_unmovable(view, copy_on_leaving_node(view), frozenset({"data-0"}))


def test_copy_that_can_move_or_moves_is_not_reported() -> None:
    movable, moving = view_with("logs: data-0*"), view_with("logs: data-0>data-1* data-2")
    for view in (movable, moving):
        assert unmovable_shard(view, view.copies_on("data-0"), LEAVING) is None


def test_nodes_that_leave_together_are_no_targets_of_each_other() -> None:
    view = view_with("logs: data-0* data-2")
    assert is_unmovable(view, copy_on_leaving_node(view), frozenset({"data-0", "data-1"}))
    assert not is_unmovable(view, copy_on_leaving_node(view), frozenset({"data-2"}))
