"""The lines of replaces in a channel, as one would draw them: straight, branching off, or turning back."""

from __future__ import annotations

__all__ = ["Line", "lines"]

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Line(NamedTuple):
    """Columns from the newest down, each replacing the next.

    `joint` is the column of another line that the last one replaces: there the line branches off.
    """

    columns: tuple[int, ...]
    joint: int | None = None

    @property
    def reach(self) -> tuple[int, int]:
        """The first and the last column that it lies over, its joint included."""
        lowest = self.columns[-1] if self.joint is None else self.joint
        return lowest, self.columns[0]


def lines(starts: Iterable[int], replaces: Mapping[int, int]) -> tuple[Line, ...]:
    """Every column in exactly one line; earlier starts take theirs first. O(columns).

    A line goes left and only left: an edge from a higher version to a lower one ends it, so that no circle
    is ever walked.
    """
    taken: set[int] = set()
    found: list[Line] = []
    for start in starts:
        if start not in taken:
            line = _down(start, replaces, taken)
            taken.update(line.columns)
            found.append(line)
    return tuple(found)


def _down(start: int, replaces: Mapping[int, int], taken: set[int]) -> Line:
    columns = [start]
    while (below := replaces.get(columns[-1])) is not None and below < columns[-1]:
        if below in taken:
            return Line(tuple(columns), below)
        columns.append(below)
    return Line(tuple(columns))
