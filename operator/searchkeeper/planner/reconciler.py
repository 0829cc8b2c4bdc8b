"""Which reconciler may touch what is deployed."""

from __future__ import annotations

__all__ = ["Reconciler", "UnsupportedVersion", "choose_reconciler"]

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from searchkeeper.planner.actions import Action, closure

W = TypeVar("W")


@dataclass(frozen=True, slots=True, eq=False)
class Reconciler(Generic[W]):
    """Brings what was deployed by configuration version `min_version` or later to `version`."""

    min_version: int
    version: int
    actions: tuple[Action[W], ...]

    def __post_init__(self) -> None:
        if not 0 <= self.min_version <= self.version:
            raise ValueError(f"a procedure cannot lead from {self.min_version} to {self.version}")
        closure(self.actions)

    def takes(self, deployed: int) -> bool:
        """Never downwards: an operator that was itself downgraded must not take a configuration along."""
        return self.min_version <= deployed <= self.version


@dataclass(frozen=True, slots=True)
class UnsupportedVersion:
    """No procedure can start from what is deployed."""

    deployed: int
    known: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        ways = ", ".join(f"{least} to {version}" for least, version in self.known)
        return f"configuration {self.deployed} is deployed; this operator knows the ways {ways}"


def choose_reconciler(
    configurations: Iterable[Reconciler[W]], deployed: int | None
) -> Reconciler[W] | UnsupportedVersion:
    """The newest procedure that can start from what is deployed; where nothing is, the newest."""
    known = sorted(configurations, key=lambda p: p.version, reverse=True)
    fitting = [p for p in known if deployed is None or p.takes(deployed)]
    if fitting:
        return fitting[0]
    return UnsupportedVersion(deployed or 0, tuple((p.min_version, p.version) for p in reversed(known)))
