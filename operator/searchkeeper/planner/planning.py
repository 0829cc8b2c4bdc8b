"""One cycle: what is observed and the ledger go in; conditions, the next ledger and the writes come out."""

from __future__ import annotations

__all__ = ["STALLED_PREFIX", "ActionOperations", "Order", "Plan", "Records", "plan"]

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from searchkeeper.planner.waits import WAIT_PREFIX, Wait, waits

W = TypeVar("W")
# In which order actions are asked: a permutation of them.
Order: TypeAlias = Callable[[Sequence[Action[Any]]], Sequence[Action[Any]]]

# How the message of an action begins that has waited longer than it would.
STALLED_PREFIX: Final = "stalled: "
# Another action destroys first; how long that may take is its own affair, and it has a deadline of its own.
_TURN: Final = 24 * 3600


@dataclass(frozen=True, slots=True)
class Records:
    """What a resource's status remembers from one cycle to the next."""

    ledger: Ledger = field(default_factory=Ledger)
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class ActionOperations:
    """What one action wants written. Its writes belong together, in their order; other deeds do without."""

    action: str
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a cycle decided. Conditions and ledger are stored first, then the deeds are carried out in order.

    `stalls` tells of every action whose wait outlasted its patience; `wake_at` is when the next one would.
    Without `headway` all that is to be done was done before, and undone since.
    """

    conditions: tuple[Condition, ...]
    ledger: Ledger
    action_operations: tuple[ActionOperations, ...]
    converged: bool
    stalls: tuple[tuple[str, str], ...]
    wake_at: int | None
    made_progress: bool

    @property
    def operations(self) -> tuple[Operation, ...]:
        return tuple(write for deed in self.action_operations for write in deed.operations)


def plan(
    procedure: Reconciler[W],
    world: W,
    records: Records,
    *,
    now: int,
    generation: int,
    order: Order = tuple,
) -> Plan:
    """Pure: the same world, records and moment give the same plan, however `order` shuffles the actions.

    Converged means that there was nothing to do, not even to note.
    Cost: each action once, whoever requires it.
    """
    asked = run_actions(order(procedure.actions), world)
    wanted = with_denials({name: asked[name] for name in sorted(asked)}, records.ledger)
    given = _one_destruction(wanted)
    given = _one_author_a_line(procedure.actions, given)
    found = waits(procedure.actions, given, records.ledger, now)
    late = _stalls(found, records, now)
    stalls = {name: answer.message for name, answer in given.items() if name in late}
    ledger = records.ledger.with_changes(
        _changes(given, records.ledger, found) | outdated_denials(wanted, records.ledger)
    )
    return Plan(
        merge_conditions(records.conditions, _with_stalls(given, stalls), now=now, generation=generation),
        ledger,
        tuple(
            ActionOperations(name, answer.operations) for name, answer in given.items() if answer.operations
        ),
        all(answer.is_true for answer in given.values()) and ledger == records.ledger,
        tuple(stalls.items()),
        min((each for each in _deadlines(found) if each > now), default=None),
        any(_leads_on(answer, found.get(name)) for name, answer in given.items()),
    )


def _one_destruction(given: Mapping[str, Result]) -> dict[str, Result]:
    """Whoever comes first by name destroys; the others wait, with all that they wanted to write.

    Whoever was refused comes last: it may be for ever, and nobody is to wait for that.
    """
    destroyers = (name for name, answer in given.items() if answer.is_destructive_result)
    destroyer = min(destroyers, key=lambda name: (given[name].reason == OPERATION_DENIED, name), default=None)
    return {
        name: _its_turn_comes(destroyer) if answer.is_destructive_result and name != destroyer else answer
        for name, answer in given.items()
    }


def _its_turn_comes(destroyer: str | None) -> Result:
    return wait("WaitsForTurn", f"{destroyer} takes something away in this cycle", deadline=_TURN)


def _one_author_a_line(actions: Sequence[Action[W]], given: dict[str, Result]) -> dict[str, Result]:
    """Whoever comes first by name notes a line. Another one is at fault, and whoever stands on it waits.

    Raising would cost every action its answer, in this cycle and in every one that finds the same.
    """
    authors: dict[str, str] = {}
    faults: dict[str, Result] = {}
    for name, answer in given.items():
        for note in answer.ledger_changes:
            if (
                note.key.startswith((WAIT_PREFIX, DENIED_PREFIX))
                or authors.setdefault(note.key, name) != name
            ):
                faults[name] = action_error(f"it notes {note.key}, which is not its own")
    if not faults:
        return given
    taken: dict[str, Result] = {}
    for each in closure(actions):
        taken[each.name] = faults.get(each.name) or unmet_prerequisites(each, taken) or given[each.name]
    return {name: taken[name] for name in given}


def _stalls(found: Mapping[str, Wait], records: Records, now: int) -> set[str]:
    """Who has waited for too long. While reasons take turns, what has stalled by one has by the other."""
    stalled = {each.type for each in records.conditions if each.message.startswith(STALLED_PREFIX)}
    late = {name for name, wait in found.items() if wait.expires_at is not None and wait.expires_at <= now}
    return late | {name for name, wait in found.items() if wait.is_back and name in stalled}


def _leads_on(answer: Result, wait: Wait | None) -> bool:
    return bool(answer.operations or answer.ledger_changes) and (wait is None or not wait.is_back)


def _deadlines(found: Mapping[str, Wait]) -> Iterator[int]:
    return (wait.expires_at for wait in found.values() if wait.expires_at is not None)


def _with_stalls(given: Mapping[str, Result], stalls: Mapping[str, str]) -> dict[str, Result]:
    return {
        name: replace(answer, message=STALLED_PREFIX + answer.message) if name in stalls else answer
        for name, answer in given.items()
    }


def _changes(
    given: Mapping[str, Result], ledger: Ledger, found: Mapping[str, Wait]
) -> dict[str, Entry | None]:
    changes: dict[str, Entry | None] = {key: None for key in ledger if key.startswith(WAIT_PREFIX)}
    changes |= {WAIT_PREFIX + name: wait.entry for name, wait in found.items()}
    changes |= {note.key: note.value for answer in given.values() for note in answer.ledger_changes}
    return changes
