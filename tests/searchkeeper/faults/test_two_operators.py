"""Two operators without a Lease: every write is safe by itself, whenever it is executed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest

from searchkeeper.kubernetes.operations import EngineCall
from searchkeeper.reconcile import ReconcileOutcome
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.invariants.checks import leftovers
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tests.support.searchkeeper.fault_runs import ROLLBACK, RUNS, UPGRADE, run
from tests.support.searchkeeper.interleaving import OperatorThread, PausingPorts
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    SMALL,
    RecordedRun,
    deployed_state,
    edit_spec,
    new_cluster,
    pool,
    reconcile_once,
    reconcile_steps,
    reconcile_until_converged,
    run_to_known_end,
    try_reconcile,
    unmet_conditions,
)
from tests.support.searchkeeper.operator_scenarios import object_kinds, running_cluster

# How many reconciles the other operator has done when the delayed write is executed.
DELAYS = (1, 3, 9)


class Stopped(Exception):
    """The operator stops before a write."""


def recorder(cluster: FakeCluster, version: str) -> InvariantRecorder:
    return InvariantRecorder(cluster, CLUSTER, release(version))


def reconcile_with_interruption(
    cluster: FakeCluster, version: str, at: int, interrupt: Callable[[], None]
) -> None:
    """Reconcile once, and call `interrupt` before the write with this number."""
    numbers = iter(range(10**6))
    ports = PausingPorts(recorder(cluster, version), lambda: interrupt() if next(numbers) == at else None)
    try_reconcile(ports, cluster, version)


def interruptions(recorded: RecordedRun) -> Iterator[tuple[FakeClusterState, int, FakeClusterState]]:
    """Yield every write: the state at the start of its reconcile, its number, the state before it."""
    for start in recorded.starts:
        for at in range(100):
            cluster = FakeCluster(start.state)

            def stop() -> None:
                raise Stopped

            try:
                reconcile_with_interruption(cluster, recorded.version, at, stop)
            except Stopped:
                yield start.state, at, cluster.state
            else:
                break


def continue_with_other_operator(state: FakeClusterState, version: str) -> Iterator[FakeClusterState]:
    """Yield the state after each reconcile of the other operator."""
    cluster = FakeCluster(state)
    ports = recorder(cluster, version)
    for _ in range(max(DELAYS)):
        outcome = try_reconcile(ports, cluster, version)
        if outcome is None or not outcome.wrote:
            cluster.tick()
        yield cluster.state


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("name", ["0.3.1 → 0.4.0", UPGRADE, ROLLBACK])
def test_delayed_write_conflicts_or_does_not_change_the_result(name: str) -> None:
    recorded, executed = run(name), 0
    for start, at, before in interruptions(recorded):
        for delay, later in enumerate(continue_with_other_operator(before, recorded.version), 1):
            if delay not in DELAYS:
                continue
            cluster = FakeCluster(start)
            reconcile_with_interruption(
                cluster,
                recorded.version,
                at,
                lambda: setattr(cluster, "state", later),  # noqa: B023
            )
            if cluster.state is not later:
                executed += 1
                run_to_known_end(cluster, recorded.version, recorded.known)
    assert executed


def start_operator(
    cluster: FakeCluster, version: str, outcomes: list[ReconcileOutcome | None]
) -> OperatorThread:
    """Start an operator that reconciles until it is stopped, and appends to `outcomes`."""

    def operate(pause: Callable[[], None]) -> None:
        ports = PausingPorts(recorder(cluster, version), pause)
        while True:
            pause()
            outcomes.append(try_reconcile(ports, cluster, version))

    return OperatorThread(operate)


def run_two_operators(state: FakeClusterState, version: str, random: Random) -> FakeCluster:
    """Interleave the writes of two operators at random until both have converged."""
    cluster = FakeCluster(state)
    both: tuple[list[ReconcileOutcome | None], ...] = ([], [])
    operators = [start_operator(cluster, version, outcomes) for outcomes in both]
    try:
        for _ in range(4000):
            writes = random.choice((1, 1, 1, 2, 5))
            operator = random.choice(operators)
            for _ in range(writes):
                operator.run_to_next_pause()
            if random.random() < 0.25:
                cluster.tick()
            if all(len(done) > 3 and all(last and last.converged for last in done[-3:]) for done in both):
                return cluster
    finally:
        for operator in operators:
            operator.stop()
    raise AssertionError(f"they do not converge: {unmet_conditions(cluster)}")


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", RUNS)
def test_concurrent_operators_converge_to_the_same_state(name: str, seed: int) -> None:
    recorded, random = run(name), Random(f"{name} {seed}")
    cluster = run_two_operators(random.choice(recorded.starts).state, recorded.version, random)
    assert leftovers(cluster.state, CLUSTER) is None
    assert deployed_state(cluster.state) == recorded.known.end


def test_delayed_engine_call_is_not_executed_after_the_upgrade() -> None:
    """The other operator has finished the upgrade in the meantime."""
    recorded = run(UPGRADE)
    number = next(n for n, step in enumerate(recorded.transitions) if isinstance(step.write, EngineCall))
    start, finished = recorded.start_before(number), recorded.starts[-1].state
    for at in range(number - start.writes_before + 1):
        cluster = FakeCluster(start.state)
        reconcile_with_interruption(cluster, NEWEST, at, lambda: setattr(cluster, "state", finished))  # noqa: B023
        was_interrupted = cluster.state.now == finished.now
        assert not was_interrupted or cluster.state.engine.allocation is None


def test_delayed_create_is_not_executed_after_the_pool_was_removed() -> None:
    """The other operator has removed the pool, which is no longer in the spec."""
    cluster, interrupted = edit_spec(running_cluster(), pools=[*SMALL, pool("extra", 1, "ingest")]), 0
    for current in reconcile_steps(cluster):
        start = current.state
        for at in range(100):
            late, removed = FakeCluster(start), list[FakeClusterState]()

            def remove_pool() -> None:
                reconcile_until_converged(edit_spec(late, pools=list(SMALL)))  # noqa: B023
                removed.append(late.state)  # noqa: B023

            reconcile_with_interruption(late, NEWEST, at, remove_pool)
            if not removed:
                break
            assert late.state is removed[0]
            interrupted += 1
    assert interrupted > 5


def test_write_to_its_own_resource_is_no_conflict_for_the_rest_of_the_plan() -> None:
    """A new cluster gets its finalizer, and the same plan creates its objects."""
    cluster = new_cluster()
    reconcile_once(recorder(cluster, NEWEST), cluster, NEWEST)
    resource = cluster.get(CLUSTER)
    assert resource is not None
    assert resource["metadata"]["finalizers"]
    assert {"ConfigMap", "Service", "SearchPool"} <= set(object_kinds(cluster))


def test_delayed_delete_conflicts_after_it_was_cancelled() -> None:
    """The upgrade is paused, and the other operator has cancelled the pending delete."""
    recorded = run(UPGRADE)
    start, at = next(
        (recorded.start_before(number), number - recorded.start_before(number).writes_before)
        for number, step in enumerate(recorded.transitions)
        if step.deleted_pod is not None
    )
    cluster = FakeCluster(start.state)

    def cancel() -> None:
        ports = recorder(edit_spec(cluster, upgrade={"paused": True}), NEWEST)
        for _ in range(10):
            try_reconcile(ports, cluster, NEWEST)
        assert "roll/away" not in str(cluster.get(CLUSTER))

    reconcile_with_interruption(cluster, NEWEST, at, cancel)

    assert not [
        key for key, each in cluster.state.cluster.objects.items() if "deletionTimestamp" in each["metadata"]
    ]
