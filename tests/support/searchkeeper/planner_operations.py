"""Operations for tests of the planner, which only looks at `is_destructive`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Put:
    """An operation that is not destructive."""

    name: str
    is_destructive: bool = False


@dataclass(frozen=True, slots=True)
class Delete:
    """A destructive operation."""

    name: str
    is_destructive: bool = True
