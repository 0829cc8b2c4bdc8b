"""Actions with prerequisites, and how a reconcile runs them."""

from __future__ import annotations

__all__ = [
    "ACTION_ERROR",
    "ERROR_DEADLINE",
    "PREREQUISITE_NOT_MET",
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

C = TypeVar("C")

# The reason of an action that raised an exception, or whose result is invalid.
ACTION_ERROR: Final = "ActionError"
# The reason of an action that did not run because a prerequisite is not True.
PREREQUISITE_NOT_MET: Final = "PrerequisiteNotMet"
# In seconds. A transient error goes away by itself; after this long it counts as stalled.
ERROR_DEADLINE: Final = 300
# Characters. An exception may quote anything, and the size of a status is limited.
_MESSAGE_LIMIT: Final = 1000


class CyclicPrerequisites(ValueError):
    """Actions that require each other can never run."""


@dataclass(frozen=True, slots=True, eq=False)
class Action(Generic[C]):
    """A goal, its prerequisites, and a pure function that returns how far the goal is.

    `name` is the type of the condition.
    """

    name: str
    run: Callable[[C], Result]
    requires: tuple[Action[C], ...] = ()

    def after(self, *requires: Action[C]) -> Action[C]:
        """Return the same action with these prerequisites instead of its own."""
        return Action(self.name, self.run, requires)

    def __repr__(self) -> str:
        return f"<{self.name}>"


def action(*, requires: Sequence[Action[Any]] = ()) -> Callable[[Callable[[C], Result]], Action[C]]:
    """Declare a function as an action. The action of `pods_ready` is named PodsReady."""

    def declare(run: Callable[[C], Result]) -> Action[C]:
        name = "".join(word.capitalize() for word in run.__name__.split("_"))
        return Action(name, run, tuple(requires))

    return declare


def closure(actions: Iterable[Action[C]]) -> tuple[Action[C], ...]:
    """Return the actions and all their prerequisites, prerequisites first.

    Raises CyclicPrerequisites, and ValueError when two actions share a name.
    """
    by_name: dict[str, Action[C]] = {}
    pending = list(actions)
    while pending:
        current = pending.pop()
        if by_name.setdefault(current.name, current) is not current:
            raise ValueError(f"two actions are named {current.name}")
        pending += [prerequisite for prerequisite in current.requires if prerequisite.name not in by_name]
    graph = {current.name: [p.name for p in current.requires] for current in by_name.values()}
    try:
        return tuple(by_name[name] for name in graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        raise CyclicPrerequisites(" → ".join(error.args[1])) from None


def run_actions(actions: Iterable[Action[C]], context: C) -> dict[str, Result]:
    """Run every action at most once, prerequisites first, and return the results by name.

    The order of `actions` has no effect on the results: an action relies on nothing but its prerequisites.
    """
    results: dict[str, Result] = {}

    def run(current: Action[C]) -> None:
        if current.name in results:
            return
        for prerequisite in current.requires:
            run(prerequisite)
        blocked = unmet_prerequisites(current, results)
        if blocked is not None:
            results[current.name] = blocked
            return
        try:
            results[current.name] = current.run(context)
        except Exception as error:  # noqa: BLE001 - an error in one action must not stop the others
            results[current.name] = action_error(f"{type(error).__name__}: {error}")

    for current in actions:
        run(current)
    return results


def unmet_prerequisites(current: Action[C], results: Mapping[str, Result]) -> Result | None:
    """Return the result of an action that may not run, or None when all its prerequisites are True."""
    unmet = [p.name for p in current.requires if not results[p.name].is_true]
    return unknown(PREREQUISITE_NOT_MET, f"waits for {', '.join(unmet)}") if unmet else None


def action_error(message: str) -> Result:
    """Return the result of an action that raised an exception, or whose own result is invalid."""
    return unknown(ACTION_ERROR, message[:_MESSAGE_LIMIT], deadline=ERROR_DEADLINE)
