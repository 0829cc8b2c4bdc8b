"""Many sets of versions, asked about one version: who has it, how many have it, whose claim comes first."""

from __future__ import annotations

__all__ = ["Coverage"]

import heapq
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import accumulate, islice
from typing import NamedTuple

from everpath.ranges._intervals import IntervalSet
from everpath.versions import Version


class _Run(NamedTuple):
    """The slots that one interval takes, from `start` up to but not including `end`, and whose it is."""

    start: int
    end: int
    owner: int


class Coverage:
    """Named sets of versions.

    The n cuts of all sets part the versions into n + 1 slots; what is in one slot is in the same sets. Every
    question is one binary search for the slot of a version, and then an answer that is known by slot.
    """

    def __init__(self, sets: Mapping[str, IntervalSet]) -> None:
        self._names = tuple(sets)
        self._cuts = sorted({cut.key for each in sets.values() for cut in each.cuts})
        slots = {key: slot for slot, key in enumerate(self._cuts, 1)}
        self._runs = sorted(
            _Run(slots[low.key], slots[high.key], owner)
            for owner, each in enumerate(sets.values())
            for low, high in zip(each.cuts[::2], each.cuts[1::2], strict=True)
        )

    def _slot(self, version: Version) -> int:
        return bisect_right(self._cuts, version.key)

    def covering(self, version: Version) -> tuple[str, ...]:
        """The sets that have a version, in the order they were given. Cost: log n, and log n an answer."""
        return tuple(self._names[owner] for owner in sorted(self._owners(self._slot(version))))

    def lowest_covering(self, version: Version, most: int) -> tuple[str, ...]:
        """Up to so many of them, those that begin lowest, in the order they were given."""
        owners = sorted(islice(self._owners(self._slot(version)), most))
        return tuple(self._names[owner] for owner in owners)

    def count(self, version: Version) -> int:
        """How many sets have a version. Cost: log n."""
        return self._depths[self._slot(version)]

    def chooser(self, rank: Mapping[str, int]) -> Callable[[Version], str | None]:
        """A function that tells which set of `rank` has a version and the lowest rank there.

        Cost: n log n here, log n a version.
        """
        chosen = tuple(self._lowest(rank))
        return lambda version: chosen[self._slot(version)]

    def _lowest(self, rank: Mapping[str, int]) -> Iterator[str | None]:
        """For each slot the name of lowest rank: a sweep, with the runs that are open kept in a heap."""
        ranks = [rank.get(name) for name in self._names]
        starting: dict[int, list[tuple[int, int, str]]] = {}
        for start, end, owner in self._runs:
            if (its_rank := ranks[owner]) is not None:
                starting.setdefault(start, []).append((its_rank, end, self._names[owner]))
        running: list[tuple[int, int, str]] = []
        for slot in range(len(self._cuts) + 1):
            for run in starting.get(slot, ()):
                heapq.heappush(running, run)
            while running and running[0][1] <= slot:
                heapq.heappop(running)
            yield running[0][2] if running else None

    @cached_property
    def _depths(self) -> tuple[int, ...]:
        steps = [0] * (len(self._cuts) + 1)
        for start, end, _ in self._runs:
            steps[start] += 1
            steps[end] -= 1
        return tuple(accumulate(steps))

    def _owners(self, slot: int) -> Iterator[int]:
        """Whose runs a slot is in, the lowest start first.

        Those that start behind the slot are at the end of `_runs`; a block of which the last end is before
        it is passed over whole.
        """
        waiting = [(1, 0, len(self._ends) // 2)]
        begun = bisect_right(self._runs, slot, key=lambda run: run.start)
        while waiting:
            node, first, size = waiting.pop()
            if first >= begun or self._ends[node] <= slot:
                continue
            if size == 1:
                yield self._runs[first].owner
            else:
                half = size // 2
                waiting += [(2 * node + 1, first + half, half), (2 * node, first, half)]

    @cached_property
    def _ends(self) -> list[int]:
        """The last end of each block of runs: of all at 1, of the halves at 2 and 3, and so on."""
        width = 1 << max(0, len(self._runs) - 1).bit_length()
        ends = [0] * width + [run.end for run in self._runs] + [0] * (width - len(self._runs))
        for node in range(width - 1, 0, -1):
            ends[node] = max(ends[2 * node], ends[2 * node + 1])
        return ends
