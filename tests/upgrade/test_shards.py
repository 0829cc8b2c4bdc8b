"""Which shard copies a node holds alone, and which nodes can take them."""

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
from worlds import NEW, OLD, engine, pod, pool, world

DATA = pool("data", 3)
MANAGERS = pool("managers", 3, roles="cluster_manager")
LEAVES = frozenset({"data-0"})


def view_of(*shards: str, **differences: object) -> EngineView:
    return engine([DATA, MANAGERS], shards, **differences)


def with_initializing_copy(view: EngineView, node: str) -> EngineView:
    """Return the view with an initializing copy of the first shard on a node."""
    index, shard = view.shards[0].id
    return replace(view, shards=(*view.shards, ShardCopy(index, shard, False, ShardState.INITIALIZING, node)))


def test_initializing_copy_elsewhere_does_not_count() -> None:
    view = with_initializing_copy(view_of("logs: data-0*"), "data-1")
    assert [copy.id for copy in last_copies_on(world(DATA, MANAGERS), view, "data-0")] == [("logs", 0)]


def test_initializing_copy_on_the_node_is_no_last_copy() -> None:
    view = with_initializing_copy(view_of("logs: ?*"), "data-0")
    assert last_copies_on(world(DATA, MANAGERS), view, "data-0") == ()


def test_relocating_copy_counts_on_its_source() -> None:
    assert last_copies_on(world(DATA, MANAGERS), view_of("logs: data-1>data-0*"), "data-0") == ()
    assert last_copies_on(world(DATA, MANAGERS), view_of("logs: data-0>data-1*"), "data-0") != ()


def test_node_without_shard_and_vote_holds_nothing() -> None:
    view = view_of("logs: data-0* data-1>data-2")
    assert (
        hold_nothing(view, ["data-0"])
        is hold_nothing(view, ["data-1"])
        is hold_nothing(view, ["data-2"])
        is False
    )
    assert not hold_nothing(view, ["managers-0"])
    assert hold_nothing(view_of(), ["data-0"])


def test_unknown_nodes_hold_something_and_no_nodes_hold_nothing() -> None:
    assert not hold_nothing(Unreachable("timed out"), ["data-0"])
    assert hold_nothing(Unreachable("timed out"), [])


def test_vote_of_an_absent_voter_may_belong_to_any_absent_node() -> None:
    view = view_of()
    absent = replace(view, voters=view.voters | {f"{ABSENT}1"})
    assert not hold_nothing(absent, ["data-9"])
    assert hold_nothing(absent, ["data-0"])


def test_targets_are_data_nodes_that_are_neither_excluded_nor_terminating() -> None:
    members = (pod("data-0"), pod("data-1"), pod("data-2", is_terminating=True))
    snapshot = world(replace(DATA, pods=members), MANAGERS)
    assert allocation_targets(snapshot, view_of(), "data-0") == {"data-1"}
    assert allocation_targets(snapshot, view_of(excluded=frozenset({"data-1"})), "data-0") == frozenset()


def copy_on_source(view: EngineView) -> ShardCopy:
    return next(copy for copy in view.shards if copy.node == "data-0")


def with_newer_source(view: EngineView) -> EngineView:
    """Return the view with the newer version on the draining node only."""
    ages = (replace(node, version=NEW if node.name in LEAVES else OLD) for node in view.nodes)
    return replace(view, nodes=tuple(ages))


@pytest.mark.parametrize(
    ("view", "reason"),
    [
        (view_of("logs: data-0* data-1 data-2"), "data-1 already has a copy, data-2 already has a copy"),
        (
            view_of("logs: data-0* data-1", excluded=frozenset({"data-2"})),
            "data-2 is excluded from allocation",
        ),
        (
            with_newer_source(view_of("logs: data-0*")),
            "data-1 runs an older version, data-2 runs an older version",
        ),
        (engine([pool("data", 1), MANAGERS], ["logs: data-0*"]), "there is no other data node"),
    ],
    ids=["copies", "exclusions", "versions", "no other node"],
)
def test_unmovable_copy_is_named_with_the_causes(view: EngineView, reason: str) -> None:
    assert is_unmovable(view, copy_on_source(view), LEAVES)
    told = unmovable_shard(view, view.copies_on("data-0"), LEAVES)
    assert told is not None
    assert told.startswith("no node may take logs[0] from data-0: ")
    assert told.endswith(reason)


def test_movable_and_moving_copies_are_not_named() -> None:
    free, on_its_way = view_of("logs: data-0*"), view_of("logs: data-0>data-1* data-2")
    for view in (free, on_its_way):
        assert unmovable_shard(view, view.copies_on("data-0"), LEAVES) is None


def test_draining_nodes_take_no_shards_from_each_other() -> None:
    view = view_of("logs: data-0* data-2")
    assert is_unmovable(view, copy_on_source(view), frozenset({"data-0", "data-1"}))
    assert not is_unmovable(view, copy_on_source(view), frozenset({"data-2"}))
