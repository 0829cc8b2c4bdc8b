"""Waits: since when an action gives which reason. A change of reasons is no progress."""

from __future__ import annotations

__all__ = ["NOT_COUNTED", "WAIT_PREFIX", "Wait", "waiting_for", "waiting_without_change", "waits"]

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final, TypeAlias

from searchkeeper.planner.actions import ACTION_ERROR, Action, closure
from searchkeeper.planner.denied_operations import OPERATION_DENIED
from searchkeeper.planner.ledger import Entry, Ledger
from searchkeeper.planner.results import Result, Status

# A reason, and since when it has been given.
Clock: TypeAlias = tuple[str, int]

WAIT_PREFIX: Final = "wait/"
# Faults of ours, and writes that others refuse: whoever else is waited for has no part in them.
NOT_COUNTED: Final = frozenset({ACTION_ERROR, OPERATION_DENIED})


@dataclass(frozen=True, slots=True)
class Wait:
    """What an action waits for at present, and what it has waited for before, since it last came further.

    `before` has when each reason was first given, also the present one where it has come back. Without a
    patience it waits for another action, which has one.
    """

    present: Clock
    before: tuple[Clock, ...] = ()
    deadline: int | None = None

    @property
    def is_back(self) -> bool:
        return self.present[0] in dict(self.before)

    @property
    def since(self) -> int:
        """A reason that comes back has been given since it first was: two in turn would never be late."""
        reason, moment = self.present
        return dict(self.before).get(reason, moment)

    @property
    def expires_at(self) -> int | None:
        return None if self.deadline is None else self.since + self.deadline

    @property
    def entry(self) -> Entry:
        """In the ledger they stand in one row, the present one first."""
        return tuple(chain(self.present, *self.before))


def waits(
    actions: Iterable[Action[Any]], given: Mapping[str, Result], ledger: Ledger, now: int
) -> dict[str, Wait]:
    """Of every action that waits. It ends when the goal holds or something is done for it, and not before.

    Each reason that is new has its whole patience all the same. Messages may count down meanwhile.
    """
    noted = {name: _noted(ledger, name, now) for name in given}
    found = {name: _going_on(noted[name], answer, now) for name, answer in given.items()}
    for each in closure(actions) if any(noted.values()) else ():
        if found[each.name] is None and _is_held_up(each, given):
            found[each.name] = noted[each.name]
    return {name: wait for name, wait in found.items() if wait is not None}


def waiting_for(ledger: Ledger, name: str, now: int) -> tuple[str, int] | None:
    """For what an action has been waiting when the ledger was stored, and for how many seconds by now."""
    found = _noted(ledger, name, now)
    return None if found is None else (found.present[0], now - found.since)


def waiting_without_change(ledger: Ledger, name: str, now: int) -> tuple[str, int] | None:
    """The same without a break: for how long it has waited for nothing else."""
    found = _noted(ledger, name, now)
    return None if found is None else (found.present[0], now - found.present[1])


def _going_on(noted: Wait | None, answer: Result, now: int) -> Wait | None:
    """Nobody is late for what was nobody's doing: whatever else was waited for is waited for anew."""
    if answer.deadline is None:
        return None
    if noted is None:
        return Wait((answer.reason, now), deadline=answer.deadline)
    if noted.present[0] == answer.reason:
        return replace(noted, deadline=answer.deadline)
    before = {noted.present[0]: noted.present[1], **dict(noted.before)}
    was_nobodys = noted.present[0] in NOT_COUNTED
    excused = {reason: now for reason in before if was_nobodys and reason not in NOT_COUNTED}
    kept = {} if answer.waits_for_user else before | excused
    return Wait((answer.reason, now), tuple(kept.items()), answer.deadline)


def _is_held_up(each: Action[Any], given: Mapping[str, Result]) -> bool:
    """Whether whatever this action stands on does not come further either: then its own wait goes on."""
    answer = given[each.name]
    if answer.deadline is not None:
        return not answer.waits_for_user and answer.reason not in NOT_COUNTED
    closed = [prerequisite for prerequisite in each.requires if not given[prerequisite.name].is_true]
    return answer.status is Status.UNKNOWN and all(_is_held_up(every, given) for every in closed)


def _noted(ledger: Ledger, name: str, now: int) -> Wait | None:
    """A moment that is still to come was noted by another clock."""
    entry = ledger.get(WAIT_PREFIX + name)
    row = entry if isinstance(entry, tuple) else ()
    clocks = [_clock(*pair) for pair in zip(row[::2], row[1::2], strict=False)]
    found = [each for each in clocks if each is not None and each[1] <= now]
    return Wait(found[0], tuple(found[1:])) if found and found[0] == clocks[0] else None


def _clock(reason: Entry, since: Entry) -> Clock | None:
    return (reason, since) if isinstance(reason, str) and isinstance(since, int) else None
