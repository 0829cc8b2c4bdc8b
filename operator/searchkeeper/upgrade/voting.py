"""Votes that nobody could cast: whoever has the only one, or comes back without, gives it away first."""

from __future__ import annotations

__all__ = ["move_vote"]

from searchkeeper.kubernetes.operations import EngineCall
from searchkeeper.opensearch.calls import ExcludeFromVoting
from searchkeeper.opensearch.view import Unreachable
from searchkeeper.planner import Result, in_progress, wait
from searchkeeper.snapshot import ClusterSnapshot, PoolView
from searchkeeper.upgrade.engine_settings import record_setting
from searchkeeper.upgrade.ledger import VOTING, UpgradeLedger
from searchkeeper.upgrade.role_removal import loses_vote
from searchkeeper.upgrade.shards import has_other_manager


def move_vote(snapshot: ClusterSnapshot, ledger: UpgradeLedger, name: str, pool: PoolView) -> Result | None:
    """The next step towards another manager with its vote; None where it need not, or cannot, give it."""
    engine = snapshot.engine
    if isinstance(engine, Unreachable) or not has_other_manager(engine, name):
        return None
    if engine.voters != {name} and not loses_vote(engine, name, pool):
        return None
    deadline = snapshot.cluster.spec.upgrade.health_deadline
    if ledger.voting_excluded == name and name in engine.voting_exclusions:
        return wait("VoteMoves", f"{name} still has a vote", deadline=deadline)
    call, ledger_changes = EngineCall(ExcludeFromVoting(name)), record_setting(VOTING, name)
    return in_progress(
        "MovingVote", f"{name} gives its vote away", call, ledger_changes=ledger_changes, deadline=deadline
    )
