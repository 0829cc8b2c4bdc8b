"""One cycle: what is observed and the ledger go in; conditions, the next ledger and the writes come out."""

from __future__ import annotations

__all__ = ["STALLED", "Deed", "Order", "Plan", "Records", "plan"]

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias, TypeVar

from searchkeeper.kernel.actions import Action, answers, at_fault, blocked, closure
from searchkeeper.kernel.answers import Answer, Write, waiting
from searchkeeper.kernel.conditions import Condition, merged
from searchkeeper.kernel.denials import DENIAL, DENIED, over, told
from searchkeeper.kernel.ledger import Entry, Ledger
from searchkeeper.kernel.procedures import Procedure
from searchkeeper.kernel.waits import WAIT, Wait, waits

W = TypeVar("W")
# In which order actions are asked: a permutation of them.
Order: TypeAlias = Callable[[Sequence[Action[Any]]], Sequence[Action[Any]]]

# How the message of an action begins that has waited longer than it would.
STALLED: Final = "stalled: "
# Another action destroys first; how long that may take is its own affair, and it has a deadline of its own.
_TURN: Final = 24 * 3600


@dataclass(frozen=True, slots=True)
class Records:
    """What a resource's status remembers from one cycle to the next."""

    ledger: Ledger = field(default_factory=Ledger)
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Deed:
    """What one action wants written. Its writes belong together, in their order; other deeds do without."""

    action: str
    writes: tuple[Write, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a cycle decided. Conditions and ledger are stored first, then the deeds are carried out in order.

    `stalls` tells of every action whose wait outlasted its patience; `wake_at` is when the next one would.
    Without `headway` all that is to be done was done before, and undone since.
    """

    conditions: tuple[Condition, ...]
    ledger: Ledger
    deeds: tuple[Deed, ...]
    converged: bool
    stalls: tuple[tuple[str, str], ...]
    wake_at: int | None
    headway: bool

    @property
    def writes(self) -> tuple[Write, ...]:
        return tuple(write for deed in self.deeds for write in deed.writes)


def plan(
    procedure: Procedure[W],
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
    asked = answers(order(procedure.actions), world)
    wanted = told({name: asked[name] for name in sorted(asked)}, records.ledger)
    given = _one_destruction(wanted)
    given = _one_author_a_line(procedure.actions, given)
    found = waits(procedure.actions, given, records.ledger, now)
    late = _stalls(found, records, now)
    stalls = {name: answer.message for name, answer in given.items() if name in late}
    ledger = records.ledger.noted(_changes(given, records.ledger, found) | over(wanted, records.ledger))
    return Plan(
        merged(records.conditions, _with_stalls(given, stalls), now=now, generation=generation),
        ledger,
        tuple(Deed(name, answer.writes) for name, answer in given.items() if answer.writes),
        all(answer.is_true for answer in given.values()) and ledger == records.ledger,
        tuple(stalls.items()),
        min((each for each in _deadlines(found) if each > now), default=None),
        any(_leads_on(answer, found.get(name)) for name, answer in given.items()),
    )


def _one_destruction(given: Mapping[str, Answer]) -> dict[str, Answer]:
    """Whoever comes first by name destroys; the others wait, with all that they wanted to write.

    Whoever was refused comes last: it may be for ever, and nobody is to wait for that.
    """
    destroyers = (name for name, answer in given.items() if answer.destroys)
    destroyer = min(destroyers, key=lambda name: (given[name].reason == DENIED, name), default=None)
    return {
        name: _its_turn_comes(destroyer) if answer.destroys and name != destroyer else answer
        for name, answer in given.items()
    }


def _its_turn_comes(destroyer: str | None) -> Answer:
    return waiting("WaitsForTurn", f"{destroyer} takes something away in this cycle", patience=_TURN)


def _one_author_a_line(actions: Sequence[Action[W]], given: dict[str, Answer]) -> dict[str, Answer]:
    """Whoever comes first by name notes a line. Another one is at fault, and whoever stands on it waits.

    Raising would cost every action its answer, in this cycle and in every one that finds the same.
    """
    authors: dict[str, str] = {}
    faults: dict[str, Answer] = {}
    for name, answer in given.items():
        for note in answer.notes:
            if note.key.startswith((WAIT, DENIAL)) or authors.setdefault(note.key, name) != name:
                faults[name] = at_fault(f"it notes {note.key}, which is not its own")
    if not faults:
        return given
    taken: dict[str, Answer] = {}
    for each in closure(actions):
        taken[each.name] = faults.get(each.name) or blocked(each, taken) or given[each.name]
    return {name: taken[name] for name in given}


def _stalls(found: Mapping[str, Wait], records: Records, now: int) -> set[str]:
    """Who has waited for too long. While reasons take turns, what has stalled by one has by the other."""
    stalled = {each.type for each in records.conditions if each.message.startswith(STALLED)}
    late = {name for name, wait in found.items() if wait.deadline is not None and wait.deadline <= now}
    return late | {name for name, wait in found.items() if wait.is_back and name in stalled}


def _leads_on(answer: Answer, wait: Wait | None) -> bool:
    return bool(answer.writes or answer.notes) and (wait is None or not wait.is_back)


def _deadlines(found: Mapping[str, Wait]) -> Iterator[int]:
    return (wait.deadline for wait in found.values() if wait.deadline is not None)


def _with_stalls(given: Mapping[str, Answer], stalls: Mapping[str, str]) -> dict[str, Answer]:
    return {
        name: replace(answer, message=STALLED + answer.message) if name in stalls else answer
        for name, answer in given.items()
    }


def _changes(
    given: Mapping[str, Answer], ledger: Ledger, found: Mapping[str, Wait]
) -> dict[str, Entry | None]:
    changes: dict[str, Entry | None] = {key: None for key in ledger if key.startswith(WAIT)}
    changes |= {WAIT + name: wait.entry for name, wait in found.items()}
    changes |= {note.key: note.value for answer in given.values() for note in answer.notes}
    return changes
