"""Actions and their prerequisites, and one cycle over them."""

from __future__ import annotations

__all__ = [
    "ACTION_ERROR",
    "ERROR_DEADLINE",
    "Action",
    "CyclicPrerequisites",
    "action",
    "action_error",
    "closure",
    "run_actions",
    "unmet_prerequisites",
]

import graphlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from searchkeeper.planner.results import Result, unknown

W = TypeVar("W")

# The reason of an action that could not answer at all.
ACTION_ERROR: Final = "Error"
# In seconds. A fault may pass with what it stumbled over; one that stays is for a person to hear of.
ERROR_DEADLINE: Final = 300
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
    run: Callable[[W], Result]
    requires: tuple[Action[W], ...] = ()

    def after(self, *requires: Action[W]) -> Action[W]:
        """The same goal, under these prerequisites and no others: what a later version makes of it."""
        return Action(self.name, self.run, requires)

    def __repr__(self) -> str:
        return f"<{self.name}>"


def action(*, requires: Sequence[Action[Any]] = ()) -> Callable[[Callable[[W], Result]], Action[W]]:
    """Makes an action of a function; `pods_are_ready` is called PodsReady in conditions."""

    def declare(run: Callable[[W], Result]) -> Action[W]:
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


def run_actions(actions: Iterable[Action[W]], world: W) -> dict[str, Result]:
    """Every action's answer, each asked at most once, in the order they were first needed.

    The order of `actions` decides nothing but that: what an action may rely on are its prerequisites.
    """
    memory: dict[str, Result] = {}

    def ask(each: Action[W]) -> Result:
        if each.name not in memory:
            for prerequisite in each.requires:
                ask(prerequisite)
            memory[each.name] = _answer(each, world, memory)
        return memory[each.name]

    for each in actions:
        ask(each)
    return memory


def _answer(each: Action[W], world: W, memory: Mapping[str, Result]) -> Result:
    waits = unmet_prerequisites(each, memory)
    if waits is not None:
        return waits
    try:
        return each.run(world)
    except Exception as error:  # noqa: BLE001 - one action's fault costs no other action its answer
        return action_error(f"{type(error).__name__}: {error}")


def unmet_prerequisites(each: Action[W], given: Mapping[str, Result]) -> Result | None:
    """What an action says whose prerequisites do not all hold; None where they do."""
    closed = [p.name for p in each.requires if not given[p.name].is_true]
    return unknown("PrerequisiteNotMet", f"waits for {', '.join(closed)}") if closed else None


def action_error(words: str) -> Result:
    """What is said for an action that could not answer, or whose answer cannot be taken."""
    return unknown(ACTION_ERROR, words[:_FAULT_WORDS], deadline=ERROR_DEADLINE)
