"""Two operators without a Lease: every write is safe by itself, whenever it is executed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest

from interleaving import OperatorThread, PausingPorts
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
from runs import RELEASE, ROLLBACK, RUNS, UPGRADE, run
from searchkeeper.kubernetes.operations import EngineCall
from searchkeeper.reconcile import ReconcileOutcome
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.invariants.checks import leftovers
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tales import kinds, running, unfolding

# How many reconciles the other operator has done when the delayed write is executed.
DELAYS = (1, 3, 9)


class Stopped(Exception):
    """The operator stops before a write."""


def recorder(world: FakeCluster, version: str) -> InvariantRecorder:
    return InvariantRecorder(world, CLUSTER, release(version))


def reconcile_with_interruption(
    world: FakeCluster, version: str, at: int, interrupt: Callable[[], None]
) -> None:
    """Reconcile once, and call `interrupt` before the write with this number."""
    numbers = iter(range(10**6))
    ports = PausingPorts(recorder(world, version), lambda: interrupt() if next(numbers) == at else None)
    looked(ports, world, version)


def interruptions(score: Score) -> Iterator[tuple[FakeClusterState, int, FakeClusterState]]:
    """Yield every write: the state at the start of its reconcile, its number, the state before it."""
    for beat in score.beats:
        for at in range(100):
            world = FakeCluster(beat.state)

            def stop() -> None:
                raise Stopped

            try:
                reconcile_with_interruption(world, score.version, at, stop)
            except Stopped:
                yield beat.state, at, world.state
            else:
                break


def continue_with_other_operator(state: FakeClusterState, version: str) -> Iterator[FakeClusterState]:
    """Yield the state after each reconcile of the other operator."""
    world = FakeCluster(state)
    ports = recorder(world, version)
    for _ in range(max(DELAYS)):
        outcome = looked(ports, world, version)
        if outcome is None or not outcome.wrote:
            world.tick()
        yield world.state


@pytest.mark.parametrize("name", ["0.3.1 → 0.4.0", UPGRADE, ROLLBACK])
def test_delayed_write_conflicts_or_does_not_change_the_result(name: str) -> None:
    score, executed = run(name), 0
    for start, at, before in interruptions(score):
        for delay, later in enumerate(continue_with_other_operator(before, score.version), 1):
            if delay not in DELAYS:
                continue
            world = FakeCluster(start)
            reconcile_with_interruption(world, score.version, at, lambda: setattr(world, "state", later))  # noqa: B023
            if world.state is not later:
                executed += 1
                followed(world, score.version, score.known)
    assert executed


def start_operator(
    world: FakeCluster, version: str, outcomes: list[ReconcileOutcome | None]
) -> OperatorThread:
    """Start an operator that reconciles until it is stopped, and appends to `outcomes`."""

    def operate(pause: Callable[[], None]) -> None:
        ports = PausingPorts(recorder(world, version), pause)
        while True:
            pause()
            outcomes.append(looked(ports, world, version))

    return OperatorThread(operate)


def run_two_operators(state: FakeClusterState, version: str, random: Random) -> FakeCluster:
    """Interleave the writes of two operators at random until both have converged."""
    world = FakeCluster(state)
    both: tuple[list[ReconcileOutcome | None], ...] = ([], [])
    operators = [start_operator(world, version, outcomes) for outcomes in both]
    try:
        for _ in range(4000):
            writes = random.choice((1, 1, 1, 2, 5))
            operator = random.choice(operators)
            for _ in range(writes):
                operator.run_to_next_pause()
            if random.random() < 0.25:
                world.tick()
            if all(len(done) > 3 and all(last and last.converged for last in done[-3:]) for done in both):
                return world
    finally:
        for operator in operators:
            operator.stop()
    raise AssertionError(f"they do not converge: {told(world)}")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", RUNS)
def test_concurrent_operators_converge_to_the_same_state(name: str, seed: int) -> None:
    score, random = run(name), Random(f"{name} {seed}")
    world = run_two_operators(random.choice(score.beats).state, score.version, random)
    assert leftovers(world.state, CLUSTER) is None
    assert summary(world.state) == score.known.end


def test_delayed_engine_call_is_not_executed_after_the_upgrade() -> None:
    """The other operator has finished the upgrade in the meantime."""
    score = run(UPGRADE)
    number = next(n for n, step in enumerate(score.steps) if isinstance(step.write, EngineCall))
    beat, finished = score.beat_of(number), score.beats[-1].state
    for at in range(number - beat.operations + 1):
        world = FakeCluster(beat.state)
        reconcile_with_interruption(world, RELEASE, at, lambda: setattr(world, "state", finished))  # noqa: B023
        was_interrupted = world.state.now == finished.now
        assert not was_interrupted or world.state.engine.allocation is None


def test_delayed_create_is_not_executed_after_the_pool_was_removed() -> None:
    """The other operator has removed the pool, which is no longer in the spec."""
    world, interrupted = edited(running(), pools=[*SMALL, pool("extra", 1, "ingest")]), 0
    for moment in unfolding(world):
        start = moment.state
        for at in range(100):
            late, removed = FakeCluster(start), list[FakeClusterState]()

            def remove_pool() -> None:
                settled(edited(late, pools=list(SMALL)), RELEASE)  # noqa: B023
                removed.append(late.state)  # noqa: B023

            reconcile_with_interruption(late, RELEASE, at, remove_pool)
            if not removed:
                break
            assert late.state is removed[0]
            interrupted += 1
    assert interrupted > 5


def test_write_to_its_own_resource_is_no_conflict_for_the_rest_of_the_plan() -> None:
    """A new cluster gets its finalizer, and the same plan creates its objects."""
    world = asked_for()
    cycled(recorder(world, RELEASE), world, RELEASE)
    cluster = world.get(CLUSTER)
    assert cluster is not None
    assert cluster["metadata"]["finalizers"]
    assert {"ConfigMap", "Service", "SearchPool"} <= set(kinds(world))


def test_delayed_delete_conflicts_after_it_was_cancelled() -> None:
    """The upgrade is paused, and the other operator has cancelled the pending delete."""
    score = run(UPGRADE)
    beat, at = next(
        (score.beat_of(number), number - score.beat_of(number).operations)
        for number, step in enumerate(score.steps)
        if step.deleted_pod is not None
    )
    world = FakeCluster(beat.state)

    def cancel() -> None:
        ports = recorder(edited(world, upgrade={"paused": True}), RELEASE)
        for _ in range(10):
            looked(ports, world, RELEASE)
        assert "roll/away" not in str(world.get(CLUSTER))

    reconcile_with_interruption(world, RELEASE, at, cancel)

    assert not [
        key for key, each in world.state.cluster.objects.items() if "deletionTimestamp" in each["metadata"]
    ]
