"""Things that lie over a stretch of columns, stacked so that no two share a place."""

from __future__ import annotations

__all__ = ["Stack"]


class Stack:
    """Levels over columns. Each thing takes the lowest level that is free over all of its columns.

    Placed from the shortest to the longest, nothing lies below what it encloses: whatever kept the inner one
    from a lower level keeps the outer one from it too.

    A segment tree of sets of levels, as the bits of a number: `_some` are taken somewhere in a part of the
    columns, `_all` are taken in the whole of it.
    """

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._some = [0] * (4 * max(columns, 1))
        self._all = [0] * (4 * max(columns, 1))

    @property
    def height(self) -> int:
        """How many levels are in use."""
        return self._some[1].bit_length()

    def place(self, first: int, last: int) -> int:
        """The level, counted from 0, of one more thing over `first` to `last`. Cost: log n."""
        taken = self._taken(1, (0, self._columns - 1), (first, last))
        lowest = ~taken & (taken + 1)
        self._take(1, (0, self._columns - 1), (first, last), lowest)
        return lowest.bit_length() - 1

    def _taken(self, node: int, part: tuple[int, int], asked: tuple[int, int]) -> int:
        if asked[1] < part[0] or part[1] < asked[0]:
            return 0
        if asked[0] <= part[0] and part[1] <= asked[1]:
            return self._some[node]
        middle = sum(part) // 2
        left = self._taken(2 * node, (part[0], middle), asked)
        right = self._taken(2 * node + 1, (middle + 1, part[1]), asked)
        return self._all[node] | left | right

    def _take(self, node: int, part: tuple[int, int], asked: tuple[int, int], level: int) -> None:
        if asked[1] < part[0] or part[1] < asked[0]:
            return
        self._some[node] |= level
        if asked[0] <= part[0] and part[1] <= asked[1]:
            self._all[node] |= level
            return
        middle = sum(part) // 2
        self._take(2 * node, (part[0], middle), asked, level)
        self._take(2 * node + 1, (middle + 1, part[1]), asked, level)
