"""A sample cluster in memory, which the operator creates and upgrades. Used by `--embedded`."""

from __future__ import annotations

__all__ = ["CLUSTER", "SAMPLE", "describe_sample", "sample_cluster", "start_version", "upgrade"]

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
_START_VERSION: Final = "2.19.4"
# 2026-01-01T00:00:00Z. A fixed start makes every run print the same.
_START_TIME: Final = 1_767_225_600
# A reconcile that has not converged after this many runs is stuck.
_MAX_RECONCILES: Final = 2000


def start_version(target: str, release: Release) -> str:
    """The engine version that the sample runs before its upgrade to `target`."""
    return _START_VERSION if target != _START_VERSION else release.oldest_engine


def sample_cluster(release: Release, version: str) -> FakeCluster:
    """Create the sample cluster, wait until it is running, and create an index in it."""
    world = FakeCluster(FakeClusterState(now=_START_TIME))
    metadata = {"name": CLUSTER.name, "namespace": CLUSTER.namespace}
    spec = {"version": version, **SAMPLE}
    world.create({"apiVersion": CLUSTER.api, "kind": CLUSTER.kind, "metadata": metadata, "spec": spec})
    for _ in _reconcile_until_converged(world, release):
        pass
    engine = create_index(world.state.engine, "books", shards=2, replicas=1)
    world.state = replace(world.state, engine=engine)
    for _ in range(5):
        world.tick()
    return world


def upgrade(world: FakeCluster, release: Release, version: str) -> Iterator[ClusterDescription]:
    """Set `spec.version`, and describe the cluster before each reconcile until the operator has converged."""
    world.patch(Patch(CLUSTER, {"spec": {"version": version}}, ""))
    for _ in _reconcile_until_converged(world, release):
        yield describe_sample(world, release)


def describe_sample(world: FakeCluster, release: Release) -> ClusterDescription:
    snapshot = observe(world, world, CLUSTER, release, world.state.now)
    if snapshot is None:
        raise LookupError(f"{CLUSTER} not found")
    return describe(snapshot)


def _reconcile_until_converged(world: FakeCluster, release: Release) -> Iterator[None]:
    """Yield before each reconcile. The clock advances only after a reconcile without an operation."""
    for _ in range(_MAX_RECONCILES):
        yield
        outcome = reconcile(world, world, CLUSTER, release, world.state.now)
        if outcome.converged:
            return
        if not outcome.wrote:
            world.tick()
    raise RuntimeError(f"{CLUSTER} has not converged after {_MAX_RECONCILES} reconciles")
