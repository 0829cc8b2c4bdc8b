"""Disk space: no node is drained whose shards the others could not take."""

from __future__ import annotations

from dataclasses import replace

from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import (
    add_index,
    condition,
    edit_spec,
    pool,
    reconcile_for_ticks,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import pod_versions, running_cluster

MANAGERS = pool("managers", 3, "cluster_manager")
BRIEF = {**pool("data", 3, "data"), "storage": {"ephemeral": True}}
GIB = 2**30


def with_sizes(cluster: FakeCluster, disk: int, **sizes: int) -> FakeCluster:
    """Every data node has a disk of this size, and every shard copy of an index this size, both in GiB."""
    engine = cluster.state.engine
    disks = tuple((node.name, disk * GIB) for node in engine.nodes if "data" in node.roles)
    shards = tuple((index, size * GIB) for index, size in sizes.items())
    cluster.state = replace(cluster.state, engine=replace(engine, disk_totals=disks, shard_sizes=shards))
    return cluster


def with_copies_on(cluster: FakeCluster, index: str, *nodes: str) -> FakeCluster:
    """The copies of an index are on these nodes, the primary on the first."""
    places = iter(nodes)
    copies = tuple(
        replace(copy, node=f"logs-{next(places)}") if copy.index == index else copy
        for copy in cluster.state.engine.copies
    )
    cluster.state = replace(cluster.state, engine=replace(cluster.state.engine, copies=copies))
    return cluster


def test_ephemeral_node_is_drained_when_its_shards_fit() -> None:
    """Books has two copies: the third node takes one, and is at 80 %."""
    cluster = with_sizes(running_cluster(BRIEF, MANAGERS), 100, books=80)
    reconcile_until_converged(edit_spec(cluster, version="3.4.0"))
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


def test_ephemeral_node_is_not_drained_while_its_shards_do_not_fit() -> None:
    """S09: OpenSearch moves what fits, and the drain never ends."""
    cluster = add_index(running_cluster(BRIEF, MANAGERS), "logs", replicas=2)
    with_sizes(with_copies_on(cluster, "books", "data-0", "data-1"), 100, books=30, logs=60)
    before = pod_versions(cluster)
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0", upgrade={"healthDeadlineSeconds": 60}), ticks=10)
    assert pod_versions(cluster) == before
    assert cluster.state.engine.excluded == frozenset()
    assert status(cluster)["phase"] == "Stalled"
    assert condition(cluster, "Degraded").startswith("True InsufficientDiskSpace: ")
    assert condition(cluster, "PodsCurrent").startswith(
        "False InsufficientDiskSpace: stalled: 1 shards with 30.0 GiB, the largest 30.0 GiB, have to leave "
        "logs-data-0 and do not fit on other nodes: logs-data-2 25.0 GiB are free"
    )
    reconcile_until_converged(with_sizes(cluster, 200, books=30, logs=60))
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


def test_index_without_replicas_is_not_moved_to_a_full_node() -> None:
    cluster = add_index(running_cluster(pool("data", 2, "data"), MANAGERS), "single", replicas=0)
    with_sizes(with_copies_on(cluster, "single", "data-0"), 100, books=60, single=30)
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0"), ticks=20)
    assert cluster.state.engine.excluded == frozenset()
    assert set(pod_versions(cluster).values()) == {"2.19.4"}
    assert condition(cluster, "PodsCurrent").startswith("False InsufficientDiskSpace: 1 shards with 30.0 GiB")
    reconcile_until_converged(with_sizes(cluster, 200, books=60, single=30))
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


def test_node_with_a_volume_and_replicas_restarts_on_full_disks() -> None:
    """Nothing moves."""
    cluster = with_sizes(running_cluster(pool("data", 2, "data"), MANAGERS), 100, books=84)
    reconcile_until_converged(edit_spec(cluster, version="3.4.0"))
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


def test_scale_in_waits_until_the_other_nodes_have_room() -> None:
    cluster = add_index(running_cluster(pool("data", 3, "data"), MANAGERS), "logs")
    with_copies_on(cluster, "books", "data-1", "data-2")
    with_sizes(with_copies_on(cluster, "logs", "data-0", "data-1"), 100, books=30, logs=60)
    reconcile_for_ticks(edit_spec(cluster, pools=[pool("data", 2, "data"), MANAGERS]), ticks=10)
    assert condition(cluster, "ScaleInComplete").startswith(
        "False InsufficientDiskSpace: 1 shards with 30.0 GiB, the largest 30.0 GiB, have to leave "
        "logs-data-2 and do not fit on other nodes: logs-data-0 25.0 GiB are free"
    )
    assert cluster.state.engine.excluded == frozenset()
    assert "data-2" in pod_versions(cluster)
    reconcile_until_converged(with_sizes(cluster, 200, books=30, logs=60))
    assert "data-2" not in pod_versions(cluster)
