"""Migrations from one configuration version to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.opensearch.view import Color
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.manifests import owner_uids
from searchkeeper.testing.faults import kill_pod
from tests.support.searchkeeper.operator_runs import (
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
from tests.support.searchkeeper.operator_scenarios import (
    color,
    delete_cluster,
    object_kinds,
    pods,
    running_cluster,
    stateful_set,
)

BEFORE = "0.3.1"


def revisions(cluster: FakeCluster) -> dict[str, Manifest]:
    found = cluster.list("apps/v1", "ControllerRevision", CLUSTER.namespace, {})
    return {each["metadata"]["name"]: each for each in found}


def foreign_revision(name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": CLUSTER.namespace, "labels": {"app": "logs", "pool": "data"}}
    return {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "data": {}}


def test_objects_of_version_1_are_deleted_when_unused() -> None:
    cluster = running_cluster(version="0.1.1")
    reconcile_until_converged(cluster, "0.2.0")
    assert not {"logs-discovery", "logs-config"} & {key.name for key in cluster.state.cluster.objects}


def test_pods_have_both_labels_before_the_service_selects_by_the_new_ones() -> None:
    cluster = running_cluster(version=BEFORE)
    service = Key("v1", "Service", CLUSTER.namespace, "logs")
    reconcile_until(
        cluster, lambda cluster: "app" not in cluster.state.cluster.objects[service]["spec"]["selector"]
    )
    labels = [pod["metadata"]["labels"] for pod in cluster.list("v1", "Pod", CLUSTER.namespace, {})]
    assert labels
    assert all({"app", "app.kubernetes.io/instance"} <= each.keys() for each in labels)


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("grown", ["data", "managers", "edge"])
def test_scale_out_works_during_the_relabelling(grown: str) -> None:
    roles = {"data": "data", "edge": "ingest", "managers": "cluster_manager"}
    cluster = running_cluster(*(pool(name, 3, role) for name, role in roles.items()), version=BEFORE)
    edit_spec(cluster, pools=[pool(name, 5 if name == grown else 3, role) for name, role in roles.items()])
    reconcile_until_converged(cluster)
    assert status(cluster)["currentVersion"] == 5
    assert status(cluster)["ready"] == "11/11"


def without_its_last_pool() -> FakeCluster:
    """A removed pool with the only copies of some documents, when the next operator starts."""
    cluster = running_cluster(*SMALL, pool("more", 2, "data"), version=BEFORE)
    for name in ("films", "songs", "plays", "tales"):
        add_index(cluster, name, replicas=0)
    return edit_spec(cluster, pools=list(SMALL))


@pytest.mark.exhaustive
def test_removed_pool_keeps_a_stateful_set_until_its_last_node_has_left() -> None:
    cluster = without_its_last_pool()
    reconcile_until_converged(cluster)
    assert sorted(pods(cluster)) == ["data-0", "data-1", "managers-0", "managers-1", "managers-2"]
    assert status(cluster)["currentVersion"] == 5
    assert color(cluster) is Color.GREEN


@pytest.mark.exhaustive
@pytest.mark.parametrize("evicted", [["more-1"], ["more-0", "more-1"]], ids=["one", "all of them"])
def test_evicted_pod_of_a_removed_pool_comes_back_during_the_relabelling(evicted: list[str]) -> None:
    # Guard: a pool that is scaled in keeps its StatefulSet.
    cluster = without_its_last_pool()
    reconcile_until(cluster, lambda cluster: stateful_set(cluster, "more") is None)
    for name in evicted:
        cluster.state = kill_pod(cluster.state, Key("v1", "Pod", CLUSTER.namespace, f"logs-{name}"))
    reconcile_for_ticks(cluster, ticks=80)
    assert color(cluster) is Color.GREEN
    assert not status(cluster)["ledger"]
    assert stateful_set(cluster, "more") is None


@pytest.mark.exhaustive
def test_orphaning_a_stateful_set_orphans_its_revisions() -> None:
    """They have no owner, and labels that no later StatefulSet selects."""
    cluster = running_cluster(version=BEFORE)
    orphaned = set()
    for current in reconcile_steps(cluster):
        orphaned |= {name for name, each in revisions(current).items() if not owner_uids(each)}
    assert {name.rpartition("-")[0] for name in orphaned} == {"logs-data", "logs-managers"}


def test_migration_keeps_the_only_manager_on_ephemeral_storage() -> None:
    """I1: the migration continues when another manager can have its vote."""
    ephemeral = {**pool("managers", 1, "cluster_manager"), "storage": {"ephemeral": True}}
    cluster = new_cluster(ephemeral, pool("data", 2, "data"), upgrade={"healthDeadlineSeconds": 60})
    reconcile_until_converged(cluster, "0.1.1")
    before = [node.name for node in cluster.state.engine.nodes if node.is_elected]
    reconcile_for_ticks(cluster, version="0.2.2", ticks=40)
    assert "only the ephemeral storage of logs-managers-0 has the cluster state" in condition(
        cluster, "PodsCurrent"
    )
    assert [node.name for node in cluster.state.engine.nodes if node.is_elected] == before
    edit_spec(cluster, pools=[ephemeral, pool("data", 2, "data"), pool("leaders", 1, "cluster_manager")])
    reconcile_until_converged(cluster, "0.2.2")
    assert cluster.state.engine.elected is not None


@pytest.mark.exhaustive
def test_revisions_with_the_old_labels_are_deleted() -> None:
    # Guard: orphaned revisions are deleted.
    cluster = running_cluster(version=BEFORE)
    before = set(revisions(cluster))
    reconcile_until_converged(cluster)
    assert before
    assert not before & set(revisions(cluster))
    assert all(map(owner_uids, revisions(cluster).values()))


@pytest.mark.exhaustive
def test_revisions_of_other_owners_stay() -> None:
    # Guard: revisions are found by the names of our StatefulSets.
    cluster = running_cluster(version=BEFORE)
    cluster.create(foreign_revision("logs-shipper-5d8f"))
    reconcile_until_converged(cluster)
    assert "logs-shipper-5d8f" in revisions(cluster)


def test_deletion_during_the_relabelling_leaves_no_revision() -> None:
    cluster = running_cluster(version=BEFORE)
    reconcile_until(cluster, lambda cluster: not all(map(owner_uids, revisions(cluster).values())))
    for _ in reconcile_steps(delete_cluster(cluster)):
        pass
    cluster.tick()
    assert object_kinds(cluster) == {"PersistentVolumeClaim"}


class ListRecordingPorts(CountingPorts):
    """Ports that record which kinds are listed."""

    def __init__(self, cluster: FakeCluster) -> None:
        super().__init__(cluster)
        self.listed: list[str] = []

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        self.listed.append(kind)
        return super().list(api, kind, namespace, labels)


def test_revisions_are_not_listed_after_the_relabelling() -> None:
    """A list costs one request a reconcile, and there are none."""
    cluster = running_cluster()
    ports = ListRecordingPorts(cluster)
    reconcile(ports, ports, CLUSTER, release(NEWEST), cluster.state.now)
    assert "Pod" in ports.listed
    assert "ControllerRevision" not in ports.listed
