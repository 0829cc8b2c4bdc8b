"""An engine whose answers change with every look: told, but not with every look, and held against nobody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from operators_at_work import CLUSTER, Ports, asked_for, condition, cycled, edited, status
from searchkeeper.kubernetes.api import Rejected
from searchkeeper.kubernetes.operations import Delete, EventType, Key, Manifest, Patch
from searchkeeper.opensearch.calls import Call, SetAllocation
from searchkeeper.opensearch.client import CallRejected
from searchkeeper.opensearch.view import Color, EngineView, Unreachable
from searchkeeper.reconcile import OSCILLATION_LIMIT
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tales import NEWEST, running, versions

LOOKS, BUSY, SETTLING = 360, 5, 30
# Not before it has been well for as long, everything that it says is told once.
MOST = LOOKS * BUSY // (SETTLING + BUSY) + 1


class Flapping(Ports):
    """Ports behind which the engine is another one with every look."""

    def __init__(self, world: FakeCluster, *faces: Callable[[EngineView], EngineView | Unreachable]) -> None:
        super().__init__(InvariantRecorder(world, CLUSTER, release(NEWEST)))
        self.faces = faces
        self.looks = self.stored = 0

    def get_state(self) -> EngineView | Unreachable:
        snapshot = super().get_state()
        face = self.faces[self.looks % len(self.faces)]
        self.looks += 1
        return snapshot if isinstance(snapshot, Unreachable) else face(snapshot)

    def patch_status(self, patch: Patch) -> Manifest:
        self.stored += bool(patch.changes["status"])
        return super().patch_status(patch)


def silent(_: EngineView) -> Unreachable:
    return Unreachable("timed out")


def red(snapshot: EngineView) -> EngineView:
    return replace(snapshot, color=Color.RED)


def well(snapshot: EngineView) -> EngineView:
    return snapshot


def looked_at(world: FakeCluster, ports: Flapping, looks: int = LOOKS) -> None:
    """As often, as the operator does: at once after something was done, and in five seconds otherwise.

    Also where it only does again and again what it has done before.
    """
    rounds = 0
    for _ in range(looks):
        done = cycled(ports, world, NEWEST, settling=SETTLING)
        rounds = rounds + 1 if done.is_oscillating else 0
        if not done.wrote or done.is_cosmetic or rounds >= OSCILLATION_LIMIT:
            world.tick(BUSY)


@pytest.mark.parametrize("faces", [(silent, well), (red, well), (silent, red, well)])
def test_flapping_engine_does_not_change_status_with_every_reconcile(
    faces: tuple[Callable[[EngineView], EngineView | Unreachable], ...],
) -> None:
    world = running()
    ports = Flapping(world, *faces)
    looked_at(world, ports)
    assert 0 < ports.stored <= len(faces) * MOST


def test_recovery_is_reported_at_once_and_repeated_failure_after_settling() -> None:
    world = running()
    looked_at(world, Flapping(world, silent), 1)
    assert condition(world, "EngineHealthy").startswith("False")
    looked_at(world, Flapping(world, well), 1)
    assert condition(world, "EngineHealthy").startswith("True")
    looked_at(world, Flapping(world, silent), SETTLING // BUSY - 1)
    assert condition(world, "EngineHealthy").startswith("True")
    looked_at(world, Flapping(world, silent), 1)
    assert condition(world, "EngineHealthy").startswith("False")


def test_pools_are_reconciled_while_conditions_change_with_every_reconcile() -> None:
    world = asked_for()
    looked_at(world, Flapping(world, well), 60)
    edited(world, pools=[{"name": "data", "roles": ["data"], "replicas": 3}, *status_pools(world)[1:]])
    looked_at(world, Flapping(world, silent, red), 40)
    assert "data-2" in versions(world)


def status_pools(world: FakeCluster) -> list[Manifest]:
    found = world.get(CLUSTER)
    assert found is not None
    pools: list[Manifest] = found["spec"]["pools"]
    return pools


def test_engine_that_is_never_healthy_stalls_after_the_deadline() -> None:
    """S28, L5: words that are held back make nobody's patience longer."""
    world = running(upgrade={"healthDeadlineSeconds": 120})
    ports = Flapping(world, silent, red)
    looked_at(world, ports, 26)
    assert status(world)["phase"] == "Stalled"


