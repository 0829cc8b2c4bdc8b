"""Clusters that are scaled in, and the shards that are left on surplus nodes."""

from __future__ import annotations

__all__ = ["MANAGERS", "copies", "data", "names", "shrinking"]

from operators_at_work import edited, pool, with_index
from searchkeeper.testing.fake_cluster import FakeCluster
from tales import pods, running

MANAGERS = pool("managers", 3, "cluster_manager")


def data(replicas: int) -> list[dict[str, object]]:
    return [pool("data", replicas, "data"), MANAGERS]


def copies(world: FakeCluster, node: str) -> int:
    return sum(f"logs-{node}" in (copy.node, copy.to) for copy in world.state.engine.copies)


def names(world: FakeCluster, start: str) -> list[str]:
    return [name for name in pods(world) if name.startswith(start)]


def shrinking() -> FakeCluster:
    """Three data nodes that all hold shards; the spec wants two of them."""
    world = running(*data(3))
    with_index(with_index(world, "films"), "songs")
    return edited(world, pools=data(2))
