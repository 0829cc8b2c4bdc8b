"""Migrations from one configuration version to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from operator_runs import (
    CLUSTER,
    NEWEST,
    SMALL,
    CountingPorts,
    add_index,
    condition,
    edit_spec,
    new_cluster,
    pool,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from operator_scenarios import color, delete_cluster, object_kinds, pods, running_cluster, stateful_set
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.opensearch.view import Color
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.manifests import owner_uids
from searchkeeper.testing.faults import kill_pod

BEFORE = "0.3.1"


def revisions(world: FakeCluster) -> dict[str, Manifest]:
    found = world.list("apps/v1", "ControllerRevision", CLUSTER.namespace, {})
    return {each["metadata"]["name"]: each for each in found}


def foreign_revision(name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": CLUSTER.namespace, "labels": {"app": "logs", "pool": "data"}}
    return {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "data": {}}


def test_objects_of_version_1_are_deleted_when_unused() -> None:
    world = running_cluster(version="0.1.1")
    reconcile_until_converged(world, "0.2.0")
    assert not {"logs-discovery", "logs-config"} & {key.name for key in world.state.cluster.objects}


def test_pods_have_both_labels_before_the_service_selects_by_the_new_ones() -> None:
    world = running_cluster(version=BEFORE)
    service = Key("v1", "Service", CLUSTER.namespace, "logs")
    reconcile_until(
        world, lambda world: "app" not in world.state.cluster.objects[service]["spec"]["selector"]
    )
    labels = [pod["metadata"]["labels"] for pod in world.list("v1", "Pod", CLUSTER.namespace, {})]
    assert labels
    assert all({"app", "app.kubernetes.io/instance"} <= each.keys() for each in labels)


@pytest.mark.parametrize("grown", ["data", "managers", "edge"])
def test_scale_out_works_during_the_relabelling(grown: str) -> None:
    roles = {"data": "data", "edge": "ingest", "managers": "cluster_manager"}
    world = running_cluster(*(pool(name, 3, role) for name, role in roles.items()), version=BEFORE)
    edit_spec(world, pools=[pool(name, 5 if name == grown else 3, role) for name, role in roles.items()])
    reconcile_until_converged(world)
    assert status(world)["currentVersion"] == 5
    assert status(world)["ready"] == "11/11"


def without_its_last_pool() -> FakeCluster:
    """A removed pool with the only copies of some documents, when the next operator starts."""
    world = running_cluster(*SMALL, pool("more", 2, "data"), version=BEFORE)
    for name in ("films", "songs", "plays", "tales"):
        add_index(world, name, replicas=0)
    return edit_spec(world, pools=list(SMALL))


def test_removed_pool_keeps_a_stateful_set_until_its_last_node_has_left() -> None:
    world = without_its_last_pool()
    reconcile_until_converged(world)
    assert sorted(pods(world)) == ["data-0", "data-1", "managers-0", "managers-1", "managers-2"]
    assert status(world)["currentVersion"] == 5
    assert color(world) is Color.GREEN


@pytest.mark.parametrize("evicted", [["more-1"], ["more-0", "more-1"]], ids=["one", "all of them"])
def test_evicted_pod_of_a_removed_pool_comes_back_during_the_relabelling(evicted: list[str]) -> None:
    # Guard: a pool that is scaled in keeps its StatefulSet.
    world = without_its_last_pool()
    reconcile_until(world, lambda world: stateful_set(world, "more") is None)
    for name in evicted:
        world.state = kill_pod(world.state, Key("v1", "Pod", CLUSTER.namespace, f"logs-{name}"))
    reconcile_for_ticks(world, ticks=80)
    assert color(world) is Color.GREEN
    assert not status(world)["ledger"]
    assert stateful_set(world, "more") is None


def test_orphaning_a_stateful_set_orphans_its_revisions() -> None:
    """They have no owner, and labels that no later StatefulSet selects."""
    world = running_cluster(version=BEFORE)
    orphaned = set()
    for current in reconcile_steps(world):
        orphaned |= {name for name, each in revisions(current).items() if not owner_uids(each)}
    assert {name.rpartition("-")[0] for name in orphaned} == {"logs-data", "logs-managers"}


def test_migration_keeps_the_only_manager_on_ephemeral_storage() -> None:
    """I1: the migration continues when another manager can have its vote."""
    ephemeral = {**pool("managers", 1, "cluster_manager"), "storage": {"ephemeral": True}}
    world = new_cluster(ephemeral, pool("data", 2, "data"), upgrade={"healthDeadlineSeconds": 60})
    reconcile_until_converged(world, "0.1.1")
    before = [node.name for node in world.state.engine.nodes if node.is_elected]
    reconcile_for_ticks(world, version="0.2.2", ticks=40)
    assert "only the ephemeral storage of logs-managers-0 has the cluster state" in condition(
        world, "PodsCurrent"
    )
    assert [node.name for node in world.state.engine.nodes if node.is_elected] == before
    edit_spec(world, pools=[ephemeral, pool("data", 2, "data"), pool("leaders", 1, "cluster_manager")])
    reconcile_until_converged(world, "0.2.2")
    assert world.state.engine.elected is not None


def test_revisions_with_the_old_labels_are_deleted() -> None:
    # Guard: orphaned revisions are deleted.
    world = running_cluster(version=BEFORE)
    before = set(revisions(world))
    reconcile_until_converged(world)
    assert before
    assert not before & set(revisions(world))
    assert all(map(owner_uids, revisions(world).values()))


def test_revisions_of_other_owners_stay() -> None:
    # Guard: revisions are found by the names of our StatefulSets.
    world = running_cluster(version=BEFORE)
    world.create(foreign_revision("logs-shipper-5d8f"))
    reconcile_until_converged(world)
    assert "logs-shipper-5d8f" in revisions(world)


def test_deletion_during_the_relabelling_leaves_no_revision() -> None:
    world = running_cluster(version=BEFORE)
    reconcile_until(world, lambda world: not all(map(owner_uids, revisions(world).values())))
    for _ in reconcile_steps(delete_cluster(world)):
        pass
    world.tick()
    assert object_kinds(world) == {"PersistentVolumeClaim"}


class ListRecordingPorts(CountingPorts):
    """Ports that record which kinds are listed."""

    def __init__(self, world: FakeCluster) -> None:
        super().__init__(world)
        self.listed: list[str] = []

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        self.listed.append(kind)
        return super().list(api, kind, namespace, labels)


def test_revisions_are_not_listed_after_the_relabelling() -> None:
    """A list costs one request a reconcile, and there are none."""
    world = running_cluster()
    ports = ListRecordingPorts(world)
    reconcile(ports, ports, CLUSTER, release(NEWEST), world.state.now)
    assert "Pod" in ports.listed
    assert "ControllerRevision" not in ports.listed
