"""The only vote of a cluster: whoever has it gives it away before it goes."""

from __future__ import annotations

__all__ = ["vote_moved"]

from searchkeeper.engine.calls import ExcludeFromVoting
from searchkeeper.engine.view import Unreachable
from searchkeeper.kernel import Answer, waiting, working
from searchkeeper.observed import Observed
from searchkeeper.upgrade.copies import has_other_manager
from searchkeeper.upgrade.journal import VOTING, Journal
from searchkeeper.upgrade.settings import to_be_undone
from searchkeeper.writes import Tell


def vote_moved(seen: Observed, journal: Journal, name: str) -> Answer | None:
    """The next step towards another manager with the only vote; None where it is not this one's to give."""
    engine = seen.engine
    if isinstance(engine, Unreachable) or engine.voters != {name} or not has_other_manager(engine, name):
        return None
    if journal.moved_vote == name and name in engine.voting_exclusions:
        patience = seen.cluster.spec.upgrade.health_deadline
        return waiting("VoteMoves", f"{name} still has the only vote", patience=patience)
    call, notes = Tell(ExcludeFromVoting(name)), to_be_undone(VOTING, name)
    return working("MovingVote", f"{name} gives its vote away", call, notes=notes)
