"""Votes that nobody could cast: whoever has the only one, or comes back without, gives it away first."""

from __future__ import annotations

__all__ = ["vote_moved"]

from searchkeeper.engine.calls import ExcludeFromVoting
from searchkeeper.engine.view import Unreachable
from searchkeeper.kernel import Answer, waiting, working
from searchkeeper.observed import Observed, PoolView
from searchkeeper.upgrade.copies import has_other_manager
from searchkeeper.upgrade.journal import VOTING, Journal
from searchkeeper.upgrade.losing import loses_vote
from searchkeeper.upgrade.settings import to_be_undone
from searchkeeper.writes import Tell


def vote_moved(seen: Observed, journal: Journal, name: str, pool: PoolView) -> Answer | None:
    """The next step towards another manager with its vote; None where it need not, or cannot, give it."""
    engine = seen.engine
    if isinstance(engine, Unreachable) or not has_other_manager(engine, name):
        return None
    if engine.voters != {name} and not loses_vote(engine, name, pool):
        return None
    patience = seen.cluster.spec.upgrade.health_deadline
    if journal.moved_vote == name and name in engine.voting_exclusions:
        return waiting("VoteMoves", f"{name} still has a vote", patience=patience)
    call, notes = Tell(ExcludeFromVoting(name)), to_be_undone(VOTING, name)
    return working("MovingVote", f"{name} gives its vote away", call, notes=notes, patience=patience)
