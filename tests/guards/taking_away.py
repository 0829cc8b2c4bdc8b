"""A guard: how it is taken away, and the test that notices."""

from __future__ import annotations

__all__ = ["Guard", "Patch", "gone", "heedless", "instead", "together", "unrequired", "without_notes"]

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pytest

from searchkeeper import reconcile
from searchkeeper.kubernetes import operations
from searchkeeper.planner import Action, Reconciler
from searchkeeper.planner.actions import closure

Patch: TypeAlias = pytest.MonkeyPatch


@dataclass(frozen=True)
class Guard:
    """How it is taken away, and the test that fails then, with its arguments.

    What else the test asks for are fixtures.
    """

    name: str
    taken_away: Callable[[Patch], None]
    test: str
    arguments: tuple[Any, ...] = ()


def instead(owner: Any, name: str, value: Any) -> Callable[[Patch], None]:
    """Something else stands where the guard stood."""
    return lambda patch: patch.setattr(owner, name, value)


def gone(owner: Any, function: str, answer: Any = None) -> Callable[[Patch], None]:
    """A function that has nothing to say any more."""
    return instead(owner, function, lambda *_, **__: answer)


def together(*ways: Callable[[Patch], None]) -> Callable[[Patch], None]:
    """What is guarded in several places is taken away in all of them."""

    def taken_away(patch: Patch) -> None:
        for each in ways:
            each(patch)

    return taken_away


def heedless(key: operations.Key, changes: operations.Manifest, _version: str) -> operations.Patch:
    """A change to whatever is there by then."""
    return operations.Patch(key, changes, "")


def without_notes(module: Any, function: str) -> Callable[[Patch], None]:
    """Deeds that nobody writes down first."""
    plain = getattr(module, function)

    def answer(*given: Any, **named: Any) -> Any:
        found = plain(*given, **named)
        return found and replace(found, ledger_changes=())

    return instead(module, function, answer)


def unrequired(prerequisite: str, *, of: str | None = None) -> Callable[[Patch], None]:
    """An action that does not wait for one that it requires; where none is named, none that requires it."""

    def taken_away(patch: Patch) -> None:
        for table in ("CLUSTER_RECONCILERS", "POOL_RECONCILERS"):
            known: dict[int, Reconciler[Any]] = getattr(reconcile, table)
            patch.setattr(reconcile, table, {version: without(each) for version, each in known.items()})

    def without(procedure: Reconciler[Any]) -> Reconciler[Any]:
        made: dict[str, Action[Any]] = {}
        for each in closure(procedure.actions):
            is_meant = of in (None, each.name)
            kept = [p.name for p in each.requires if not (is_meant and p.name == prerequisite)]
            made[each.name] = each.after(*(made[name] for name in kept))
        return replace(procedure, actions=tuple(made[each.name] for each in procedure.actions))

    return taken_away
