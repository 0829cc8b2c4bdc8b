"""One fault at any write before an upgrade starts: it starts after exactly one snapshot that succeeded."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from searchkeeper.opensearch.details import SnapshotState
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.faults import ENGINE, EVERYTHING, Fault, FaultInjection, FaultyPorts
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tests.support.searchkeeper.fault_runs import NEW
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    add_index,
    edit_spec,
    new_cluster,
    reconcile_until_converged,
    status,
    try_reconcile,
)

_LIMIT = 300
FAULTS = [
    *((fault, "") for fault in Fault if fault is not Fault.STALE_READS),
    *((Fault.STALE_READS, kind) for kind in ("SearchCluster", ENGINE, EVERYTHING)),
]


@cache
def upgrade_with_snapshot() -> FakeClusterState:
    """A cluster with a snapshot repository whose upgrade has just been requested."""
    cluster = new_cluster(upgrade={"snapshotRepository": "nightly", "healthDeadlineSeconds": 3600})
    reconcile_until_converged(cluster)
    add_index(cluster)
    reconcile_until_converged(cluster)
    engine = replace(cluster.state.engine, repositories=frozenset({"nightly"}))
    cluster.state = replace(cluster.state, engine=engine)
    return edit_spec(cluster, version=NEW).state


def start(injection: FaultInjection) -> tuple[FakeCluster, int]:
    """Run until the upgrade has started; return the cluster, and how many writes that took."""
    cluster = FakeCluster(upgrade_with_snapshot())
    recorder = InvariantRecorder(cluster, CLUSTER, release(NEWEST))
    ports = FaultyPorts(recorder, lambda: cluster.state, injection)
    for _ in range(_LIMIT):
        outcome = try_reconcile(ports, cluster, NEWEST)
        if "upgrade/lock" in status(cluster).get("ledger", {}):
            return cluster, ports.operations
        if outcome is None or not outcome.wrote:
            cluster.tick()
    raise AssertionError("the upgrade does not start")


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize(("fault", "kind"), FAULTS)
def test_fault_before_the_start_does_not_change_the_snapshot(fault: Fault, kind: str) -> None:
    cluster, writes = start(FaultInjection(_LIMIT, fault))
    expected = cluster.state.engine.snapshots
    assert [each.state for each in expected] == [SnapshotState.SUCCESS]
    for at in range(writes):
        cluster, _ = start(FaultInjection(at, fault, kind))
        assert cluster.state.engine.snapshots == expected, f"{fault} at write {at}"
