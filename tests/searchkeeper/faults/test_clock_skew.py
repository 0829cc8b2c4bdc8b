"""Clocks that jump or differ between operators cause no rollback and no shorter or longer wait."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from searchkeeper.api.codec import format_timestamp
from searchkeeper.kubernetes.operations import Delete
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fingerprints import fingerprint
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tests.support.searchkeeper.fault_runs import NEW
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    RecordedRun,
    add_index,
    edit_spec,
    new_cluster,
    reconcile_until,
    reconcile_until_converged,
    record_run,
    set_pod_faults,
    status,
    unmet_conditions,
)

HOUR = 3600
DEADLINE = 600


def requested_upgrade() -> FakeCluster:
    """An upgrade with a short deadline and automatic rollback."""
    cluster = new_cluster(upgrade={"healthDeadlineSeconds": DEADLINE, "rollback": "Automatic"})
    reconcile_until_converged(cluster)
    reconcile_until_converged(add_index(cluster))
    return edit_spec(cluster, version=NEW)


@cache
def upgrade() -> RecordedRun:
    return record_run(requested_upgrade())


def continue_with_clock(state: FakeClusterState, skew: int) -> Iterator[FakeCluster]:
    """Let another operator continue, whose clock differs by `skew` seconds; yield after each reconcile."""
    cluster = FakeCluster(state)
    ports, started = InvariantRecorder(cluster, CLUSTER, release(NEWEST)), state.now + skew
    for _ in range(1000):
        outcome = reconcile(
            ports, ports, CLUSTER, release(NEWEST), cluster.state.now + skew, observing_since=started
        )
        yield cluster
        if outcome.converged:
            return
        if not outcome.wrote:
            cluster.tick()
    raise AssertionError(f"it does not converge: {unmet_conditions(cluster)}")


@pytest.mark.exhaustive
@pytest.mark.parametrize("skew", [HOUR, -HOUR])
def test_clock_skew_starts_no_rollback(skew: int) -> None:
    for start in upgrade().starts[::2]:
        for cluster in continue_with_clock(start.state, skew):
            assert "upgrade/return" not in status(cluster)["ledger"]
            if fingerprint(cluster.state) in upgrade().known.states:
                break


@pytest.mark.parametrize("skew", [0, HOUR, -HOUR])
def test_deadline_does_not_depend_on_the_clock(skew: int) -> None:
    cluster = set_pod_faults(requested_upgrade(), v3_4_0=PodFault.NEVER_READY)
    reconcile_until(cluster, lambda w: '"WaitingForPods"' in str(status(w)["ledger"]))
    started = cluster.state.now
    for each in continue_with_clock(cluster.state, skew):
        if "upgrade/return" in status(each)["ledger"]:
            break
    assert DEADLINE <= each.state.now - started <= DEADLINE + 100


@pytest.mark.exhaustive
@pytest.mark.parametrize("skew", [HOUR, -HOUR])
def test_transition_time_is_the_time_of_the_observation(skew: int) -> None:
    before = {each["type"]: each for each in status(FakeCluster(upgrade().starts[20].state))["conditions"]}
    for cluster in continue_with_clock(upgrade().starts[20].state, skew):
        for each in status(cluster)["conditions"]:
            previous = before.get(each["type"], {"status": "", "lastTransitionTime": ""})
            is_same = each["status"] == previous["status"]
            expected = (
                previous["lastTransitionTime"] if is_same else format_timestamp(cluster.state.now + skew)
            )
            assert each["lastTransitionTime"] == expected
            before[each["type"]] = each
    entry = status(cluster)["upgrade"]["history"][-1]
    assert entry["startedAt"] <= entry["finishedAt"]


def test_engine_settings_are_restored_before_deletion_by_any_clock() -> None:
    """The cluster is deleted, and the next operator has a clock that is an hour ahead."""
    cluster = reconcile_until(requested_upgrade(), lambda w: w.state.engine.allocation is not None)
    cluster.delete(Delete(CLUSTER, "", ""))
    reconcile_until(cluster, lambda w: "deleting" in status(w)["ledger"])
    for each in continue_with_clock(cluster.state, HOUR):
        if each.get(CLUSTER) is None:
            break
    assert each.state.engine.allocation is None
    assert [event.reason for event in each.state.events] == ["UpgradeStarted"]
