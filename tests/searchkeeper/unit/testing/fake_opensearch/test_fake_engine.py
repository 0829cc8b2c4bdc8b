"""The fake engine follows the rules of OpenSearch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

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
from searchkeeper.testing.fake_opensearch.membership import JoinRefusal, join_refusal

OLD, NEW = "2.19.4", "3.4.0"


def process(name: str, version: str = OLD, *, keeps_data: bool = True) -> Process:
    """`m0` is a manager, `d0` a data node, `b0` both, `c0` neither."""
    roles = {"m": {"cluster_manager"}, "d": {"data"}, "b": {"cluster_manager", "data"}, "c": {"coordinating"}}
    return Process(name, version, frozenset(roles[name[0]]), keeps_data)


def processes(names: str, version: str = OLD) -> list[Process]:
    return [process(name, version) for name in names.split()]


def after(engine: FakeEngine, running: Iterable[Process], ticks: int = 6) -> FakeEngine:
    for _ in range(ticks):
        engine = advance(engine, list(running))
    return engine


def start(names: str, *indices: tuple[str, int]) -> FakeEngine:
    engine = after(FakeEngine(), processes(names))
    for name, replicas in indices:
        engine = create_index(engine, name, replicas=replicas)
    return after(engine, processes(names))


def view_of(engine: FakeEngine) -> EngineView:
    view = get_state(engine)
    assert isinstance(view, EngineView)
    return view


def nodes_with(engine: FakeEngine, index: str) -> set[str | None]:
    return {copy.node for copy in view_of(engine).shards if copy.index == index}


def test_three_managers_elect_one_and_all_vote() -> None:
    view = view_of(start("m0 m1 m2"))
    assert view.voters == {"m0", "m1", "m2"}
    assert view.elected is not None


def test_even_number_of_managers_leaves_one_without_vote() -> None:
    assert len(view_of(start("m0 m1")).voters) == 1
    assert len(view_of(start("m0 m1 m2 m3")).voters) == 3


def test_majority_of_voters_elects_a_manager() -> None:
    engine = start("m0 m1 m2")
    assert isinstance(get_state(after(engine, processes("m1 m2"))), EngineView)
    assert get_state(after(engine, processes("m2"))) == Unreachable("no cluster manager")


def test_voter_without_manager_role_cannot_vote() -> None:
    """Two of three voters came back under their names without the role: there is no majority."""
    former = [Process(name, OLD, frozenset({"data"})) for name in ("m0", "m1")]
    engine = after(start("m0 m1 m2"), [former[0], *processes("m1 m2")])
    assert get_state(after(engine, [*former, *processes("m2")])) == Unreachable("no cluster manager")


def test_voters_that_all_restart_form_the_cluster_again() -> None:
    engine = after(start("m0 m1 m2"), [])
    assert get_state(engine) == Unreachable("no node answers")
    assert isinstance(get_state(after(engine, processes("m0 m1"))), EngineView)


def test_only_manager_without_volume_loses_the_cluster_state() -> None:
    """It comes back with a new node ID that is not in the voting configuration."""
    others, manager = processes("d0 d1"), process("m0", keeps_data=False)
    engine = after(after(FakeEngine(), [manager, *others]), others)
    assert get_state(after(engine, [manager, *others])) == Unreachable("no cluster manager")


def test_manager_without_volume_gets_a_vote_again_from_the_others() -> None:
    """The other two have the cluster state and add the new node ID."""
    managers = [process(f"m{n}", keeps_data=False) for n in range(3)]
    engine = after(after(FakeEngine(), managers), managers[1:])
    assert "m0" not in view_of(engine).voters
    assert view_of(after(engine, managers)).voters == {"m0", "m1", "m2"}


def test_data_nodes_without_manager_refuse_no_manager() -> None:
    """Only an elected manager validates joins; restarted voters form the cluster without one."""
    data = processes("d0 d1", NEW)
    engine = after(start("m0 m1 m2 d0 d1"), [*processes("m0 m1 m2"), *data])
    engine = after(engine, data)
    assert get_state(engine) == Unreachable("no cluster manager")
    assert len(view_of(after(engine, [*processes("m0 m1 m2"), *data])).nodes) == 5


def test_calls_fail_without_manager() -> None:
    with pytest.raises(CallFailed):
        execute(after(start("m0 m1 m2"), processes("m2")), SetAllocation(None))


def test_voting_exclusion_moves_the_only_vote() -> None:
    engine = start("m0 m1")
    [voter] = view_of(engine).voters
    engine = after(execute(engine, ExcludeFromVoting(voter)), processes("m0 m1"))
    assert voter not in view_of(engine).voters
    other = next(name for name in ("m0", "m1") if name != voter)
    assert isinstance(get_state(after(engine, processes(other))), EngineView)
    assert view_of(execute(engine, ClearVotingExclusions())).voting_exclusions == frozenset()


def test_copies_of_a_shard_are_on_different_nodes() -> None:
    assert len(nodes_with(start("b0 b1 b2", ("logs", 2)), "logs")) == 3


def test_unassignable_replica_keeps_the_cluster_yellow() -> None:
    view = view_of(start("b0", ("logs", 1)))
    assert view.color is Color.YELLOW
    [unassigned] = [copy for copy in view.shards if copy.state is ShardState.UNASSIGNED]
    assert unassigned.deciders == {"same_shard"}


def test_lost_primary_reports_no_deciders() -> None:
    """Deciders of other nodes do not apply: they have no data. tests/e2e compares it with OpenSearch."""
    engine = execute(start("m0 m1 m2 d0 d1", ("logs", 0)), Exclude(frozenset({"d1"})))
    engine = after(engine, processes("m0 m1 m2 d0 d1"))
    assert nodes_with(engine, "logs") == {"d0"}
    lost = view_of(after(engine, processes("m0 m1 m2 d1")))
    assert lost.color is Color.RED
    assert [copy.deciders for copy in lost.shards] == [frozenset()]


def test_replica_is_promoted_for_a_lost_primary() -> None:
    engine = start("b0 b1 b2", ("logs", 1))
    primary = next(copy.node for copy in view_of(engine).shards if copy.is_primary)
    left = [each for each in processes("b0 b1 b2") if each.name != primary]
    assert view_of(advance(engine, left)).color is Color.YELLOW
    assert view_of(after(engine, left)).color is Color.GREEN


def test_replica_waits_for_its_node_while_only_primaries_are_allocated() -> None:
    engine = execute(start("b0 b1 b2", ("logs", 1)), SetAllocation(Allocation.PRIMARIES))
    [gone] = [copy.node for copy in view_of(engine).shards if not copy.is_primary]
    left = [each for each in processes("b0 b1 b2") if each.name != gone]
    away = after(engine, left)
    assert view_of(away).color is Color.YELLOW
    back = after(execute(after(away, processes("b0 b1 b2")), SetAllocation(None)), processes("b0 b1 b2"))
    assert gone in nodes_with(back, "logs")


def test_last_copy_recovers_only_on_its_node() -> None:
    engine = start("m0 d0 d1", ("logs", 0))
    [home] = nodes_with(engine, "logs")
    left = [each for each in processes("m0 d0 d1") if each.name != home]
    assert view_of(after(engine, left)).color is Color.RED
    assert view_of(after(after(engine, left), processes("m0 d0 d1"))).color is Color.GREEN


def test_last_copy_without_volume_is_lost() -> None:
    running = [process("m0"), process("d0", keeps_data=False)]
    engine = after(create_index(after(FakeEngine(), running), "logs", replicas=0), running)
    gone = after(engine, [process("m0")])
    assert view_of(after(gone, running)).color is Color.RED


@pytest.mark.parametrize("text", ["d0", "*0", "d*0", "*d0*", "*d*0"])
def test_excluded_node_is_drained(text: str) -> None:
    engine = start("m0 d0 d1 d2", ("logs", 1), ("books", 1))
    drained = after(execute(engine, Exclude(frozenset({text}))), processes("m0 d0 d1 d2"))
    assert view_of(drained).copies_on("d0") == ()
    assert view_of(drained).color is Color.GREEN


@pytest.mark.parametrize("text", ["d", "d?", "D*", "[d]*", "*d", "0*", "d.", "*d*d*", ""])
def test_only_a_star_is_a_wildcard_in_exclusions(text: str) -> None:
    engine = start("m0 d0 d1 d2", ("logs", 1), ("books", 1))
    assert (
        after(execute(engine, Exclude(frozenset({text}))), processes("m0 d0 d1 d2")).copies == engine.copies
    )


def test_excluded_node_keeps_copies_without_another_place() -> None:
    """S09: two data nodes and one replica leave no third node."""
    engine = start("m0 d0 d1", ("logs", 1))
    drained = after(execute(engine, Exclude(frozenset({"d0"}))), processes("m0 d0 d1"))
    assert len(view_of(drained).copies_on("d0")) == 1


def test_only_copy_recovers_on_an_excluded_node() -> None:
    """As in OpenSearch, exclusions and disabled allocation do not apply to a primary on its own data."""
    engine = start("m0 d0", ("logs", 0))
    engine = execute(engine, Exclude(frozenset({"d0"})))
    away = after(engine, processes("m0"))
    assert view_of(away).color is Color.RED
    assert view_of(after(away, processes("m0 d0"))).color is Color.GREEN


def test_replica_is_not_allocated_to_an_older_node_than_its_primary() -> None:
    """S02: a replica of a primary on a newer node waits for another newer node."""
    running = [process("m0"), process("d0", NEW), process("d1")]
    engine = after(start("m0 d0 d1"), running)
    held = execute(engine, Exclude(frozenset({"d1"})))
    engine = after(create_index(held, "logs"), running)
    assert nodes_with(engine, "logs") == {"d0", None}
    view = view_of(after(execute(engine, Exclude(frozenset())), running))
    [waiting] = [copy for copy in view.shards if copy.state is ShardState.UNASSIGNED]
    assert "node_version" in waiting.deciders


def test_node_cannot_be_downgraded_on_its_disk() -> None:
    """S24."""
    engine = after(start("m0 d0"), [process("m0"), process("d0", NEW)])
    message = "cannot downgrade a node from version [3.4.0] to version [2.19.4]"
    assert join_refusal(engine, process("d0", OLD)) == JoinRefusal(message)
    assert join_refusal(wipe_node(engine, "d0"), process("d0", OLD)) is None


def test_old_major_cannot_join_after_the_last_old_node_left() -> None:
    engine = after(start("m0 c0"), [process("m0", NEW)])
    message = "node version [2.19.4] is not supported. All nodes in the cluster are of a higher major [3]."
    assert join_refusal(engine, process("c0", OLD)) == JoinRefusal(message)


def test_new_major_cannot_join_nodes_below_its_minimum_compatible_version() -> None:
    engine = after(FakeEngine(), processes("m0", "2.18.0"))
    message = (
        "node version [3.4.0] is not supported. "
        "The cluster contains nodes with version [2.18.0], which is incompatible."
    )
    assert join_refusal(engine, process("d0", NEW)) == JoinRefusal(message)


def test_process_without_cluster_manager_may_join_later() -> None:
    assert join_refusal(FakeEngine(), process("d0")) == JoinRefusal("no cluster to join", is_fatal=False)


def test_older_node_cannot_join_a_cluster_with_a_newer_index() -> None:
    engine = after(FakeEngine(), processes("m0 d0", "3.4.0"))
    engine = after(create_index(engine, "logs"), processes("m0 d0", "3.4.0"))
    message = "index [logs] version not supported: 3.4.0 the node version is: 3.3.0"
    assert join_refusal(engine, process("d1", "3.3.0")) == JoinRefusal(message)


def with_index_created_by(version: str) -> FakeEngine:
    """An upgraded cluster of 2.19.4 that still has an index of an older version."""
    engine = start("m0 d0", ("logs", 0))
    return replace(engine, indices=(replace(engine.indices[0], created_by=version),))


@pytest.mark.parametrize("created_by", ["1.3.14", "0.7.10"], ids=["OpenSearch 1.x", "Elasticsearch 7.x"])
def test_new_major_cannot_join_a_cluster_with_an_index_two_majors_older(created_by: str) -> None:
    engine = with_index_created_by(created_by)
    message = f"index [logs] version not supported: {created_by} minimum compatible index version is: 2.0.0"
    assert join_refusal(engine, process("d1", NEW)) == JoinRefusal(message)
    assert "d1" not in after(engine, [*processes("m0 d0"), process("d1", NEW)]).names


def test_new_major_does_not_start_on_a_disk_with_an_index_two_majors_older() -> None:
    message = (
        "The index [[logs]] was created with version [1.3.14] but the minimum compatible version is [2.0.0]. "
        "It should be re-indexed in OpenSearch 2.x before upgrading to 3.4.0."
    )
    assert join_refusal(with_index_created_by("1.3.14"), process("d0", NEW)) == JoinRefusal(message)


@pytest.mark.parametrize("created_by", ["1.3.14", "0.7.10"], ids=["OpenSearch 1.x", "Elasticsearch 7.x"])
def test_next_major_joins_a_cluster_with_an_index_of_the_previous_major(created_by: str) -> None:
    assert join_refusal(with_index_created_by(created_by), process("d1", OLD)) is None


def test_reindexed_cluster_is_joined_by_the_new_major() -> None:
    assert join_refusal(with_index_created_by(OLD), process("d1", NEW)) is None


def test_ticks_are_deterministic() -> None:
    assert start("b0 b1 b2", ("logs", 1)) == start("b2 b0 b1", ("logs", 1))
    assert hash(start("m0")) == hash(start("m0"))
