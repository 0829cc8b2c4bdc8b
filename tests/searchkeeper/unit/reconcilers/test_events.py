"""Events of upgrades: each once, in the order in which it happens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.api.messages import MAX_MESSAGE
from searchkeeper.api.reasons import Reason
from searchkeeper.kubernetes.operations import EmitEvent
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.planner import Condition, Records, Result, Status
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.events import events_emitted
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from searchkeeper.upgrade.ledger import EVENTS_EMITTED
from tests.support.searchkeeper.action_contexts import context
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    CountingPorts,
    annotate,
    edit_spec,
    new_cluster,
    pool,
    reconcile_for_ticks,
    reconcile_until,
    reconcile_until_converged,
    set_pod_faults,
)
from tests.support.searchkeeper.operator_scenarios import running_cluster
from tests.support.searchkeeper.rollouts import ledger_changes
from tests.support.searchkeeper.snapshots import NEW, OLD, cluster_snapshot


def event_texts(cluster: FakeCluster) -> list[str]:
    return [f"{each.type} {each.reason}: {each.message}" for each in cluster.state.events]


def reasons(cluster: FakeCluster) -> list[str]:
    return [each.reason for each in cluster.state.events]


def test_creation_emits_nothing() -> None:
    cluster = new_cluster()
    reconcile_until_converged(cluster)
    assert event_texts(cluster) == []


def test_upgrade_emits_its_start_each_pool_and_its_end() -> None:
    cluster = edit_spec(running_cluster(), version=NEW)
    reconcile_until_converged(cluster)
    blocked = (
        f"a rollback to {OLD} is not possible any more: books[0] has no copy on a node of the older version"
    )
    assert sorted(event_texts(cluster)) == sorted(
        [
            f"Normal UpgradeStarted: upgrade {OLD} → {NEW}; pools in order: data, managers",
            f"Normal PointOfNoReturnPassed: {blocked}",
            f"Normal PoolUpgraded: pool data: every node runs {NEW}",
            f"Normal PoolUpgraded: pool managers: every node runs {NEW}",
            f"Normal UpgradeFinished: every node runs {NEW}",
        ]
    )
    assert reasons(cluster)[0] == "UpgradeStarted"
    assert reasons(cluster)[-1] == "UpgradeFinished"


@pytest.mark.exhaustive
def test_second_upgrade_emits_its_own_events() -> None:
    cluster = edit_spec(running_cluster(engine="2.19.0"), version=OLD)
    reconcile_until_converged(cluster)
    first = reasons(cluster)
    reconcile_until_converged(edit_spec(cluster, version=NEW))
    assert reasons(cluster)[len(first) :].count("UpgradeStarted") == 1
    assert reasons(cluster).count("UpgradeFinished") == 2


def test_nothing_is_recorded_after_the_end() -> None:
    cluster = edit_spec(running_cluster(), version=NEW)
    reconcile_until_converged(cluster)
    found = cluster.get(CLUSTER)
    assert found is not None
    assert EVENTS_EMITTED not in found["status"]["ledger"]


@pytest.mark.exhaustive
def test_rollback_emits_its_start_and_its_end() -> None:
    cluster = edit_spec(
        running_cluster(upgrade={"rollback": "Automatic", "healthDeadlineSeconds": 60}), version=NEW
    )
    reconcile_for_ticks(set_pod_faults(cluster, v3_4_0=PodFault.IMAGE), ticks=60)
    assert reasons(cluster) == ["UpgradeStarted", "RollbackStarted", "RollbackFinished"]


def test_requested_rollback_is_no_warning() -> None:
    cluster = edit_spec(running_cluster(), version=NEW)
    reconcile_until(cluster, lambda cluster: len(cluster.state.events) > 0)
    reconcile_until_converged(edit_spec(annotate(cluster, rollback=OLD), version=OLD))
    assert {str(each.type) for each in cluster.state.events} == {"Normal"}
    assert reasons(cluster)[-1] == "RollbackFinished"


class UnreliableEnginePorts(CountingPorts):
    """Ports to an engine that is unreachable at every third read."""

    calls = 0

    def get_state(self) -> EngineView | Unreachable:
        self.calls += 1
        return Unreachable("timed out") if self.calls % 3 == 0 else super().get_state()


@pytest.mark.exhaustive
def test_events_of_an_upgrade_are_emitted_once_with_a_flapping_engine() -> None:
    cluster = edit_spec(running_cluster(), version=NEW)
    ports = UnreliableEnginePorts(InvariantRecorder(cluster, CLUSTER, release(NEWEST)))
    reconcile_for_ticks(cluster, ports, ticks=120)
    found = [each for each in reasons(cluster) if each != "Stalled"]
    assert sorted(found) == [
        "PointOfNoReturnPassed",
        "PoolUpgraded",
        "PoolUpgraded",
        "UpgradeFinished",
        "UpgradeStarted",
    ]


def with_conditions(ctx: ReconcileContext, *conditions: Condition) -> ReconcileContext:
    cluster = ctx.snapshot.cluster
    records = Records(cluster.records.ledger, conditions)
    return ReconcileContext(replace(ctx.snapshot, cluster=replace(cluster, records=records)), ctx.version)


STALLED = Condition("PodsCurrent", Status.FALSE, "Waiting", "logs-data-0 is missing", 0, 1, is_stalled=True)
UPGRADE: dict[str, Any] = {"upgrade": (OLD, NEW), "told": ("UpgradeStarted",)}


def events(result: Result) -> list[str]:
    return [each.reason for each in result.operations if isinstance(each, EmitEvent)]


def test_stall_that_causes_a_rollback_has_no_event_of_its_own() -> None:
    """The event of the rollback names it. It is recorded all the same, so that it is not emitted later."""
    ctx = with_conditions(context(cluster_snapshot(), **UPGRADE, upgrade__return=OLD), STALLED)
    result = events_emitted.run(ctx)
    assert events(result) == [Reason.ROLLBACK_STARTED]
    assert ledger_changes(result) == {EVENTS_EMITTED: ("RollbackStarted", "Stalled", "UpgradeStarted")}


def test_stall_without_a_rollback_has_an_event() -> None:
    assert events(events_emitted.run(with_conditions(context(cluster_snapshot(), **UPGRADE), STALLED))) == [
        "Stalled"
    ]


def test_stall_during_a_rollback_has_an_event() -> None:
    lines: dict[str, Any] = {**UPGRADE, "told": ("RollbackStarted", "UpgradeStarted"), "upgrade__return": OLD}
    assert events(events_emitted.run(with_conditions(context(cluster_snapshot(), **lines), STALLED))) == [
        "Stalled"
    ]


def test_resumed_upgrade_forgets_its_rollback() -> None:
    """A second rollback of the same upgrade has an event again."""
    lines: dict[str, Any] = {**UPGRADE, "told": ("RollbackStarted", "UpgradeStarted")}
    result = events_emitted.run(context(cluster_snapshot(), **lines))
    assert events(result) == []
    assert ledger_changes(result) == {EVENTS_EMITTED: ("UpgradeStarted",)}


@pytest.mark.parametrize("count", [1, 60])
def test_event_is_bounded(count: int) -> None:
    stalls = [replace(STALLED, type=f"Action{n}", message="x" * 400) for n in range(count)]
    [event] = events_emitted.run(with_conditions(context(cluster_snapshot()), *stalls)).operations
    assert isinstance(event, EmitEvent)
    assert len(event.message) <= MAX_MESSAGE


def test_upgraded_pool_is_recorded_by_name() -> None:
    cluster = edit_spec(
        running_cluster(pool("data", 2, "data"), pool("managers", 3, "cluster_manager")), version=NEW
    )
    reconcile_until(cluster, lambda cluster: "PoolUpgraded" in reasons(cluster))
    found = cluster.get(CLUSTER)
    assert found is not None
    assert "PoolUpgraded/data" in found["status"]["ledger"][EVENTS_EMITTED]
