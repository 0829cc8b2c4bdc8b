"""The snapshot before an upgrade: nothing is touched before it has succeeded."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.kubernetes.operations import EventType
from searchkeeper.opensearch.calls import Call, TakeSnapshot
from searchkeeper.opensearch.client import CallFailed, CallRejected
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails, SnapshotState
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import (
    CountingPorts,
    checked_ports,
    condition,
    edit_spec,
    reconcile_for_ticks,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import pod_templates, pod_versions, running_cluster


class SnapshotRecordingPorts(CountingPorts):
    """Ports that remember requests for details and calls; calls fail with an error if there is one."""

    def __init__(self, cluster: FakeCluster, error: Exception | None = None) -> None:
        super().__init__(checked_ports(cluster).ports)
        self.requests: list[DetailsRequest] = []
        self.calls: list[Call] = []
        self.error = error

    def get_details(self, request: DetailsRequest) -> EngineDetails:
        self.requests.append(request)
        return super().get_details(request)

    def execute(self, call: Call) -> None:
        self.calls.append(call)
        if self.error is not None:
            raise self.error
        super().execute(call)


def with_repository(*, result: SnapshotState = SnapshotState.SUCCESS, **upgrade: object) -> FakeCluster:
    """A converged cluster with a snapshot repository, whose snapshots end like this."""
    cluster = running_cluster(upgrade={"snapshotRepository": "nightly", **upgrade})
    engine = replace(cluster.state.engine, repositories=frozenset({"nightly"}), snapshot_result=result)
    cluster.state = replace(cluster.state, engine=engine)
    return cluster


def snapshots(cluster: FakeCluster) -> list[str]:
    return [f"{each.repository}/{each.name} {each.state}" for each in cluster.state.engine.snapshots]


def test_upgrade_starts_after_its_snapshot_has_succeeded() -> None:
    cluster = edit_spec(with_repository(), version="3.4.0")
    before = pod_templates(cluster)
    reconcile_until(cluster, lambda cluster: bool(snapshots(cluster)))
    assert "upgrade/snapshot" in status(cluster)["ledger"]
    reconcile_for_ticks(cluster, ticks=1)
    assert pod_templates(cluster) == before
    assert condition(cluster, "UpgradeStarted").startswith(
        "False TakingSnapshot: snapshot nightly/searchkeeper-logs-2.19.4-"
    )
    assert condition(cluster, "Progressing").startswith("True TakingSnapshot: ")
    assert condition(cluster, "Ready").startswith("False TakingSnapshot: ")
    reconcile_until(cluster, lambda cluster: "upgrade/lock" in status(cluster)["ledger"])
    [taken] = cluster.state.engine.snapshots
    assert taken.state is SnapshotState.SUCCESS
    assert status(cluster)["upgrade"]["snapshot"] == f"nightly/{taken.name}"
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster).values()) == {"3.4.0"}
    assert len(snapshots(cluster)) == 1
    assert not status(cluster)["ledger"]
    [past] = status(cluster)["upgrade"]["history"]
    assert past["snapshot"] == f"nightly/{taken.name}"


def test_point_of_no_return_names_the_snapshot_to_restore() -> None:
    cluster = edit_spec(with_repository(), version="3.4.0")
    reconcile_until(
        cluster, lambda cluster: "False PointOfNoReturnPassed" in condition(cluster, "RollbackPossible")
    )
    [taken] = cluster.state.engine.snapshots
    hint = f"; to go back, restore snapshot nightly/{taken.name} into a cluster of 2.19.4"
    assert condition(cluster, "RollbackPossible").endswith(hint)
    reconcile_until_converged(cluster)
    events = {event.reason: event for event in cluster.state.events}
    assert events["PointOfNoReturnPassed"].message.endswith(hint)
    assert events["UpgradeStarted"].message.endswith(f"; snapshot: nightly/{taken.name}")


def test_missing_repository_stalls_until_it_is_registered() -> None:
    cluster = with_repository()
    cluster.state = replace(cluster.state, engine=replace(cluster.state.engine, repositories=frozenset()))
    before = pod_templates(cluster)
    ports = SnapshotRecordingPorts(cluster)
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0"), ports, ticks=10)
    assert ports.calls == []
    assert pod_templates(cluster) == before
    assert status(cluster)["phase"] == "Stalled"
    assert condition(cluster, "UpgradeStarted").endswith(
        "OpenSearch has no snapshot repository nightly; register it, or remove "
        "spec.upgrade.snapshotRepository to upgrade without a snapshot"
    )
    assert condition(cluster, "Degraded").startswith("True SnapshotRepositoryMissing: ")
    engine = replace(cluster.state.engine, repositories=frozenset({"nightly"}))
    cluster.state = replace(cluster.state, engine=engine)
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


def test_upgrade_without_the_field_takes_no_snapshot_although_there_was_one() -> None:
    """The field is removed after the snapshot has failed."""
    cluster = with_repository(result=SnapshotState.FAILED)
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0"), ticks=5)
    reconcile_until(
        edit_spec(cluster, upgrade={"snapshotRepository": None}),
        lambda cluster: "steps" in status(cluster).get("upgrade", {}),
    )
    assert "snapshot" not in status(cluster)["upgrade"]
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster).values()) == {"3.4.0"}
    assert "snapshot" not in status(cluster)["upgrade"]["history"][0]
    assert not status(cluster)["ledger"]


@pytest.mark.exhaustive
def test_failed_snapshot_is_tried_three_times_under_other_names_and_stalls() -> None:
    cluster = with_repository(result=SnapshotState.PARTIAL)
    before = pod_templates(cluster)
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0"), ticks=20)
    assert len(snapshots(cluster)) == 1
    assert status(cluster)["phase"] == "Stalled"
    stalls = [event for event in cluster.state.events if event.reason == "Stalled"]
    assert [event.type for event in stalls] == [EventType.WARNING]
    assert "is PARTIAL, attempt 1 of 3: 1 shards failed; it is tried again" in stalls[0].message
    reconcile_for_ticks(cluster, ticks=400)
    assert len(set(snapshots(cluster))) == len(snapshots(cluster)) == 3
    assert pod_templates(cluster) == before
    assert condition(cluster, "UpgradeStarted").endswith(
        "attempt 3 of 3: 1 shards failed; to try again, edit the spec; or remove "
        "spec.upgrade.snapshotRepository to upgrade without a snapshot"
    )


@pytest.mark.exhaustive
def test_edit_of_the_spec_tries_a_failed_snapshot_again() -> None:
    cluster = with_repository(result=SnapshotState.FAILED)
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0"), ticks=200)
    assert len(snapshots(cluster)) == 3
    engine = replace(cluster.state.engine, snapshot_result=SnapshotState.SUCCESS)
    cluster.state = replace(cluster.state, engine=engine)
    reconcile_until_converged(edit_spec(cluster, upgrade={"snapshotRepository": "nightly", "maxBatch": 2}))
    assert len(snapshots(cluster)) == 4
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


def test_lost_call_is_repeated_under_the_same_name() -> None:
    cluster = with_repository()
    ports = SnapshotRecordingPorts(cluster, CallFailed("timed out"))
    edit_spec(cluster, version="3.4.0")
    for _ in range(20):
        try:
            reconcile_for_ticks(cluster, ports, ticks=1)
        except CallFailed:
            continue
    assert len(ports.calls) > 1
    assert len(set(ports.calls)) == 1
    reconcile_until_converged(cluster)
    [taken] = cluster.state.engine.snapshots
    assert ports.calls[0] == TakeSnapshot("nightly", taken.name)


def test_rejected_snapshot_is_reported_with_the_error() -> None:
    cluster = with_repository()
    ports = SnapshotRecordingPorts(
        cluster, CallRejected("500 POST /_snapshot/nightly/_verify: not accessible")
    )
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0"), ports, ticks=40)
    assert condition(cluster, "UpgradeStarted").startswith(
        "False OperationDenied: stalled: cannot call the engine: take snapshot nightly/searchkeeper-logs-"
    )
    assert "not accessible" in condition(cluster, "UpgradeStarted")
    reconcile_until_converged(cluster)
    assert len(snapshots(cluster)) == 1


def test_no_snapshot_is_taken_while_the_upgrade_is_paused_or_refused() -> None:
    cluster = with_repository(paused=True)
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0"), ticks=5)
    reconcile_for_ticks(edit_spec(cluster, version="9.0.0"), ticks=5)
    assert snapshots(cluster) == []


@pytest.mark.exhaustive
def test_details_are_requested_only_when_they_are_needed() -> None:
    """Without the field nothing is asked about snapshots; without a rollout nothing about disks."""
    cluster = with_repository()
    ports = SnapshotRecordingPorts(cluster)
    reconcile_for_ticks(cluster, ports, ticks=3)
    assert ports.requests == []
    reconcile_until(
        edit_spec(cluster, version="3.4.0"), lambda cluster: "upgrade/lock" in status(cluster)["ledger"]
    )
    ports = SnapshotRecordingPorts(cluster)
    reconcile_for_ticks(cluster, ports, ticks=3)
    assert ports.requests
    assert {request.repository for request in ports.requests} == {None}
    plain = edit_spec(running_cluster(), version="3.4.0")
    ports = SnapshotRecordingPorts(plain)
    reconcile_for_ticks(plain, ports, ticks=20)
    assert set(ports.requests) == {DetailsRequest(disks=True)}
    assert not any(isinstance(call, TakeSnapshot) for call in ports.calls)
