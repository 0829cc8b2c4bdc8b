"""The snapshot before an upgrade: nothing is touched before it has succeeded."""

from __future__ import annotations

from dataclasses import replace

from operator_runs import (
    CountingPorts,
    checked_ports,
    condition,
    edit_spec,
    reconcile_for_ticks,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from operator_scenarios import pod_templates, pod_versions, running_cluster
from searchkeeper.kubernetes.operations import EventType
from searchkeeper.opensearch.calls import Call, TakeSnapshot
from searchkeeper.opensearch.client import CallFailed, CallRejected
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails, SnapshotState
from searchkeeper.testing.fake_cluster import FakeCluster


class SnapshotRecordingPorts(CountingPorts):
    """Ports that remember requests for details and calls; calls fail with an error if there is one."""

    def __init__(self, world: FakeCluster, error: Exception | None = None) -> None:
        super().__init__(checked_ports(world).ports)
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
    world = running_cluster(upgrade={"snapshotRepository": "nightly", **upgrade})
    engine = replace(world.state.engine, repositories=frozenset({"nightly"}), snapshot_result=result)
    world.state = replace(world.state, engine=engine)
    return world


def snapshots(world: FakeCluster) -> list[str]:
    return [f"{each.repository}/{each.name} {each.state}" for each in world.state.engine.snapshots]


def test_upgrade_starts_after_its_snapshot_has_succeeded() -> None:
    world = edit_spec(with_repository(), version="3.4.0")
    before = pod_templates(world)
    reconcile_until(world, lambda world: bool(snapshots(world)))
    assert "upgrade/snapshot" in status(world)["ledger"]
    reconcile_for_ticks(world, ticks=1)
    assert pod_templates(world) == before
    assert condition(world, "UpgradeStarted").startswith(
        "False TakingSnapshot: snapshot nightly/searchkeeper-logs-2.19.4-"
    )
    assert condition(world, "Progressing").startswith("True TakingSnapshot: ")
    assert condition(world, "Ready").startswith("False TakingSnapshot: ")
    reconcile_until(world, lambda world: "upgrade/lock" in status(world)["ledger"])
    [taken] = world.state.engine.snapshots
    assert taken.state is SnapshotState.SUCCESS
    assert status(world)["upgrade"]["snapshot"] == f"nightly/{taken.name}"
    reconcile_until_converged(world)
    assert set(pod_versions(world).values()) == {"3.4.0"}
    assert len(snapshots(world)) == 1
    assert not status(world)["ledger"]
    [past] = status(world)["upgrade"]["history"]
    assert past["snapshot"] == f"nightly/{taken.name}"


def test_point_of_no_return_names_the_snapshot_to_restore() -> None:
    world = edit_spec(with_repository(), version="3.4.0")
    reconcile_until(
        world, lambda world: "False PointOfNoReturnPassed" in condition(world, "RollbackPossible")
    )
    [taken] = world.state.engine.snapshots
    hint = f"; to go back, restore snapshot nightly/{taken.name} into a cluster of 2.19.4"
    assert condition(world, "RollbackPossible").endswith(hint)
    reconcile_until_converged(world)
    events = {event.reason: event for event in world.state.events}
    assert events["PointOfNoReturnPassed"].message.endswith(hint)
    assert events["UpgradeStarted"].message.endswith(f"; snapshot: nightly/{taken.name}")


def test_missing_repository_stalls_until_it_is_registered() -> None:
    world = with_repository()
    world.state = replace(world.state, engine=replace(world.state.engine, repositories=frozenset()))
    before = pod_templates(world)
    ports = SnapshotRecordingPorts(world)
    reconcile_for_ticks(edit_spec(world, version="3.4.0"), ports, ticks=10)
    assert ports.calls == []
    assert pod_templates(world) == before
    assert status(world)["phase"] == "Stalled"
    assert condition(world, "UpgradeStarted").endswith(
        "OpenSearch has no snapshot repository nightly; register it, or remove "
        "spec.upgrade.snapshotRepository to upgrade without a snapshot"
    )
    assert condition(world, "Degraded").startswith("True SnapshotRepositoryMissing: ")
    engine = replace(world.state.engine, repositories=frozenset({"nightly"}))
    world.state = replace(world.state, engine=engine)
    reconcile_until_converged(world)
    assert set(pod_versions(world).values()) == {"3.4.0"}


def test_upgrade_without_the_field_takes_no_snapshot_although_there_was_one() -> None:
    """The field is removed after the snapshot has failed."""
    world = with_repository(result=SnapshotState.FAILED)
    reconcile_for_ticks(edit_spec(world, version="3.4.0"), ticks=5)
    reconcile_until(
        edit_spec(world, upgrade={"snapshotRepository": None}),
        lambda world: "steps" in status(world).get("upgrade", {}),
    )
    assert "snapshot" not in status(world)["upgrade"]
    reconcile_until_converged(world)
    assert set(pod_versions(world).values()) == {"3.4.0"}
    assert "snapshot" not in status(world)["upgrade"]["history"][0]
    assert not status(world)["ledger"]


def test_failed_snapshot_is_tried_three_times_under_other_names_and_stalls() -> None:
    world = with_repository(result=SnapshotState.PARTIAL)
    before = pod_templates(world)
    reconcile_for_ticks(edit_spec(world, version="3.4.0"), ticks=20)
    assert len(snapshots(world)) == 1
    assert status(world)["phase"] == "Stalled"
    stalls = [event for event in world.state.events if event.reason == "Stalled"]
    assert [event.type for event in stalls] == [EventType.WARNING]
    assert "is PARTIAL, attempt 1 of 3: 1 shards failed; it is tried again" in stalls[0].message
    reconcile_for_ticks(world, ticks=400)
    assert len(set(snapshots(world))) == len(snapshots(world)) == 3
    assert pod_templates(world) == before
    assert condition(world, "UpgradeStarted").endswith(
        "attempt 3 of 3: 1 shards failed; to try again, edit the spec; or remove "
        "spec.upgrade.snapshotRepository to upgrade without a snapshot"
    )


def test_edit_of_the_spec_tries_a_failed_snapshot_again() -> None:
    world = with_repository(result=SnapshotState.FAILED)
    reconcile_for_ticks(edit_spec(world, version="3.4.0"), ticks=200)
    assert len(snapshots(world)) == 3
    engine = replace(world.state.engine, snapshot_result=SnapshotState.SUCCESS)
    world.state = replace(world.state, engine=engine)
    reconcile_until_converged(edit_spec(world, upgrade={"snapshotRepository": "nightly", "maxBatch": 2}))
    assert len(snapshots(world)) == 4
    assert set(pod_versions(world).values()) == {"3.4.0"}


def test_lost_call_is_repeated_under_the_same_name() -> None:
    world = with_repository()
    ports = SnapshotRecordingPorts(world, CallFailed("timed out"))
    edit_spec(world, version="3.4.0")
    for _ in range(20):
        try:
            reconcile_for_ticks(world, ports, ticks=1)
        except CallFailed:
            continue
    assert len(ports.calls) > 1
    assert len(set(ports.calls)) == 1
    reconcile_until_converged(world)
    [taken] = world.state.engine.snapshots
    assert ports.calls[0] == TakeSnapshot("nightly", taken.name)


def test_rejected_snapshot_is_reported_with_the_error() -> None:
    world = with_repository()
    ports = SnapshotRecordingPorts(world, CallRejected("500 POST /_snapshot/nightly/_verify: not accessible"))
    reconcile_for_ticks(edit_spec(world, version="3.4.0"), ports, ticks=40)
    assert condition(world, "UpgradeStarted").startswith(
        "False OperationDenied: stalled: cannot call the engine: take snapshot nightly/searchkeeper-logs-"
    )
    assert "not accessible" in condition(world, "UpgradeStarted")
    reconcile_until_converged(world)
    assert len(snapshots(world)) == 1


def test_no_snapshot_is_taken_while_the_upgrade_is_paused_or_refused() -> None:
    world = with_repository(paused=True)
    reconcile_for_ticks(edit_spec(world, version="3.4.0"), ticks=5)
    reconcile_for_ticks(edit_spec(world, version="9.0.0"), ticks=5)
    assert snapshots(world) == []


def test_details_are_requested_only_when_they_are_needed() -> None:
    """Without the field nothing is asked about snapshots; without a rollout nothing about disks."""
    world = with_repository()
    ports = SnapshotRecordingPorts(world)
    reconcile_for_ticks(world, ports, ticks=3)
    assert ports.requests == []
    reconcile_until(
        edit_spec(world, version="3.4.0"), lambda world: "upgrade/lock" in status(world)["ledger"]
    )
    ports = SnapshotRecordingPorts(world)
    reconcile_for_ticks(world, ports, ticks=3)
    assert ports.requests
    assert {request.repository for request in ports.requests} == {None}
    plain = edit_spec(running_cluster(), version="3.4.0")
    ports = SnapshotRecordingPorts(plain)
    reconcile_for_ticks(plain, ports, ticks=20)
    assert set(ports.requests) == {DetailsRequest(disks=True)}
    assert not any(isinstance(call, TakeSnapshot) for call in ports.calls)
