"""Two operators that no Lease keeps apart: every single write is safe by itself, whenever it arrives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest

from operators_at_work import (
    CLUSTER,
    SMALL,
    Score,
    asked_for,
    cycled,
    edited,
    followed,
    looked,
    pool,
    settled,
    summary,
    told,
)
from runs import RELEASE, RUNS, UPGRADE, WAY_BACK, run
from searchkeeper.kubernetes.operations import EngineCall
from searchkeeper.reconcile import ReconcileOutcome
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.invariants.checks import leftovers
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tales import kinds, running, unfolding
from turns import Paused, Player

# How many cycles the other one has made when a write arrives.
DELAYS = (1, 3, 9)


class Asleep(Exception):
    """The operator stands still before a write."""


def recording(world: FakeCluster, version: str) -> InvariantRecorder:
    return InvariantRecorder(world, CLUSTER, release(version))


def interrupted(world: FakeCluster, version: str, at: int, meanwhile: Callable[[], None]) -> None:
    """One cycle, before whose write of this number something else happens."""
    pauses = iter(range(10**6))
    paused = Paused(recording(world, version), lambda: meanwhile() if next(pauses) == at else None)
    looked(paused, world, version)


def waking(this: Score) -> Iterator[tuple[FakeClusterState, int, FakeClusterState]]:
    """Every write before which it may fall asleep: the world as its cycle began, which one, and the world."""
    for beat in this.beats:
        for at in range(100):
            world = FakeCluster(beat.state)

            def asleep() -> None:
                raise Asleep

            try:
                interrupted(world, this.version, at, asleep)
            except Asleep:
                yield beat.state, at, world.state
            else:
                break


def taken_over(state: FakeClusterState, version: str) -> Iterator[FakeClusterState]:
    """How the other operator goes on, cycle by cycle."""
    world = FakeCluster(state)
    ports = recording(world, version)
    for _ in range(max(DELAYS)):
        done = looked(ports, world, version)
        if done is None or not done.wrote:
            world.tick()
        yield world.state


@pytest.mark.parametrize("name", ["0.3.1 → 0.4.0", UPGRADE, WAY_BACK])
def test_a_write_that_comes_late_is_refused_or_changes_nothing_about_the_end(name: str) -> None:
    this, carried_out = run(name), 0
    for began, at, then in waking(this):
        for delay, later in enumerate(taken_over(then, this.version), 1):
            if delay not in DELAYS:
                continue
            world = FakeCluster(began)
            interrupted(world, this.version, at, lambda: setattr(world, "state", later))  # noqa: B023
            if world.state is not later:
                carried_out += 1
                followed(world, this.version, this.known)
    assert carried_out


def playing(world: FakeCluster, version: str, done: list[ReconcileOutcome | None]) -> Player:
    """An operator that never stops looking; what its cycles came to is in `done`."""

    def play(pause: Callable[[], None]) -> None:
        ports = Paused(recording(world, version), pause)
        while True:
            pause()
            done.append(looked(ports, world, version))

    return Player(play)


def duet(state: FakeClusterState, version: str, dice: Random) -> FakeCluster:
    """Two operators take turns, write by write, until both find nothing to do."""
    world = FakeCluster(state)
    both: tuple[list[ReconcileOutcome | None], ...] = ([], [])
    players = [playing(world, version, done) for done in both]
    try:
        for _ in range(4000):
            turns = dice.choice((1, 1, 1, 2, 5))
            player = dice.choice(players)
            for _ in range(turns):
                player.active_pool()
            if dice.random() < 0.25:
                world.tick()
            if all(len(done) > 3 and all(each and each.converged for each in done[-3:]) for done in both):
                return world
    finally:
        for player in players:
            player.end()
    raise AssertionError(f"they come to no end: {told(world)}")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", RUNS)
def test_two_who_write_at_the_same_time_come_to_the_same_end(name: str, seed: int) -> None:
    this, dice = run(name), Random(f"{name} {seed}")
    world = duet(dice.choice(this.beats).state, this.version, dice)
    assert leftovers(world.state, CLUSTER) is None
    assert summary(world.state) == this.known.end


def test_the_engine_is_not_told_what_has_long_been_undone() -> None:
    """The other one has finished the whole upgrade meanwhile."""
    this = run(UPGRADE)
    number = next(n for n, step in enumerate(this.steps) if isinstance(step.write, EngineCall))
    beat, finished = this.beat_of(number), this.beats[-1].state
    for at in range(number - beat.operations + 1):
        world = FakeCluster(beat.state)
        interrupted(world, RELEASE, at, lambda: setattr(world, "state", finished))  # noqa: B023
        has_slept = world.state.now == finished.now
        assert not has_slept or world.state.engine.allocation is None


def test_nothing_is_made_that_was_only_wanted_yesterday() -> None:
    """The other one has seen meanwhile that nobody wants the pool any more, and has put it away."""
    world, slept = edited(running(), pools=[*SMALL, pool("extra", 1, "ingest")]), 0
    for moment in unfolding(world):
        began = moment.state
        for at in range(100):
            late, left = FakeCluster(began), list[FakeClusterState]()

            def put_away() -> None:
                settled(edited(late, pools=list(SMALL)), RELEASE)  # noqa: B023
                left.append(late.state)  # noqa: B023

            interrupted(late, RELEASE, at, put_away)
            if not left:
                break
            assert late.state is left[0]
            slept += 1
    assert slept > 5


def test_what_a_plan_has_changed_about_its_own_resource_is_no_conflict() -> None:
    """A new cluster gets its finalizer, and what comes after that in the same plan is made all the same."""
    world = asked_for()
    cycled(recording(world, RELEASE), world, RELEASE)
    found = world.get(CLUSTER)
    assert found is not None
    assert found["metadata"]["finalizers"]
    assert {"ConfigMap", "Service", "SearchPool"} <= set(kinds(world))


def test_who_is_only_late_takes_nobody_without_anybodys_knowing() -> None:
    """The other one has found the pod still there, is to take nobody, and expects nobody to go any more."""
    this = run(UPGRADE)
    beat, at = next(
        (this.beat_of(number), number - this.beat_of(number).operations)
        for number, step in enumerate(this.steps)
        if step.deleted_pod is not None
    )
    world = FakeCluster(beat.state)

    def spares() -> None:
        ports = recording(edited(world, upgrade={"paused": True}), RELEASE)
        for _ in range(10):
            looked(ports, world, RELEASE)
        assert "roll/away" not in str(world.get(CLUSTER))

    interrupted(world, RELEASE, at, spares)

    assert not [
        key for key, each in world.state.cluster.objects.items() if "deletionTimestamp" in each["metadata"]
    ]
