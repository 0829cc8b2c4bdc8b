"""The engine in memory keeps the rules that the real one is known for."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from searchkeeper.opensearch.calls import ClearVotingExclusions, Exclude, ExcludeFromVoting, SetAllocation
from searchkeeper.opensearch.client import CallFailed
from searchkeeper.opensearch.view import Allocation, Color, EngineView, ShardState, Unreachable
from searchkeeper.testing.fake_opensearch import (
    FakeEngine,
    Process,
    advance,
    create_index,
    execute,
    get_state,
    wipe_node,
)
from searchkeeper.testing.fake_opensearch.membership import join_refusal

OLD, NEW = "2.19.4", "3.4.0"


def process(name: str, version: str = OLD, *, keeps_data: bool = True) -> Process:
    """`m0` is a manager, `d0` holds data, `b0` does both, `c0` neither."""
    roles = {"m": {"cluster_manager"}, "d": {"data"}, "b": {"cluster_manager", "data"}, "c": {"coordinating"}}
    return Process(name, version, frozenset(roles[name[0]]), keeps_data)


def processes(names: str, version: str = OLD) -> list[Process]:
    return [process(name, version) for name in names.split()]


def after(engine: FakeEngine, running: Iterable[Process], ticks: int = 6) -> FakeEngine:
    for _ in range(ticks):
        engine = advance(engine, list(running))
    return engine


def started(names: str, *indices: tuple[str, int]) -> FakeEngine:
    engine = after(FakeEngine(), processes(names))
    for name, replicas in indices:
        engine = create_index(engine, name, replicas=replicas)
    return after(engine, processes(names))


def seen(engine: FakeEngine) -> EngineView:
    view = get_state(engine)
    assert isinstance(view, EngineView)
    return view


def places(engine: FakeEngine, index: str) -> set[str | None]:
    return {copy.node for copy in seen(engine).shards if copy.index == index}


def test_three_managers_elect_one_and_all_vote() -> None:
    view = seen(started("m0 m1 m2"))
    assert view.voters == {"m0", "m1", "m2"}
    assert view.elected is not None


def test_of_an_even_number_of_managers_one_has_no_vote() -> None:
    assert len(seen(started("m0 m1")).voters) == 1
    assert len(seen(started("m0 m1 m2 m3")).voters) == 3


def test_a_majority_is_enough_and_less_is_not() -> None:
    engine = started("m0 m1 m2")
    assert isinstance(get_state(after(engine, processes("m1 m2"))), EngineView)
    assert get_state(after(engine, processes("m2"))) == Unreachable("no cluster manager")


def test_a_voter_that_is_no_manager_any_more_cannot_vote() -> None:
    """It is there, by the same name, and two managers of three are not: nobody can be elected."""
    former = [Process(name, OLD, frozenset({"data"})) for name in ("m0", "m1")]
    engine = after(started("m0 m1 m2"), [former[0], *processes("m1 m2")])
    assert get_state(after(engine, [*former, *processes("m2")])) == Unreachable("no cluster manager")


def test_voters_that_all_went_away_find_each_other_again() -> None:
    engine = after(started("m0 m1 m2"), [])
    assert get_state(engine) == Unreachable("no node answers")
    assert isinstance(get_state(after(engine, processes("m0 m1"))), EngineView)


def test_the_only_manager_without_a_volume_forgets_the_cluster_for_ever() -> None:
    """It comes back as a node of the same name that nobody has ever voted for."""
    others, manager = processes("d0 d1"), process("m0", keeps_data=False)
    engine = after(after(FakeEngine(), [manager, *others]), others)
    assert get_state(after(engine, [manager, *others])) == Unreachable("no cluster manager")


def test_one_of_three_managers_without_volumes_gets_a_vote_again() -> None:
    """The two that are there know the cluster, and take the newcomer for what it is."""
    managers = [process(f"m{n}", keeps_data=False) for n in range(3)]
    engine = after(after(FakeEngine(), managers), managers[1:])
    assert "m0" not in seen(engine).voters
    assert seen(after(engine, managers)).voters == {"m0", "m1", "m2"}


def test_nodes_that_have_lost_their_managers_keep_none_of_them_out() -> None:
    """An elected manager decides who may join; those that all come back find each other without one."""
    data = processes("d0 d1", NEW)
    engine = after(started("m0 m1 m2 d0 d1"), [*processes("m0 m1 m2"), *data])
    engine = after(engine, data)
    assert get_state(engine) == Unreachable("no cluster manager")
    assert len(seen(after(engine, [*processes("m0 m1 m2"), *data])).nodes) == 5


def test_without_a_manager_nobody_takes_a_call() -> None:
    with pytest.raises(CallFailed):
        execute(after(started("m0 m1 m2"), processes("m2")), SetAllocation(None))


def test_the_vote_can_be_moved_away_from_the_only_voter() -> None:
    engine = started("m0 m1")
    [voter] = seen(engine).voters
    engine = after(execute(engine, ExcludeFromVoting(voter)), processes("m0 m1"))
    assert voter not in seen(engine).voters
    other = next(name for name in ("m0", "m1") if name != voter)
    assert isinstance(get_state(after(engine, processes(other))), EngineView)
    assert seen(execute(engine, ClearVotingExclusions())).voting_exclusions == frozenset()


def test_copies_of_a_shard_are_on_different_nodes() -> None:
    assert len(places(started("b0 b1 b2", ("logs", 2)), "logs")) == 3


def test_a_replica_with_nowhere_to_go_keeps_the_cluster_yellow() -> None:
    view = seen(started("b0", ("logs", 1)))
    assert view.color is Color.YELLOW
    [unassigned] = [copy for copy in view.shards if copy.state is ShardState.UNASSIGNED]
    assert unassigned.deciders == {"same_shard"}


def test_a_primary_whose_node_is_away_has_no_excuse() -> None:
    """Other nodes are refused nothing, having nothing to begin with: tests/e2e sees it of a real one."""
    engine = execute(started("m0 m1 m2 d0 d1", ("logs", 0)), Exclude(frozenset({"d1"})))
    engine = after(engine, processes("m0 m1 m2 d0 d1"))
    assert places(engine, "logs") == {"d0"}
    lost = seen(after(engine, processes("m0 m1 m2 d1")))
    assert lost.color is Color.RED
    assert [copy.deciders for copy in lost.shards] == [frozenset()]


def test_a_replica_takes_over_from_a_lost_primary() -> None:
    engine = started("b0 b1 b2", ("logs", 1))
    primary = next(copy.node for copy in seen(engine).shards if copy.is_primary)
    left = [each for each in processes("b0 b1 b2") if each.name != primary]
    assert seen(advance(engine, left)).color is Color.YELLOW
    assert seen(after(engine, left)).color is Color.GREEN


def test_while_only_primaries_are_allocated_no_copy_moves_elsewhere() -> None:
    engine = execute(started("b0 b1 b2", ("logs", 1)), SetAllocation(Allocation.PRIMARIES))
    [gone] = [copy.node for copy in seen(engine).shards if not copy.is_primary]
    left = [each for each in processes("b0 b1 b2") if each.name != gone]
    away = after(engine, left)
    assert seen(away).color is Color.YELLOW
    back = after(execute(after(away, processes("b0 b1 b2")), SetAllocation(None)), processes("b0 b1 b2"))
    assert gone in places(back, "logs")


def test_a_last_copy_comes_back_with_its_node_and_only_there() -> None:
    engine = started("m0 d0 d1", ("logs", 0))
    [home] = places(engine, "logs")
    left = [each for each in processes("m0 d0 d1") if each.name != home]
    assert seen(after(engine, left)).color is Color.RED
    assert seen(after(after(engine, left), processes("m0 d0 d1"))).color is Color.GREEN


def test_a_last_copy_without_a_volume_is_lost_for_ever() -> None:
    running = [process("m0"), process("d0", keeps_data=False)]
    engine = after(create_index(after(FakeEngine(), running), "logs", replicas=0), running)
    gone = after(engine, [process("m0")])
    assert seen(after(gone, running)).color is Color.RED


@pytest.mark.parametrize("text", ["d0", "*0", "d*0", "*d0*", "*d*0"])
def test_an_excluded_node_is_emptied(text: str) -> None:
    engine = started("m0 d0 d1 d2", ("logs", 1), ("books", 1))
    drained = after(execute(engine, Exclude(frozenset({text}))), processes("m0 d0 d1 d2"))
    assert seen(drained).copies_on("d0") == ()
    assert seen(drained).color is Color.GREEN


@pytest.mark.parametrize("text", ["d", "d?", "D*", "[d]*", "*d", "0*", "d.", "*d*d*", ""])
def test_in_a_pattern_nothing_but_a_star_stands_for_something_else(text: str) -> None:
    engine = started("m0 d0 d1 d2", ("logs", 1), ("books", 1))
    assert (
        after(execute(engine, Exclude(frozenset({text}))), processes("m0 d0 d1 d2")).copies == engine.copies
    )


def test_an_excluded_node_keeps_what_nobody_else_may_have() -> None:
    """S09: with two data nodes and one replica there is no third place."""
    engine = started("m0 d0 d1", ("logs", 1))
    drained = after(execute(engine, Exclude(frozenset({"d0"}))), processes("m0 d0 d1"))
    assert len(seen(drained).copies_on("d0")) == 1


def test_the_only_copy_on_an_excluded_node_comes_back_with_it() -> None:
    """As the real engine has it: neither exclusions nor a stop keep a primary from where its data is."""
    engine = started("m0 d0", ("logs", 0))
    engine = execute(engine, Exclude(frozenset({"d0"})))
    away = after(engine, processes("m0"))
    assert seen(away).color is Color.RED
    assert seen(after(away, processes("m0 d0"))).color is Color.GREEN


def test_a_replica_does_not_go_to_an_older_node_than_its_primary() -> None:
    """S02: when the primary is on a newer node, its replica waits for another newer node."""
    running = [process("m0"), process("d0", NEW), process("d1")]
    engine = after(started("m0 d0 d1"), running)
    held = execute(engine, Exclude(frozenset({"d1"})))
    engine = after(create_index(held, "logs"), running)
    assert places(engine, "logs") == {"d0", None}
    view = seen(after(execute(engine, Exclude(frozenset())), running))
    [waiting] = [copy for copy in view.shards if copy.state is ShardState.UNASSIGNED]
    assert "node_version" in waiting.deciders


def test_a_node_that_has_run_a_newer_version_cannot_go_back() -> None:
    """S24."""
    engine = after(started("m0 d0"), [process("m0"), process("d0", NEW)])
    refusal = "cannot downgrade a node from version [3.4.0] to version [2.19.4]"
    assert join_refusal(engine, process("d0", OLD)) == refusal
    assert join_refusal(wipe_node(engine, "d0"), process("d0", OLD)) is None


def test_once_the_old_major_is_left_nobody_of_it_can_join() -> None:
    engine = after(started("m0 c0"), [process("m0", NEW)])
    assert join_refusal(engine, process("c0", OLD)) == "the cluster has left version 2"


def test_a_new_major_joins_no_cluster_below_its_floor() -> None:
    engine = after(FakeEngine(), processes("m0", "2.18.0"))
    assert join_refusal(engine, process("d0", NEW)) == "too old a cluster for 3.4.0"


def test_an_index_of_a_newer_version_keeps_older_nodes_out() -> None:
    engine = after(FakeEngine(), processes("m0 d0", "3.4.0"))
    engine = after(create_index(engine, "logs"), processes("m0 d0", "3.4.0"))
    assert join_refusal(engine, process("d1", "3.3.0")) == "index logs was created by a newer version"


def test_the_same_input_gives_the_same_engine() -> None:
    assert started("b0 b1 b2", ("logs", 1)) == started("b2 b0 b1", ("logs", 1))
    assert hash(started("m0")) == hash(started("m0"))
