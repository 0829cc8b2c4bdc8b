"""Volume claims: kept while a pod uses them, and empty when they are new."""

from __future__ import annotations

from dataclasses import replace

from operators_at_work import CLUSTER, asked_for, claims, running, settled, with_index, worked
from searchkeeper.kubernetes.operations import Delete, Key
from searchkeeper.testing.fake_cluster import FakeCluster

CLAIM = Key("v1", "PersistentVolumeClaim", CLUSTER.namespace, "data-logs-data-0")
POD = Key("v1", "Pod", CLUSTER.namespace, "logs-data-0")


def deployed() -> FakeCluster:
    world = asked_for()
    settled(world, "0.4.0")
    return with_index(world)


def deleted(world: FakeCluster, key: Key) -> FakeCluster:
    found = world.get(key)
    assert found is not None
    world.delete(Delete(key, found["metadata"]["uid"], ""))
    return world


def test_a_claim_that_is_deleted_stays_until_no_pod_uses_it() -> None:
    world = deleted(deployed(), CLAIM)
    before = claims(world)
    world.tick()
    assert claims(world) == before
    found = world.get(CLAIM)
    assert found is not None
    assert "deletionTimestamp" in found["metadata"]


def test_its_node_keeps_what_it_wrote_until_then() -> None:
    world = deleted(deployed(), CLAIM)
    world.tick()
    assert "logs-data-0" in dict(world.state.engine.disks)
    assert running(world)["data-0"] == "2.19.4"


def test_the_pod_comes_back_with_a_claim_that_is_another_one() -> None:
    world = deployed()
    before = claims(world)
    deleted(deleted(world, CLAIM), POD)
    worked(world, "0.4.0", ticks=8)
    after = claims(world)
    assert [name for name in before if before[name] != after.get(name)] == [CLAIM.name]
    assert running(world)["data-0"] == "2.19.4"


def written_by_a_newer_version(world: FakeCluster) -> FakeCluster:
    engine = world.state.engine
    disks = {**dict(engine.disks), "logs-data-0": "3.4.0"}
    world.state = replace(world.state, engine=replace(engine, disks=tuple(sorted(disks.items()))))
    return world


def test_a_disk_that_is_another_one_is_empty() -> None:
    world = deleted(deleted(written_by_a_newer_version(deployed()), CLAIM), POD)
    worked(world, "0.4.0", ticks=8)
    assert running(world)["data-0"] == "2.19.4"


def test_on_the_same_disk_an_older_version_does_not_start() -> None:
    world = deleted(written_by_a_newer_version(deployed()), POD)
    worked(world, "0.4.0", ticks=8)
    assert "data-0" not in running(world)


def test_a_pod_alone_comes_back_to_its_own_disk() -> None:
    world = deployed()
    before = claims(world)
    deleted(world, POD)
    world.tick()
    assert dict(world.state.engine.disks)["logs-data-0"] == "2.19.4"
    worked(world, "0.4.0", ticks=8)
    assert claims(world) == before
