"""What a reconcile logs and measures: operations, changed conditions, gauges."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from searchkeeper.kubernetes.operations import Key
from searchkeeper.manager.instrumentation import InstrumentedApi, InstrumentedEngine
from searchkeeper.manager.logging import KEYS, Log, configure_logging
from searchkeeper.manager.metrics import ActionCounts, Metrics
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import newest
from searchkeeper.testing.demo import sample_cluster
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from tests.support.searchkeeper.managers import metric
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    edit_spec,
    new_cluster,
    reconcile_for_ticks,
    reconcile_until,
    reconcile_until_converged,
    set_pod_faults,
    status,
)

PASSWORD = "c3dvcmRmaXNo"


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """All logs; the former handlers are restored afterwards."""
    root, stream = logging.getLogger(), io.StringIO()
    handlers, level = root.handlers[:], root.level
    configure_logging(stream)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def run_reconciles(count: int, **spec: Any) -> Metrics:
    """Create a cluster, request 3.4.0 after half of the reconciles, and return the metrics."""
    cluster, metrics = new_cluster(**spec), Metrics()
    metadata, data = {"name": "admin", "namespace": "search"}, {"username": "cm9vdA==", "password": PASSWORD}
    cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})
    api = InstrumentedApi(cluster, Log(), metrics, CLUSTER)
    engine = InstrumentedEngine(cluster, api)
    while api.reconcile < count:
        api.start_reconcile()
        if not reconcile(api, engine, CLUSTER, newest(), cluster.state.now).wrote:
            cluster.tick()
        if api.reconcile == count // 2:
            edit_spec(cluster, version="3.4.0")
    return metrics


def test_log_shows_the_steps_of_a_rollout(stream: io.StringIO) -> None:
    run_reconciles(120)

    logged = lines(stream)
    reasons = [line["reason"] for line in logged if line.get("action") == "PodsCurrent"]
    start = reasons.index("DisablingReplicaAllocation")
    assert reasons[start : start + 4] == [
        "DisablingReplicaAllocation",
        "Flushing",
        "ReplacingPod",
        "WaitingForPods",
    ]
    deleted = [line["pod"] for line in logged if line["msg"] == "deleting pod"]
    assert deleted[:2] == ["logs-data-0", "logs-data-1"]
    assert {line["cluster"] for line in logged} == {"search/logs"}
    assert [line["reconcile"] for line in logged] == sorted(line["reconcile"] for line in logged)


def test_deleted_pod_is_logged_with_reason_and_versions(stream: io.StringIO) -> None:
    run_reconciles(120)

    line = next(line for line in lines(stream) if line["msg"] == "deleting pod")
    del line["ts"], line["reconcile"]
    assert line == {
        "level": "info",
        "msg": "deleting pod",
        "cluster": "search/logs",
        "pod": "logs-data-0",
        "reason": "ReplacingPod",
        "operation": "delete",
        "from": "2.19.4",
        "to": "3.4.0",
    }


def test_log_has_no_other_keys(stream: io.StringIO) -> None:
    run_reconciles(120)

    used = {key for line in lines(stream) for key in line}
    assert used <= set(KEYS)
    assert {"cluster", "pool", "pod", "action", "reason", "operation", "from", "to", "reconcile"} <= used


def test_unchanged_condition_is_not_logged_again(stream: io.StringIO) -> None:
    run_reconciles(30)

    last: dict[Any, Any] = {}
    for line in (line for line in lines(stream) if "action" in line):
        place, condition = (line.get("pool"), line["action"]), (line["reason"], line["msg"])
        assert last.get(place) != condition
        last[place] = condition
    assert last
    assert "PrerequisiteNotMet" not in {reason for reason, _ in last.values()}


def test_new_objection_to_the_rollout_is_logged(stream: io.StringIO) -> None:
    """A gate may block one pod after the other with the same reason."""
    api = InstrumentedApi(new_cluster(), Log(), Metrics(), CLUSTER)
    blocked = {"type": "PodsCurrent", "status": "False", "reason": "NodesNotJoined"}
    other = {"type": "PoolsConverged", "status": "False", "reason": "Waiting"}
    for node in ("logs-data-0", "logs-data-0", "logs-data-1"):
        message = f"{node} has not joined the cluster"
        conditions = [{**blocked, "message": message}, {**other, "message": message}]
        api.log_conditions(CLUSTER, {"conditions": conditions})

    assert [(line["action"], line["msg"]) for line in lines(stream)] == [
        ("PodsCurrent", "logs-data-0 has not joined the cluster"),
        ("PoolsConverged", "logs-data-0 has not joined the cluster"),
        ("PodsCurrent", "logs-data-1 has not joined the cluster"),
    ]


def test_log_has_no_credentials(stream: io.StringIO) -> None:
    run_reconciles(60, security={"credentialsSecret": "admin"})

    assert "created Secret logs-credentials" in {line["msg"] for line in lines(stream)}
    assert PASSWORD not in stream.getvalue()
    assert "swordfish" not in stream.getvalue()


def test_failing_action_is_counted_as_stalled_after_its_deadline(stream: io.StringIO) -> None:
    metrics = Metrics()
    failing = {
        "type": "PoolsApplied",
        "status": "Unknown",
        "reason": "ActionError",
        "message": "ValueError: no number",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    for ledger in ({}, {"stalled": '["PoolsApplied"]'}):
        api = InstrumentedApi(new_cluster(), Log(), metrics, CLUSTER)
        api.log_conditions(CLUSTER, {"conditions": [failing], "ledger": ledger})
        api.measure()

    assert metric(metrics, "searchkeeper_stalled_actions", namespace="search", name="logs") == 1
    assert lines(stream)[0]["msg"] == "ValueError: no number"


def reconcile_as_new_leader(cluster: FakeCluster, metrics: Metrics) -> InstrumentedApi:
    """Reconcile once with new ports, as a process that has just become leader."""
    api = InstrumentedApi(cluster, Log(), metrics, CLUSTER)
    api.start_reconcile()
    reconcile(api, InstrumentedEngine(cluster, api), CLUSTER, newest(), cluster.state.now)
    api.measure()
    return api


def test_new_leader_has_all_gauges_without_a_write() -> None:
    cluster = edit_spec(
        sample_cluster(newest(), "2.19.4"), upgrade={"rollback": "Off", "healthDeadlineSeconds": 30}
    )
    reconcile_until_converged(cluster, newest().version)
    edit_spec(set_pod_faults(cluster, v3_4_0=PodFault.IMAGE), version="3.4.0")
    reconcile_until(cluster, lambda it: status(it).get("phase") == "Stalled", newest().version)
    reconcile_for_ticks(cluster, version=newest().version, ticks=3)
    metrics = Metrics()
    reconcile_as_new_leader(cluster, metrics)

    assert metric(metrics, "searchkeeper_operations_total") == 0
    assert metric(metrics, "searchkeeper_cluster_phase", phase="Stalled") == 1
    assert metric(metrics, "searchkeeper_cluster_condition", type="PodsCurrent") == 1
    assert metric(metrics, "searchkeeper_stalled_actions") > 0
    assert metric(metrics, "searchkeeper_waiting_actions", pool="") > 0
    assert 0 < metric(metrics, "searchkeeper_upgrade_progress_ratio") < 1


def test_gauges_cover_the_existing_pools_of_this_cluster_only() -> None:
    cluster, metrics = new_cluster(), Metrics()
    reconcile_until_converged(cluster, newest().version)
    resource = cluster.get(CLUSTER)
    assert resource is not None
    cluster.create({**resource, "metadata": {"name": "shop", "namespace": "search"}, "status": {}})
    reconcile_for_ticks(cluster, version=newest().version, ticks=1)
    metrics.set_actions(CLUSTER, {"logs-gone": ActionCounts(2, 0)}, replace=False)
    metrics.set_actions(Key(*CLUSTER[:3], "shop"), {"shop-data": ActionCounts(2, 0)}, replace=False)
    reconcile_as_new_leader(cluster, metrics)

    [gauge] = metrics.waiting_actions.collect()
    pools = {sample.labels["pool"] for sample in gauge.samples if sample.labels["name"] == "logs"}
    assert pools == {"", "logs-data", "logs-managers"}
    assert metric(metrics, "searchkeeper_waiting_actions", name="shop") == 2


def test_removed_nodes_do_not_count_for_the_upgrade_progress() -> None:
    cluster, metrics = new_cluster(), Metrics()
    reconcile_until_converged(cluster, newest().version)
    api = reconcile_as_new_leader(cluster, metrics)
    api._observations.node_versions["logs-data-9"] = "1.3.0"
    edit_spec(cluster, version="3.4.0")
    reconcile_until_converged(cluster, newest().version)
    for _ in range(2):
        api.start_reconcile()
        reconcile(api, InstrumentedEngine(cluster, api), CLUSTER, newest(), cluster.state.now)
        api.measure()

    assert set(api._observations.node_versions.values()) == {"3.4.0"}


def test_every_request_is_a_heartbeat() -> None:
    cluster, heartbeats = new_cluster(), list[str]()
    api = InstrumentedApi(cluster, Log(), Metrics(), CLUSTER, lambda: heartbeats.append("alive"))
    api.start_reconcile()
    before = len(heartbeats)
    reconcile(api, InstrumentedEngine(cluster, api), CLUSTER, newest(), cluster.state.now)

    assert before == 1
    assert len(heartbeats) > 10


def test_operations_are_counted_by_kind(stream: io.StringIO) -> None:
    metrics = run_reconciles(40)

    created = [line for line in lines(stream) if line.get("operation") == "create"]
    assert metric(metrics, "searchkeeper_operations_total", operation="create") == len(created)
    assert metric(metrics, "searchkeeper_operations_total", operation="create", kind="SearchPool") == 2
