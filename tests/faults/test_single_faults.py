"""One thing goes wrong, at any write: the cluster ends as it would have, and no law is broken on the way."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from operators_at_work import CLUSTER, copied, disturbed, followed, settled
from runs import RELEASE, RUNS, UPGRADE, WAY_BACK, deployed_by, run
from searchkeeper.kubernetes.operations import EngineCall, Patch
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.faults import ENGINE, EVERYTHING, Fault, FaultInjection
from searchkeeper.testing.invariants.checks import leftovers

KINDS = ("SearchCluster", "SearchPool", "StatefulSet", "Pod", "PersistentVolumeClaim", EVERYTHING)
OF_CALLS = (Fault.TOLD_TWICE, Fault.TOLD_LATE)
# For an operator without a memory, a write that was refused is one that it did not live to make.
NOT_MADE = (Fault.UNAVAILABLE, Fault.CONFLICT, Fault.REFUSED)
DIFFERENT = (Fault.CRASH_BEFORE, Fault.CRASH_AFTER, Fault.LOST_RESPONSE, Fault.ENGINE_SILENT)


@pytest.mark.parametrize("fault", DIFFERENT)
@pytest.mark.parametrize("name", RUNS)
def test_a_fault_at_any_write_changes_nothing_about_the_end(name: str, fault: Fault) -> None:
    for at in range(len(run(name).steps)):
        disturbed(run(name), FaultInjection(at, fault))


@pytest.mark.parametrize("fault", NOT_MADE)
def test_whatever_keeps_a_write_from_being_made_is_the_same_to_the_end(fault: Fault) -> None:
    for at in range(len(run(UPGRADE).steps)):
        disturbed(run(UPGRADE), FaultInjection(at, fault))


@pytest.mark.parametrize("name", RUNS)
def test_a_write_that_is_refused_for_a_while_changes_nothing_about_the_end(name: str) -> None:
    """What was noted of it is gone in the end, too."""
    for at in range(len(run(name).steps)):
        disturbed(run(name), FaultInjection(at, Fault.DENIED))


def test_a_storm_of_conflicts_changes_nothing_about_the_end() -> None:
    for at in range(0, len(run(UPGRADE).steps), 4):
        disturbed(run(UPGRADE), FaultInjection(at, Fault.CONFLICT_STORM))


@pytest.mark.parametrize("fault", OF_CALLS)
@pytest.mark.parametrize("name", RUNS)
def test_a_call_that_arrives_late_or_twice_changes_nothing_about_the_end(name: str, fault: Fault) -> None:
    for at, step in enumerate(run(name).steps):
        if isinstance(step.write, EngineCall):
            disturbed(run(name), FaultInjection(at, fault))


@pytest.mark.parametrize("name", [UPGRADE, WAY_BACK])
def test_an_api_server_that_is_away_for_an_hour_costs_that_hour(name: str) -> None:
    """Nothing can be read, nothing written, and the operator has nothing that it could forget."""
    for step in run(name).steps[::3]:
        world = FakeCluster(step.before.state)
        for _ in range(12):
            world.tick(300)
        followed(world, run(name).version, run(name).known)


@pytest.mark.parametrize("name", RUNS)
def test_an_engine_that_answers_from_the_past_changes_nothing_about_the_end(name: str) -> None:
    for at in range(len(run(name).steps)):
        disturbed(run(name), FaultInjection(at, Fault.STALE_READS, ENGINE, (1, 3, 6)[at % 3]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", RUNS[2:])
def test_reads_that_are_behind_change_nothing_about_the_end(name: str, kind: str) -> None:
    for at in range(len(run(name).steps)):
        disturbed(run(name), FaultInjection(at, Fault.STALE_READS, kind, (1, 3)[at % 2]))


def pairs(name: str, count: int) -> Iterator[tuple[FaultInjection, FaultInjection]]:
    """Two faults close to each other; the same ones every time."""
    dice = Random(name)
    for _ in range(count):
        at = dice.randrange(len(run(name).steps))
        one, other = (
            FaultInjection(place, dice.choice(list(Fault)), dice.choice(KINDS), dice.choice((1, 2, 3, 5)))
            for place in (at, at + dice.randrange(1, 8))
        )
        yield one, other


@pytest.mark.parametrize("name", RUNS)
def test_two_faults_close_to_each_other_change_nothing_about_the_end(name: str) -> None:
    for one, other in pairs(name, 25):
        disturbed(run(name), one, other)


def test_what_is_noted_of_a_volume_does_not_outlive_the_roll() -> None:
    """Also where nobody remembers the pod that it was noted for."""
    world = copied(deployed_by(RELEASE))
    ledger = {"roll/wiped": '["data-logs-data-0", "uid-of-old"]'}
    world.patch_status(Patch(CLUSTER, {"status": {"ledger": ledger}}, ""))
    settled(world, RELEASE)
    assert leftovers(world.state, CLUSTER) is None


@pytest.mark.parametrize("name", RUNS)
def test_an_operator_that_is_done_writes_nothing(name: str) -> None:
    this = run(name)
    world = FakeCluster(this.beats[-1].state)
    for _ in range(100):
        assert not reconcile(world, world, CLUSTER, release(this.version), world.state.now).wrote
        world.tick()


@pytest.mark.parametrize("name", RUNS)
def test_every_write_of_the_run_is_one_that_can_be_disturbed(name: str) -> None:
    """Otherwise the others would pass without having tried anything."""
    this = run(name)
    assert len(this.steps) >= 15
    assert {step.write.is_destructive for step in this.steps} >= {False}
    for at in range(len(this.steps)):
        assert this.beat_of(at).operations <= at
