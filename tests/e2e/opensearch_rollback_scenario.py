"""A scenario of an upgrade with rollbacks, and the gates that block the deletion of each pod after each step.

Every step leaves the engine only one node for each copy, so that the gates of each pod can be compared.
"""

from __future__ import annotations

__all__ = ["FIRST", "SECOND", "STEPS", "THIRD", "closed_gates"]

from collections.abc import Callable
from typing import Final

from searchkeeper.opensearch.calls import Exclude
from searchkeeper.opensearch.view import EngineView
from searchkeeper.upgrade.gates import Candidate, gate_results
from tests.e2e.opensearch_scenario import (
    NAMES,
    OLD,
    ROLES,
    ClusterUnderTest,
    Facts,
    Steps,
    observed_facts,
    upgrade_node,
)
from tests.support.searchkeeper.snapshots import cluster_snapshot, pod, pool

FIRST, SECOND, THIRD = NAMES
POOL: Final = FIRST.rpartition("-")[0]


def closed_gates(view: EngineView) -> Facts:
    """Return the facts, with the gates that block the deletion of each running pod."""
    pods = [pod(name, is_ready=view.node(name) is not None) for name in NAMES]
    members = pool(POOL, len(NAMES), roles=" ".join(ROLES), pods=pods)
    snapshot = cluster_snapshot(members, view=view)
    closed = {
        each.name: [v.gate for v in gate_results(Candidate(each, members), snapshot) if not v.is_open]
        for each in pods
        if each.is_ready
    }
    return {**observed_facts(view), "closed": closed}


def _books_are_on(*names: str) -> Callable[[EngineView], bool]:
    return lambda view: {copy.node for copy in view.shards if copy.index == "books"} == {*names}


def _start_with_two_copies(cluster: ClusterUnderTest) -> int:
    for name in NAMES:
        cluster.start(name, OLD)
    cluster.wait_until_stable(3)
    cluster.execute(Exclude(frozenset({THIRD})))
    cluster.create("books", replicas=1)
    cluster.wait_until_stable(3, _books_are_on(FIRST, SECOND))
    return 3


def _stop_second_node(cluster: ClusterUnderTest) -> int:
    """Stop the second node: the first one has the primary from now on."""
    cluster.stop(SECOND)
    return 2


def _restart_second_node(cluster: ClusterUnderTest) -> int:
    cluster.start(SECOND, OLD)
    return 3


def _move_primary(cluster: ClusterUnderTest) -> int:
    cluster.execute(Exclude(frozenset({FIRST})))
    cluster.wait_until_stable(3, _books_are_on(SECOND, THIRD))
    return 3


def _lose_replica(cluster: ClusterUnderTest) -> int:
    cluster.stop(SECOND)
    cluster.wait_until_stable(2)
    return _restart_second_node(cluster)


def _drain_third_node(cluster: ClusterUnderTest) -> int:
    cluster.execute(Exclude(frozenset({THIRD})))
    return 3


def _upgrade_second_node(cluster: ClusterUnderTest) -> int:
    cluster.execute(Exclude(frozenset()))
    return upgrade_node(SECOND)(cluster)


def _restart_second_node_without_data(cluster: ClusterUnderTest) -> int:
    cluster.stop(SECOND)
    cluster.wait_until_stable(2)
    cluster.wipe(SECOND)
    return _restart_second_node(cluster)


def _exclude_all_nodes(cluster: ClusterUnderTest) -> int:
    cluster.execute(Exclude(frozenset(NAMES)))
    cluster.wait_until_stable(3)
    cluster.create("unassigned", replicas=0)
    return 3


STEPS: Steps = {
    "two copies, and a node that is excluded": _start_with_two_copies,
    "the node of a copy is stopped, and no other node may have it": _stop_second_node,
    "the node restarts": _restart_second_node,
    "the node without a copy is upgraded": upgrade_node(THIRD),
    "the primary moves to the new node": _move_primary,
    "the node of the replica has restarted, and no older node can have it": _lose_replica,
    "the only copy cannot move to an older node": _drain_third_node,
    "the second node is upgraded, and gets the replica": _upgrade_second_node,
    "the second node is rolled back, without its data": _restart_second_node_without_data,
    "no node may have a new index": _exclude_all_nodes,
}
