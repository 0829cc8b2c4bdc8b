"""Snapshots for tests.

    world(pool("data", 3), pool("managers", 3, roles="cluster_manager"), shards=["logs: data-0* data-1"])

Every pod is ready, has joined and has the old template. `data-0*` holds the primary, `?` is unassigned,
`data-0>data-1` relocates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from searchkeeper.api.spec import ClusterSpec, PoolSpec, Storage, UpgradePolicy
from searchkeeper.kubernetes.operations import Key
from searchkeeper.opensearch.view import Color, EngineView, Node, ShardCopy, ShardState, Unreachable
from searchkeeper.planner import Records
from searchkeeper.snapshot import ClusterSnapshot, ClusterView, Pod, PoolView, StatefulSetView
from searchkeeper.versions import Release

OLD, NEW = "2.19.4", "3.4.0"
RELEASE = Release("0.4.0", (3, 4), "2.17.0", "3.4.0")


def pod(name: str, **differences: Any) -> Pod:
    plain = Pod(name, f"uid-{name}", "1", OLD, "old", is_ready=True)
    return replace(plain, **differences)


def pool(
    name: str,
    replicas: int,
    *,
    roles: str = "data",
    ephemeral: bool = False,
    pods: Iterable[Pod] | None = None,
) -> PoolView:
    """A pool whose StatefulSet has a new template: every pod of the old one is outdated."""
    spec = PoolSpec(name, frozenset(roles.split()), replicas, Storage(ephemeral=ephemeral))
    members = tuple(pods) if pods is not None else tuple(pod(f"{name}-{n}") for n in range(replicas))
    stateful_set = StatefulSetView(f"uid-{name}", "1", NEW, "new", 3, replicas, None)
    return PoolView(spec, True, f"uid-{name}", "1", 1, NEW, 3, 1, Records(), stateful_set, members)


def copies(line: str) -> Iterable[ShardCopy]:
    """Yield the copies of one shard: `logs: data-0* data-1 ?node_version`."""
    index, _, places = line.partition(":")
    for place in places.split():
        is_primary, spot = place.endswith("*"), place.rstrip("*")
        if spot.startswith("?"):
            deciders = frozenset(filter(None, spot[1:].split("+")))
            yield ShardCopy(index, 0, is_primary, ShardState.UNASSIGNED, deciders=deciders)
        elif ">" in spot:
            here, there = spot.split(">")
            yield ShardCopy(index, 0, is_primary, ShardState.RELOCATING, here, there)
        else:
            yield ShardCopy(index, 0, is_primary, ShardState.STARTED, spot)


def engine(pools: Iterable[PoolView], shards: Iterable[str] = (), **differences: Any) -> EngineView:
    """An engine that every ready pod has joined. Every manager votes. The colour follows from the shards."""
    members = [(each, pool.spec) for pool in pools for each in pool.pods if each.is_ready]
    found = tuple(copy for line in shards for copy in copies(line))
    unassigned = [copy for copy in found if copy.state is ShardState.UNASSIGNED]
    red = any(copy.is_primary for copy in unassigned)
    voters = frozenset(each.name for each, spec in members if spec.votes)
    view = EngineView(
        color=Color.RED if red else Color.YELLOW if unassigned else Color.GREEN,
        nodes=tuple(Node(each.name, each.engine_version, spec.roles) for each, spec in members),
        shards=found,
        voters=voters,
    )
    return replace(view, **differences)


def world(
    *pools: PoolView,
    shards: Iterable[str] = (),
    snapshot: EngineView | Unreachable | None = None,
    **policy: Any,
) -> ClusterSnapshot:
    """The snapshot of a cluster of these pools."""
    key = Key("search.everpath.dev/v1alpha1", "SearchCluster", "search", "logs")
    spec = ClusterSpec(NEW, tuple(each.spec for each in pools), upgrade=UpgradePolicy(**policy))
    cluster = ClusterView(key, "uid", "1", 1, spec, "{}", False, (), (), 3, OLD, Records())
    return ClusterSnapshot(cluster, pools, {}, snapshot or engine(pools, shards), RELEASE, 1000)
