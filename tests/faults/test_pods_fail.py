"""Pods die, fail and lose their disks, in any pool, at any moment of an upgrade."""

from __future__ import annotations

from itertools import product

import pytest

from operators_at_work import (
    CLUSTER,
    Score,
    copied,
    followed,
    running,
    with_faults,
    worked,
)
from runs import PODS, RELEASE, UPGRADE, run
from searchkeeper.embedded.kubelet import Fault
from searchkeeper.embedded.world import State, World
from searchkeeper.engine.embedded import look
from searchkeeper.engine.view import Color, EngineView
from searchkeeper.images import version_in
from searchkeeper.proof.faults import killed, without_volume
from searchkeeper.writes import Key


def upgrade() -> Score:
    return run(UPGRADE)


def key(pod: str) -> Key:
    return Key("v1", "Pod", CLUSTER.namespace, pod)


def is_green(state: State) -> bool:
    seen = look(state.engine)
    return isinstance(seen, EngineView) and seen.color is Color.GREEN


@pytest.mark.parametrize("pod", PODS)
def test_a_pod_that_dies_at_any_moment_delays_the_upgrade_and_nothing_else(pod: str) -> None:
    for beat in upgrade().beats:
        followed(World(killed(beat.state, key(pod))), RELEASE, upgrade().known)


@pytest.mark.parametrize("pod", PODS)
def test_a_node_that_loses_its_disk_while_there_are_other_copies_comes_back(pod: str) -> None:
    tried = [beat for beat in upgrade().beats if is_green(beat.state)]
    assert len(tried) > 20
    for beat in tried:
        followed(World(without_volume(beat.state, key(pod))), RELEASE, upgrade().known)


@pytest.mark.parametrize("pod", PODS)
def test_a_pod_of_a_pool_whose_turn_has_not_come_returns_as_it_was(pod: str) -> None:
    """S15: whatever evicts it, it comes back on the version that its pool is permitted."""
    for beat in upgrade().beats:
        world = World(killed(beat.state, key(pod)))
        world.tick()
        world.tick()
        pool = world.get(Key(CLUSTER.api, "SearchPool", CLUSTER.namespace, pod.rpartition("-")[0]))
        found = world.get(key(pod))
        assert pool is not None
        assert found is not None
        deployed = version_in(found["spec"]["containers"][0]["image"])
        assert deployed in ("2.19.4", pool["spec"]["engineVersion"])
        if "2.19.4" in (running(World(beat.state)).get("data-0"), running(World(beat.state)).get("data-1")):
            assert deployed == "2.19.4" or "data" in pod


@pytest.mark.parametrize(("fault", "pod"), [*product(Fault, ("logs-data-1", "logs-managers-1"))])
def test_a_pod_that_fails_for_a_while_at_any_moment_is_waited_for(fault: Fault, pod: str) -> None:
    for beat in upgrade().beats[::4]:
        world = with_faults(World(beat.state), **{pod.replace("-", "_"): fault})
        worked(world, RELEASE, ticks=8)
        followed(with_faults(world), RELEASE, upgrade().known)


def test_two_managers_that_die_at_once_stop_everything_until_they_are_back() -> None:
    for beat in upgrade().beats[::4]:
        state = killed(killed(beat.state, key("logs-managers-0")), key("logs-managers-1"))
        followed(World(state), RELEASE, upgrade().known)


def test_all_pods_that_die_at_once_find_each_other_again() -> None:
    """S13: who waits for others to be ready before it gets ready waits for ever."""
    state = copied(World(upgrade().beats[0].state)).state
    for pod in PODS:
        state = killed(state, key(pod))
    world = World(state)
    followed(world, RELEASE, upgrade().known)
    assert len(running(world)) in (0, len(PODS))
