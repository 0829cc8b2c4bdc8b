"""The metrics registry: series that replace each other, series that disappear, and their documentation."""

from __future__ import annotations

import re
from typing import Any

import pytest
from prometheus_client.metrics import MetricWrapperBase

from searchkeeper.kubernetes.operations import Key
from searchkeeper.manager.metrics import ActionCounts, Metrics
from tests.support.commandline import ROOT
from tests.support.searchkeeper.managers import metric
from tests.support.searchkeeper.operator_runs import CLUSTER

OTHER = Key(*CLUSTER[:3], "shop")


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def test_cluster_has_one_phase_and_one_status_a_condition(metrics: Metrics) -> None:
    metrics.set_state(CLUSTER, "Running", {"Ready": "True"}, 1)
    metrics.set_state(OTHER, "Running", {"Ready": "True"}, 1)
    metrics.set_state(CLUSTER, "Upgrading", {"Ready": "False"}, 0.5)

    assert metric(metrics, "searchkeeper_cluster_phase", name="logs") == 1
    assert metric(metrics, "searchkeeper_cluster_phase", phase="Running") == 1
    assert metric(metrics, "searchkeeper_cluster_condition", name="logs", status="False") == 1
    assert metric(metrics, "searchkeeper_cluster_condition", name="logs") == 1
    assert metric(metrics, "searchkeeper_upgrade_progress_ratio", name="logs") == 0.5


def test_counters_stay_when_the_gauges_of_a_cluster_are_removed(metrics: Metrics) -> None:
    metrics.set_actions(CLUSTER, {"": ActionCounts(2, 1)}, replace=True)
    metrics.reconciles.labels("search", "logs", "changed").inc()
    metrics.remove_gauges(CLUSTER)

    assert metric(metrics, "searchkeeper_waiting_actions") == 0
    assert metric(metrics, "searchkeeper_reconcile_total") == 1


def test_series_of_a_deleted_cluster_disappear(metrics: Metrics) -> None:
    for cluster in (CLUSTER, OTHER):
        names = cluster.namespace, cluster.name
        metrics.set_actions(cluster, {"": ActionCounts(2, 1), "data": ActionCounts(1, 0)}, replace=True)
        metrics.set_state(cluster, "Running", {"Ready": "True"}, 1)
        metrics.reconciles.labels(*names, "changed").inc()
        metrics.reconcile_errors.labels(*names, "Conflict").inc()
        metrics.operations.labels(*names, "create", "Service").inc()
        metrics.reconcile_duration.labels(*names).observe(0.2)
        metrics.last_reconcile.labels(*names).set(1)
    assert {family.name for family in metrics.registry.collect() if has_samples_of(family, "logs")} == {
        family.name for family in metrics.registry.collect() if family.name != "searchkeeper_leader"
    }
    metrics.remove_cluster(CLUSTER)

    assert b'name="logs"' not in metrics.render()
    assert metrics.render().count(b'name="shop"') > 10


def has_samples_of(family: Any, cluster: str) -> bool:
    return any(sample.labels.get("name") == cluster for sample in family.samples)


def test_every_manager_has_its_own_registry(metrics: Metrics) -> None:
    metrics.leader.set(1)

    assert metric(Metrics(), "searchkeeper_leader") == 0


def test_documentation_lists_every_metric_with_its_labels(metrics: Metrics) -> None:
    page = (ROOT / "docs/operator/running.md").read_text(encoding="utf-8")
    documented = dict(re.findall(r"^\| `(searchkeeper_\w+)(?:\{([\w,]+)\})?` \|", page, re.MULTILINE))

    assert documented == {name: ",".join(labels) for name, labels in registered_metrics(metrics)}


def registered_metrics(metrics: Metrics) -> list[tuple[str, tuple[str, ...]]]:
    wrappers = [value for value in vars(metrics).values() if isinstance(value, MetricWrapperBase)]
    assert {family.name for family in metrics.registry.collect()} == {
        family.name for wrapper in wrappers for family in wrapper.describe()
    }
    suffixes = {"counter": "_total"}
    return [
        (family.name + suffixes.get(family.type, ""), wrapper._labelnames)
        for wrapper in wrappers
        for family in wrapper.describe()
    ]
