"""One fault at any write before an upgrade starts: it starts after exactly one snapshot that succeeded."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from operators_at_work import CLUSTER, asked_for, edited, looked, settled, status, with_index
from runs import NEW, RELEASE
from searchkeeper.opensearch.details import SnapshotState
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.faults import ENGINE, EVERYTHING, Fault, FaultInjection, FaultyPorts
from searchkeeper.testing.invariants.recorder import InvariantRecorder

_LIMIT = 300
FAULTS = [
    *((fault, "") for fault in Fault if fault is not Fault.STALE_READS),
    *((Fault.STALE_READS, kind) for kind in ("SearchCluster", ENGINE, EVERYTHING)),
]


@cache
def upgrade_with_snapshot() -> FakeClusterState:
    """A cluster with a snapshot repository whose upgrade has just been requested."""
    world = asked_for(upgrade={"snapshotRepository": "nightly", "healthDeadlineSeconds": 3600})
    settled(world, RELEASE)
    with_index(world)
    settled(world, RELEASE)
    engine = replace(world.state.engine, repositories=frozenset({"nightly"}))
    world.state = replace(world.state, engine=engine)
    return edited(world, version=NEW).state


def start(injection: FaultInjection) -> tuple[FakeCluster, int]:
    """Run until the upgrade has started; return the cluster, and how many writes that took."""
    world = FakeCluster(upgrade_with_snapshot())
    recorder = InvariantRecorder(world, CLUSTER, release(RELEASE))
    ports = FaultyPorts(recorder, lambda: world.state, injection)
    for _ in range(_LIMIT):
        outcome = looked(ports, world, RELEASE)
        if "upgrade/lock" in status(world).get("ledger", {}):
            return world, ports.operations
        if outcome is None or not outcome.wrote:
            world.tick()
    raise AssertionError("the upgrade does not start")


@pytest.mark.parametrize(("fault", "kind"), FAULTS)
def test_fault_before_the_start_does_not_change_the_snapshot(fault: Fault, kind: str) -> None:
    world, writes = start(FaultInjection(_LIMIT, fault))
    expected = world.state.engine.snapshots
    assert [each.state for each in expected] == [SnapshotState.SUCCESS]
    for at in range(writes):
        world, _ = start(FaultInjection(at, fault, kind))
        assert world.state.engine.snapshots == expected, f"{fault} at write {at}"
