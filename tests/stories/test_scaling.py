"""More nodes come at once; fewer nodes give away what they have before they go."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from operators_at_work import (
    CLUSTER,
    CutOff,
    Ports,
    annotated,
    asked_for,
    condition,
    copied,
    edited,
    pool,
    settled,
    status,
    with_faults,
    with_index,
)
from searchkeeper.configuration.names import BOOTSTRAPPER
from searchkeeper.embedded.kubelet import Fault
from searchkeeper.embedded.world import World
from searchkeeper.engine.calls import Exclude, ExcludeFromVoting, SetAllocation
from searchkeeper.engine.embedded import created
from searchkeeper.engine.view import Allocation, Color, EngineView, Unreachable
from searchkeeper.kube import KubeError
from searchkeeper.writes import Delete, Key, Patch
from tales import (
    Silent,
    Telling,
    at_work,
    away,
    broken,
    color,
    kinds,
    pods,
    running,
    stateful_set,
    unfolding,
    until,
    versions,
)

MANAGERS = pool("managers", 3, "cluster_manager")


def data(replicas: int) -> list[dict[str, object]]:
    return [pool("data", replicas, "data"), MANAGERS]


def copies(world: World, node: str) -> int:
    return sum(f"logs-{node}" in (copy.node, copy.to) for copy in world.state.engine.copies)


def names(world: World, start: str) -> list[str]:
    return [name for name in pods(world) if name.startswith(start)]


def test_more_nodes_come_at_once() -> None:
    world = edited(running(), pools=data(4))
    settled(world, "0.4.0")
    assert names(world, "data") == ["data-0", "data-1", "data-2", "data-3"]
    assert status(world)["ready"] == "7/7"


@pytest.mark.parametrize("replicas", [0, 1, 5])
def test_to_scale_a_search_pool_has_no_effect(replicas: int) -> None:
    """The number is the parent's: nobody comes or goes for another one, and it is put back."""
    world = running(*data(2))
    child = Key("search.everpath.dev/v1alpha1", "SearchPool", "search", "logs-data")
    world.patch(Patch(child, {"spec": {"replicas": replicas}}, ""))
    for each in unfolding(world):
        assert (stateful_set(each, "data") or {})["spec"]["replicas"] == 2

    assert (world.get(child) or {})["spec"]["replicas"] == 2


def test_more_nodes_restart_no_other() -> None:
    world = running()
    before = {name: each["metadata"]["uid"] for name, each in pods(world).items()}
    settled(edited(world, pools=data(3)), "0.4.0")
    after = {name: each["metadata"]["uid"] for name, each in pods(world).items()}
    assert before.items() <= after.items()


def test_a_pool_may_be_added() -> None:
    world = edited(running(), pools=[*data(2), pool("routers", 2, "coordinating")])
    settled(world, "0.4.0")
    assert names(world, "routers") == ["routers-0", "routers-1"]


def shrinking() -> World:
    """Three data nodes with copies on all of them, of which the last is not wanted any more."""
    world = running(*data(3))
    with_index(with_index(world, "films"), "songs")
    return edited(world, pools=data(2))


def test_a_node_that_leaves_is_emptied_first() -> None:
    world = shrinking()
    assert copies(world, "data-2")
    for moment in unfolding(world):
        if "data-2" in away(moment, {"data-2"}):
            assert not copies(moment, "data-2")
    assert names(world, "data") == ["data-0", "data-1"]
    assert status(world)["ready"] == "5/5"
    assert not status(world)["ledger"]


def test_its_volume_stays() -> None:
    world = shrinking()
    settled(world, "0.4.0")
    assert Key("v1", "PersistentVolumeClaim", "search", "data-logs-data-2") in world.state.cluster.objects


def test_every_copy_is_there_all_the_while() -> None:
    for moment in unfolding(shrinking()):
        assert not any(copy.node is None for copy in moment.state.engine.copies)


def test_exclusions_of_others_stay_and_ours_do_not() -> None:
    world = shrinking()
    world.tell(Exclude(frozenset({"somebody"})))
    seen = {moment.state.engine.excluded for moment in unfolding(world)}
    assert frozenset({"somebody", "logs-data-2"}) in seen
    assert world.state.engine.excluded == {"somebody"}


