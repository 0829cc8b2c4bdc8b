"""Clusters for tests of scale-in: pools, pod names and shard copies."""

from __future__ import annotations

__all__ = ["MANAGERS", "cluster_before_scale_in", "copy_count", "data", "pod_names"]

from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import add_index, edit_spec, pool
from tests.support.searchkeeper.operator_scenarios import pods, running_cluster

MANAGERS = pool("managers", 3, "cluster_manager")


def data(replicas: int) -> list[dict[str, object]]:
    """Return a data pool of this size and MANAGERS, for `spec.pools`."""
    return [pool("data", replicas, "data"), MANAGERS]


def copy_count(cluster: FakeCluster, node: str) -> int:
    """Return the number of shard copies on a node, and of those that move to it."""
    return sum(f"logs-{node}" in (copy.node, copy.to) for copy in cluster.state.engine.copies)


def pod_names(cluster: FakeCluster, prefix: str) -> list[str]:
    return [name for name in pods(cluster) if name.startswith(prefix)]


def cluster_before_scale_in() -> FakeCluster:
    """Return a cluster with three data nodes that all hold shards, and a spec with two."""
    cluster = running_cluster(*data(3))
    add_index(add_index(cluster, "films"), "songs")
    return edit_spec(cluster, pools=data(2))
