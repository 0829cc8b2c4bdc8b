"""The snapshot before an upgrade: nothing is touched before it has succeeded."""

from __future__ import annotations

from dataclasses import replace

from operators_at_work import Ports, condition, edited, settled, status
from searchkeeper.kubernetes.operations import EventType
from searchkeeper.opensearch.calls import Call, TakeSnapshot
from searchkeeper.opensearch.client import CallFailed, CallRejected
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails, SnapshotState
from searchkeeper.testing.fake_cluster import FakeCluster
from tales import NEWEST, at_work, judged, running, templates, until, versions


class Recording(Ports):
    """Ports that remember requests for details and calls; calls fail with an error if there is one."""

    def __init__(self, world: FakeCluster, error: Exception | None = None) -> None:
        super().__init__(judged(world).world)
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
    world = running(upgrade={"snapshotRepository": "nightly", **upgrade})
    engine = replace(world.state.engine, repositories=frozenset({"nightly"}), snapshot_result=result)
    world.state = replace(world.state, engine=engine)
    return world


def snapshots(world: FakeCluster) -> list[str]:
    return [f"{each.repository}/{each.name} {each.state}" for each in world.state.engine.snapshots]


def test_upgrade_starts_after_its_snapshot_has_succeeded() -> None:
    world = edited(with_repository(), version="3.4.0")
    before = templates(world)
    until(lambda world: bool(snapshots(world)), world)
    assert "upgrade/snapshot" in status(world)["ledger"]
    at_work(world, ticks=1)
    assert templates(world) == before
    assert condition(world, "UpgradeStarted").startswith(
        "False TakingSnapshot: snapshot nightly/searchkeeper-logs-2.19.4-"
    )
    assert condition(world, "Progressing").startswith("True TakingSnapshot: ")
    assert condition(world, "Ready").startswith("False TakingSnapshot: ")
    until(lambda world: "upgrade/lock" in status(world)["ledger"], world)
    [taken] = world.state.engine.snapshots
    assert taken.state is SnapshotState.SUCCESS
    assert status(world)["upgrade"]["snapshot"] == f"nightly/{taken.name}"
    settled(world, NEWEST)
    assert set(versions(world).values()) == {"3.4.0"}
    assert len(snapshots(world)) == 1
    assert not status(world)["ledger"]
    [past] = status(world)["upgrade"]["history"]
    assert past["snapshot"] == f"nightly/{taken.name}"


def test_point_of_no_return_names_the_snapshot_to_restore() -> None:
    world = edited(with_repository(), version="3.4.0")
    until(lambda world: "False PointOfNoReturnPassed" in condition(world, "RollbackPossible"), world)
    [taken] = world.state.engine.snapshots
    hint = f"; to go back, restore snapshot nightly/{taken.name} into a cluster of 2.19.4"
    assert condition(world, "RollbackPossible").endswith(hint)
    settled(world, NEWEST)
    events = {event.reason: event for event in world.state.events}
    assert events["PointOfNoReturnPassed"].message.endswith(hint)
    assert events["UpgradeStarted"].message.endswith(f"; snapshot: nightly/{taken.name}")


def test_missing_repository_stalls_until_it_is_registered() -> None:
    world = with_repository()
    world.state = replace(world.state, engine=replace(world.state.engine, repositories=frozenset()))
    before = templates(world)
    ports = Recording(world)
    at_work(edited(world, version="3.4.0"), ports, ticks=10)
    assert ports.calls == []
    assert templates(world) == before
    assert status(world)["phase"] == "Stalled"
    assert condition(world, "UpgradeStarted").endswith(
        "OpenSearch has no snapshot repository nightly; register it, or remove "
        "spec.upgrade.snapshotRepository to upgrade without a snapshot"
    )
    assert condition(world, "Degraded").startswith("True SnapshotRepositoryMissing: ")
    engine = replace(world.state.engine, repositories=frozenset({"nightly"}))
    world.state = replace(world.state, engine=engine)
    settled(world, NEWEST)
    assert set(versions(world).values()) == {"3.4.0"}