@pytest.mark.parametrize("text", ["logs-data-2", "*-2"])
def test_an_exclusion_that_was_there_before_is_not_taken_back(text: str) -> None:
    """Nor is anything added to it: also a pattern excludes."""
    world = shrinking()
    world.tell(Exclude(frozenset({text})))
    for moment in unfolding(world):
        assert moment.state.engine.excluded == {text}
    assert names(world, "data") == ["data-0", "data-1"]


def test_a_drain_that_can_never_finish_stalls_and_says_why() -> None:
    """S09: the other node has a copy of everything."""
    world = at_work(edited(running(), pools=data(1)), ticks=100)
    assert status(world)["phase"] == "Stalled"
    assert condition(world, "NodesHaveLeft") == (
        "False NobodyTakesShards: stalled: no node may take books[0] from logs-data-1: "
        "logs-data-0 has a copy already"
    )
    assert names(world, "data") == ["data-0", "data-1"]


def test_whoever_may_stay_after_all_gets_shards_again() -> None:
    world = edited(running(), pools=data(1))
    until(lambda world: bool(world.state.engine.excluded), world)
    settled(edited(world, pools=data(2)), "0.4.0")
    assert not world.state.engine.excluded
    assert names(world, "data") == ["data-0", "data-1"]


def test_nobody_leaves_a_red_cluster() -> None:
    """Nor one of which nothing is known."""
    world = shrinking()
    lost = replace(created(world.state.engine, "lost", replicas=0), allocation=None)
    primary = replace(lost.copies[-1], has_data=True, left_on="nowhere")
    world.state = replace(world.state, engine=replace(lost, copies=(*lost.copies[:-1], primary)))
    at_work(world, ticks=10)
    assert condition(world, "NodesHaveLeft") == "False Healthy: the cluster is red: a primary is missing"
    assert not world.state.engine.excluded


def test_nobody_leaves_an_engine_that_does_not_answer() -> None:
    world = shrinking()
    at_work(world, Silent(world), ticks=10)
    assert len(names(world, "data")) == 3


def test_nobody_leaves_a_cluster_that_is_still_getting_green() -> None:
    """The gates of a roll are those of a leave."""
    world = running(*data(2), pool("routers", 1, "coordinating"))
    world.tell(SetAllocation(Allocation.PRIMARIES))
    with_index(world, "films")
    at_work(edited(world, pools=[*data(2), pool("routers", 0, "coordinating")]), ticks=20)
    assert names(world, "routers") == ["routers-0"]
    assert condition(world, "NodesHaveLeft").startswith("False Healthy: the cluster is yellow")


def test_nobody_leaves_while_it_is_paused() -> None:
    world = edited(shrinking(), upgrade={"paused": True})
    at_work(world, ticks=20)
    assert condition(world, "NodesHaveLeft") == "False NotPaused: spec.upgrade.paused is set"
    assert len(names(world, "data")) == 3
    assert not world.state.engine.excluded


def has_quorum(world: World) -> bool:
    engine = world.state.engine
    return len(engine.voters & engine.names) >= len(engine.voters) // 2 + 1


@pytest.mark.parametrize("left", [3, 1])
def test_managers_leave_one_at_a_time_and_without_a_vote(left: int) -> None:
    world = running(pool("data", 2, "data"), pool("managers", 5, "cluster_manager"))
    edited(world, pools=[pool("data", 2, "data"), pool("managers", left, "cluster_manager")])
    everybody = {f"managers-{n}" for n in range(5)}
    for moment in unfolding(world):
        gone = [each for each in pods(moment).values() if "deletionTimestamp" in each["metadata"]]
        assert len(gone) <= 1
        assert not {each["metadata"]["name"] for each in gone} & moment.state.engine.voters
        assert has_quorum(moment)
    assert away(world, everybody) == {f"managers-{n}" for n in range(left, 5)}
    assert not world.state.engine.voting_exclusions
    assert world.state.engine.voters == {f"logs-managers-{n}" for n in range(left)}


