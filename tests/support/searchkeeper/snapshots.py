"""Short notation for cluster snapshots.

    cluster_snapshot(pool("data", 3), pool("zone", 3, roles="cluster_manager"), shards=["a: data-0* data-1"])

Every pod is ready, has joined and has the old template. `data-0*` holds the primary, `?` is an unassigned
copy, `data-0>data-1` is a copy that moves.
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


def pod(name: str, **changes: Any) -> Pod:
    original = Pod(name, f"uid-{name}", "1", OLD, "old", is_ready=True)
    return replace(original, **changes)


def pool(
    name: str,
    replicas: int,
    *,
    roles: str = "data",
    ephemeral: bool = False,
    pods: Iterable[Pod] | None = None,
) -> PoolView:
    """Return a pool whose StatefulSet has a new template: every pod of the old one is outdated."""
    spec = PoolSpec(name, frozenset(roles.split()), replicas, Storage(ephemeral=ephemeral))
    members = tuple(pods) if pods is not None else tuple(pod(f"{name}-{n}") for n in range(replicas))
    stateful_set = StatefulSetView(f"uid-{name}", "1", NEW, "new", 3, replicas, None)
    return PoolView(spec, True, f"uid-{name}", "1", 1, NEW, 3, 1, Records(), stateful_set, members)


def copies(line: str) -> Iterable[ShardCopy]:
    """Yield the copies of one shard. `?node_version` is unassigned because of that decider."""
    index, _, places = line.partition(":")
    for place in places.split():
        is_primary, node = place.endswith("*"), place.rstrip("*")
        if node.startswith("?"):
            deciders = frozenset(filter(None, node[1:].split("+")))
            yield ShardCopy(index, 0, is_primary, ShardState.UNASSIGNED, deciders=deciders)
        elif ">" in node:
            source, target = node.split(">")
            yield ShardCopy(index, 0, is_primary, ShardState.RELOCATING, source, target)
        else:
            yield ShardCopy(index, 0, is_primary, ShardState.STARTED, node)


def engine(pools: Iterable[PoolView], shards: Iterable[str] = (), **changes: Any) -> EngineView:
    """Return a view in which every ready pod has joined and every manager votes. Shards decide the color."""
    members = [(pod, pool.spec) for pool in pools for pod in pool.pods if pod.is_ready]
    shard_copies = tuple(copy for line in shards for copy in copies(line))
    unassigned = [copy for copy in shard_copies if copy.state is ShardState.UNASSIGNED]
    red = any(copy.is_primary for copy in unassigned)
    voters = frozenset(pod.name for pod, spec in members if spec.votes)
    view = EngineView(
        color=Color.RED if red else Color.YELLOW if unassigned else Color.GREEN,
        nodes=tuple(Node(pod.name, pod.engine_version, spec.roles) for pod, spec in members),
        shards=shard_copies,
        voters=voters,
    )
    return replace(view, **changes)


def cluster_snapshot(
    *pools: PoolView,
    shards: Iterable[str] = (),
    view: EngineView | Unreachable | None = None,
    **policy: Any,
) -> ClusterSnapshot:
    """Return a snapshot of a cluster of these pools that is to run the new version."""
    key = Key("search.everpath.dev/v1alpha1", "SearchCluster", "search", "logs")
    spec = ClusterSpec(NEW, tuple(pool.spec for pool in pools), upgrade=UpgradePolicy(**policy))
    cluster = ClusterView(key, "uid", "1", 1, spec, "{}", False, (), (), 3, OLD, Records())
    return ClusterSnapshot(cluster, pools, {}, view or engine(pools, shards), RELEASE, 1000)
