"""Engine settings that the operator changes: recorded in the ledger first, and restored from it.

The ledger is part of a status, which may be lost. So the engine has a record of the same entries, changed in
the same request as the setting, or before it where no request changes both. An entry that only the record has
was lost with the status, or set by a call that arrived late. It is restored like any other.
"""

from __future__ import annotations

__all__ = [
    "SETTINGS",
    "clear_exclusions",
    "exclusion_call",
    "record_changes",
    "record_setting",
    "recovered_settings",
    "restore_all",
    "restore_for_other_pods",
    "restore_settings",
]

import json
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from searchkeeper.api.reasons import Reason
from searchkeeper.kubernetes.operations import EngineCall
from searchkeeper.opensearch.calls import (
    ChangeRecord,
    ClearVotingExclusions,
    Exclude,
    ExcludeFromVoting,
    RecordChanges,
    SetAllocation,
)
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
# What the keys of these entries start with. Their names in the engine's record do not.
_KEY_PREFIX: Final = "engine/"


def record_setting(key: str, value: Entry | None) -> tuple[LedgerChange, ...]:
    """Return the ledger changes to make before a setting is changed; None when it is restored."""
    return LedgerChange(key, value), LedgerChange(key + _UNDO_SENT, None)


def record_changes(key: str, value: Entry | None) -> RecordChanges:
    """Return how the call that changes a setting changes the engine's record; None when it is restored."""
    text = None if value is None else json.dumps(value, separators=(",", ":"))
    return ((key.removeprefix(_KEY_PREFIX), text),)


def exclusion_call(
    ledger: UpgradeLedger, key: str, ours: frozenset[str], names: frozenset[str]
) -> EngineCall:
    """Return the call that excludes exactly the nodes in `names`. `ours` are those under this ledger key.

    The engine has one list for the rollout, for scale-in and for users. The record says which of its names
    are whose, so that a call that arrives late leaves no name of the operator without a record.
    """
    entries = {EXCLUDED: ledger.excluded, SCALE_IN_EXCLUDED: ledger.scale_in_excluded, key: ours}
    record = (record_changes(each, tuple(sorted(own & names)) or None) for each, own in entries.items())
    return EngineCall(Exclude(names, tuple(chain.from_iterable(record))))


def recovered_settings(engine: EngineView, ledger: UpgradeLedger) -> dict[str, Entry | None]:
    """Return the changes that add to the ledger what only the engine's record has.

    An entry of the ledger wins, but names that it lacks are added: the operator has set them, too.
    """
    changes: dict[str, Entry | None] = {}
    for key, recorded in _recorded(engine).items():
        known = ledger.get(key)
        if known is None:
            changes[key] = recorded
        elif isinstance(known, tuple) and isinstance(recorded, tuple) and not set(recorded) <= set(known):
            changes[key] = tuple(sorted({*map(str, known), *map(str, recorded)}))
            changes[key + _UNDO_SENT] = None
    return changes


def _recorded(engine: EngineView) -> dict[str, Entry]:
    """The entries in the engine's record, by ledger key. Invalid ones are ignored."""
    entries: dict[str, Entry] = {}
    for name, text in engine.record:
        key = _KEY_PREFIX + name
        with suppress(ValueError, RecursionError):
            entry: Any = json.loads(text)
            if key in SETTINGS and isinstance(entry, str):
                entries[key] = entry
            elif key in SETTINGS and isinstance(entry, list):
                entries[key] = tuple(map(str, entry))
    return entries


