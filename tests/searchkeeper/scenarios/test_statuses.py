"""Statuses: phase, upgrade steps, versions, and no writes without a change."""

from __future__ import annotations

import pytest

from searchkeeper.images import engine_image
from searchkeeper.kubernetes.operations import Key, Patch
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    edit_spec,
    new_cluster,
    pool,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import RecordingPorts, add_pod_fault, running_cluster


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("version", ["0.1.1", "0.2.2", "0.3.1", "0.4.0", "0.5.0"])
def test_converged_cluster_causes_no_writes(version: str) -> None:
    cluster = running_cluster(version=version, dashboards={"enabled": True})
    ports = RecordingPorts(cluster)
    reconcile_for_ticks(cluster, ports, version=version, ticks=400)
    assert ports.writes == 0


@pytest.mark.exhaustive
def test_paused_upgrade_causes_no_writes() -> None:
    cluster = edit_spec(running_cluster(), version="3.4.0", upgrade={"paused": True})
    reconcile_for_ticks(cluster, ticks=20)
    ports = RecordingPorts(cluster)
    reconcile_for_ticks(cluster, ports, ticks=400)
    assert ports.writes == 0


def phases_of(cluster: object, **options: object) -> list[str]:
    phases: list[str] = []
    for current in reconcile_steps(cluster, **options):  # type: ignore[arg-type]
        phase = status(current).get("phase")
        if phase is not None and (not phases or phases[-1] != phase):
            phases.append(phase)
    return phases


def test_new_cluster_is_pending_until_it_converges() -> None:
    assert phases_of(new_cluster()) == ["Pending", "Running"]


def test_phase_is_upgrading_during_an_upgrade() -> None:
    assert phases_of(edit_spec(running_cluster(), version="3.4.0")) == ["Upgrading", "Running"]


def test_upgrade_past_its_deadline_is_stalled() -> None:
    cluster = add_pod_fault(
        edit_spec(running_cluster(), version="3.4.0"), engine_image("3.4.0"), PodFault.IMAGE
    )
    reconcile_for_ticks(cluster, ticks=120)
    assert status(cluster)["phase"] == "Stalled"


def test_upgrade_steps_are_the_pools_in_order() -> None:
    cluster = edit_spec(running_cluster(), version="3.4.0")
    history: list[tuple[str, ...]] = []
    for current in reconcile_steps(cluster):
        steps = tuple(
            f"{each['name']} {each['state']}" for each in status(current)["upgrade"].get("steps", ())
        )
        if steps and (not history or history[-1] != steps):
            history.append(steps)
    assert history == [
        ("data Pending", "managers Pending"),
        ("data Running", "managers Pending"),
        ("data Done", "managers Running"),
        ("data Done", "managers Done"),
    ]


def test_upgrade_step_has_the_time_of_its_state() -> None:
    cluster = edit_spec(running_cluster(), version="3.4.0")
    changes = set()
    for current in reconcile_steps(cluster):
        changes |= {(s["name"], s["state"], s["at"]) for s in status(current)["upgrade"].get("steps", ())}
    assert len({(name, state) for name, state, _ in changes}) == len(changes)


def test_upgrade_status_has_versions_and_current_pool() -> None:
    cluster = edit_spec(running_cluster(), version="3.4.0")
    reconcile_until(cluster, lambda cluster: "pool" in status(cluster)["upgrade"])
    upgrade = status(cluster)["upgrade"]
    assert (upgrade["from"], upgrade["target"], upgrade["pool"]) == ("2.19.4", "3.4.0", "data")
    started = upgrade["startedAt"]
    reconcile_until(cluster, lambda cluster: status(cluster)["upgrade"].get("pool") == "managers")
    assert status(cluster)["upgrade"]["startedAt"] == started


@pytest.mark.exhaustive
def test_finished_upgrade_is_in_the_history() -> None:
    cluster = edit_spec(running_cluster(), version="3.4.0")
    reconcile_until_converged(cluster)
    [past] = status(cluster)["upgrade"]["history"]
    assert (past["from"], past["target"], past["result"]) == ("2.19.4", "3.4.0", "Finished")
    assert past["startedAt"] < past["finishedAt"]
    assert set(status(cluster)["upgrade"]) == {"history"}


def test_upgrade_history_is_limited() -> None:
    cluster = edit_spec(running_cluster(), version="3.4.0")
    old = [{"from": "1", "target": "2", "startedAt": str(n), "result": "Finished"} for n in range(10)]
    cluster.patch_status(Patch(CLUSTER, {"status": {"upgrade": {"history": old}}}, ""))
    reconcile_until_converged(cluster)
    history = status(cluster)["upgrade"]["history"]
    assert len(history) == 10
    assert history[-1]["target"] == "3.4.0"


def test_pool_version_is_the_lowest_of_its_nodes() -> None:
    cluster = edit_spec(running_cluster(), version="3.4.0")
    child = Key("search.everpath.dev/v1alpha1", "SearchPool", "search", "logs-data")
    for current in reconcile_steps(cluster):
        lowest = min(n.version for n in current.state.engine.nodes if n.name.startswith("logs-data"))
        reported = (current.get(child) or {})["status"]["engineVersion"]
        assert reported <= lowest
    assert reported == "3.4.0"


def test_engine_version_is_reported_after_every_node_runs_it() -> None:
    """S05, S06: every node has joined with that version."""
    cluster = edit_spec(running_cluster(), version="3.4.0")
    for current in reconcile_steps(cluster):
        if status(current)["engineVersion"] == "3.4.0":
            assert {node.version for node in current.state.engine.nodes} == {"3.4.0"}
            assert len(current.state.engine.nodes) == 5
    assert status(cluster)["engineVersion"] == "3.4.0"


def test_ready_count_is_complete_during_scale_in() -> None:
    cluster = running_cluster(pool("data", 3, "data"), pool("managers", 3, "cluster_manager"))
    edit_spec(cluster, pools=[pool("data", 2, "data"), pool("managers", 3, "cluster_manager")])
    assert {status(current)["ready"] for current in reconcile_steps(cluster)} <= {"6/6", "5/5"}
