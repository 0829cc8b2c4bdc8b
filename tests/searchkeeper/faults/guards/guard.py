"""A guard: how a test removes it, and the test that fails without it."""

from __future__ import annotations

__all__ = [
    "Guard",
    "Patch",
    "combine",
    "drop_ledger_changes",
    "drop_prerequisite",
    "patch_without_resource_version",
    "replace_attribute",
    "stub",
]

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
    """A check of the operator. `remove` disables it; `test` fails then, with these arguments.

    Other parameters of the test are fixtures.
    """

    name: str
    remove: Callable[[Patch], None]
    test: str
    arguments: tuple[Any, ...] = ()


def replace_attribute(owner: Any, name: str, value: Any) -> Callable[[Patch], None]:
    """Replace an attribute."""
    return lambda patch: patch.setattr(owner, name, value)


def stub(owner: Any, function: str, result: Any = None) -> Callable[[Patch], None]:
    """Replace a function with a stub that returns `result`."""
    return replace_attribute(owner, function, lambda *_, **__: result)


def combine(*removals: Callable[[Patch], None]) -> Callable[[Patch], None]:
    """Combine several removals to one, for a guard in several places."""

    def remove(patch: Patch) -> None:
        for each in removals:
            each(patch)

    return remove


def patch_without_resource_version(
    key: operations.Key, changes: operations.Manifest, _version: str
) -> operations.Patch:
    """Create a patch without a resource version."""
    return operations.Patch(key, changes, "")


def drop_ledger_changes(module: Any, function: str) -> Callable[[Patch], None]:
    """Drop the ledger changes from the result of a function."""
    original = getattr(module, function)

    def without_ledger_changes(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        return result and replace(result, ledger_changes=())

    return replace_attribute(module, function, without_ledger_changes)


def drop_prerequisite(prerequisite: str, *, of: str | None = None) -> Callable[[Patch], None]:
    """Drop a prerequisite from the action `of`, or from every action."""

    def remove(patch: Patch) -> None:
        for table in ("CLUSTER_RECONCILERS", "POOL_RECONCILERS"):
            reconcilers: dict[int, Reconciler[Any]] = getattr(reconcile, table)
            changed = {version: without(reconciler) for version, reconciler in reconcilers.items()}
            patch.setattr(reconcile, table, changed)

    def without(reconciler: Reconciler[Any]) -> Reconciler[Any]:
        actions: dict[str, Action[Any]] = {}
        for action in closure(reconciler.actions):
            is_affected = of in (None, action.name)
            kept = [p.name for p in action.requires if not (is_affected and p.name == prerequisite)]
            actions[action.name] = action.after(*(actions[name] for name in kept))
        return replace(reconciler, actions=tuple(actions[action.name] for action in reconciler.actions))

    return remove
