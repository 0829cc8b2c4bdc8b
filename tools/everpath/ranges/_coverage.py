"""Queries over many sets of versions: which of them contain a version, and versions for every overlap."""

from __future__ import annotations

__all__ = ["Coverage", "sample_versions"]

import heapq
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

from everpath.ranges._intervals import BOTTOM, Cut, IntervalSet
from everpath.versions import Version, parse_or_none


class _SlotRange(NamedTuple):
    """The slots from `start` up to but not including `end` that an interval covers; `owner` is its set."""

    start: int
    end: int
    owner: int


class Coverage:
    """Named sets of versions.

    The n distinct cuts of all sets divide the versions into n + 1 slots. All versions of a slot are in the
    same sets. A query finds the slot of a version by binary search and looks up the result by slot.
    """

    def __init__(self, sets: Mapping[str, IntervalSet]) -> None:
        self._names = tuple(sets)
        self._cuts = sorted({cut.key for each in sets.values() for cut in each.cuts})
        slots = {key: slot for slot, key in enumerate(self._cuts, 1)}
        self._slot_ranges = sorted(
            _SlotRange(slots[low.key], slots[high.key], owner)
            for owner, each in enumerate(sets.values())
            for low, high in zip(each.cuts[::2], each.cuts[1::2], strict=True)
        )

    def covering(self, version: Version) -> tuple[str, ...]:
        """Return the sets that contain a version, in the given order. Cost: log n for each."""
        return tuple(self._names[owner] for owner in sorted(self._owners(self._slot(version))))

    def lowest_covering(self, version: Version, limit: int) -> tuple[str, ...]:
        """Return at most `limit` of the sets that contain a version: those with the lowest start."""
        owners = sorted(islice(self._owners(self._slot(version)), limit))
        return tuple(self._names[owner] for owner in owners)

    def count(self, version: Version) -> int:
        """Return how many sets contain a version. Cost: log n."""
        return self._counts[self._slot(version)]

    def chooser(self, rank: Mapping[str, int]) -> Callable[[Version], str | None]:
        """Return a function that finds the set with the lowest rank that contains a version.

        Sets without a rank are ignored. Cost: n log n here, log n for each call of the function.
        """
        ranks = [rank.get(name) for name in self._names]
        starting: dict[int, list[tuple[int, int, str]]] = {}
        for start, end, owner in self._slot_ranges:
            if (owner_rank := ranks[owner]) is not None:
                starting.setdefault(start, []).append((owner_rank, end, self._names[owner]))
        # Sweep over the slots with a heap of the slot ranges that contain the current slot.
        active: list[tuple[int, int, str]] = []
        chosen: list[str | None] = []
        for slot in range(len(self._cuts) + 1):
            for item in starting.get(slot, ()):
                heapq.heappush(active, item)
            while active and active[0][1] <= slot:
                heapq.heappop(active)
            chosen.append(active[0][2] if active else None)
        return lambda version: chosen[self._slot(version)]

    def _slot(self, version: Version) -> int:
        return bisect_right(self._cuts, version.key)

    @cached_property
    def _counts(self) -> tuple[int, ...]:
        changes = [0] * (len(self._cuts) + 1)
        for start, end, _ in self._slot_ranges:
            changes[start] += 1
            changes[end] -= 1
        return tuple(accumulate(changes))

    def _owners(self, slot: int) -> Iterator[int]:
        """Yield the sets with a slot range that contains a slot, lowest start first.

        Walks the tree of `_max_ends` and skips each block that ends before the slot.
        """
        pending = [(1, 0, len(self._max_ends) // 2)]
        started = bisect_right(self._slot_ranges, slot, key=lambda item: item.start)
        while pending:
            node, first, size = pending.pop()
            if first >= started or self._max_ends[node] <= slot:
                continue
            if size == 1:
                yield self._slot_ranges[first].owner
            else:
                half = size // 2
                pending += [(2 * node + 1, first + half, half), (2 * node, first, half)]

    @cached_property
    def _max_ends(self) -> list[int]:
        """A segment tree over `_slot_ranges`: the largest end of all at 1, of the halves at 2 and 3, ..."""
        width = 1 << max(0, len(self._slot_ranges) - 1).bit_length()
        ends = [0] * width + [item.end for item in self._slot_ranges]
        ends += [0] * (width - len(self._slot_ranges))
        for node in range(width - 1, 0, -1):
            ends[node] = max(ends[2 * node], ends[2 * node + 1])
        return ends


def sample_versions(
    sets: Iterable[IntervalSet], exclude: Collection[Version] = (), boundaries: Iterable[Version] = ()
) -> Iterator[Version]:
    """Yield one version of every group of adjacent versions that are in the same sets, and in at least one.

    A group also ends before each version of `boundaries`. A version of `exclude` is replaced by the next of
    its group; a group without any other is left out.
    """
    sets = tuple(sets)
    cuts = {cut for each in sets for cut in each.cuts} | {Cut.before(version) for version in boundaries}
    union = IntervalSet.union(sets)
    for low, high in pairwise(sorted(cuts, key=lambda cut: cut.key)):
        found = _lowest_version(low, high, exclude)
        if found is not None and found in union:
            yield found


def _lowest_version(low: Cut, high: Cut, exclude: Collection[Version]) -> Version | None:
    """Return the lowest version between two cuts that is not excluded.

    The release of a pre-release is preferred, if it is between the cuts.
    """
    if low == BOTTOM or low.version is None:
        version = parse_or_none("0.0.0-0")
    else:
        version = _next_version(low.version) if low.is_after else low.version
    while version is not None and version.key < high.key:
        for choice in (parse_or_none(f"{version.major}.{version.minor}.{version.patch}"), version):
            if choice is not None and choice.key < high.key and choice not in exclude:
                return choice
        version = _next_version(version)
    return None


def _next_version(version: Version) -> Version | None:
    """Return the lowest version above a version; None if its patch number does not fit into 64 bits."""
    core = f"{version.major}.{version.minor}"
    if version.prerelease:
        identifiers = ".".join(map(str, version.prerelease))
        return parse_or_none(f"{core}.{version.patch}-{identifiers}.0")
    return parse_or_none(f"{core}.{version.patch + 1}-0")
