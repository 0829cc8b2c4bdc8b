"""Clusters that are to have fewer nodes, and what is left on those."""

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
    """Three data nodes with copies on all of them, of which the last is not wanted any more."""
    world = running(*data(3))
    with_index(with_index(world, "films"), "songs")
    return edited(world, pools=data(2))