def _recorded_names(engine: EngineView, key: str) -> frozenset[str]:
    match _recorded(engine).get(key):
        case str(name):
            return frozenset({name})
        case tuple(names):
            return frozenset(map(str, names))
        case _:
            return frozenset()


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

    An entry leaves the ledger only when the undo was sent, the engine shows the old value, and its record has
    no such entry any more. The nodes in `keep_excluded` stay excluded from allocation.
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
    is_restored = str(engine.allocation) == before and not _recorded_names(engine, ALLOCATION)
    if before is not None and is_restored and _undo_sent(ledger, ALLOCATION):
        message = f"cluster.routing.allocation.enable is {before} again"
        step = in_progress(Reason.SETTINGS_RESTORED, message, ledger_changes=record_setting(ALLOCATION, None))
    elif before is not None:
        step = in_progress(
            Reason.RESTORING_ALLOCATION,
            f"setting cluster.routing.allocation.enable back to {before}",
            EngineCall(
                SetAllocation(
                    None if before == Allocation.ALL else Allocation(before), record_changes(ALLOCATION, None)
                )
            ),
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
    names, left = ", ".join(sorted(nodes)), recorded - nodes
    is_restored = not nodes & (engine.excluded | _recorded_names(engine, key))
    if is_restored and _undo_sent(ledger, key):
        message = f"{names} may hold shards again"
        changes = record_setting(key, tuple(sorted(left)) or None)
        return in_progress(Reason.SETTINGS_RESTORED, message, ledger_changes=changes)
    return in_progress(
        Reason.CLEARING_ALLOCATION_EXCLUSIONS,
        f"allowing shards on {names} again",
        exclusion_call(ledger, key, left, engine.excluded - nodes),
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
        ours = ledger.scale_in_voting_excluded | rollout | _recorded_names(engine, VOTING)
        foreign = tuple(sorted(ledger.foreign_voting_excluded | engine.voting_exclusions - ours)) or None
        changes = LedgerChange(key + _UNDO_SENT, True), LedgerChange(FOREIGN_VOTING, foreign)
        return in_progress(
            Reason.CLEARING_VOTING_EXCLUSIONS,
            "clearing all voting exclusions",
            EngineCall(ClearVotingExclusions(record_changes(FOREIGN_VOTING, foreign) if foreign else ())),
            ledger_changes=changes,
        )
    is_recorded = bool(managers & _recorded_names(engine, key))
    message = f"{', '.join(sorted(managers))} may vote again"
    return _restore_foreign_votes(engine, ledger, message, {key: left or None} if is_recorded else {}) or (
        in_progress(
            Reason.SETTINGS_RESTORED,
            message,
            ledger_changes=(*record_setting(key, left or None), LedgerChange(FOREIGN_VOTING, None)),
        )
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
    # Left by a call that cleared all exclusions and arrived late.
    is_foreign_lost = bool(ledger.foreign_voting_excluded) and not (
        ledger.voting_excluded or ledger.scale_in_voting_excluded
    )
    if not (nodes or votes or is_foreign_lost):
        return None
    if isinstance(engine, Unreachable):
        message = f"cannot clear exclusions: {engine.cause}"
        return wait(
            Reason.ENGINE_UNREACHABLE, message, deadline=snapshot.cluster.spec.upgrade.health_deadline
        )
    if nodes:
        return _restore_exclusions(engine, ledger, SCALE_IN_EXCLUDED, nodes, ledger.scale_in_excluded)
    if votes:
        left = tuple(sorted(ledger.scale_in_voting_excluded - votes))
        return _restore_votes(engine, ledger, SCALE_IN_VOTING, votes, left)
    message = "the voting exclusions of others are set again"
    return _restore_foreign_votes(engine, ledger, message, {}) or in_progress(
        Reason.SETTINGS_RESTORED, message, ledger_changes=(LedgerChange(FOREIGN_VOTING, None),)
    )


def _restore_foreign_votes(
    engine: EngineView, ledger: UpgradeLedger, message: str, restored: dict[str, Entry | None]
) -> Result | None:
    """Set the voting exclusions again that are not the operator's, one after the other.

    Then the `restored` entries and those exclusions leave the engine's record. None when that is done.
    """
    missing = sorted(ledger.foreign_voting_excluded - engine.voting_exclusions)
    if missing:
        message = f"excluding {missing[0]} from voting again: the operator did not set this exclusion"
        return in_progress(
            Reason.CLEARING_VOTING_EXCLUSIONS, message, EngineCall(ExcludeFromVoting(missing[0]))
        )
    if _recorded_names(engine, FOREIGN_VOTING):
        restored = {**restored, FOREIGN_VOTING: None}
    if not restored:
        return None
    record = tuple(change for key, value in restored.items() for change in record_changes(key, value))
    return in_progress(Reason.CLEARING_VOTING_EXCLUSIONS, message, EngineCall(ChangeRecord(record)))
