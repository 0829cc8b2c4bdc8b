"""One thing goes wrong, at any write: the cluster ends as it would have, and no law is broken on the way."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

import pytest

from operators_at_work import (
    CLUSTER,
    Score,
    asked_for,
    copied,
    disturbed,
    edited,
    running,
    score,
    settled,
    with_index,
    worked_until,
)
from searchkeeper.embedded.world import World
from searchkeeper.loop import cycle
from searchkeeper.proof.faults import Disturbance, Fault
from searchkeeper.releases import release

OLD, NEW = "2.19.4", "3.4.0"
RELEASE = "0.4.0"
KINDS = ("SearchCluster", "SearchPool", "StatefulSet", "Pod", "PersistentVolumeClaim")
# The migrations from configuration 1 to 2, 3 and 4; an engine upgrade; and the way back from one.
RUNS = ("0.1.1 → 0.2.0", "0.2.0 → 0.3.1", "0.3.1 → 0.4.0", "2.19.4 → 3.4.0", "3.4.0 → 2.19.4")


@cache
def deployed_by(version: str) -> World:
    """Two data nodes with documents, three managers."""
    world = asked_for(upgrade={"healthDeadlineSeconds": 3600})
    settled(world, version)
    with_index(world)
    settled(world, version)
    return world


@cache
def run(name: str) -> Score:
    before, _, after = name.partition(" → ")
    if before.startswith("0."):
        return score(copied(deployed_by(before)), after)
    world = edited(copied(deployed_by(RELEASE)), version=NEW)
    if before == NEW:
        worked_until(world, RELEASE, lambda w: NEW in running(w).values())
        edited(world, version=OLD)
    return score(world, RELEASE)


@pytest.mark.parametrize("fault", [each for each in Fault if each is not Fault.STALE_READS])
@pytest.mark.parametrize("name", RUNS)
def test_a_fault_at_any_write_changes_nothing_about_the_end(name: str, fault: Fault) -> None:
    for at in range(len(run(name).steps)):
        disturbed(run(name), Disturbance(at, fault))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", RUNS)
def test_reads_that_are_behind_change_nothing_about_the_end(name: str, kind: str) -> None:
    for back in (1, 3):
        for at in range(len(run(name).steps)):
            disturbed(run(name), Disturbance(at, Fault.STALE_READS, kind, back))


def pairs(name: str, count: int) -> Iterator[tuple[Disturbance, Disturbance]]:
    """Two faults close to each other; the same ones every time."""
    dice = Random(name)
    for _ in range(count):
        at = dice.randrange(len(run(name).steps))
        one, other = (
            Disturbance(place, dice.choice(list(Fault)), dice.choice(KINDS), dice.choice((1, 2, 3, 5)))
            for place in (at, at + dice.randrange(1, 8))
        )
        yield one, other


@pytest.mark.parametrize("name", RUNS)
def test_two_faults_close_to_each_other_change_nothing_about_the_end(name: str) -> None:
    for one, other in pairs(name, 100):
        disturbed(run(name), one, other)


def test_what_is_noted_of_a_volume_does_not_outlive_the_roll() -> None:
    """The pod is seen as it was before it went, so that nobody remembers that it is away."""
    behind = Disturbance(25, Fault.STALE_READS, "Pod", 5)
    disturbed(run("3.4.0 → 2.19.4"), Disturbance(26, Fault.ENGINE_SILENT), behind)


@pytest.mark.parametrize("name", RUNS)
def test_an_operator_that_is_done_writes_nothing(name: str) -> None:
    this = run(name)
    world = World(this.beats[-1].state)
    for _ in range(100):
        assert not cycle(world, world, CLUSTER, release(this.version), world.state.now).wrote
        world.tick()


@pytest.mark.parametrize("name", RUNS)
def test_every_write_of_the_run_is_one_that_can_be_disturbed(name: str) -> None:
    """Otherwise the others would pass without having tried anything."""
    this = run(name)
    assert len(this.steps) >= 15
    assert {step.write.is_destructive for step in this.steps} >= {False}
    for at in range(len(this.steps)):
        assert this.beat_of(at).writes <= at
