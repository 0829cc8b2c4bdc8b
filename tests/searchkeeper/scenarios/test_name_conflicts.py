"""Name conflicts: foreign objects are left unchanged and reported."""

from __future__ import annotations

from typing import Any

import pytest

from searchkeeper.kubernetes.operations import Delete, EventType, Key, Manifest, Patch
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    checked_ports,
    condition,
    edit_spec,
    new_cluster,
    pool,
    reconcile_for_ticks,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import RecordingPorts, pods, running_cluster

MANAGED_BY = "app.kubernetes.io/managed-by"
SERVICE = Key("v1", "Service", "search", "logs")
# Every object of a cluster, and the condition that reports its name conflict.
NAMES = {
    SERVICE: "ClientServiceApplied",
    Key("v1", "Service", "search", "logs-nodes"): "DiscoveryServiceApplied",
    Key("v1", "ConfigMap", "search", "logs-settings"): "ConfigurationApplied",
    Key("v1", "Secret", "search", "logs-credentials"): "ConfigurationApplied",
    Key(CLUSTER.api, "SearchPool", "search", "logs-data"): "PoolsApplied",
    Key("apps/v1", "StatefulSet", "search", "logs-data"): "PoolsConverged",
    Key("policy/v1", "PodDisruptionBudget", "search", "logs-data"): "DisruptionBudgetsApplied",
    Key("policy/v1", "PodDisruptionBudget", "search", "logs.voters"): "DisruptionBudgetsApplied",
    Key("apps/v1", "Deployment", "search", "logs-dashboards"): "DashboardsCurrent",
}


def create_foreign(cluster: FakeCluster, key: Key, **metadata: Any) -> Manifest:
    """Create an object of another owner."""
    named = {"name": key.name, "namespace": key.namespace, **metadata}
    template = {"metadata": {"labels": {"app": "other"}}, "spec": {"containers": []}}
    spec = {"selector": {"matchLabels": {"app": "other"}}, "replicas": 0, "template": template}
    return cluster.create({"apiVersion": key.api, "kind": key.kind, "metadata": named, "spec": spec})


def without_status(manifest: Manifest | None) -> Any:
    """Return metadata and spec without what controllers change."""
    assert manifest is not None
    metadata = {name: text for name, text in manifest["metadata"].items() if name != "resourceVersion"}
    return metadata, manifest["spec"]


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("key", NAMES, ids=str)
def test_foreign_object_is_reported_and_left_unchanged(key: Key) -> None:
    cluster = new_cluster(dashboards={"enabled": True})
    created = create_foreign(cluster, key)
    reconcile_for_ticks(cluster, ticks=30)
    assert without_status(cluster.get(key)) == without_status(created)
    assert status(cluster)["phase"] == "Stalled"
    assert condition(cluster, NAMES[key]) == (
        f"False NameConflict: stalled: {key} belongs to another owner:"
        " delete it, or rename this cluster or its pool"
    )
    assert [each.type for each in cluster.state.events] == [EventType.WARNING]


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("key", NAMES, ids=str)
def test_object_is_created_when_its_name_becomes_free(key: Key) -> None:
    cluster = new_cluster(dashboards={"enabled": True})
    create_foreign(cluster, key)
    reconcile_for_ticks(cluster, ticks=30)
    cluster.delete(Delete(key, "", ""))
    reconcile_until_converged(cluster)
    assert status(cluster)["phase"] == "Running"


def test_name_conflict_does_not_stop_other_objects() -> None:
    cluster = new_cluster()
    create_foreign(cluster, Key("apps/v1", "StatefulSet", "search", "logs-data"))
    reconcile_for_ticks(cluster, ticks=30)
    assert set(pods(cluster)) == {"managers-0", "managers-1", "managers-2"}


def test_name_conflict_causes_no_writes() -> None:
    """L2: no hot loop."""
    cluster = new_cluster()
    for key in NAMES:
        create_foreign(cluster, key)
    reconcile_for_ticks(cluster, ticks=30)
    ports = RecordingPorts(cluster)
    reconcile_for_ticks(cluster, ports, ticks=30)
    assert ports.writes == 0


@pytest.mark.parametrize("kind", ["Service", "ConfigMap", "SearchPool", "StatefulSet", "PodDisruptionBudget"])
def test_removed_label_is_restored(kind: str) -> None:
    cluster = running_cluster()
    before = {name: each["metadata"]["uid"] for name, each in pods(cluster).items()}
    for key in [key for key in cluster.state.cluster.objects if key.kind == kind]:
        cluster.patch(Patch(key, {"metadata": {"labels": {MANAGED_BY: None}}}, ""))
    reconcile_until_converged(cluster)
    objects = [each for key, each in cluster.state.cluster.objects.items() if key.kind == kind]
    assert {each["metadata"]["labels"].get(MANAGED_BY) for each in objects} == {"searchkeeper"}
    assert {name: each["metadata"]["uid"] for name, each in pods(cluster).items()} == before


def create_cluster(cluster: FakeCluster, name: str, *pools: dict[str, Any]) -> Key:
    """Create a second cluster and reconcile it for a while."""
    key = CLUSTER._replace(name=name)
    metadata = {"name": name, "namespace": key.namespace}
    spec = {"version": "2.19.4", "pools": list(pools)}
    cluster.create({"apiVersion": key.api, "kind": key.kind, "metadata": metadata, "spec": spec})
    for _ in range(30):
        if not reconcile(cluster, cluster, key, release(NEWEST), cluster.state.now).wrote:
            cluster.tick()
    return key


def name_conflicts(cluster: FakeCluster, key: Key) -> set[str]:
    resource = cluster.get(key)
    assert resource is not None
    return {each["message"] for each in resource["status"]["conditions"] if each["reason"] == "NameConflict"}


def test_pool_name_conflict_names_the_owner() -> None:
    cluster = running_cluster(pool("a-data", 2, "data"), pool("managers", 3, "cluster_manager"))
    key = create_cluster(cluster, "logs-a", pool("data", 2, "data"), pool("managers", 1, "cluster_manager"))
    message = "SearchPool logs-a-data belongs to SearchCluster logs"
    assert any(message in each for each in name_conflicts(cluster, key))
    reconcile_until_converged(cluster)


def test_cluster_does_not_take_the_service_of_another_cluster() -> None:
    cluster = running_cluster()
    before = cluster.get(Key("v1", "Service", "search", "logs-nodes"))
    key = create_cluster(cluster, "logs-nodes", pool("managers", 1, "cluster_manager"))
    assert cluster.get(Key("v1", "Service", "search", "logs-nodes")) == before
    assert any(
        "Service logs-nodes belongs to SearchCluster logs" in each for each in name_conflicts(cluster, key)
    )


@pytest.mark.exhaustive
def test_name_conflict_does_not_stop_an_upgrade() -> None:
    cluster = running_cluster()
    cluster.delete(Delete(SERVICE, "", ""))
    create_foreign(cluster, SERVICE)
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0"), checked_ports(cluster), ticks=60)
    assert status(cluster)["engineVersion"] == "3.4.0"
