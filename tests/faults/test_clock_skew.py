"""Clocks that jump or differ between operators cause no rollback and no shorter or longer wait."""

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


def requested() -> FakeCluster:
    """An upgrade with a short deadline and automatic rollback."""
    world = asked_for(upgrade={"healthDeadlineSeconds": DEADLINE, "rollback": "Automatic"})
    settled(world, RELEASE)
    settled(with_index(world), RELEASE)
    return edited(world, version=NEW)


@cache
def upgrade() -> Score:
    return score(requested(), RELEASE)


def continue_with_clock(state: FakeClusterState, skew: int) -> Iterator[FakeCluster]:
    """Let another operator continue, whose clock differs by `skew` seconds; yield after each reconcile."""
    world = FakeCluster(state)
    ports, started = InvariantRecorder(world, CLUSTER, release(RELEASE)), state.now + skew
    for _ in range(1000):
        outcome = reconcile(
            ports, ports, CLUSTER, release(RELEASE), world.state.now + skew, observing_since=started
        )
        yield world
        if outcome.converged:
            return
        if not outcome.wrote:
            world.tick()
    raise AssertionError(f"it does not converge: {told(world)}")


@pytest.mark.parametrize("skew", [HOUR, -HOUR])
def test_clock_skew_starts_no_rollback(skew: int) -> None:
    for beat in upgrade().beats[::2]:
        for world in continue_with_clock(beat.state, skew):
            assert "upgrade/return" not in status(world)["ledger"]
            if fingerprint(world.state) in upgrade().known.states:
                break


@pytest.mark.parametrize("skew", [0, HOUR, -HOUR])
def test_deadline_does_not_depend_on_the_clock(skew: int) -> None:
    world = with_faults(requested(), v3_4_0=PodFault.NEVER_READY)
    worked_until(world, RELEASE, lambda w: '"WaitingForPods"' in str(status(w)["ledger"]))
    started = world.state.now
    for each in continue_with_clock(world.state, skew):
        if "upgrade/return" in status(each)["ledger"]:
            break
    assert DEADLINE <= each.state.now - started <= DEADLINE + 100


@pytest.mark.parametrize("skew", [HOUR, -HOUR])
def test_transition_time_is_the_time_of_the_observation(skew: int) -> None:
    before = {each["type"]: each for each in status(FakeCluster(upgrade().beats[20].state))["conditions"]}
    for world in continue_with_clock(upgrade().beats[20].state, skew):
        for each in status(world)["conditions"]:
            previous = before.get(each["type"], {"status": "", "lastTransitionTime": ""})
            is_same = each["status"] == previous["status"]
            expected = previous["lastTransitionTime"] if is_same else format_timestamp(world.state.now + skew)
            assert each["lastTransitionTime"] == expected
            before[each["type"]] = each
    entry = status(world)["upgrade"]["history"][-1]
    assert entry["startedAt"] <= entry["finishedAt"]


def test_engine_settings_are_restored_before_deletion_by_any_clock() -> None:
    """The cluster is deleted, and the next operator has a clock that is an hour ahead."""
    world = worked_until(requested(), RELEASE, lambda w: w.state.engine.allocation is not None)
    world.delete(Delete(CLUSTER, "", ""))
    worked_until(world, RELEASE, lambda w: "deleting" in status(w)["ledger"])
    for each in continue_with_clock(world.state, HOUR):
        if each.get(CLUSTER) is None:
            break
    assert each.state.engine.allocation is None
    assert [event.reason for event in each.state.events] == ["UpgradeStarted"]
