"""Nodes that come back without a role: what they have by it is given away before they go."""

from __future__ import annotations

__all__ = ["loses_role", "loses_vote", "nodes_keeping_role"]

from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.snapshot import ClusterSnapshot, PoolView


def loses_role(role: str, engine: EngineView | Unreachable, name: str, pool: PoolView) -> bool:
    """Whether a node has a role that its pool is not to have any more."""
    node = None if isinstance(engine, Unreachable) else engine.node(name)
    return node is not None and role in node.roles and role not in pool.spec.roles


def loses_vote(engine: EngineView, name: str, pool: PoolView) -> bool:
    """It votes, and nobody could cast that vote when it is back."""
    return name in engine.voters and not pool.spec.votes


def nodes_keeping_role(role: str, snapshot: ClusterSnapshot, engine: EngineView) -> frozenset[str]:
    """The nodes that have a role and keep it: who could take over what others lose with it."""
    keepers = {pod.name for pool in snapshot.pools if role in pool.spec.roles for pod in pool.retained_pods}
    return frozenset(node.name for node in engine.nodes if role in node.roles and node.name in keepers)
