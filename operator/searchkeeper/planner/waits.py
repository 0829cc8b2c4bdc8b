"""Waits: which reason an action gives, and since when. A change of reason alone is no progress."""

from __future__ import annotations

__all__ = ["NOT_COUNTED", "WAIT_PREFIX", "Wait", "current_waits", "waiting_for", "waiting_without_change"]

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final, TypeAlias

from searchkeeper.planner.actions import ACTION_ERROR, Action, closure
from searchkeeper.planner.denied_operations import OPERATION_DENIED
from searchkeeper.planner.ledger import Entry, Ledger
from searchkeeper.planner.results import Result, Status

# A reason, and since when the action gives it.
ReasonSince: TypeAlias = tuple[str, int]

# Ledger key: this prefix and the name of the action.
WAIT_PREFIX: Final = "wait/"
# Reasons that say nothing about what the action waits for: errors of the operator and denied operations.
# Statuses that 0.4.0 or an earlier release wrote have the old names.
NOT_COUNTED: Final = frozenset({ACTION_ERROR, OPERATION_DENIED, "Error", "Denied"})


@dataclass(frozen=True, slots=True)
class Wait:
    """What an action waits for, and every reason it gave since it last made progress.

    `earlier` has when each reason was first given, also the current one if it has recurred. Without a
    deadline the action waits for another action, whose own deadline counts.
    """

    current: ReasonSince
    earlier: tuple[ReasonSince, ...] = ()
    deadline: int | None = None

    @property
    def has_recurred(self) -> bool:
        return self.current[0] in dict(self.earlier)

    @property
    def since(self) -> int:
        """When the current reason was first given: two alternating reasons would otherwise never stall."""
        reason, since = self.current
        return dict(self.earlier).get(reason, since)

    @property
    def expires_at(self) -> int | None:
        return None if self.deadline is None else self.since + self.deadline

    @property
    def entry(self) -> Entry:
        """The ledger entry: reason, moment, reason, moment, ...; the current one first."""
        return tuple(chain(self.current, *self.earlier))


def current_waits(
    actions: Iterable[Action[Any]], results: Mapping[str, Result], ledger: Ledger, now: int
) -> dict[str, Wait]:
    """Return the wait of every action that waits.

    A wait ends only when the goal holds or the action makes progress. Each new reason has its whole deadline;
    a new message changes nothing.
    """
    recorded = {name: _recorded_wait(ledger, name, now) for name in results}
    waits = {name: _continue_wait(recorded[name], result, now) for name, result in results.items()}
    for action in closure(actions) if any(recorded.values()) else ():
        if waits[action.name] is None and _is_still_blocked(action, results):
            waits[action.name] = recorded[action.name]
    return {name: wait for name, wait in waits.items() if wait is not None}


def waiting_for(ledger: Ledger, action: str, now: int) -> tuple[str, int] | None:
    """Return the reason for which an action waits, and the seconds since it was first given."""
    wait = _recorded_wait(ledger, action, now)
    return None if wait is None else (wait.current[0], now - wait.since)


def waiting_without_change(ledger: Ledger, action: str, now: int) -> tuple[str, int] | None:
    """Return the reason for which an action waits, and for how many seconds it gave no other reason."""
    wait = _recorded_wait(ledger, action, now)
    return None if wait is None else (wait.current[0], now - wait.current[1])


def _continue_wait(recorded: Wait | None, result: Result, now: int) -> Wait | None:
    """Return the wait after this result; None when the result has no deadline of its own."""
    if result.deadline is None:
        return None
    if recorded is None:
        return Wait((result.reason, now), deadline=result.deadline)
    reason, since = recorded.current
    if reason == result.reason:
        return replace(recorded, deadline=result.deadline)
    if result.waits_for_user:
        return Wait((result.reason, now), (), result.deadline)
    earlier = {reason: since, **dict(recorded.earlier)}
    if reason in NOT_COUNTED:
        # The time of an error counts against no other reason: their waits start again.
        earlier = {each: since if each in NOT_COUNTED else now for each, since in earlier.items()}
    return Wait((result.reason, now), tuple(earlier.items()), result.deadline)


def _is_still_blocked(action: Action[Any], results: Mapping[str, Result]) -> bool:
    """Whether neither the action nor any unmet prerequisite makes progress: then its wait continues."""
    result = results[action.name]
    if result.deadline is not None:
        return not result.waits_for_user and result.reason not in NOT_COUNTED
    unmet = [prerequisite for prerequisite in action.requires if not results[prerequisite.name].is_true]
    return result.status is Status.UNKNOWN and all(_is_still_blocked(each, results) for each in unmet)


def _recorded_wait(ledger: Ledger, action: str, now: int) -> Wait | None:
    """Return the wait in the ledger, if any.

    Malformed parts are ignored, and so are moments in the future, which another clock recorded.
    """
    entry = ledger.get(WAIT_PREFIX + action)
    parts = entry if isinstance(entry, tuple) else ()
    pairs = list(zip(parts[::2], parts[1::2], strict=False))
    valid = [
        (reason, since)
        for reason, since in pairs
        if isinstance(reason, str) and isinstance(since, int) and since <= now
    ]
    return Wait(valid[0], tuple(valid[1:])) if valid and valid[0] == pairs[0] else None
