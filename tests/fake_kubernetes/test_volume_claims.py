"""Volume claims: protected while a pod uses them, empty when they are new, and enlarged on request."""

from __future__ import annotations

from dataclasses import replace

import pytest

from operator_runs import (
    CLUSTER,
    add_index,
    claim_uids,
    new_cluster,
    node_versions,
    reconcile_for_ticks,
    reconcile_until_converged,
)
from searchkeeper.kubernetes.api import Rejected
from searchkeeper.kubernetes.operations import Delete, Key, Patch
from searchkeeper.testing.fake_cluster import FakeCluster

CLAIM = Key("v1", "PersistentVolumeClaim", CLUSTER.namespace, "data-logs-data-0")
POD = Key("v1", "Pod", CLUSTER.namespace, "logs-data-0")


def deployed_cluster() -> FakeCluster:
    world = new_cluster()
    reconcile_until_converged(world, "0.5.0")
    return add_index(world)


def delete(world: FakeCluster, key: Key) -> FakeCluster:
    manifest = world.get(key)
    assert manifest is not None
    world.delete(Delete(key, manifest["metadata"]["uid"], ""))
    return world


def test_deleted_claim_stays_while_a_pod_uses_it() -> None:
    world = delete(deployed_cluster(), CLAIM)
    before = claim_uids(world)
    world.tick()
    assert claim_uids(world) == before
    claim = world.get(CLAIM)
    assert claim is not None
    assert "deletionTimestamp" in claim["metadata"]


def test_node_keeps_its_data_while_its_claim_is_terminating() -> None:
    world = delete(deployed_cluster(), CLAIM)
    world.tick()
    assert "logs-data-0" in dict(world.state.engine.disks)
    assert node_versions(world)["data-0"] == "2.19.4"


def test_pod_without_claim_gets_a_new_claim() -> None:
    world = deployed_cluster()
    before = claim_uids(world)
    delete(delete(world, CLAIM), POD)
    reconcile_for_ticks(world, version="0.5.0", ticks=8)
    after = claim_uids(world)
    assert [name for name in before if before[name] != after.get(name)] == [CLAIM.name]
    assert node_versions(world)["data-0"] == "2.19.4"


def with_disk_of_newer_version(world: FakeCluster) -> FakeCluster:
    engine = world.state.engine
    disks = {**dict(engine.disks), "logs-data-0": "3.4.0"}
    world.state = replace(world.state, engine=replace(engine, disks=tuple(sorted(disks.items()))))
    return world


def test_new_claim_is_an_empty_disk() -> None:
    world = delete(delete(with_disk_of_newer_version(deployed_cluster()), CLAIM), POD)
    reconcile_for_ticks(world, version="0.5.0", ticks=8)
    assert node_versions(world)["data-0"] == "2.19.4"


def test_older_version_does_not_start_on_the_same_disk() -> None:
    world = delete(with_disk_of_newer_version(deployed_cluster()), POD)
    reconcile_for_ticks(world, version="0.5.0", ticks=8)
    assert "data-0" not in node_versions(world)


def test_recreated_pod_uses_its_old_claim() -> None:
    world = deployed_cluster()
    before = claim_uids(world)
    delete(world, POD)
    world.tick()
    assert dict(world.state.engine.disks)["logs-data-0"] == "2.19.4"
    reconcile_for_ticks(world, version="0.5.0", ticks=8)
    assert claim_uids(world) == before


def request(world: FakeCluster, size: str) -> None:
    world.patch(Patch(CLAIM, {"spec": {"resources": {"requests": {"storage": size}}}}, ""))


def capacity(world: FakeCluster) -> str:
    claim = world.get(CLAIM)
    assert claim is not None
    return str(claim["status"]["capacity"]["storage"])


def test_larger_request_is_fulfilled_at_the_next_tick() -> None:
    world = deployed_cluster()
    request(world, "20Gi")
    assert capacity(world) == "10Gi"
    world.tick()
    assert capacity(world) == "20Gi"


def test_request_below_the_capacity_is_rejected() -> None:
    world = deployed_cluster()
    with pytest.raises(Rejected, match=r"less than status\.capacity"):
        request(world, "5Gi")


def test_request_of_a_claim_that_is_not_bound_is_rejected() -> None:
    world = deployed_cluster()
    world.patch_status(Patch(CLAIM, {"status": {"phase": "Pending"}}, ""))
    with pytest.raises(Rejected, match="for bound claims"):
        request(world, "20Gi")


@pytest.mark.parametrize("is_allowed", [False, True])
def test_storage_class_decides_about_larger_requests(*, is_allowed: bool) -> None:
    world = deployed_cluster()
    world.patch(Patch(CLAIM, {"spec": {"storageClassName": "standard"}}, ""))
    metadata = {"name": "standard"}
    kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": metadata}
    world.create({**kind, "allowVolumeExpansion": is_allowed})
    if is_allowed:
        request(world, "20Gi")
        return
    with pytest.raises(Rejected, match="must support resize"):
        request(world, "20Gi")
