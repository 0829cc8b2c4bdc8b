"""What the engine was told, and how it is taken back, by whoever finds it in the journal."""

from __future__ import annotations

__all__ = ["SETTINGS", "clear_exclusions", "record_setting", "restore_all", "restore_settings"]

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from searchkeeper.kubernetes.operations import EngineCall
from searchkeeper.opensearch.calls import ClearVotingExclusions, Exclude, ExcludeFromVoting, SetAllocation
from searchkeeper.opensearch.view import Allocation, EngineView, Unreachable
from searchkeeper.planner import LedgerChange, Result, in_progress, wait
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import (
    ALLOCATION,
    EXCLUDED,
    FOREIGN_VOTING,
    SCALE_IN_EXCLUDED,
    SCALE_IN_VOTING,
    VOTING,
    UpgradeLedger,
)

# The lines of the journal that stand for something the engine was told.
SETTINGS: Final = (ALLOCATION, EXCLUDED, VOTING, SCALE_IN_EXCLUDED, SCALE_IN_VOTING, FOREIGN_VOTING)
# Beside such a line: the engine was told to take it back.
_TAKEN_BACK: Final = "/taken-back"


def record_setting(line: str, value: Entry) -> tuple[LedgerChange, ...]:
    """What is noted before the engine is told something that is to be taken back."""
    return LedgerChange(line, value), LedgerChange(line + _TAKEN_BACK, None)


def _is_taken_back(ledger: UpgradeLedger, line: str) -> bool:
    """An engine that looks as before is not enough: a call that was lost may only be late."""
    return ledger.get(line + _TAKEN_BACK) is True


def _taking_back(line: str) -> tuple[LedgerChange, ...]:
    return (LedgerChange(line + _TAKEN_BACK, True),)


def _over(line: str, left: tuple[str, ...] = ()) -> tuple[LedgerChange, ...]:
    return LedgerChange(line, left or None), LedgerChange(line + _TAKEN_BACK, None)


