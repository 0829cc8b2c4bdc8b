"""Name conflicts: foreign objects are left unchanged and reported."""

from __future__ import annotations

from typing import Any

import pytest

from operator_runs import (
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
from operator_scenarios import RecordingPorts, pods, running_cluster
from searchkeeper.kubernetes.operations import Delete, EventType, Key, Manifest, Patch
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster

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


def create_foreign(world: FakeCluster, key: Key, **metadata: Any) -> Manifest:
    """Create an object of another owner."""
    named = {"name": key.name, "namespace": key.namespace, **metadata}
    template = {"metadata": {"labels": {"app": "other"}}, "spec": {"containers": []}}
    spec = {"selector": {"matchLabels": {"app": "other"}}, "replicas": 0, "template": template}
    return world.create({"apiVersion": key.api, "kind": key.kind, "metadata": named, "spec": spec})


def without_status(manifest: Manifest | None) -> Any:
    """Return metadata and spec without what controllers change."""
    assert manifest is not None
    metadata = {name: text for name, text in manifest["metadata"].items() if name != "resourceVersion"}
    return metadata, manifest["spec"]


@pytest.mark.parametrize("key", NAMES, ids=str)
def test_foreign_object_is_reported_and_left_unchanged(key: Key) -> None:
    world = new_cluster(dashboards={"enabled": True})
    created = create_foreign(world, key)
    reconcile_for_ticks(world, ticks=30)
    assert without_status(world.get(key)) == without_status(created)
    assert status(world)["phase"] == "Stalled"
    assert condition(world, NAMES[key]) == (
        f"False NameConflict: stalled: {key} belongs to another owner:"
        " delete it, or rename this cluster or its pool"
    )
    assert [each.type for each in world.state.events] == [EventType.WARNING]


@pytest.mark.parametrize("key", NAMES, ids=str)
def test_object_is_created_when_its_name_becomes_free(key: Key) -> None:
    world = new_cluster(dashboards={"enabled": True})
    create_foreign(world, key)
    reconcile_for_ticks(world, ticks=30)
    world.delete(Delete(key, "", ""))
    reconcile_until_converged(world)
    assert status(world)["phase"] == "Running"


def test_name_conflict_does_not_stop_other_objects() -> None:
    world = new_cluster()
    create_foreign(world, Key("apps/v1", "StatefulSet", "search", "logs-data"))
    reconcile_for_ticks(world, ticks=30)
    assert set(pods(world)) == {"managers-0", "managers-1", "managers-2"}


def test_name_conflict_causes_no_writes() -> None:
    """L2: no hot loop."""
    world = new_cluster()
    for key in NAMES:
        create_foreign(world, key)
    reconcile_for_ticks(world, ticks=30)
    ports = RecordingPorts(world)
    reconcile_for_ticks(world, ports, ticks=30)
    assert ports.writes == 0


@pytest.mark.parametrize("kind", ["Service", "ConfigMap", "SearchPool", "StatefulSet", "PodDisruptionBudget"])
def test_removed_label_is_restored(kind: str) -> None:
    world = running_cluster()
    before = {name: each["metadata"]["uid"] for name, each in pods(world).items()}
    for key in [key for key in world.state.cluster.objects if key.kind == kind]:
        world.patch(Patch(key, {"metadata": {"labels": {MANAGED_BY: None}}}, ""))
    reconcile_until_converged(world)
    objects = [each for key, each in world.state.cluster.objects.items() if key.kind == kind]
    assert {each["metadata"]["labels"].get(MANAGED_BY) for each in objects} == {"searchkeeper"}
    assert {name: each["metadata"]["uid"] for name, each in pods(world).items()} == before


def create_cluster(world: FakeCluster, name: str, *pools: dict[str, Any]) -> Key:
    """Create a second cluster and reconcile it for a while."""
    key = CLUSTER._replace(name=name)
    metadata = {"name": name, "namespace": key.namespace}
    spec = {"version": "2.19.4", "pools": list(pools)}
    world.create({"apiVersion": key.api, "kind": key.kind, "metadata": metadata, "spec": spec})
    for _ in range(30):
        if not reconcile(world, world, key, release(NEWEST), world.state.now).wrote:
            world.tick()
    return key


def name_conflicts(world: FakeCluster, key: Key) -> set[str]:
    cluster = world.get(key)
    assert cluster is not None
    return {each["message"] for each in cluster["status"]["conditions"] if each["reason"] == "NameConflict"}


def test_pool_name_conflict_names_the_owner() -> None:
    world = running_cluster(pool("a-data", 2, "data"), pool("managers", 3, "cluster_manager"))
    key = create_cluster(world, "logs-a", pool("data", 2, "data"), pool("managers", 1, "cluster_manager"))
    message = "SearchPool logs-a-data belongs to SearchCluster logs"
    assert any(message in each for each in name_conflicts(world, key))
    reconcile_until_converged(world)


def test_cluster_does_not_take_the_service_of_another_cluster() -> None:
    world = running_cluster()
    before = world.get(Key("v1", "Service", "search", "logs-nodes"))
    key = create_cluster(world, "logs-nodes", pool("managers", 1, "cluster_manager"))
    assert world.get(Key("v1", "Service", "search", "logs-nodes")) == before
    assert any(
        "Service logs-nodes belongs to SearchCluster logs" in each for each in name_conflicts(world, key)
    )


def test_name_conflict_does_not_stop_an_upgrade() -> None:
    world = running_cluster()
    world.delete(Delete(SERVICE, "", ""))
    create_foreign(world, SERVICE)
    reconcile_for_ticks(edit_spec(world, version="3.4.0"), checked_ports(world), ticks=60)
    assert status(world)["engineVersion"] == "3.4.0"
