"""An engine whose state changes with every reconcile: reported at a limited rate, and stalled in time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from operator_runs import (
    CLUSTER,
    NEWEST,
    CountingPorts,
    condition,
    edit_spec,
    new_cluster,
    reconcile_once,
    status,
)
from operator_scenarios import pod_versions, running_cluster
from searchkeeper.kubernetes.api import Rejected
from searchkeeper.kubernetes.operations import Delete, EventType, Key, Manifest, Patch
from searchkeeper.opensearch.calls import Call, SetAllocation
from searchkeeper.opensearch.client import CallRejected
from searchkeeper.opensearch.view import Color, EngineView, Unreachable
from searchkeeper.reconcile import OSCILLATION_LIMIT
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.invariants.recorder import InvariantRecorder

RECONCILES, INTERVAL, SETTLING = 360, 5, 30
# A failure is reported again only after the engine was healthy for SETTLING seconds.
MOST_REPORTS = RECONCILES * INTERVAL // (SETTLING + INTERVAL) + 1


class FlappingEnginePorts(CountingPorts):
    """Ports to an engine that is in the next of its states with every reconcile."""

    def __init__(self, world: FakeCluster, *states: Callable[[EngineView], EngineView | Unreachable]) -> None:
        super().__init__(InvariantRecorder(world, CLUSTER, release(NEWEST)))
        self.states = states
        self.reads = self.status_writes = 0

    def get_state(self) -> EngineView | Unreachable:
        snapshot = super().get_state()
        state = self.states[self.reads % len(self.states)]
        self.reads += 1
        return snapshot if isinstance(snapshot, Unreachable) else state(snapshot)

    def patch_status(self, patch: Patch) -> Manifest:
        self.status_writes += bool(patch.changes["status"])
        return super().patch_status(patch)


def unreachable(_: EngineView) -> Unreachable:
    return Unreachable("timed out")


def red(snapshot: EngineView) -> EngineView:
    return replace(snapshot, color=Color.RED)


def healthy(snapshot: EngineView) -> EngineView:
    return snapshot


def run_reconciles(world: FakeCluster, ports: FlappingEnginePorts, count: int = RECONCILES) -> None:
    """Reconcile `count` times, as the manager does: at once after a write, otherwise after five seconds.

    An oscillation that reaches its limit also waits five seconds.
    """
    oscillations = 0
    for _ in range(count):
        outcome = reconcile_once(ports, world, NEWEST, settling=SETTLING)
        oscillations = oscillations + 1 if outcome.is_oscillating else 0
        if not outcome.wrote or outcome.is_cosmetic or oscillations >= OSCILLATION_LIMIT:
            world.tick(INTERVAL)


@pytest.mark.parametrize("states", [(unreachable, healthy), (red, healthy), (unreachable, red, healthy)])
def test_flapping_engine_does_not_change_status_with_every_reconcile(
    states: tuple[Callable[[EngineView], EngineView | Unreachable], ...],
) -> None:
    world = running_cluster()
    ports = FlappingEnginePorts(world, *states)
    run_reconciles(world, ports)
    assert 0 < ports.status_writes <= len(states) * MOST_REPORTS


def test_recovery_is_reported_at_once_and_repeated_failure_after_settling() -> None:
    world = running_cluster()
    run_reconciles(world, FlappingEnginePorts(world, unreachable), 1)
    assert condition(world, "EngineHealthy").startswith("False")
    run_reconciles(world, FlappingEnginePorts(world, healthy), 1)
    assert condition(world, "EngineHealthy").startswith("True")
    run_reconciles(world, FlappingEnginePorts(world, unreachable), SETTLING // INTERVAL - 1)
    assert condition(world, "EngineHealthy").startswith("True")
    run_reconciles(world, FlappingEnginePorts(world, unreachable), 1)
    assert condition(world, "EngineHealthy").startswith("False")


def test_pools_are_reconciled_while_conditions_change_with_every_reconcile() -> None:
    world = new_cluster()
    run_reconciles(world, FlappingEnginePorts(world, healthy), 60)
    edit_spec(world, pools=[{"name": "data", "roles": ["data"], "replicas": 3}, *spec_pools(world)[1:]])
    run_reconciles(world, FlappingEnginePorts(world, unreachable, red), 40)
    assert "data-2" in pod_versions(world)


def spec_pools(world: FakeCluster) -> list[Manifest]:
    cluster = world.get(CLUSTER)
    assert cluster is not None
    pools: list[Manifest] = cluster["spec"]["pools"]
    return pools


def test_engine_that_is_never_healthy_stalls_after_the_deadline() -> None:
    """S28, L5: the rate limit of reports does not extend the deadline."""
    world = running_cluster(upgrade={"healthDeadlineSeconds": 120})
    ports = FlappingEnginePorts(world, unreachable, red)
    run_reconciles(world, ports, 26)
    assert status(world)["phase"] == "Stalled"


class FlappingServiceDenyingPorts(FlappingEnginePorts):
    """Ports to a flapping engine, and to an API server that denies the creation of Services."""

    def create(self, manifest: Manifest) -> Manifest:
        if manifest["kind"] == "Service":
            raise Rejected("exceeded quota: small")
        return super().create(manifest)


def without_service(
    *states: Callable[[EngineView], EngineView | Unreachable],
) -> tuple[FakeCluster, FlappingServiceDenyingPorts]:
    """A cluster without its Service, whose creation is denied."""
    world = running_cluster()
    world.delete(Delete(Key("v1", "Service", CLUSTER.namespace, CLUSTER.name), "", ""))
    return world, FlappingServiceDenyingPorts(world, *states)


def test_denied_operation_is_reported_while_the_engine_flaps() -> None:
    """S28, L5: the denial is recorded although the conditions change with every reconcile."""
    # Guard: denials are recorded beside changed conditions.
    world, ports = without_service(unreachable, red)
    run_reconciles(world, ports, 100)
    assert condition(world, "ClientServiceApplied").startswith(
        "False OperationDenied: stalled: cannot create Service"
    )


def test_denied_operation_causes_no_additional_status_writes() -> None:
    # Guard: flapping is not reported.
    world, ports = without_service(unreachable, healthy)
    run_reconciles(world, ports)
    assert condition(world, "ClientServiceApplied").startswith(
        "False OperationDenied: stalled: cannot create Service"
    )
    assert ports.status_writes <= 2 * MOST_REPORTS


class FlappingDenyingPorts(FlappingEnginePorts):
    """Ports to a flapping engine that deny deletes of pods or changes of the allocation setting."""

    def __init__(
        self, world: FakeCluster, denied: str, *states: Callable[[EngineView], EngineView | Unreachable]
    ) -> None:
        super().__init__(world, *states)
        self.denied = denied

    def delete(self, delete: Delete) -> None:
        if self.denied == "deletions" and delete.key.kind == "Pod":
            raise Rejected("exceeded quota: small")
        super().delete(delete)

    def execute(self, call: Call) -> None:
        if self.denied == "allocation" and isinstance(call, SetAllocation):
            raise CallRejected("403: no permissions")
        super().execute(call)


@pytest.mark.parametrize("denied", ["deletions", "allocation", "nothing"])
@pytest.mark.parametrize(
    "states",
    [
        (unreachable, healthy),
        (red, healthy),
        (healthy, healthy, unreachable),
        (healthy,) * 7 + (red,) * 7,
    ],
    ids=[
        "unreachable every second time",
        "red every second time",
        "unreachable every third time",
        "red for a while",
    ],
)
def test_oscillating_upgrade_stalls_after_the_deadline(
    denied: str, states: tuple[Callable[[EngineView], EngineView | Unreachable], ...]
) -> None:
    """S28, L5: settings that are set and restored, and denied operations, are no progress."""
    # Guards: preparation is no progress; cancelling a delete is no progress.
    world = edit_spec(
        running_cluster(upgrade={"healthDeadlineSeconds": 120, "rollback": "Off"}), version="3.4.0"
    )
    ports = FlappingDenyingPorts(world, denied, *states)
    for _ in range(20):
        run_reconciles(world, ports, 50)
        if status(world)["phase"] == "Stalled" or status(world)["engineVersion"] == "3.4.0":
            break
    assert denied == "nothing" or status(world)["engineVersion"] == "2.19.4"
    assert status(world)["phase"] == "Stalled" or status(world)["engineVersion"] == "3.4.0"


def test_oscillation_backs_off() -> None:
    """Without backoff the engine would be called as fast as it answers."""
    world = edit_spec(running_cluster(), version="3.4.0")
    ports = FlappingEnginePorts(world, red, healthy)
    run_reconciles(world, ports, 100)
    before = world.state.now
    run_reconciles(world, ports, 100)
    assert world.state.now - before >= 70 * INTERVAL


def test_progress_resets_the_health_deadline() -> None:
    world = edit_spec(running_cluster(upgrade={"healthDeadlineSeconds": 120}), version="3.4.0")
    run_reconciles(world, FlappingEnginePorts(world, red, healthy), 30)
    run_reconciles(world, FlappingEnginePorts(world, healthy), 400)
    assert status(world)["engineVersion"] == "3.4.0"
    assert not [event for event in world.state.events if event.type is EventType.WARNING]