def restore_all(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> Result | None:
    """The next step towards an engine that remembers nothing of us; None when there is no such line left."""
    return restore_settings(snapshot, ledger) or clear_exclusions(snapshot, ledger, ())


def clear_exclusions(
    snapshot: ClusterSnapshot,
    ledger: UpgradeLedger,
    departing: Collection[str],
    lent: frozenset[str] = frozenset(),
) -> Result | None:
    """Takes back what was set for nodes that have left, or may stay after all; None when nothing is left.

    Those who are lent may have shards, and leave all the same.
    """
    shards, votes = (
        ledger.scale_in_excluded.difference(departing) | lent,
        ledger.scale_in_voting_excluded.difference(departing),
    )
    if isinstance(snapshot.engine, EngineView):
        # It is not counted on any more as soon as the engine has heard of it, and not before.
        votes -= snapshot.engine.absent_voters
    if not (shards or votes):
        return None
    if isinstance(snapshot.engine, Unreachable):
        deadline = snapshot.cluster.spec.upgrade.health_deadline
        return wait("EngineReachable", f"cannot be undone yet: {snapshot.engine.cause}", deadline=deadline)
    return _shards_forgiven(snapshot.engine, ledger, shards) or _votes_forgiven(
        snapshot.engine, ledger, votes
    )


def _shards_forgiven(engine: EngineView, ledger: UpgradeLedger, names: frozenset[str]) -> Result | None:
    if not names:
        return None
    if names & engine.excluded or not _is_taken_back(ledger, SCALE_IN_EXCLUDED):
        call, ledger_changes = EngineCall(Exclude(engine.excluded - names)), _taking_back(SCALE_IN_EXCLUDED)
        message = f"shards may be on {', '.join(sorted(names))} again"
        return in_progress("RestoringShards", message, call, ledger_changes=ledger_changes)
    left = tuple(sorted(ledger.scale_in_excluded - names))
    return in_progress(
        "Restored", "nobody who has left is excluded", ledger_changes=_over(SCALE_IN_EXCLUDED, left)
    )


def _votes_forgiven(engine: EngineView, ledger: UpgradeLedger, names: frozenset[str]) -> Result:
    """The engine forgets all exclusions or none: those that are still needed are told again."""
    if names & engine.voting_exclusions or not _is_taken_back(ledger, SCALE_IN_VOTING):
        return _cleared(engine, ledger, SCALE_IN_VOTING)
    left = tuple(sorted(ledger.scale_in_voting_excluded - names))
    ledger_changes = (*_over(SCALE_IN_VOTING, left), LedgerChange(FOREIGN_VOTING, None))
    return _told_again(engine, ledger) or in_progress(
        "Restored", "nobody who has left is excluded", ledger_changes=ledger_changes
    )


def _cleared(engine: EngineView, ledger: UpgradeLedger, line: str) -> Result:
    """Whom somebody else has excluded is written down first: the engine forgets them as well."""
    ours = ledger.scale_in_voting_excluded | ({ledger.voting_excluded} if ledger.voting_excluded else set())
    others = ledger.foreign_voting_excluded | engine.voting_exclusions - ours
    ledger_changes = (*_taking_back(line), LedgerChange(FOREIGN_VOTING, tuple(sorted(others)) or None))
    return in_progress(
        "RestoringVotes",
        "every manager may vote again",
        EngineCall(ClearVotingExclusions()),
        ledger_changes=ledger_changes,
    )


def _told_again(engine: EngineView, ledger: UpgradeLedger) -> Result | None:
    """One after the other, until nobody is missing whom somebody else has excluded."""
    for name in sorted(ledger.foreign_voting_excluded - engine.voting_exclusions):
        message = f"{name} has no vote, as somebody else has decided"
        return in_progress("RestoringVotes", message, EngineCall(ExcludeFromVoting(name)))
    return None


def restore_settings(
    snapshot: ClusterSnapshot, ledger: UpgradeLedger, keeps: Collection[str] = ()
) -> Result | None:
    """The next step towards the settings as they were; None when nothing of ours is left.

    A line leaves the journal only when the engine was told to undo it, and shows that it is undone. Shards
    stay away from those whom `keeps` names.
    """
    shards = ledger.excluded.difference(keeps)
    if not (ledger.allocation_before or shards or ledger.voting_excluded):
        return None
    deadline = snapshot.cluster.spec.upgrade.health_deadline
    if isinstance(snapshot.engine, Unreachable):
        return wait("EngineReachable", f"cannot be undone yet: {snapshot.engine.cause}", deadline=deadline)
    step = (
        _allocation(snapshot.engine, ledger)
        or _exclusions(snapshot.engine, ledger, shards)
        or _vote(snapshot.engine, ledger)
    )
    return None if step is None else replace(step, deadline=deadline)


def _allocation(engine: EngineView, ledger: UpgradeLedger) -> Result | None:
    before = ledger.allocation_before
    if before is None:
        return None
    if str(engine.allocation) == before and _is_taken_back(ledger, ALLOCATION):
        return in_progress("Restored", f"allocation is {before} again", ledger_changes=_over(ALLOCATION))
    call = EngineCall(SetAllocation(None if before == Allocation.ALL else Allocation(before)))
    message = f"allocation becomes {before}"
    return in_progress("RestoringAllocation", message, call, ledger_changes=_taking_back(ALLOCATION))


def _exclusions(engine: EngineView, ledger: UpgradeLedger, ours: frozenset[str]) -> Result | None:
    if not ours:
        return None
    if not ours & engine.excluded and _is_taken_back(ledger, EXCLUDED):
        left = tuple(sorted(ledger.excluded - ours))
        return in_progress("Restored", "no node of ours is excluded", ledger_changes=_over(EXCLUDED, left))
    call = EngineCall(Exclude(engine.excluded - ours))
    return in_progress("RestoringShards", "shards may come back", call, ledger_changes=_taking_back(EXCLUDED))


def _vote(engine: EngineView, ledger: UpgradeLedger) -> Result | None:
    if ledger.voting_excluded is None:
        return None
    if ledger.voting_excluded in engine.voting_exclusions or not _is_taken_back(ledger, VOTING):
        return _cleared(engine, ledger, VOTING)
    ledger_changes = (*_over(VOTING), LedgerChange(FOREIGN_VOTING, None))
    return _told_again(engine, ledger) or in_progress(
        "Restored", "every manager may vote", ledger_changes=ledger_changes
    )
