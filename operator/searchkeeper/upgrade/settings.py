"""What the engine was told, and how it is taken back, by whoever finds it in the journal."""

from __future__ import annotations

__all__ = ["SETTINGS", "forgiven", "restored", "to_be_undone", "undone"]

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from searchkeeper.engine.calls import ClearVotingExclusions, Exclude, ExcludeFromVoting, SetAllocation
from searchkeeper.engine.view import Allocation, EngineView, Unreachable
from searchkeeper.kernel import Answer, Note, waiting, working
from searchkeeper.kernel.ledger import Entry
from searchkeeper.observed import Observed
from searchkeeper.upgrade.journal import (
    ALLOCATION,
    EXCLUDED,
    LEAVING,
    LEAVING_VOTES,
    OTHERS_VOTES,
    VOTING,
    Journal,
)
from searchkeeper.writes import Tell

# The lines of the journal that stand for something the engine was told.
SETTINGS: Final = (ALLOCATION, EXCLUDED, VOTING, LEAVING, LEAVING_VOTES, OTHERS_VOTES)
# Beside such a line: the engine was told to take it back.
_TAKEN_BACK: Final = "/taken-back"


def to_be_undone(line: str, value: Entry) -> tuple[Note, ...]:
    """What is noted before the engine is told something that is to be taken back."""
    return Note(line, value), Note(line + _TAKEN_BACK, None)


def _is_taken_back(journal: Journal, line: str) -> bool:
    """An engine that looks as before is not enough: a call that was lost may only be late."""
    return journal.ledger.get(line + _TAKEN_BACK) is True


def _taking_back(line: str) -> tuple[Note, ...]:
    return (Note(line + _TAKEN_BACK, True),)


def _over(line: str, left: tuple[str, ...] = ()) -> tuple[Note, ...]:
    return Note(line, left or None), Note(line + _TAKEN_BACK, None)


def undone(seen: Observed, journal: Journal) -> Answer | None:
    """The next step towards an engine that remembers nothing of us; None when there is no such line left."""
    return restored(seen, journal) or forgiven(seen, journal, ())


def forgiven(
    seen: Observed, journal: Journal, departing: Collection[str], lent: frozenset[str] = frozenset()
) -> Answer | None:
    """Takes back what was set for nodes that have left, or may stay after all; None when nothing is left.

    Those who are lent may have shards, and leave all the same.
    """
    shards, votes = journal.leaving.difference(departing) | lent, journal.leaving_votes.difference(departing)
    if isinstance(seen.engine, EngineView):
        # It is not counted on any more as soon as the engine has heard of it, and not before.
        votes -= seen.engine.absent_voters
    if not (shards or votes):
        return None
    if isinstance(seen.engine, Unreachable):
        patience = seen.cluster.spec.upgrade.health_deadline
        return waiting("EngineReachable", f"cannot be undone yet: {seen.engine.cause}", patience=patience)
    return _shards_forgiven(seen.engine, journal, shards) or _votes_forgiven(seen.engine, journal, votes)


def _shards_forgiven(engine: EngineView, journal: Journal, names: frozenset[str]) -> Answer | None:
    if not names:
        return None
    if names & engine.excluded or not _is_taken_back(journal, LEAVING):
        call, notes = Tell(Exclude(engine.excluded - names)), _taking_back(LEAVING)
        message = f"shards may be on {', '.join(sorted(names))} again"
        return working("RestoringShards", message, call, notes=notes)
    left = tuple(sorted(journal.leaving - names))
    return working("Restored", "nobody who has left is excluded", notes=_over(LEAVING, left))


def _votes_forgiven(engine: EngineView, journal: Journal, names: frozenset[str]) -> Answer:
    """The engine forgets all exclusions or none: those that are still needed are told again."""
    if names & engine.voting_exclusions or not _is_taken_back(journal, LEAVING_VOTES):
        return _cleared(engine, journal, LEAVING_VOTES)
    left = tuple(sorted(journal.leaving_votes - names))
    notes = (*_over(LEAVING_VOTES, left), Note(OTHERS_VOTES, None))
    return _told_again(engine, journal) or working("Restored", "nobody who has left is excluded", notes=notes)


def _cleared(engine: EngineView, journal: Journal, line: str) -> Answer:
    """Whom somebody else has excluded is written down first: the engine forgets them as well."""
    ours = journal.leaving_votes | ({journal.moved_vote} if journal.moved_vote else set())
    others = journal.others_votes | engine.voting_exclusions - ours
    notes = (*_taking_back(line), Note(OTHERS_VOTES, tuple(sorted(others)) or None))
    return working(
        "RestoringVotes", "every manager may vote again", Tell(ClearVotingExclusions()), notes=notes
    )


def _told_again(engine: EngineView, journal: Journal) -> Answer | None:
    """One after the other, until nobody is missing whom somebody else has excluded."""
    for name in sorted(journal.others_votes - engine.voting_exclusions):
        message = f"{name} has no vote, as somebody else has decided"
        return working("RestoringVotes", message, Tell(ExcludeFromVoting(name)))
    return None


def restored(seen: Observed, journal: Journal, keeps: Collection[str] = ()) -> Answer | None:
    """The next step towards the settings as they were; None when nothing of ours is left.

    A line leaves the journal only when the engine was told to undo it, and shows that it is undone. Shards
    stay away from those whom `keeps` names.
    """
    shards = journal.excluded.difference(keeps)
    if not (journal.allocation_before or shards or journal.moved_vote):
        return None
    patience = seen.cluster.spec.upgrade.health_deadline
    if isinstance(seen.engine, Unreachable):
        return waiting("EngineReachable", f"cannot be undone yet: {seen.engine.cause}", patience=patience)
    step = (
        _allocation(seen.engine, journal)
        or _exclusions(seen.engine, journal, shards)
        or _vote(seen.engine, journal)
    )
    return None if step is None else replace(step, patience=patience)


def _allocation(engine: EngineView, journal: Journal) -> Answer | None:
    before = journal.allocation_before
    if before is None:
        return None
    if str(engine.allocation) == before and _is_taken_back(journal, ALLOCATION):
        return working("Restored", f"allocation is {before} again", notes=_over(ALLOCATION))
    call = Tell(SetAllocation(None if before == Allocation.ALL else Allocation(before)))
    message = f"allocation becomes {before}"
    return working("RestoringAllocation", message, call, notes=_taking_back(ALLOCATION))


def _exclusions(engine: EngineView, journal: Journal, ours: frozenset[str]) -> Answer | None:
    if not ours:
        return None
    if not ours & engine.excluded and _is_taken_back(journal, EXCLUDED):
        left = tuple(sorted(journal.excluded - ours))
        return working("Restored", "no node of ours is excluded", notes=_over(EXCLUDED, left))
    call = Tell(Exclude(engine.excluded - ours))
    return working("RestoringShards", "shards may come back", call, notes=_taking_back(EXCLUDED))


def _vote(engine: EngineView, journal: Journal) -> Answer | None:
    if journal.moved_vote is None:
        return None
    if journal.moved_vote in engine.voting_exclusions or not _is_taken_back(journal, VOTING):
        return _cleared(engine, journal, VOTING)
    notes = (*_over(VOTING), Note(OTHERS_VOTES, None))
    return _told_again(engine, journal) or working("Restored", "every manager may vote", notes=notes)
