"""One plan: a snapshot and the ledger in; conditions, the next ledger and operations out."""

from __future__ import annotations

__all__ = [
    "STALLED_ACTIONS",
    "WAITING_FOR_OTHER_ACTION",
    "ActionOperations",
    "Order",
    "Plan",
    "Records",
    "limit_destructive",
    "plan",
    "reject_key_conflicts",
]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar

from searchkeeper.planner.actions import Action, action_error, closure, run_actions, unmet_prerequisites
from searchkeeper.planner.conditions import Condition, merge_conditions
from searchkeeper.planner.denied_operations import (
    DENIED_PREFIX,
    OPERATION_DENIED,
    outdated_denials,
    with_denials,
)
from searchkeeper.planner.ledger import Entry, Ledger
from searchkeeper.planner.reconciler import Reconciler
from searchkeeper.planner.results import Operation, Result, wait
from searchkeeper.planner.waits import WAIT_PREFIX, Wait, current_waits

C = TypeVar("C")
# Permutes the actions before they run.
Order: TypeAlias = Callable[[Sequence[Action[Any]]], Sequence[Action[Any]]]

# Ledger key: the names of the stalled actions.
STALLED_ACTIONS: Final = "stalled"
# The reason of an action whose destructive operation is deferred to a later reconcile.
WAITING_FOR_OTHER_ACTION: Final = "WaitingForOtherAction"
# In seconds. Long: the action that goes first stalls by its own deadline.
_OTHER_ACTION_DEADLINE: Final = 24 * 3600


@dataclass(frozen=True, slots=True)
class Records:
    """What a resource's status keeps from one reconcile to the next."""

    ledger: Ledger = field(default_factory=Ledger)
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class ActionOperations:
    """The operations of one action, executed in order. They do not depend on those of other actions."""

    action: str
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a reconcile does to one resource: persist conditions and ledger, then execute the operations.

    `converged` means that nothing is left to do, not even a change of the ledger. `wake_at` is when the next
    wait stalls. `made_progress` is False when the plan changes nothing, or only what was done and undone
    before.
    """

    conditions: tuple[Condition, ...]
    ledger: Ledger
    action_operations: tuple[ActionOperations, ...]
    converged: bool
    wake_at: int | None
    made_progress: bool

    @property
    def operations(self) -> tuple[Operation, ...]:
        return tuple(operation for each in self.action_operations for operation in each.operations)

    @property
    def stalls(self) -> tuple[tuple[str, str], ...]:
        """The name and the message of every action that waits longer than its deadline."""
        return tuple((each.type, each.message) for each in self.conditions if each.is_stalled)


def plan(
    reconciler: Reconciler[C],
    context: C,
    records: Records,
    *,
    now: int,
    generation: int,
    order: Order = tuple,
) -> Plan:
    """Run the actions and return the plan. Pure: `order` has no effect on it.

    Each action runs once, however many actions require it.
    """
    unordered = run_actions(order(reconciler.actions), context)
    requested = with_denials({name: unordered[name] for name in sorted(unordered)}, records.ledger)
    results = reject_key_conflicts(reconciler.actions, limit_destructive(requested))
    waits = current_waits(reconciler.actions, results, records.ledger, now)
    stalled = _stalled_actions(waits, records, now)

    changes: dict[str, Entry | None] = {key: None for key in records.ledger if key.startswith(WAIT_PREFIX)}
    changes |= {WAIT_PREFIX + name: each.entry for name, each in waits.items()}
    changes |= {STALLED_ACTIONS: tuple(sorted(stalled)) or None}
    changes |= {change.key: change.value for result in results.values() for change in result.ledger_changes}
    changes |= outdated_denials(requested, records.ledger)
    ledger = records.ledger.with_changes(changes)

    deadlines = (each.expires_at for each in waits.values() if each.expires_at is not None)
    changing = (name for name, result in results.items() if result.operations or result.ledger_changes)
    return Plan(
        conditions=merge_conditions(records.conditions, results, stalled, now=now, generation=generation),
        ledger=ledger,
        action_operations=tuple(
            ActionOperations(name, result.operations) for name, result in results.items() if result.operations
        ),
        converged=all(result.is_true for result in results.values()) and ledger == records.ledger,
        wake_at=min((moment for moment in deadlines if moment > now), default=None),
        made_progress=any(name not in waits or not waits[name].has_recurred for name in changing),
    )


def limit_destructive(results: Mapping[str, Result]) -> dict[str, Result]:
    """Return the results with at most one destructive operation.

    The first action by name goes first, which is arbitrary but the same in every reconcile; the others wait,
    with all their operations. An action whose operation was denied goes last: it may stay denied, and no
    other action may wait for that.
    """
    destructive = [name for name, result in results.items() if result.is_destructive]
    if len(destructive) < 2:
        return dict(results)
    first = min(destructive, key=lambda name: (results[name].reason == OPERATION_DENIED, name))
    message = f"{first} has a destructive operation in this reconcile"
    deferred = wait(WAITING_FOR_OTHER_ACTION, message, deadline=_OTHER_ACTION_DEADLINE)
    return {
        name: deferred if name in destructive and name != first else result
        for name, result in results.items()
    }


def reject_key_conflicts(actions: Sequence[Action[C]], results: dict[str, Result]) -> dict[str, Result]:
    """Return the results with at most one author for each ledger key.

    The first action by name writes the key. Another author gets an ActionError, and the actions that require
    it wait. An exception would stop every action, in this reconcile and in all that follow.
    """
    authors: dict[str, str] = {}
    errors: dict[str, Result] = {}
    for name, result in results.items():
        for change in result.ledger_changes:
            key = change.key
            is_planner_key = key == STALLED_ACTIONS or key.startswith((WAIT_PREFIX, DENIED_PREFIX))
            if is_planner_key or authors.setdefault(key, name) != name:
                errors[name] = action_error(f"ledger key {key} belongs to another action")
    if not errors:
        return results
    checked: dict[str, Result] = {}
    for action in closure(actions):
        name = action.name
        checked[name] = errors.get(name) or unmet_prerequisites(action, checked) or results[name]
    return {name: checked[name] for name in results}


def _stalled_actions(waits: Mapping[str, Wait], records: Records, now: int) -> set[str]:
    """Return the actions that wait longer than their deadline.

    An action that alternates between reasons stays stalled when it switches to one with a longer deadline.
    """
    late = {name for name, each in waits.items() if each.expires_at is not None and each.expires_at <= now}
    before = {condition.type for condition in records.conditions if condition.is_stalled}
    return late | {name for name in before if name in waits and waits[name].has_recurred}
