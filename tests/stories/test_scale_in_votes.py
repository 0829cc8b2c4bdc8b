"""Managers that leave give their vote away first, one by one; and who begins a cluster stays who did."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fewer_nodes import MANAGERS, data, names
from operators_at_work import (
    CutOff,
    Ports,
    asked_for,
    condition,
    copied,
    edited,
    pool,
    settled,
    status,
    with_faults,
)
from searchkeeper.desired.names import INITIAL_MANAGERS
from searchkeeper.opensearch.calls import ExcludeFromVoting
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from tales import at_work, away, broken, pods, running, unfolding


def has_quorum(world: FakeCluster) -> bool:
    engine = world.state.engine
    return len(engine.voters & engine.names) >= len(engine.voters) // 2 + 1


@pytest.mark.parametrize("left", [3, 1])
def test_managers_are_removed_one_at_a_time_after_their_votes(left: int) -> None:
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


def test_voting_exclusions_of_users_survive_a_scale_in() -> None:
    """I9: the engine forgets all of them or none. Also where the operator ends in between."""
    start = running(
        pool("data", 2, "data"), pool("managers", 2, "cluster_manager"), pool("more", 2, "cluster_manager")
    )
    start.execute(ExcludeFromVoting("logs-more-1"))
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


def test_voting_exclusions_of_users_survive_a_rollout() -> None:
    world = running(pool("data", 2, "data"), pool("managers", 3, "cluster_manager"))
    for name in ("logs-managers-1", "logs-nobody"):
        world.execute(ExcludeFromVoting(name))
    world.tick()
    assert len(world.state.engine.voters) == 1
    settled(edited(world, version="3.4.0"), "0.4.0")
    assert world.state.engine.voting_exclusions == {"logs-managers-1", "logs-nobody"}


def test_last_managers_are_not_removed() -> None:
    world = edited(running(), pools=[pool("data", 2, "data"), pool("managers", 0, "cluster_manager")])
    at_work(world, ticks=30)
    assert status(world)["phase"] == "Refused"
    assert len(names(world, "managers")) == 3


def test_no_vote_moves_before_a_remaining_manager_has_joined() -> None:
    """They are ready, and nobody in the engine knows them yet."""
    world = running(*data(2))
    leaders = [pool("leaders", 3, "cluster_manager")]
    settled(edited(world, pools=[*data(2), *leaders]), "0.4.0")

    class Unmet(Ports):
        def get_state(self) -> EngineView | Unreachable:
            found = super().get_state()
            assert isinstance(found, EngineView)
            known = tuple(each for each in found.nodes if not each.name.startswith("logs-leaders-"))
            return replace(found, nodes=known)

    edited(world, pools=[*data(2)[:1], *leaders])
    at_work(world, Unmet(world), ticks=20)
    assert "LastManager" in condition(world, "ScaleInComplete")
    assert not world.state.engine.voting_exclusions


def test_manager_pool_can_be_replaced_by_another() -> None:
    world = running()
    edited(world, pools=[pool("data", 2, "data"), MANAGERS, pool("leaders", 3, "cluster_manager")])
    settled(world, "0.4.0")
    edited(world, pools=[pool("data", 2, "data"), pool("leaders", 3, "cluster_manager")])
    for moment in unfolding(world):
        assert has_quorum(moment)
    assert sorted(world.state.engine.voters) == [f"logs-leaders-{n}" for n in range(3)]
    assert not names(world, "managers")


@pytest.mark.parametrize(
    ("before", "after"), [(["cluster_manager"], ["ingest"]), (["data", "cluster_manager"], ["data"])]
)
def test_only_vote_moves_before_its_pool_loses_the_manager_role(before: list[str], after: list[str]) -> None:
    """I1: whoever has the only vote would come back without one, and nobody could be elected any more."""
    # Guard: the only vote moves before its owner goes.
    others = [pool("data", 2, "data"), pool("zone-1", 1, "cluster_manager")]
    world = running(pool("zone-0", 1, *before), *others)
    assert world.state.engine.voters == {"logs-zone-0-0"}
    settled(edited(world, pools=[pool("zone-0", 1, *after), *others]), "0.4.0")
    assert world.state.engine.voters == {"logs-zone-1-0"}
    assert not world.state.engine.voting_exclusions
    assert not status(world)["ledger"]


def test_only_voter_keeps_its_vote_until_another_manager_has_joined() -> None:
    """I1: a pool that loses its vote waits for somebody to leave it to."""
    # Guard: QuorumSafe.
    zone = pool("zone-0", 1, "cluster_manager")
    world = running(*data(2)[:1], zone)
    broken(world, "logs-leaders-0", PodFault.PENDING)
    leaders = pool("leaders", 1, "cluster_manager")
    at_work(edited(world, pools=[*data(2)[:1], {**zone, "roles": ["ingest"]}, leaders]), ticks=20)
    assert world.state.engine.elected is not None
    settled(with_faults(world), "0.4.0")
    assert world.state.engine.voters == {"logs-leaders-0"}


def told_to_begin_with(world: FakeCluster) -> set[str]:
    """The managers that nodes are told to begin a cluster with."""
    wanted = (each["spec"]["containers"][0]["env"] for each in pods(world).values())
    return {each["value"] for env in wanted for each in env if each["name"] == INITIAL_MANAGERS}


def test_new_first_manager_pool_restarts_no_node() -> None:
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


def test_incomplete_cluster_bootstraps_with_the_first_manager_pool() -> None:
    world = broken(asked_for(), "logs-managers-0", PodFault.PENDING)
    at_work(world, ticks=5)
    edited(world, pools=[pool("data", 2, "data"), pool("leaders", 1, "cluster_manager"), MANAGERS])
    at_work(world, ticks=10)
    assert {"logs-leaders-0"} <= told_to_begin_with(world)
