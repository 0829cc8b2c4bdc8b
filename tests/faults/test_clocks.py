"""Clocks that leap, and clocks of two operators that differ by an hour: nobody is taken away by that."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from operators_at_work import (
    CLUSTER,
    Score,
    asked_for,
    edited,
    score,
    settled,
    status,
    told,
    with_faults,
    with_index,
    worked_until,
)
from runs import NEW, RELEASE
from searchkeeper.api.codec import format_timestamp
from searchkeeper.kubernetes.operations import Delete
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fingerprints import fingerprint
from searchkeeper.testing.invariants.recorder import InvariantRecorder

HOUR = 3600
DEADLINE = 600


def wanted() -> FakeCluster:
    """Somebody who has little patience, and wants to be back by himself when it ends."""
    world = asked_for(upgrade={"healthDeadlineSeconds": DEADLINE, "rollback": "Automatic"})
    settled(world, RELEASE)
    settled(with_index(world), RELEASE)
    return edited(world, version=NEW)


@cache
def upgrade() -> Score:
    return score(wanted(), RELEASE)


def by_another_clock(state: FakeClusterState, leap: int) -> Iterator[FakeCluster]:
    """Another operator goes on from here, whose clock differs by that much, cycle by cycle."""
    world = FakeCluster(state)
    ports, began = InvariantRecorder(world, CLUSTER, release(RELEASE)), state.now + leap
    for _ in range(1000):
        done = reconcile(
            ports, ports, CLUSTER, release(RELEASE), world.state.now + leap, observing_since=began
        )
        yield world
        if done.converged:
            return
        if not done.wrote:
            world.tick()
    raise AssertionError(f"there is no end to it: {told(world)}")


@pytest.mark.parametrize("leap", [HOUR, -HOUR])
def test_no_upgrade_turns_back_because_a_clock_leaps(leap: int) -> None:
    for beat in upgrade().beats[::2]:
        for world in by_another_clock(beat.state, leap):
            assert "upgrade/return" not in status(world)["ledger"]
            if fingerprint(world.state) in upgrade().known.states:
                break


@pytest.mark.parametrize("leap", [0, HOUR, -HOUR])
def test_whoever_does_not_come_back_is_waited_for_as_long_by_any_clock(leap: int) -> None:
    world = with_faults(wanted(), v3_4_0=PodFault.NEVER_READY)
    worked_until(world, RELEASE, lambda w: '"PodsComeBack"' in str(status(w)["ledger"]))
    began = world.state.now
    for each in by_another_clock(world.state, leap):
        if "upgrade/return" in status(each)["ledger"]:
            break
    assert DEADLINE <= each.state.now - began <= DEADLINE + 100


@pytest.mark.parametrize("leap", [HOUR, -HOUR])
def test_a_condition_has_the_moment_at_which_it_was_seen_to_change(leap: int) -> None:
    before = {each["type"]: each for each in status(FakeCluster(upgrade().beats[20].state))["conditions"]}
    for world in by_another_clock(upgrade().beats[20].state, leap):
        for each in status(world)["conditions"]:
            earlier = before.get(each["type"], {"status": "", "lastTransitionTime": ""})
            same = each["status"] == earlier["status"]
            expected = earlier["lastTransitionTime"] if same else format_timestamp(world.state.now + leap)
            assert each["lastTransitionTime"] == expected
            before[each["type"]] = each
    over = status(world)["upgrade"]["history"][-1]
    assert over["startedAt"] <= over["finishedAt"]


def test_an_engine_is_tidied_for_as_long_by_any_clock() -> None:
    """Its cluster is deleted, and whoever goes on with that has a clock that is an hour ahead."""
    world = worked_until(wanted(), RELEASE, lambda w: w.state.engine.allocation is not None)
    world.delete(Delete(CLUSTER, "", ""))
    worked_until(world, RELEASE, lambda w: "deleting" in status(w)["ledger"])
    for each in by_another_clock(world.state, HOUR):
        if each.get(CLUSTER) is None:
            break
    assert each.state.engine.allocation is None
    assert [event.reason for event in each.state.events] == ["UpgradeStarted"]