def test_upgrade_without_the_field_takes_no_snapshot_although_there_was_one() -> None:
    """The field is removed after the snapshot has failed."""
    world = with_repository(result=SnapshotState.FAILED)
    at_work(edited(world, version="3.4.0"), ticks=5)
    until(
        lambda world: "steps" in status(world).get("upgrade", {}),
        edited(world, upgrade={"snapshotRepository": None}),
    )
    assert "snapshot" not in status(world)["upgrade"]
    settled(world, NEWEST)
    assert set(versions(world).values()) == {"3.4.0"}
    assert "snapshot" not in status(world)["upgrade"]["history"][0]
    assert not status(world)["ledger"]


def test_failed_snapshot_is_tried_three_times_under_other_names_and_stalls() -> None:
    world = with_repository(result=SnapshotState.PARTIAL)
    before = templates(world)
    at_work(edited(world, version="3.4.0"), ticks=20)
    assert len(snapshots(world)) == 1
    assert status(world)["phase"] == "Stalled"
    stalls = [event for event in world.state.events if event.reason == "Stalled"]
    assert [event.type for event in stalls] == [EventType.WARNING]
    assert "is PARTIAL, attempt 1 of 3: 1 shards failed; it is tried again" in stalls[0].message
    at_work(world, ticks=400)
    assert len(set(snapshots(world))) == len(snapshots(world)) == 3
    assert templates(world) == before
    assert condition(world, "UpgradeStarted").endswith(
        "attempt 3 of 3: 1 shards failed; to try again, edit the spec; or remove "
        "spec.upgrade.snapshotRepository to upgrade without a snapshot"
    )


def test_edit_of_the_spec_tries_a_failed_snapshot_again() -> None:
    world = with_repository(result=SnapshotState.FAILED)
    at_work(edited(world, version="3.4.0"), ticks=200)
    assert len(snapshots(world)) == 3
    engine = replace(world.state.engine, snapshot_result=SnapshotState.SUCCESS)
    world.state = replace(world.state, engine=engine)
    settled(edited(world, upgrade={"snapshotRepository": "nightly", "maxBatch": 2}), NEWEST)
    assert len(snapshots(world)) == 4
    assert set(versions(world).values()) == {"3.4.0"}


def test_lost_call_is_repeated_under_the_same_name() -> None:
    world = with_repository()
    ports = Recording(world, CallFailed("timed out"))
    edited(world, version="3.4.0")
    for _ in range(20):
        try:
            at_work(world, ports, ticks=1)
        except CallFailed:
            continue
    assert len(ports.calls) > 1
    assert len(set(ports.calls)) == 1
    settled(world, NEWEST)
    [taken] = world.state.engine.snapshots
    assert ports.calls[0] == TakeSnapshot("nightly", taken.name)


def test_rejected_snapshot_is_reported_with_the_error() -> None:
    world = with_repository()
    ports = Recording(world, CallRejected("500 POST /_snapshot/nightly/_verify: not accessible"))
    at_work(edited(world, version="3.4.0"), ports, ticks=40)
    assert condition(world, "UpgradeStarted").startswith(
        "False OperationDenied: stalled: cannot call the engine: take snapshot nightly/searchkeeper-logs-"
    )
    assert "not accessible" in condition(world, "UpgradeStarted")
    settled(world, NEWEST)
    assert len(snapshots(world)) == 1


def test_no_snapshot_is_taken_while_the_upgrade_is_paused_or_refused() -> None:
    world = with_repository(paused=True)
    at_work(edited(world, version="3.4.0"), ticks=5)
    at_work(edited(world, version="9.0.0"), ticks=5)
    assert snapshots(world) == []


def test_details_are_requested_only_when_they_are_needed() -> None:
    """Without the field nothing is asked about snapshots; without a rollout nothing about disks."""
    world = with_repository()
    ports = Recording(world)
    at_work(world, ports, ticks=3)
    assert ports.requests == []
    until(lambda world: "upgrade/lock" in status(world)["ledger"], edited(world, version="3.4.0"))
    ports = Recording(world)
    at_work(world, ports, ticks=3)
    assert ports.requests
    assert {request.repository for request in ports.requests} == {None}
    plain = edited(running(), version="3.4.0")
    ports = Recording(plain)
    at_work(plain, ports, ticks=20)
    assert set(ports.requests) == {DetailsRequest(disks=True)}
    assert not any(isinstance(call, TakeSnapshot) for call in ports.calls)
