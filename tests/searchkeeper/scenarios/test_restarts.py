"""Containers that restart: no other pod is replaced meanwhile."""

from __future__ import annotations

import pytest

from searchkeeper.api.codec import format_timestamp
from searchkeeper.kubernetes.operations import Key, Patch
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    condition,
    edit_spec,
    reconcile_for_ticks,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import add_pod_fault, pod_versions, running_cluster


def restart_container(cluster: FakeCluster, name: str, *, count: int = 1) -> FakeCluster:
    """Set the status of a pod whose container has restarted just now and is ready again."""
    key = Key("v1", "Pod", CLUSTER.namespace, f"{CLUSTER.name}-{name}")
    ended = {"reason": "OOMKilled", "exitCode": 137, "finishedAt": format_timestamp(cluster.state.now)}
    container = {
        "name": "main",
        "ready": True,
        "state": {"running": {}},
        "restartCount": count,
        "lastState": {"terminated": ended},
    }
    cluster.patch_status(Patch(key, {"status": {"containerStatuses": [container]}}, ""))
    return cluster


def upgrade_first_pod(cluster: FakeCluster) -> FakeCluster:
    """Reconcile until the first pod has the new version and is available again."""
    edit_spec(cluster, version="3.4.0")
    reconcile_until(cluster, lambda cluster: "roll/away" in status(cluster)["ledger"])
    return reconcile_until(cluster, lambda cluster: "roll/away" not in status(cluster)["ledger"])


@pytest.mark.exhaustive
def test_upgrade_waits_until_the_last_restart_is_ten_minutes_ago() -> None:
    cluster = upgrade_first_pod(running_cluster())
    before = pod_versions(cluster)
    assert before["data-0"] == "3.4.0"
    reconcile_for_ticks(restart_container(cluster, "data-0", count=2), ticks=55)
    assert pod_versions(cluster) == before
    assert condition(cluster, "PodsCurrent").startswith(
        "False PodsRestarting: container main of logs-data-0 has restarted 2 times, last at 1970-01-01T"
    )
    assert cluster.state.engine.allocation is None
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster).values()) == {"3.4.0"}
    assert "Stalled" not in [event.reason for event in cluster.state.events]


def test_upgrade_stalls_while_a_pod_restarts_again_and_again() -> None:
    cluster = upgrade_first_pod(running_cluster(upgrade={"healthDeadlineSeconds": 60}))
    before = pod_versions(cluster)
    for count in range(1, 6):
        reconcile_for_ticks(restart_container(cluster, "data-0", count=count), ticks=3)
    assert pod_versions(cluster) == before
    assert status(cluster)["phase"] == "Stalled"
    assert condition(cluster, "Degraded").startswith("True PodsRestarting: ")


def test_failing_rollout_of_a_version_that_restarts_rolls_back() -> None:
    """The restarts of the newer version do not block the rollback from it."""
    cluster = upgrade_first_pod(
        running_cluster(upgrade={"healthDeadlineSeconds": 60, "rollback": "Automatic"})
    )
    for count in range(1, 30):
        if "upgrade" not in status(cluster)["ledger"]:
            break
        if pod_versions(cluster).get("data-0") == "3.4.0":
            restart_container(cluster, "data-0", count=count)
        reconcile_for_ticks(cluster, ticks=3)
    assert set(pod_versions(cluster).values()) == {"2.19.4"}


def test_outdated_pod_that_restarts_is_replaced_first() -> None:
    """The new version may end its restarts; the others would wait for it."""
    cluster = restart_container(running_cluster(), "data-1")
    edit_spec(cluster, version="3.4.0")
    reconcile_until(cluster, lambda cluster: "3.4.0" in pod_versions(cluster).values())
    assert pod_versions(cluster)["data-1"] == "3.4.0"
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


def test_crash_loop_is_reported_with_the_last_exit() -> None:
    cluster = upgrade_first_pod(running_cluster())
    add_pod_fault(cluster, "logs-managers-1", PodFault.CRASH)
    reconcile_for_ticks(cluster, ticks=5)
    assert condition(cluster, "PodsCurrent") == (
        "False PodsRestarting: container main of logs-managers-1 has restarted once, last: "
        "Error (exit code 1)"
    )
    assert list(pod_versions(cluster).values()).count("3.4.0") == 1
