"""S23, S26, S29: votes, budgets and clusters of two, while nodes go and operators end."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from operators_at_work import CLUSTER, CutOff, copied, edited, pool, score, settled, status
from searchkeeper.embedded.budgets import evict
from searchkeeper.embedded.manifests import value
from searchkeeper.embedded.world import World
from searchkeeper.engine.view import ShardState
from searchkeeper.kube import Unavailable
from searchkeeper.writes import Key, Tell
from tales import NEWEST, away, running, unfolding, until, versions

OLD, NEW = "2.19.4", "3.4.0"
DATA = pool("data", 2, "data")
MANAGERS = {f"managers-{n}" for n in range(3)}


def has_quorum(world: World) -> bool:
    engine = world.state.engine
    return len(engine.voters & engine.names) > len(engine.voters) // 2


@cache
def _moving() -> World:
    """One pool of managers is there, and the other one is wanted in its place."""
    old, new = pool("managers", 3, "cluster_manager"), pool("leaders", 3, "cluster_manager")
    world = running(DATA, old)
    settled(edited(world, pools=[DATA, old, new]), NEWEST)
    return edited(world, pools=[DATA, new])


def test_an_operator_that_ends_while_votes_move_forgets_no_voter() -> None:
    """S23: which votes are on their way is written down before they go."""
    # Guards: settings are noted before they change; whoever leaves has no vote.
    told = [
        at for at, step in enumerate(score(copied(_moving()), NEWEST).steps) if isinstance(step.write, Tell)
    ]
    assert len(told) > 5
    for cut in sorted({*told[::3], *(at + 1 for at in told[::3])}):
        world = copied(_moving())
        with pytest.raises(CutOff):
            settled(world, NEWEST, allowed=cut)
        for _ in range(4):
            world.tick()
        for moment in unfolding(world):
            assert has_quorum(moment)
        assert world.state.engine.voters == {f"logs-leaders-{n}" for n in range(3)}
        assert not world.state.engine.voting_exclusions
        assert not status(world)["ledger"]


def budget(world: World, name: str) -> int:
    found = world.get(Key("policy/v1", "PodDisruptionBudget", CLUSTER.namespace, f"logs-{name}"))
    return int(value(found or {}, "status", "disruptionsAllowed", default=-1))


def key(name: str) -> Key:
    return Key("v1", "Pod", CLUSTER.namespace, f"logs-{name}")


@pytest.mark.parametrize("replicas", [1, 2, 3])
def test_a_budget_never_blocks_the_drain_of_a_machine_for_ever(replicas: int) -> None:
    """S26: at rest one of each pool may go, also of a pool of one, before an upgrade and after it."""
    world = running(DATA, pool("managers", replicas, "cluster_manager"))
    for version in (OLD, NEW):
        settled(edited(world, version=version), NEWEST)
        world.tick()
        assert [budget(world, "data"), budget(world, "managers")] == [1, 1]


def test_nobody_is_evicted_beside_the_pod_that_is_away() -> None:
    """S26: a budget restrains those who drain machines."""
    world = edited(running(), version=NEW)
    until(lambda world: len(away(world, MANAGERS)) == 1, world)
    world.tick()
    for name in sorted(MANAGERS - away(world, MANAGERS)):
        with pytest.raises(Unavailable, match="allows no disruption"):
            evict(world.state.cluster, key(name), now=world.state.now)


def test_no_pod_is_replaced_beside_one_that_was_evicted() -> None:
    """S26: no budget restrains a deletion, so the operator looks for itself, in every pool."""
    # Guard: PodsReady.
    world = edited(running(), version=NEW)
    until(lambda world: status(world)["upgrade"].get("pool") == "data", world)
    until(lambda world: not away(world, {"data-0", "data-1"}), world)
    evicted = evict(world.state.cluster, key("managers-1"), now=world.state.now)
    world.state = replace(world.state, cluster=evicted)
    for moment in unfolding(world):
        if "managers-1" not in away(moment, MANAGERS):
            break
        assert not away(moment, {"data-0", "data-1", "managers-0", "managers-2"})
    settled(world, NEWEST)
    assert set(versions(world).values()) == {NEW}


@pytest.mark.parametrize("target", ["2.19.5", NEW])
@pytest.mark.parametrize("pools", ["both roles", "apart"])
def test_a_cluster_of_two_is_upgraded_and_hands_its_lead_over(target: str, pools: str) -> None:
    """S29: one goes, the other one leads and has every document; then they change places."""
    # Guard: the only vote moves to the other manager before its owner goes.
    both = (pool("all", 2, "data", "cluster_manager"),)
    world = running(*(both if pools == "both roles" else (DATA, pool("managers", 2, "cluster_manager"))))
    leaders = set()
    for moment in unfolding(edited(world, version=target)):
        elected = moment.state.engine.elected
        assert elected is not None
        leaders.add(elected.name)
        assert all(each.state is ShardState.STARTED for each in moment.state.engine.copies if each.is_primary)
    assert len(leaders) == 2
    assert {node.version for node in world.state.engine.nodes} == {target}
    assert not world.state.engine.voting_exclusions
    assert not status(world)["ledger"]
