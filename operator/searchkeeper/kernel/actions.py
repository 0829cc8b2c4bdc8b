"""Actions and their prerequisites, and one cycle over them."""

from __future__ import annotations

__all__ = [
    "FAULT",
    "FAULT_PATIENCE",
    "Action",
    "CyclicPrerequisites",
    "action",
    "answers",
    "at_fault",
    "blocked",
    "closure",
]

import graphlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from searchkeeper.kernel.answers import Answer, unknown

W = TypeVar("W")

# The reason of an action that could not answer at all.
FAULT: Final = "Error"
# In seconds. A fault may pass with what it stumbled over; one that stays is for a person to hear of.
FAULT_PATIENCE: Final = 300
# Characters of what an exception says: it may quote anything, and a status holds only so much.
_FAULT_WORDS: Final = 1000


class CyclicPrerequisites(ValueError):
    """Actions that wait for each other would wait for ever."""


@dataclass(frozen=True, slots=True, eq=False)
class Action(Generic[W]):
    """A goal, what must hold before it may be pursued, and a pure function that says how it stands.

    The name becomes the type of a condition.
    """

    name: str
    run: Callable[[W], Answer]
    requires: tuple[Action[W], ...] = ()

    def after(self, *requires: Action[W]) -> Action[W]:
        """The same goal, under these prerequisites and no others: what a later version makes of it."""
        return Action(self.name, self.run, requires)

    def __repr__(self) -> str:
        return f"<{self.name}>"


def action(*, requires: Sequence[Action[Any]] = ()) -> Callable[[Callable[[W], Answer]], Action[W]]:
    """Makes an action of a function; `pods_are_ready` is called PodsAreReady in conditions."""

    def declare(run: Callable[[W], Answer]) -> Action[W]:
        name = "".join(word.capitalize() for word in run.__name__.split("_"))
        return Action(name, run, tuple(requires))

    return declare


def closure(actions: Iterable[Action[W]]) -> tuple[Action[W], ...]:
    """The actions and everything they require, prerequisites first.

    Raises CyclicPrerequisites, and ValueError when two of them share a name.
    """
    found: dict[str, Action[W]] = {}
    pending = list(actions)
    while pending:
        each = pending.pop()
        if found.setdefault(each.name, each) is not each:
            raise ValueError(f"two actions are called {each.name}")
        pending += [prerequisite for prerequisite in each.requires if prerequisite.name not in found]
    graph = {each.name: [p.name for p in each.requires] for each in found.values()}
    try:
        return tuple(found[name] for name in graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        raise CyclicPrerequisites(" → ".join(error.args[1])) from None


def answers(actions: Iterable[Action[W]], world: W) -> dict[str, Answer]:
    """Every action's answer, each asked at most once, in the order they were first needed.

    The order of `actions` decides nothing but that: what an action may rely on are its prerequisites.
    """
    memory: dict[str, Answer] = {}

    def ask(each: Action[W]) -> Answer:
        if each.name not in memory:
            for prerequisite in each.requires:
                ask(prerequisite)
            memory[each.name] = _answer(each, world, memory)
        return memory[each.name]

    for each in actions:
        ask(each)
    return memory


def _answer(each: Action[W], world: W, memory: Mapping[str, Answer]) -> Answer:
    waits = blocked(each, memory)
    if waits is not None:
        return waits
    try:
        return each.run(world)
    except Exception as error:  # noqa: BLE001 - one action's fault costs no other action its answer
        return at_fault(f"{type(error).__name__}: {error}")


def blocked(each: Action[W], given: Mapping[str, Answer]) -> Answer | None:
    """What an action says whose prerequisites do not all hold; None where they do."""
    closed = [p.name for p in each.requires if not given[p.name].is_true]
    return unknown("PrerequisiteNotMet", f"waits for {', '.join(closed)}") if closed else None


def at_fault(words: str) -> Answer:
    """What is said for an action that could not answer, or whose answer cannot be taken."""
    return unknown(FAULT, words[:_FAULT_WORDS], patience=FAULT_PATIENCE)