class Strict(Flapping):
    """The same, and one kind of object may not be made."""

    def create(self, manifest: Manifest) -> Manifest:
        if manifest["kind"] == "Service":
            raise Rejected("exceeded quota: small")
        return super().create(manifest)


def strict(*faces: Callable[[EngineView], EngineView | Unreachable]) -> tuple[FakeCluster, Strict]:
    """A cluster whose Service somebody has deleted, and nobody may make anew."""
    world = running()
    world.delete(Delete(Key("v1", "Service", CLUSTER.namespace, CLUSTER.name), "", ""))
    return world, Strict(world, *faces)


def test_denied_operation_is_reported_while_the_engine_flaps() -> None:
    """S28, L5: each look has something else to tell, and none would be the one to note a refusal."""
    # Guard: a refusal is noted beside other words.
    world, ports = strict(silent, red)
    looked_at(world, ports, 100)
    assert condition(world, "ClientServiceApplied").startswith(
        "False OperationDenied: stalled: cannot create Service"
    )


def test_denied_operation_causes_no_additional_status_writes() -> None:
    # Guard: words are held back whatever else is tried.
    world, ports = strict(silent, well)
    looked_at(world, ports)
    assert condition(world, "ClientServiceApplied").startswith(
        "False OperationDenied: stalled: cannot create Service"
    )
    assert ports.stored <= 2 * MOST


class Forbidding(Flapping):
    """The same, and no pod may be deleted, or allocation may not be set."""

    def __init__(
        self, world: FakeCluster, forbidden: str, *faces: Callable[[EngineView], EngineView | Unreachable]
    ) -> None:
        super().__init__(world, *faces)
        self.forbidden = forbidden

    def delete(self, delete: Delete) -> None:
        if self.forbidden == "deletions" and delete.key.kind == "Pod":
            raise Rejected("exceeded quota: small")
        super().delete(delete)

    def execute(self, call: Call) -> None:
        if self.forbidden == "allocation" and isinstance(call, SetAllocation):
            raise CallRejected("403: no permissions")
        super().execute(call)


@pytest.mark.parametrize("forbidden", ["deletions", "allocation", "nothing"])
@pytest.mark.parametrize(
    "faces",
    [(silent, well), (red, well), (well, well, silent), (well,) * 7 + (red,) * 7],
    ids=["silent or well", "red or well", "silent now and then", "red for a while"],
)
def test_oscillating_upgrade_stalls_after_the_deadline(
    forbidden: str, faces: tuple[Callable[[EngineView], EngineView | Unreachable], ...]
) -> None:
    """S28, L5: what is prepared and taken back again, or wanted and refused, brings nobody further."""
    # Guard: to prepare is not to come further.
    world = edited(running(upgrade={"healthDeadlineSeconds": 120, "rollback": "Off"}), version="3.4.0")
    ports = Forbidding(world, forbidden, *faces)
    for _ in range(20):
        looked_at(world, ports, 50)
        if status(world)["phase"] == "Stalled" or status(world)["engineVersion"] == "3.4.0":
            break
    assert forbidden == "nothing" or status(world)["engineVersion"] == "2.19.4"
    assert status(world)["phase"] == "Stalled" or status(world)["engineVersion"] == "3.4.0"


def test_oscillation_backs_off() -> None:
    """Otherwise an engine would be told now this, now that, as fast as it answers."""
    world = edited(running(), version="3.4.0")
    ports = Flapping(world, red, well)
    looked_at(world, ports, 100)
    before = world.state.now
    looked_at(world, ports, 100)
    assert world.state.now - before >= 70 * BUSY


def test_progress_resets_the_health_deadline() -> None:
    world = edited(running(upgrade={"healthDeadlineSeconds": 120}), version="3.4.0")
    looked_at(world, Flapping(world, red, well), 30)
    looked_at(world, Flapping(world, well), 400)
    assert status(world)["engineVersion"] == "3.4.0"
    assert not [each for each in world.state.events if each.type is EventType.WARNING]
