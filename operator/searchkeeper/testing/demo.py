"""A cluster in memory that is upgraded before one's eyes, by the operator itself."""

from __future__ import annotations

__all__ = ["CLUSTER", "SAMPLE", "described", "sample_cluster", "start_version", "upgrade"]

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from searchkeeper.describe import ClusterDescription, describe
from searchkeeper.kubernetes.operations import Key, Patch
from searchkeeper.observe import observe
from searchkeeper.reconcile import reconcile
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.fake_opensearch import create_index
from searchkeeper.versions import Release

CLUSTER: Final = Key("search.everpath.dev/v1alpha1", "SearchCluster", "search", "logs")
SAMPLE: Final[Mapping[str, Any]] = {
    "pools": [
        {"name": "managers", "roles": ["cluster_manager"], "replicas": 3},
        {"name": "data", "roles": ["data", "ingest"], "replicas": 4},
    ],
    "dashboards": {"enabled": True},
}
# What is upgraded, wherever a release knows anything newer.
_START: Final = "2.19.4"
# The first of January 2026: the same in every run.
_BEGINNING: Final = 1_767_225_600
# Far more turns than any of this takes: past them, it is stuck.
_TURNS: Final = 2000


def start_version(target: str, release: Release) -> str:
    """The version that a sample has before it is upgraded to the target."""
    return _START if target != _START else release.oldest_engine


def sample_cluster(release: Release, version: str) -> FakeCluster:
    """A world in which somebody has asked for a cluster, and got it, with an index on it."""
    world = FakeCluster(FakeClusterState(now=_BEGINNING))
    metadata = {"name": CLUSTER.name, "namespace": CLUSTER.namespace}
    spec = {"version": version, **SAMPLE}
    world.create({"apiVersion": CLUSTER.api, "kind": CLUSTER.kind, "metadata": metadata, "spec": spec})
    for _ in _turns(world, release):
        pass
    world.state = _with_documents(world.state)
    for _ in range(5):
        world.tick()
    return world


def upgrade(world: FakeCluster, release: Release, version: str) -> Iterator[ClusterDescription]:
    """Asks for another version, and explains every turn, until the operator has nothing left to do."""
    world.patch(Patch(CLUSTER, {"spec": {"version": version}}, ""))
    for _ in _turns(world, release):
        yield described(world, release)


def described(world: FakeCluster, release: Release) -> ClusterDescription:
    """What the operator makes of the cluster at this moment."""
    snapshot = observe(world, world, CLUSTER, release, world.state.now)
    if snapshot is None:
        raise LookupError(f"there is no {CLUSTER}")
    return describe(snapshot)


def _turns(world: FakeCluster, release: Release) -> Iterator[None]:
    """The moment before each cycle; time passes only after one that had nothing to write."""
    for _ in range(_TURNS):
        yield
        done = reconcile(world, world, CLUSTER, release, world.state.now)
        if done.converged:
            return
        if not done.wrote:
            world.tick()
    raise RuntimeError(f"{CLUSTER} does not come to rest")


def _with_documents(state: FakeClusterState) -> FakeClusterState:
    return replace(state, engine=create_index(state.engine, "books", shards=2, replicas=1))
