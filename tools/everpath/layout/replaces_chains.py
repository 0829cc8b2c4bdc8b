"""Chains of replaces as a drawing shows them: each in a row, from the newest entry to the oldest."""

from __future__ import annotations

__all__ = ["ReplacesChain", "replaces_chains"]

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class ReplacesChain(NamedTuple):
    """Columns of which each replaces the next, the newest first.

    `joint` is a column of another chain that the last one replaces: this chain branches off there.
    """

    columns: tuple[int, ...]
    joint: int | None = None

    @property
    def reach(self) -> tuple[int, int]:
        """The first and the last column that it lies over, including the joint."""
        lowest = self.columns[-1] if self.joint is None else self.joint
        return lowest, self.columns[0]


def replaces_chains(starts: Iterable[int], replaces: Mapping[int, int]) -> tuple[ReplacesChain, ...]:
    """Assign every column to exactly one chain; earlier starts are served first. O(columns).

    A chain only continues to lower versions, so it never follows a cycle.
    """
    assigned: set[int] = set()
    chains: list[ReplacesChain] = []
    for start in starts:
        if start in assigned:
            continue
        columns, joint = [start], None
        while (below := replaces.get(columns[-1])) is not None and below < columns[-1]:
            if below in assigned:
                joint = below
                break
            columns.append(below)
        assigned.update(columns)
        chains.append(ReplacesChain(tuple(columns), joint))
    return tuple(chains)