def test_whom_users_have_excluded_from_voting_stays_so() -> None:
    """I9: the engine forgets all of them or none. Also where the operator ends in between."""
    start = running(
        pool("data", 2, "data"), pool("managers", 2, "cluster_manager"), pool("more", 2, "cluster_manager")
    )
    start.tell(ExcludeFromVoting("logs-more-1"))
    start.tick()
    edited(
        start,
        pools=[
            pool("data", 2, "data"),
            pool("managers", 1, "cluster_manager"),
            pool("more", 2, "cluster_manager"),
        ],
    )
    for cut in range(settled(copied(start), "0.4.0")):
        world = copied(start)
        with pytest.raises(CutOff):
            settled(world, "0.4.0", allowed=cut)
        settled(world, "0.4.0")
        assert world.state.engine.voting_exclusions == {"logs-more-1"}
        assert not status(world)["ledger"]


def test_nor_does_a_roll_that_moves_the_only_vote_forget_them() -> None:
    world = running(pool("data", 2, "data"), pool("managers", 3, "cluster_manager"))
    for name in ("logs-managers-1", "logs-nobody"):
        world.tell(ExcludeFromVoting(name))
    world.tick()
    assert len(world.state.engine.voters) == 1
    settled(edited(world, version="3.4.0"), "0.4.0")
    assert world.state.engine.voting_exclusions == {"logs-managers-1", "logs-nobody"}


@pytest.mark.parametrize("pools", [[MANAGERS], data(0)], ids=["the pool is removed", "it has no nodes"])
def test_the_last_data_nodes_keep_their_shards_and_it_is_said_why(pools: list[dict[str, object]]) -> None:
    """S09: with all of them excluded no index could be made any more."""
    world = edited(running(upgrade={"healthDeadlineSeconds": 60}), pools=pools)
    at_work(world, ticks=30)
    assert not world.state.engine.excluded
    assert condition(world, "NodesHaveLeft") == (
        "False LastDataNode: stalled: logs-data-0, logs-data-1 would leave no data node: "
        "put one back, or add a pool of them"
    )
    assert status(world)["phase"] == "Stalled"
    settled(edited(world, pools=data(2)), "0.4.0")


@pytest.mark.parametrize("text", ["logs-data-0", "logs-*-0"])
def test_nobody_is_excluded_where_all_who_stay_are_excluded_by_somebody_else(text: str) -> None:
    """S09."""
    world = running(upgrade={"healthDeadlineSeconds": 60})
    world.tell(Exclude(frozenset({text})))
    at_work(edited(world, pools=data(1)), ticks=30)
    assert world.state.engine.excluded == {text}
    assert condition(world, "NodesHaveLeft") == (
        "False LastDataNode: stalled: nobody is left for shards: logs-data-0 excluded by somebody else"
    )


def test_the_last_data_nodes_leave_when_there_are_others() -> None:
    world = edited(running(), pools=[pool("hot", 2, "data"), MANAGERS])
    settled(world, "0.4.0")
    assert sorted(pods(world)) == ["hot-0", "hot-1", "managers-0", "managers-1", "managers-2"]


def test_a_node_that_leaves_a_pool_without_data_any_more_is_emptied_too() -> None:
    """I7: what it has is seen in the engine, whatever is wanted of its pool."""
    hot = pool("hot", 2, "data")
    world = edited(
        running(pool("data", 2, "data"), hot, MANAGERS), pools=[pool("data", 1, "ingest"), hot, MANAGERS]
    )
    settled(world, "0.4.0")
    assert sorted(pods(world)) == ["data-0", "hot-0", "hot-1", "managers-0", "managers-1", "managers-2"]
    assert not copies(world, "data-1")


def test_no_manager_leaves_where_there_is_nobody_to_leave_the_cluster_to() -> None:
    world = edited(running(), pools=[pool("data", 2, "data"), pool("managers", 0, "cluster_manager")])
    at_work(world, ticks=30)
    assert status(world)["phase"] == "Refused"
    assert len(names(world, "managers")) == 3


