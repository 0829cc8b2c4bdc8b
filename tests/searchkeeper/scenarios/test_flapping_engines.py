"""An engine whose state changes with every reconcile: reported at a limited rate, and stalled in time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from searchkeeper.kubernetes.api import Rejected
from searchkeeper.kubernetes.operations import Delete, EventType, Key, Manifest, Patch
from searchkeeper.opensearch.calls import Call, SetAllocation
from searchkeeper.opensearch.client import CallRejected
from searchkeeper.opensearch.view import Color, EngineView, Unreachable
from searchkeeper.reconcile import OSCILLATION_LIMIT
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    CountingPorts,
    condition,
    edit_spec,
    new_cluster,
    reconcile_once,
    status,
)
from tests.support.searchkeeper.operator_scenarios import pod_versions, running_cluster

RECONCILES, INTERVAL, SETTLING = 360, 5, 30
# A failure is reported again only after the engine was healthy for SETTLING seconds.
MOST_REPORTS = RECONCILES * INTERVAL // (SETTLING + INTERVAL) + 1


class FlappingEnginePorts(CountingPorts):
    """Ports to an engine that is in the next of its states with every reconcile."""

    def __init__(
        self, cluster: FakeCluster, *states: Callable[[EngineView], EngineView | Unreachable]
    ) -> None:
        super().__init__(InvariantRecorder(cluster, CLUSTER, release(NEWEST)))
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


def run_reconciles(cluster: FakeCluster, ports: FlappingEnginePorts, count: int = RECONCILES) -> None:
    """Reconcile `count` times, as the manager does: at once after a write, otherwise after five seconds.

    An oscillation that reaches its limit also waits five seconds.
    """
    oscillations = 0
    for _ in range(count):
        outcome = reconcile_once(ports, cluster, NEWEST, settling=SETTLING)
        oscillations = oscillations + 1 if outcome.is_oscillating else 0
        if not outcome.wrote or outcome.is_cosmetic or oscillations >= OSCILLATION_LIMIT:
            cluster.tick(INTERVAL)


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("states", [(unreachable, healthy), (red, healthy), (unreachable, red, healthy)])
def test_flapping_engine_does_not_change_status_with_every_reconcile(
    states: tuple[Callable[[EngineView], EngineView | Unreachable], ...],
) -> None:
    cluster = running_cluster()
    ports = FlappingEnginePorts(cluster, *states)
    run_reconciles(cluster, ports)
    assert 0 < ports.status_writes <= len(states) * MOST_REPORTS


def test_recovery_is_reported_at_once_and_repeated_failure_after_settling() -> None:
    cluster = running_cluster()
    run_reconciles(cluster, FlappingEnginePorts(cluster, unreachable), 1)
    assert condition(cluster, "EngineHealthy").startswith("False")
    run_reconciles(cluster, FlappingEnginePorts(cluster, healthy), 1)
    assert condition(cluster, "EngineHealthy").startswith("True")
    run_reconciles(cluster, FlappingEnginePorts(cluster, unreachable), SETTLING // INTERVAL - 1)
    assert condition(cluster, "EngineHealthy").startswith("True")
    run_reconciles(cluster, FlappingEnginePorts(cluster, unreachable), 1)
    assert condition(cluster, "EngineHealthy").startswith("False")


def test_pools_are_reconciled_while_conditions_change_with_every_reconcile() -> None:
    cluster = new_cluster()
    run_reconciles(cluster, FlappingEnginePorts(cluster, healthy), 60)
    edit_spec(cluster, pools=[{"name": "data", "roles": ["data"], "replicas": 3}, *spec_pools(cluster)[1:]])
    run_reconciles(cluster, FlappingEnginePorts(cluster, unreachable, red), 40)
    assert "data-2" in pod_versions(cluster)


def spec_pools(cluster: FakeCluster) -> list[Manifest]:
    resource = cluster.get(CLUSTER)
    assert resource is not None
    pools: list[Manifest] = resource["spec"]["pools"]
    return pools


def test_engine_that_is_never_healthy_stalls_after_the_deadline() -> None:
    """S28, L5: the rate limit of reports does not extend the deadline."""
    cluster = running_cluster(upgrade={"healthDeadlineSeconds": 120})
    ports = FlappingEnginePorts(cluster, unreachable, red)
    run_reconciles(cluster, ports, 26)
    assert status(cluster)["phase"] == "Stalled"


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
    cluster = running_cluster()
    cluster.delete(Delete(Key("v1", "Service", CLUSTER.namespace, CLUSTER.name), "", ""))
    return cluster, FlappingServiceDenyingPorts(cluster, *states)


def test_denied_operation_is_reported_while_the_engine_flaps() -> None:
    """S28, L5: the denial is recorded although the conditions change with every reconcile."""
    # Guard: denials are recorded beside changed conditions.
    cluster, ports = without_service(unreachable, red)
    run_reconciles(cluster, ports, 100)
    assert condition(cluster, "ClientServiceApplied").startswith(
        "False OperationDenied: stalled: cannot create Service"
    )


@pytest.mark.exhaustive
def test_denied_operation_causes_no_additional_status_writes() -> None:
    # Guard: flapping is not reported.
    cluster, ports = without_service(unreachable, healthy)
    run_reconciles(cluster, ports)
    assert condition(cluster, "ClientServiceApplied").startswith(
        "False OperationDenied: stalled: cannot create Service"
    )
    assert ports.status_writes <= 2 * MOST_REPORTS


class FlappingDenyingPorts(FlappingEnginePorts):
    """Ports to a flapping engine that deny deletes of pods or changes of the allocation setting."""

    def __init__(
        self, cluster: FakeCluster, denied: str, *states: Callable[[EngineView], EngineView | Unreachable]
    ) -> None:
        super().__init__(cluster, *states)
        self.denied = denied

    def delete(self, delete: Delete) -> None:
        if self.denied == "deletions" and delete.key.kind == "Pod":
            raise Rejected("exceeded quota: small")
        super().delete(delete)

    def execute(self, call: Call) -> None:
        if self.denied == "allocation" and isinstance(call, SetAllocation):
            raise CallRejected("403: no permissions")
        super().execute(call)


@pytest.mark.exhaustive(keep=1)
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
    cluster = edit_spec(
        running_cluster(upgrade={"healthDeadlineSeconds": 120, "rollback": "Off"}), version="3.4.0"
    )
    ports = FlappingDenyingPorts(cluster, denied, *states)
    for _ in range(20):
        run_reconciles(cluster, ports, 50)
        if status(cluster)["phase"] == "Stalled" or status(cluster)["engineVersion"] == "3.4.0":
            break
    assert denied == "nothing" or status(cluster)["engineVersion"] == "2.19.4"
    assert status(cluster)["phase"] == "Stalled" or status(cluster)["engineVersion"] == "3.4.0"


@pytest.mark.exhaustive
def test_oscillation_backs_off() -> None:
    """Without backoff the engine would be called as fast as it answers."""
    cluster = edit_spec(running_cluster(), version="3.4.0")
    ports = FlappingEnginePorts(cluster, red, healthy)
    run_reconciles(cluster, ports, 100)
    before = cluster.state.now
    run_reconciles(cluster, ports, 100)
    assert cluster.state.now - before >= 70 * INTERVAL


@pytest.mark.exhaustive
def test_progress_resets_the_health_deadline() -> None:
    cluster = edit_spec(running_cluster(upgrade={"healthDeadlineSeconds": 120}), version="3.4.0")
    run_reconciles(cluster, FlappingEnginePorts(cluster, red, healthy), 30)
    run_reconciles(cluster, FlappingEnginePorts(cluster, healthy), 400)
    assert status(cluster)["engineVersion"] == "3.4.0"
    assert not [event for event in cluster.state.events if event.type is EventType.WARNING]
