"""Disk space: no node is drained whose shards the others could not take."""

from __future__ import annotations

from dataclasses import replace

from operator_runs import (
    add_index,
    condition,
    edit_spec,
    pool,
    reconcile_for_ticks,
    reconcile_until_converged,
    status,
)
from operator_scenarios import pod_versions, running_cluster
from searchkeeper.testing.fake_cluster import FakeCluster

MANAGERS = pool("managers", 3, "cluster_manager")
BRIEF = {**pool("data", 3, "data"), "storage": {"ephemeral": True}}
GIB = 2**30


def with_sizes(world: FakeCluster, disk: int, **sizes: int) -> FakeCluster:
    """Every data node has a disk of this size, and every shard copy of an index this size, both in GiB."""
    engine = world.state.engine
    disks = tuple((node.name, disk * GIB) for node in engine.nodes if "data" in node.roles)
    shards = tuple((index, size * GIB) for index, size in sizes.items())
    world.state = replace(world.state, engine=replace(engine, disk_totals=disks, shard_sizes=shards))
    return world


def with_copies_on(world: FakeCluster, index: str, *nodes: str) -> FakeCluster:
    """The copies of an index are on these nodes, the primary on the first."""
    places = iter(nodes)
    copies = tuple(
        replace(copy, node=f"logs-{next(places)}") if copy.index == index else copy
        for copy in world.state.engine.copies
    )
    world.state = replace(world.state, engine=replace(world.state.engine, copies=copies))
    return world


def test_ephemeral_node_is_drained_when_its_shards_fit() -> None:
    """Books has two copies: the third node takes one, and is at 80 %."""
    world = with_sizes(running_cluster(BRIEF, MANAGERS), 100, books=80)
    reconcile_until_converged(edit_spec(world, version="3.4.0"))
    assert set(pod_versions(world).values()) == {"3.4.0"}


def test_ephemeral_node_is_not_drained_while_its_shards_do_not_fit() -> None:
    """S09: OpenSearch moves what fits, and the drain never ends."""
    world = add_index(running_cluster(BRIEF, MANAGERS), "logs", replicas=2)
    with_sizes(with_copies_on(world, "books", "data-0", "data-1"), 100, books=30, logs=60)
    before = pod_versions(world)
    reconcile_for_ticks(edit_spec(world, version="3.4.0", upgrade={"healthDeadlineSeconds": 60}), ticks=10)
    assert pod_versions(world) == before
    assert world.state.engine.excluded == frozenset()
    assert status(world)["phase"] == "Stalled"
    assert condition(world, "Degraded").startswith("True InsufficientDiskSpace: ")
    assert condition(world, "PodsCurrent").startswith(
        "False InsufficientDiskSpace: stalled: 1 shards with 30.0 GiB, the largest 30.0 GiB, have to leave "
        "logs-data-0 and do not fit on other nodes: logs-data-2 25.0 GiB are free"
    )
    reconcile_until_converged(with_sizes(world, 200, books=30, logs=60))
    assert set(pod_versions(world).values()) == {"3.4.0"}


def test_index_without_replicas_is_not_moved_to_a_full_node() -> None:
    world = add_index(running_cluster(pool("data", 2, "data"), MANAGERS), "single", replicas=0)
    with_sizes(with_copies_on(world, "single", "data-0"), 100, books=60, single=30)
    reconcile_for_ticks(edit_spec(world, version="3.4.0"), ticks=20)
    assert world.state.engine.excluded == frozenset()
    assert set(pod_versions(world).values()) == {"2.19.4"}
    assert condition(world, "PodsCurrent").startswith("False InsufficientDiskSpace: 1 shards with 30.0 GiB")
    reconcile_until_converged(with_sizes(world, 200, books=60, single=30))
    assert set(pod_versions(world).values()) == {"3.4.0"}


def test_node_with_a_volume_and_replicas_restarts_on_full_disks() -> None:
    """Nothing moves."""
    world = with_sizes(running_cluster(pool("data", 2, "data"), MANAGERS), 100, books=84)
    reconcile_until_converged(edit_spec(world, version="3.4.0"))
    assert set(pod_versions(world).values()) == {"3.4.0"}


def test_scale_in_waits_until_the_other_nodes_have_room() -> None:
    world = add_index(running_cluster(pool("data", 3, "data"), MANAGERS), "logs")
    with_copies_on(world, "books", "data-1", "data-2")
    with_sizes(with_copies_on(world, "logs", "data-0", "data-1"), 100, books=30, logs=60)
    reconcile_for_ticks(edit_spec(world, pools=[pool("data", 2, "data"), MANAGERS]), ticks=10)
    assert condition(world, "ScaleInComplete").startswith(
        "False InsufficientDiskSpace: 1 shards with 30.0 GiB, the largest 30.0 GiB, have to leave "
        "logs-data-2 and do not fit on other nodes: logs-data-0 25.0 GiB are free"
    )
    assert world.state.engine.excluded == frozenset()
    assert "data-2" in pod_versions(world)
    reconcile_until_converged(with_sizes(world, 200, books=30, logs=60))
    assert "data-2" not in pod_versions(world)