def test_no_vote_is_given_away_before_a_manager_that_stays_has_joined() -> None:
    """They are ready, and nobody in the engine knows them yet."""
    world = running(*data(2))
    leaders = [pool("leaders", 3, "cluster_manager")]
    settled(edited(world, pools=[*data(2), *leaders]), "0.4.0")

    class Unmet(Ports):
        def look(self) -> EngineView | Unreachable:
            found = super().look()
            assert isinstance(found, EngineView)
            known = tuple(each for each in found.nodes if not each.name.startswith("logs-leaders-"))
            return replace(found, nodes=known)

    edited(world, pools=[*data(2)[:1], *leaders])
    at_work(world, Unmet(world), ticks=20)
    assert "LastManager" in condition(world, "NodesHaveLeft")
    assert not world.state.engine.voting_exclusions


@pytest.mark.parametrize("together", [True, False], ids=["in one edit", "when a node may go already"])
def test_nodes_and_other_things_that_are_not_wanted_go_one_by_one(together: bool) -> None:
    """Between two looks at the world one thing is taken away, whatever it is, and whoever decides it."""
    edge = pool("edge", 2, "ingest")
    world = running(*data(2), edge, dashboards={"enabled": True})
    edited(world, pools=[*data(2), {**edge, "replicas": 1}])
    if not together:
        until(lambda world: allotted(world, "edge") == 1, world)
    edited(world, dashboards={"enabled": False})
    ports, gone = Telling(world), []
    for _ in unfolding(world, ports=ports):
        gone.append([str(each) for each in (*ports.deleted, *filter(is_shrinking, ports.patched))])
        ports.deleted.clear()
        ports.patched.clear()
    assert max(map(len, gone)) == 1, gone
    assert "Deployment" not in kinds(world)


def allotted(world: World, name: str) -> int:
    found = world.get(Key(CLUSTER.api, "SearchPool", "search", f"logs-{name}"))
    assert found is not None
    return int(found["spec"]["replicas"])


def is_shrinking(patch: Patch) -> bool:
    return patch.key.name == "logs-edge" and patch.changes.get("spec", {}).get("replicas") == 1


def test_of_a_pool_that_is_removed_nothing_stays_but_its_volumes() -> None:
    world = running(*data(2), pool("more", 2, "data"))
    with_index(with_index(world, "films"), "songs")
    settled(edited(world, pools=data(2)), "0.4.0")
    left = {key.kind for key in world.state.cluster.objects if key.name.startswith("logs-more")}
    assert left <= {"ControllerRevision"}
    assert Key("v1", "PersistentVolumeClaim", "search", "data-logs-more-1") in world.state.cluster.objects
    assert status(world)["ready"] == "5/5"
    assert not status(world)["ledger"]


def test_nodes_that_leave_come_back_with_what_they_have_where_somebody_takes_their_stateful_set() -> None:
    # Guard: who is away may have what is missing.
    world = running(*data(2), pool("more", 1, "data"))
    for name in ("films", "songs", "plays"):
        with_index(world, name, replicas=0)
    assert copies(world, "more-0")
    world.delete(Delete(Key("apps/v1", "StatefulSet", "search", "logs-more"), "", ""))
    for _ in range(3):
        world.tick()
    settled(edited(world, pools=data(2)), "0.4.0")
    assert color(world) is Color.GREEN
    assert not names(world, "more")


def test_a_pool_of_managers_is_replaced_by_another() -> None:
    world = running()
    edited(world, pools=[pool("data", 2, "data"), MANAGERS, pool("leaders", 3, "cluster_manager")])
    settled(world, "0.4.0")
    edited(world, pools=[pool("data", 2, "data"), pool("leaders", 3, "cluster_manager")])
    for moment in unfolding(world):
        assert has_quorum(moment)
    assert sorted(world.state.engine.voters) == [f"logs-leaders-{n}" for n in range(3)]
    assert not names(world, "managers")


def test_a_search_pool_that_somebody_shrinks_by_hand_loses_no_node() -> None:
    world = running()
    child = Key("search.everpath.dev/v1alpha1", "SearchPool", "search", "logs-data")
    world.patch(Patch(child, {"spec": {"replicas": 1}}, ""))
    for moment in unfolding(world):
        assert not away(moment, {"data-0", "data-1"})


