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
from searchkeeper.images import image_version
from searchkeeper.kubernetes.operations import Key
from searchkeeper.opensearch.view import Color, EngineView
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_opensearch import get_state
from searchkeeper.testing.faults import kill_pod, kill_pod_and_volume


def upgrade() -> Score:
    return run(UPGRADE)


def key(pod: str) -> Key:
    return Key("v1", "Pod", CLUSTER.namespace, pod)


def is_green(state: FakeClusterState) -> bool:
    snapshot = get_state(state.engine)
    return isinstance(snapshot, EngineView) and snapshot.color is Color.GREEN


@pytest.mark.parametrize("pod", PODS)
def test_a_pod_that_dies_at_any_moment_delays_the_upgrade_and_nothing_else(pod: str) -> None:
    for beat in upgrade().beats:
        followed(FakeCluster(kill_pod(beat.state, key(pod))), RELEASE, upgrade().known)


@pytest.mark.parametrize("pod", PODS)
def test_a_node_that_loses_its_disk_while_there_are_other_copies_comes_back(pod: str) -> None:
    tried = [beat for beat in upgrade().beats if is_green(beat.state)]
    assert len(tried) > 20
    for beat in tried:
        followed(FakeCluster(kill_pod_and_volume(beat.state, key(pod))), RELEASE, upgrade().known)


@pytest.mark.parametrize("pod", PODS)
def test_a_pod_of_a_pool_whose_turn_has_not_come_returns_as_it_was(pod: str) -> None:
    """S15: whatever evicts it, it comes back on the version that its pool is permitted."""
    for beat in upgrade().beats:
        world = FakeCluster(kill_pod(beat.state, key(pod)))
        world.tick()
        world.tick()
        pool = world.get(Key(CLUSTER.api, "SearchPool", CLUSTER.namespace, pod.rpartition("-")[0]))
        found = world.get(key(pod))
        assert pool is not None
        assert found is not None
        deployed = image_version(found["spec"]["containers"][0]["image"])
        assert deployed in ("2.19.4", pool["spec"]["engineVersion"])
        if "2.19.4" in (
            running(FakeCluster(beat.state)).get("data-0"),
            running(FakeCluster(beat.state)).get("data-1"),
        ):
            assert deployed == "2.19.4" or "data" in pod


@pytest.mark.parametrize(("fault", "pod"), [*product(PodFault, ("logs-data-1", "logs-managers-1"))])
def test_a_pod_that_fails_for_a_while_at_any_moment_is_waited_for(fault: PodFault, pod: str) -> None:
    for beat in upgrade().beats[::4]:
        world = with_faults(FakeCluster(beat.state), **{pod.replace("-", "_"): fault})
        worked(world, RELEASE, ticks=8)
        followed(with_faults(world), RELEASE, upgrade().known)


def test_two_managers_that_die_at_once_stop_everything_until_they_are_back() -> None:
    for beat in upgrade().beats[::4]:
        state = kill_pod(kill_pod(beat.state, key("logs-managers-0")), key("logs-managers-1"))
        followed(FakeCluster(state), RELEASE, upgrade().known)


def test_all_pods_that_die_at_once_find_each_other_again() -> None:
    """S13: who waits for others to be ready before it gets ready waits for ever."""
    state = copied(FakeCluster(upgrade().beats[0].state)).state
    for pod in PODS:
        state = kill_pod(state, key(pod))
    world = FakeCluster(state)
    followed(world, RELEASE, upgrade().known)
    assert len(running(world)) in (0, len(PODS))
