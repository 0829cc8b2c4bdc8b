"""What the engine was told for a roll, and how it is taken back, by whoever finds it in the journal."""

from __future__ import annotations

__all__ = ["restored"]

from searchkeeper.engine.calls import ClearVotingExclusions, Exclude, SetAllocation
from searchkeeper.engine.view import Allocation, EngineView, Unreachable
from searchkeeper.kernel import Answer, Note, waiting, working
from searchkeeper.observed import Observed
from searchkeeper.upgrade.journal import ALLOCATION, EXCLUDED, VOTING, Journal
from searchkeeper.writes import Tell


def restored(seen: Observed, journal: Journal) -> Answer | None:
    """The next step towards the settings as they were; None when nothing of ours is left.

    A line leaves the journal only when the engine shows that it is undone.
    """
    if not (journal.allocation_before or journal.excluded or journal.moved_vote):
        return None
    if isinstance(seen.engine, Unreachable):
        patience = seen.cluster.spec.upgrade.health_deadline
        return waiting("EngineReachable", f"cannot be undone yet: {seen.engine.cause}", patience=patience)
    return (
        _allocation(seen.engine, journal) or _exclusions(seen.engine, journal) or _vote(seen.engine, journal)
    )


def _allocation(engine: EngineView, journal: Journal) -> Answer | None:
    before = journal.allocation_before
    if before is None:
        return None
    if str(engine.allocation) == before:
        return working("Restored", f"allocation is {before} again", notes=(Note(ALLOCATION, None),))
    value = None if before == Allocation.ALL else Allocation(before)
    return working("RestoringAllocation", f"allocation becomes {before}", Tell(SetAllocation(value)))


def _exclusions(engine: EngineView, journal: Journal) -> Answer | None:
    ours = journal.excluded
    if not ours:
        return None
    if not ours & engine.excluded:
        return working("Restored", "no node of ours is excluded", notes=(Note(EXCLUDED, None),))
    return working("RestoringShards", "shards may come back", Tell(Exclude(engine.excluded - ours)))


def _vote(engine: EngineView, journal: Journal) -> Answer | None:
    if journal.moved_vote is None:
        return None
    if not engine.voting_exclusions:
        return working("Restored", "every manager may vote", notes=(Note(VOTING, None),))
    return working("RestoringVotes", "every manager may vote again", Tell(ClearVotingExclusions()))
