"""Roles and votes that a node loses when it restarts: another node takes them first."""

from __future__ import annotations

__all__ = ["loses_role", "loses_vote", "move_vote", "nodes_keeping_role"]

from searchkeeper.api.reasons import Reason
from searchkeeper.kubernetes.operations import EngineCall
from searchkeeper.opensearch.calls import ExcludeFromVoting
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.planner import Result, in_progress, wait
from searchkeeper.snapshot import ClusterSnapshot, PoolView
from searchkeeper.upgrade.engine_settings import record_changes, record_setting
from searchkeeper.upgrade.ledger import VOTING, UpgradeLedger
from searchkeeper.upgrade.shards import has_other_manager


def loses_role(role: str, engine: EngineView | Unreachable, name: str, pool: PoolView) -> bool:
    """Whether a node has a role that its pool no longer has."""
    node = None if isinstance(engine, Unreachable) else engine.node(name)
    return node is not None and role in node.roles and role not in pool.spec.roles


def loses_vote(engine: EngineView, name: str, pool: PoolView) -> bool:
    """Whether a node votes now and cannot vote after its restart."""
    return name in engine.voters and not pool.spec.votes


def nodes_keeping_role(role: str, snapshot: ClusterSnapshot, engine: EngineView) -> frozenset[str]:
    """Return the nodes that have a role and keep it. They can take what other nodes lose with it."""
    keepers = {pod.name for pool in snapshot.pools if role in pool.spec.roles for pod in pool.retained_pods}
    return frozenset(node.name for node in engine.nodes if role in node.roles and node.name in keepers)


def move_vote(snapshot: ClusterSnapshot, ledger: UpgradeLedger, name: str, pool: PoolView) -> Result | None:
    """Return the next step that moves a node's vote to another manager.

    None if the node keeps a vote that others share, has none, or no other manager exists.
    """
    engine = snapshot.engine
    if isinstance(engine, Unreachable) or not has_other_manager(engine, name):
        return None
    if engine.voters != {name} and not loses_vote(engine, name, pool):
        return None
    deadline = snapshot.cluster.spec.upgrade.health_deadline
    if ledger.voting_excluded == name and name in engine.voting_exclusions:
        return wait(Reason.WAITING_FOR_VOTE, f"{name} still has a vote", deadline=deadline)
    return in_progress(
        Reason.MOVING_VOTE,
        f"excluding {name} from voting: another manager takes its vote",
        EngineCall(ExcludeFromVoting(name, record_changes(VOTING, name))),
        ledger_changes=record_setting(VOTING, name),
        deadline=deadline,
    )
