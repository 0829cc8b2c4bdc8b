"""Engine settings that the operator changes: recorded in the ledger first, and restored from it."""

from __future__ import annotations

__all__ = [
    "SETTINGS",
    "clear_exclusions",
    "record_setting",
    "restore_all",
    "restore_for_other_pods",
    "restore_settings",
]

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from searchkeeper.api.reasons import Reason
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

# The ledger entries that stand for a changed engine setting.
SETTINGS: Final = (ALLOCATION, EXCLUDED, VOTING, SCALE_IN_EXCLUDED, SCALE_IN_VOTING, FOREIGN_VOTING)
# A second entry beside such an entry: the call that undoes the setting was sent.
_UNDO_SENT: Final = "/taken-back"


def record_setting(key: str, value: Entry | None) -> tuple[LedgerChange, ...]:
    """Return the ledger changes to make before a setting is changed; None when it is restored."""
    return LedgerChange(key, value), LedgerChange(key + _UNDO_SENT, None)


def _undo_sent(ledger: UpgradeLedger, key: str) -> bool:
    """Whether the undo was sent. An engine that shows the old value is not enough: a call may arrive late."""
    return ledger.get(key + _UNDO_SENT) is True


def restore_all(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> Result | None:
    """Return the next step that restores every setting of the operator; None when all are restored."""
    return restore_settings(snapshot, ledger) or clear_exclusions(snapshot, ledger, ())


def restore_settings(
    snapshot: ClusterSnapshot, ledger: UpgradeLedger, keep_excluded: Collection[str] = ()
) -> Result | None:
    """Return the next step that restores the settings of a rollout; None when all are restored.

    An entry leaves the ledger only when the undo was sent and the engine shows the old value. The nodes in
    `keep_excluded` stay excluded from allocation.
    """
    nodes = ledger.excluded.difference(keep_excluded)
    return _restore(snapshot, ledger, nodes, allocation=True, vote=True)


def restore_for_other_pods(
    snapshot: ClusterSnapshot, ledger: UpgradeLedger, pod: str, *, keep_allocation: bool
) -> Result | None:
    """Return the next step that restores what was set for pods other than `pod`; None when nothing is left.

    A pod that restarts while no operator runs never becomes part of a batch, so the end of a batch does not
    restore what was set for it. The allocation setting belongs to no pod: it stays if `pod` needs it.
    """
    nodes = ledger.excluded - {pod}
    has_foreign_vote = ledger.voting_excluded not in (None, pod)
    if isinstance(snapshot.engine, Unreachable):
        return None
    return _restore(snapshot, ledger, nodes, allocation=not keep_allocation, vote=has_foreign_vote)


def _restore(
    snapshot: ClusterSnapshot, ledger: UpgradeLedger, nodes: frozenset[str], *, allocation: bool, vote: bool
) -> Result | None:
    engine, deadline = snapshot.engine, snapshot.cluster.spec.upgrade.health_deadline
    before = ledger.allocation_before if allocation else None
    if before is None and not nodes and not (vote and ledger.voting_excluded):
        return None
    if isinstance(engine, Unreachable):
        message = f"cannot restore engine settings: {engine.cause}"
        return wait(Reason.ENGINE_UNREACHABLE, message, deadline=deadline)
    if before is not None and str(engine.allocation) == before and _undo_sent(ledger, ALLOCATION):
        message = f"cluster.routing.allocation.enable is {before} again"
        step = in_progress(Reason.SETTINGS_RESTORED, message, ledger_changes=record_setting(ALLOCATION, None))
    elif before is not None:
        step = in_progress(
            Reason.RESTORING_ALLOCATION,
            f"setting cluster.routing.allocation.enable back to {before}",
            EngineCall(SetAllocation(None if before == Allocation.ALL else Allocation(before))),
            ledger_changes=(LedgerChange(ALLOCATION + _UNDO_SENT, True),),
        )
    elif nodes:
        step = _restore_exclusions(engine, ledger, EXCLUDED, nodes, ledger.excluded)
    else:
        managers = frozenset({ledger.voting_excluded} if ledger.voting_excluded else ())
        step = _restore_votes(engine, ledger, VOTING, managers, ())
    return replace(step, deadline=deadline)


def _restore_exclusions(
    engine: EngineView, ledger: UpgradeLedger, key: str, nodes: frozenset[str], recorded: frozenset[str]
) -> Result:
    """Allow shards on these nodes again; the other recorded nodes stay excluded."""
    names = ", ".join(sorted(nodes))
    if not nodes & engine.excluded and _undo_sent(ledger, key):
        left = tuple(sorted(recorded - nodes))
        message = f"{names} may hold shards again"
        return in_progress(
            Reason.SETTINGS_RESTORED, message, ledger_changes=record_setting(key, left or None)
        )
    return in_progress(
        Reason.CLEARING_ALLOCATION_EXCLUSIONS,
        f"allowing shards on {names} again",
        EngineCall(Exclude(engine.excluded - nodes)),
        ledger_changes=(LedgerChange(key + _UNDO_SENT, True),),
    )


def _restore_votes(
    engine: EngineView, ledger: UpgradeLedger, key: str, managers: frozenset[str], left: tuple[str, ...]
) -> Result:
    """Let these managers vote again; those in `left` stay recorded.

    The engine clears all voting exclusions or none. Those that are not the operator's are recorded first and
    set again, one after the other.
    """
    if managers & engine.voting_exclusions or not _undo_sent(ledger, key):
        rollout = frozenset({ledger.voting_excluded} if ledger.voting_excluded else ())
        ours = ledger.scale_in_voting_excluded | rollout
        foreign = ledger.foreign_voting_excluded | engine.voting_exclusions - ours
        changes = (
            LedgerChange(key + _UNDO_SENT, True),
            LedgerChange(FOREIGN_VOTING, tuple(sorted(foreign)) or None),
        )
        return in_progress(
            Reason.CLEARING_VOTING_EXCLUSIONS,
            "clearing all voting exclusions",
            EngineCall(ClearVotingExclusions()),
            ledger_changes=changes,
        )
    return _restore_foreign_votes(engine, ledger) or in_progress(
        Reason.SETTINGS_RESTORED,
        f"{', '.join(sorted(managers))} may vote again",
        ledger_changes=(*record_setting(key, left or None), LedgerChange(FOREIGN_VOTING, None)),
    )


def clear_exclusions(
    snapshot: ClusterSnapshot,
    ledger: UpgradeLedger,
    departing: Collection[str],
    shard_hosts: frozenset[str] = frozenset(),
) -> Result | None:
    """Return the next step that undoes the exclusions of scale-in, except for the departing nodes.

    The nodes in `shard_hosts` may hold shards for now although they depart. None when nothing is left.
    """
    nodes = ledger.scale_in_excluded.difference(departing) | shard_hosts
    votes = ledger.scale_in_voting_excluded.difference(departing)
    engine = snapshot.engine
    if isinstance(engine, EngineView):
        # A cleared exclusion of an absent voter would let it count again before the engine has dropped it.
        votes -= engine.absent_voters
    if not (nodes or votes):
        return None
    if isinstance(engine, Unreachable):
        message = f"cannot clear exclusions: {engine.cause}"
        return wait(
            Reason.ENGINE_UNREACHABLE, message, deadline=snapshot.cluster.spec.upgrade.health_deadline
        )
    if nodes:
        return _restore_exclusions(engine, ledger, SCALE_IN_EXCLUDED, nodes, ledger.scale_in_excluded)
    left = tuple(sorted(ledger.scale_in_voting_excluded - votes))
    return _restore_votes(engine, ledger, SCALE_IN_VOTING, votes, left)


def _restore_foreign_votes(engine: EngineView, ledger: UpgradeLedger) -> Result | None:
    """Set the voting exclusions again that are not the operator's, one after the other."""
    missing = sorted(ledger.foreign_voting_excluded - engine.voting_exclusions)
    if not missing:
        return None
    message = f"excluding {missing[0]} from voting again: the operator did not set this exclusion"
    return in_progress(Reason.CLEARING_VOTING_EXCLUSIONS, message, EngineCall(ExcludeFromVoting(missing[0])))
