"""Levels for items that lie over ranges of columns, so that no two overlap."""

from __future__ import annotations

__all__ = ["Levels"]


class Levels:
    """Levels over columns. Each item gets the lowest level that is free over all of its columns.

    If shorter items are placed first, no item lies below one that it encloses: what kept the inner one from a
    lower level keeps the outer one from it too.

    Implemented as a segment tree. Sets of levels are the bits of integers: `_some` are used somewhere in a
    part of the columns, `_all` in all of it.
    """

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._some = [0] * (4 * max(columns, 1))
        self._all = [0] * (4 * max(columns, 1))

    @property
    def height(self) -> int:
        """The number of levels in use."""
        return self._some[1].bit_length()

    def place(self, first: int, last: int) -> int:
        """Return the level, from 0, of another item over the columns `first` to `last`. Cost: log n."""
        used = self._levels_in_use(1, (0, self._columns - 1), (first, last))
        lowest = ~used & (used + 1)
        self._use(1, (0, self._columns - 1), (first, last), lowest)
        return lowest.bit_length() - 1

    def _levels_in_use(self, node: int, part: tuple[int, int], span: tuple[int, int]) -> int:
        if span[1] < part[0] or part[1] < span[0]:
            return 0
        if span[0] <= part[0] and part[1] <= span[1]:
            return self._some[node]
        middle = sum(part) // 2
        left = self._levels_in_use(2 * node, (part[0], middle), span)
        right = self._levels_in_use(2 * node + 1, (middle + 1, part[1]), span)
        return self._all[node] | left | right

    def _use(self, node: int, part: tuple[int, int], span: tuple[int, int], level: int) -> None:
        if span[1] < part[0] or part[1] < span[0]:
            return
        self._some[node] |= level
        if span[0] <= part[0] and part[1] <= span[1]:
            self._all[node] |= level
            return
        middle = sum(part) // 2
        self._use(2 * node, (part[0], middle), span, level)
        self._use(2 * node + 1, (middle + 1, part[1]), span, level)