def test_a_stateful_set_shrinks_only_when_whoever_goes_has_nothing() -> None:
    """Also where somebody has allotted fewer nodes while they were still being emptied."""
    world = edited(running(), pools=data(1))
    at_work(world, ticks=5)
    child = Key("search.everpath.dev/v1alpha1", "SearchPool", "search", "logs-data")
    world.patch(Patch(child, {"spec": {"replicas": 1}}, ""))
    at_work(world, ticks=20)
    assert not away(world, {"data-0", "data-1"})


def removing() -> World:
    """Two pools of data nodes, of which the second, with its shards, is not wanted any more."""
    world = running(*data(2), pool("cold", 2, "data"))
    with_index(with_index(world, "films"), "songs")
    assert copies(world, "cold-0") + copies(world, "cold-1")
    return edited(world, pools=data(2))


def taken(world: World, *kinds: str) -> World:
    """Somebody deletes what there is of the pool that leaves, but for its pods."""
    for kind in kinds:
        api = CLUSTER.api if kind == "SearchPool" else "apps/v1"
        with suppress(KubeError):
            world.delete(Delete(Key(api, kind, "search", "logs-cold"), "", "", orphan=True))
    return world


@pytest.mark.parametrize("kinds", [("SearchPool",), ("SearchPool", "StatefulSet")], ids=len)
def test_whoever_deletes_what_leaves_by_hand_makes_nobody_forget_its_nodes(kinds: tuple[str, ...]) -> None:
    """I7: they are emptied first, one by one, and nothing stays of the pool, nor in the engine."""
    for moment in [copied(each) for each in unfolding(removing()) if names(each, "cold")][::4]:
        for each in unfolding(taken(moment, *kinds)):
            held = {copy.id for copy in each.state.engine.copies if copy.node is not None}
            assert held == {copy.id for copy in each.state.engine.copies}
            assert {n for n in ("cold-0", "cold-1") if copies(each, n)} <= set(names(each, "cold"))
        moment.tick()
        assert not [key for key in moment.state.cluster.objects if key.name.startswith("logs-cold")]
        assert not moment.state.engine.excluded
        assert not status(moment)["ledger"]


def test_an_upgrade_and_fewer_nodes_in_one_edit_come_one_after_the_other() -> None:
    """S19: the upgrade is made with the nodes that there are."""
    world = running(*data(3))
    with_index(with_index(world, "films"), "songs")
    edited(world, version="3.4.0", pools=data(2))
    for moment in unfolding(world):
        found = stateful_set(moment, "data")
        if set(versions(moment).values()) != {"3.4.0"}:
            assert found is not None
            assert found["spec"]["replicas"] == 3
            assert not moment.state.engine.excluded
    assert names(world, "data") == ["data-0", "data-1"]
    assert status(world)["engineVersion"] == "3.4.0"


def test_nobody_leaves_before_an_upgrade_that_is_about_to_begin() -> None:
    """S19: also where something has to be done before it does, like forgetting an order of earlier days."""
    world = annotated(running(*data(3)), rollback="2.19.4")
    for moment in unfolding(edited(world, version="3.4.0", pools=data(2))):
        if set(versions(moment).values()) != {"3.4.0"}:
            assert not moment.state.engine.excluded
    assert names(world, "data") == ["data-0", "data-1"]


def test_an_upgrade_and_a_pool_less_in_one_edit_come_one_after_the_other() -> None:
    world = running(*data(2), pool("more", 2, "data"))
    edited(world, version="3.4.0", pools=data(2))
    settled(world, "0.4.0")
    assert set(versions(world).values()) == {"3.4.0"}
    assert not names(world, "more")


def test_a_drain_that_never_finishes_does_not_keep_an_upgrade_from_beginning() -> None:
    """S19: whoever was on the way out stays until the upgrade is over."""
    world = at_work(edited(running(), pools=data(1)), ticks=10)
    edited(world, version="3.4.0")
    at_work(world, ticks=60)
    assert status(world)["engineVersion"] == "3.4.0"
    assert names(world, "data") == ["data-0", "data-1"]


