"""Dashboards: created and upgraded after the engine, deleted when disabled."""

from __future__ import annotations

import pytest

from searchkeeper.images import dashboards_image, image_version
from searchkeeper.kubernetes.operations import Key
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from tests.support.searchkeeper.operator_runs import (
    condition,
    edit_spec,
    new_cluster,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import add_pod_fault, running_cluster

DASHBOARDS = Key("apps/v1", "Deployment", "search", "logs-dashboards")
ENABLED = {"enabled": True, "replicas": 2}


def dashboards_version(cluster: FakeCluster) -> str | None:
    deployment = cluster.get(DASHBOARDS)
    return (
        None
        if deployment is None
        else image_version(deployment["spec"]["template"]["spec"]["containers"][0]["image"])
    )


def test_dashboards_are_created_after_every_engine_node_has_joined() -> None:
    for current in reconcile_steps(new_cluster(dashboards=ENABLED)):
        if current.get(DASHBOARDS) is not None:
            assert len(current.state.engine.nodes) == 5
    assert dashboards_version(current) == "2.19.4"


@pytest.mark.exhaustive
def test_dashboards_are_upgraded_after_the_engine() -> None:
    cluster = edit_spec(running_cluster(dashboards=ENABLED), version="3.4.0")
    for current in reconcile_steps(cluster):
        if {node.version for node in current.state.engine.nodes} != {"3.4.0"}:
            assert dashboards_version(current) == "2.19.4"
    assert dashboards_version(cluster) == "3.4.0"


@pytest.mark.exhaustive
def test_cluster_waits_for_available_dashboards() -> None:
    cluster = add_pod_fault(running_cluster(), dashboards_image("2.19.4"), PodFault.IMAGE)
    reconcile_for_ticks(edit_spec(cluster, dashboards=ENABLED), ticks=10)
    assert condition(cluster, "DashboardsCurrent") == (
        "False WaitingForDashboards: Deployment logs-dashboards is not available"
    )
    reconcile_for_ticks(cluster, ticks=100)
    assert status(cluster)["phase"] == "Stalled"


@pytest.mark.exhaustive
def test_failed_dashboards_do_not_hold_the_spec_lock() -> None:
    """L4: the engine is upgraded, so other edits are applied."""
    cluster = add_pod_fault(running_cluster(dashboards=ENABLED), dashboards_image("3.4.0"), PodFault.CRASH)
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0"), ticks=60)
    assert status(cluster)["engineVersion"] == "3.4.0"
    assert "upgrade/lock" not in status(cluster)["ledger"]


def test_disabled_dashboards_are_deleted() -> None:
    cluster = edit_spec(running_cluster(dashboards=ENABLED), dashboards={"enabled": False})
    reconcile_until_converged(cluster)
    cluster.tick()
    cluster.tick()
    assert not [key for key in cluster.state.cluster.objects if "dashboards" in key.name]
