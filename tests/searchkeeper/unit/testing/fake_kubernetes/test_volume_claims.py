"""Volume claims: protected while a pod uses them, empty when they are new, and enlarged on request."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.kubernetes.api import Rejected
from searchkeeper.kubernetes.operations import Delete, Key, Patch
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    add_index,
    claim_uids,
    new_cluster,
    node_versions,
    reconcile_for_ticks,
    reconcile_until_converged,
)

CLAIM = Key("v1", "PersistentVolumeClaim", CLUSTER.namespace, "data-logs-data-0")
POD = Key("v1", "Pod", CLUSTER.namespace, "logs-data-0")


def deployed_cluster() -> FakeCluster:
    cluster = new_cluster()
    reconcile_until_converged(cluster)
    return add_index(cluster)


def delete(cluster: FakeCluster, key: Key) -> FakeCluster:
    manifest = cluster.get(key)
    assert manifest is not None
    cluster.delete(Delete(key, manifest["metadata"]["uid"], ""))
    return cluster


def test_deleted_claim_stays_while_a_pod_uses_it() -> None:
    cluster = delete(deployed_cluster(), CLAIM)
    before = claim_uids(cluster)
    cluster.tick()
    assert claim_uids(cluster) == before
    claim = cluster.get(CLAIM)
    assert claim is not None
    assert "deletionTimestamp" in claim["metadata"]


def test_node_keeps_its_data_while_its_claim_is_terminating() -> None:
    cluster = delete(deployed_cluster(), CLAIM)
    cluster.tick()
    assert "logs-data-0" in dict(cluster.state.engine.disks)
    assert node_versions(cluster)["data-0"] == "2.19.4"


def test_pod_without_claim_gets_a_new_claim() -> None:
    cluster = deployed_cluster()
    before = claim_uids(cluster)
    delete(delete(cluster, CLAIM), POD)
    reconcile_for_ticks(cluster, ticks=8)
    after = claim_uids(cluster)
    assert [name for name in before if before[name] != after.get(name)] == [CLAIM.name]
    assert node_versions(cluster)["data-0"] == "2.19.4"


def with_disk_of_newer_version(cluster: FakeCluster) -> FakeCluster:
    engine = cluster.state.engine
    disks = {**dict(engine.disks), "logs-data-0": "3.4.0"}
    cluster.state = replace(cluster.state, engine=replace(engine, disks=tuple(sorted(disks.items()))))
    return cluster


def test_new_claim_is_an_empty_disk() -> None:
    cluster = delete(delete(with_disk_of_newer_version(deployed_cluster()), CLAIM), POD)
    reconcile_for_ticks(cluster, ticks=8)
    assert node_versions(cluster)["data-0"] == "2.19.4"


def test_older_version_does_not_start_on_the_same_disk() -> None:
    cluster = delete(with_disk_of_newer_version(deployed_cluster()), POD)
    reconcile_for_ticks(cluster, ticks=8)
    assert "data-0" not in node_versions(cluster)


def test_recreated_pod_uses_its_old_claim() -> None:
    cluster = deployed_cluster()
    before = claim_uids(cluster)
    delete(cluster, POD)
    cluster.tick()
    assert dict(cluster.state.engine.disks)["logs-data-0"] == "2.19.4"
    reconcile_for_ticks(cluster, ticks=8)
    assert claim_uids(cluster) == before


def request(cluster: FakeCluster, size: str) -> None:
    cluster.patch(Patch(CLAIM, {"spec": {"resources": {"requests": {"storage": size}}}}, ""))


def capacity(cluster: FakeCluster) -> str:
    claim = cluster.get(CLAIM)
    assert claim is not None
    return str(claim["status"]["capacity"]["storage"])


def test_larger_request_is_fulfilled_at_the_next_tick() -> None:
    cluster = deployed_cluster()
    request(cluster, "20Gi")
    assert capacity(cluster) == "10Gi"
    cluster.tick()
    assert capacity(cluster) == "20Gi"


def test_request_below_the_capacity_is_rejected() -> None:
    cluster = deployed_cluster()
    with pytest.raises(Rejected, match=r"less than status\.capacity"):
        request(cluster, "5Gi")


def test_request_of_a_claim_that_is_not_bound_is_rejected() -> None:
    cluster = deployed_cluster()
    cluster.patch_status(Patch(CLAIM, {"status": {"phase": "Pending"}}, ""))
    with pytest.raises(Rejected, match="for bound claims"):
        request(cluster, "20Gi")


@pytest.mark.parametrize("is_allowed", [False, True])
def test_storage_class_decides_about_larger_requests(*, is_allowed: bool) -> None:
    cluster = deployed_cluster()
    cluster.patch(Patch(CLAIM, {"spec": {"storageClassName": "standard"}}, ""))
    metadata = {"name": "standard"}
    kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": metadata}
    cluster.create({**kind, "allowVolumeExpansion": is_allowed})
    if is_allowed:
        request(cluster, "20Gi")
        return
    with pytest.raises(Rejected, match="must support resize"):
        request(cluster, "20Gi")