def test_an_operator_may_crash_between_any_two_writes_of_a_scaling() -> None:
    start = edited(shrinking(), pools=[pool("data", 2, "data"), pool("managers", 1, "cluster_manager")])
    for cut in range(settled(copied(start), "0.4.0")):
        world = copied(start)
        with pytest.raises(CutOff):
            settled(world, "0.4.0", allowed=cut)
        settled(world, "0.4.0")
        assert sorted(pods(world)) == ["data-0", "data-1", "managers-0"]
        assert not status(world)["ledger"]
        assert not world.state.engine.excluded
        assert not world.state.engine.voting_exclusions


def test_a_broken_node_may_leave() -> None:
    """S18: nobody is waited for who is not wanted any more, whatever else is to be done."""
    world = broken(running(*data(3)), "logs-data-2", Fault.CRASH)
    at_work(world, ticks=10)
    edited(world, pools=[pool("data", 2, "data"), pool("leaders", 3, "cluster_manager"), MANAGERS])
    settled(world, "0.4.0")
    assert names(world, "data") == ["data-0", "data-1"]


@pytest.mark.parametrize(
    ("before", "after"), [(["cluster_manager"], ["ingest"]), (["data", "cluster_manager"], ["data"])]
)
def test_a_pool_that_loses_its_vote_leaves_it_to_another_manager(before: list[str], after: list[str]) -> None:
    """I1: whoever has the only vote would come back without one, and nobody could be elected any more."""
    # Guard: the only vote moves before its owner goes.
    others = [pool("data", 2, "data"), pool("zone-1", 1, "cluster_manager")]
    world = running(pool("zone-0", 1, *before), *others)
    assert world.state.engine.voters == {"logs-zone-0-0"}
    settled(edited(world, pools=[pool("zone-0", 1, *after), *others]), "0.4.0")
    assert world.state.engine.voters == {"logs-zone-1-0"}
    assert not world.state.engine.voting_exclusions
    assert not status(world)["ledger"]


def test_a_manager_without_an_heir_keeps_its_vote() -> None:
    """I1: a pool that loses its vote waits for somebody to leave it to."""
    # Guard: QuorumSafe.
    zone = pool("zone-0", 1, "cluster_manager")
    world = running(*data(2)[:1], zone)
    broken(world, "logs-leaders-0", Fault.PENDING)
    leaders = pool("leaders", 1, "cluster_manager")
    at_work(edited(world, pools=[*data(2)[:1], {**zone, "roles": ["ingest"]}, leaders]), ticks=20)
    assert world.state.engine.elected is not None
    settled(with_faults(world), "0.4.0")
    assert world.state.engine.voters == {"logs-leaders-0"}


def told_to_begin_with(world: World) -> set[str]:
    """The managers that nodes are told to begin a cluster with."""
    wanted = (each["spec"]["containers"][0]["env"] for each in pods(world).values())
    return {each["value"] for env in wanted for each in env if each["name"] == BOOTSTRAPPER}


def test_another_first_pool_of_managers_restarts_nobody() -> None:
    """A cluster that has begun need not be told how, and no new manager is told to begin one with itself."""
    world = running()
    before = {name: each["metadata"]["uid"] for name, each in pods(world).items() if "data" in name}
    leaders = pool("leaders", 3, "cluster_manager")
    for wanted in ([leaders, MANAGERS, pool("data", 2, "data")], [leaders, pool("data", 2, "data")]):
        for moment in unfolding(edited(world, pools=wanted)):
            assert has_quorum(moment)
            assert told_to_begin_with(moment) == {"logs-managers-0"}
    assert sorted(world.state.engine.voters) == [f"logs-leaders-{n}" for n in range(3)]
    after = {name: each["metadata"]["uid"] for name, each in pods(world).items() if "data" in name}
    assert after == before


def test_a_cluster_that_has_never_been_complete_begins_with_whom_its_spec_names_first() -> None:
    world = broken(asked_for(), "logs-managers-0", Fault.PENDING)
    at_work(world, ticks=5)
    edited(world, pools=[pool("data", 2, "data"), pool("leaders", 1, "cluster_manager"), MANAGERS])
    at_work(world, ticks=10)
    assert {"logs-leaders-0"} <= told_to_begin_with(world)
