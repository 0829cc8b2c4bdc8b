"""Versioned reconcilers, and which one may start from the deployed configuration."""

from __future__ import annotations

__all__ = ["Reconciler", "UnsupportedVersion", "choose_reconciler"]

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from searchkeeper.planner.actions import Action, closure

C = TypeVar("C")


@dataclass(frozen=True, slots=True, eq=False)
class Reconciler(Generic[C]):
    """The actions that bring configuration version `min_version` or later to `version`."""

    min_version: int
    version: int
    actions: tuple[Action[C], ...]

    def __post_init__(self) -> None:
        if not 0 <= self.min_version <= self.version:
            raise ValueError(f"a reconciler cannot lead from {self.min_version} to {self.version}")
        closure(self.actions)

    def supports(self, deployed: int) -> bool:
        """Whether it may start from this configuration. It never downgrades a configuration."""
        return self.min_version <= deployed <= self.version


@dataclass(frozen=True, slots=True)
class UnsupportedVersion:
    """No reconciler can start from the deployed configuration. `known` has (min_version, version) of each."""

    deployed: int
    known: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        ranges = ", ".join(f"{min_version} to {version}" for min_version, version in self.known)
        return f"configuration {self.deployed} is deployed; this operator supports {ranges}"


def choose_reconciler(
    reconcilers: Iterable[Reconciler[C]], deployed: int | None
) -> Reconciler[C] | UnsupportedVersion:
    """Return the newest reconciler that can start from the deployed configuration; the newest for None."""
    newest_first = sorted(reconcilers, key=lambda each: each.version, reverse=True)
    for each in newest_first:
        if deployed is None or each.supports(deployed):
            return each
    known = tuple((each.min_version, each.version) for each in reversed(newest_first))
    return UnsupportedVersion(deployed or 0, known)
