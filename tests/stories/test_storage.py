"""Storage: immutable while a pool has nodes, and another storage in the spec is reported."""

from __future__ import annotations

from typing import Any

import pytest

from operators_at_work import condition, edited, pool, settled, status, with_index
from searchkeeper.kubernetes.operations import Key
from searchkeeper.testing.fake_cluster import FakeCluster
from tales import NEWEST, at_work, pods, running, stateful_set, unfolding, versions

REST = [pool("hot", 2, "data"), pool("managers", 3, "cluster_manager")]
LARGER = {"size": "20Gi"}
FAST = {"size": "10Gi", "storageClass": "fast"}
EPHEMERAL = {"ephemeral": True}


def data(storage: dict[str, Any] | None = None) -> dict[str, Any]:
    return {**pool("data", 2, "data"), **({"storage": storage} if storage else {})}


def readded(before: dict[str, Any] | None, after: dict[str, Any], version: str = NEWEST) -> FakeCluster:
    """Remove a pool from the spec and add it with other storage before its nodes are removed."""
    world = running(data(before), *REST, version=version)
    next(unfolding(edited(world, pools=REST), version))
    return edited(world, pools=[data(after), *REST])


def claims(world: FakeCluster) -> Any:
    statefulset = stateful_set(world, "data")
    assert statefulset is not None
    return statefulset["spec"].get("volumeClaimTemplates")


@pytest.mark.parametrize(
    ("before", "after"),
    [(None, LARGER), (None, FAST), (FAST, None), (None, EPHEMERAL), (EPHEMERAL, LARGER)],
    ids=["larger", "with class", "without class", "ephemeral", "not ephemeral"],
)
def test_readded_pool_with_other_storage_keeps_its_volumes_and_stalls(
    before: dict[str, Any] | None, after: dict[str, Any]
) -> None:
    world = readded(before, after)
    before, uids = claims(world), {each["metadata"]["uid"] for each in pods(world).values()}
    at_work(world, ticks=30)
    assert claims(world) == before
    assert {each["metadata"]["uid"] for each in pods(world).values()} == uids
    assert condition(world, "StorageUnchanged").startswith(
        "False StorageImmutable: stalled: the nodes of data have "
    )
    assert status(world)["phase"] == "Stalled"


@pytest.mark.parametrize("after", [LARGER, EPHEMERAL], ids=["larger", "ephemeral"])
def test_changed_storage_does_not_stop_an_upgrade(after: dict[str, Any]) -> None:
    world = with_index(readded(None, after), "films")
    at_work(edited(world, version="3.4.0"), ticks=100)
    assert set(versions(world).values()) == {"3.4.0"}
    assert status(world)["engineVersion"] == "3.4.0"
    assert "upgrade/lock" not in status(world)["ledger"]


def test_migration_to_another_statefulset_keeps_the_storage() -> None:
    """Configuration 4 creates another StatefulSet for the same pods."""
    world = readded(None, EPHEMERAL, version="0.3.1")
    before = claims(world)
    at_work(world, ticks=60)
    assert claims(world) == before
    assert condition(world, "PoolsConverged").startswith("True")


def test_reverted_storage_ends_the_stall() -> None:
    world = at_work(readded(None, LARGER), ticks=30)
    settled(edited(world, pools=[data(), *REST]), NEWEST)
    assert status(world)["phase"] == "Running"


def test_pool_readded_after_scale_in_has_the_new_storage() -> None:
    world = running(data(), *REST)
    settled(edited(world, pools=REST), NEWEST)
    settled(edited(world, pools=[data(LARGER), *REST]), NEWEST)
    assert claims(world)[0]["spec"]["resources"]["requests"]["storage"] == "20Gi"
    child = world.get(Key("search.everpath.dev/v1alpha1", "SearchPool", "search", "logs-data"))
    assert child is not None
    assert child["spec"]["storage"]["size"] == "20Gi"
