"""Minimum hitting set by branch and bound: the fewest members of which each required set contains one.

Sets are integers, members are their bits.
"""

from __future__ import annotations

__all__ = ["MOST_BRANCHES", "Cover", "smallest_cover"]

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

#: Branches after which the search stops with the best set found so far.
MOST_BRANCHES: Final = 20_000


class Cover(NamedTuple):
    """A hitting set, and the size that no hitting set is smaller than."""

    members: int
    at_least: int

    @property
    def is_smallest(self) -> bool:
        return self.members.bit_count() == self.at_least


def smallest_cover(
    required: Iterable[int], implied: Mapping[int, Sequence[int]], most: int = MOST_BRANCHES
) -> Cover:
    """Return the smallest set that hits all required sets, proven within `most` branches.

    `implied` has, for a bit, the sets that are required once the bit is a member. No set may be empty. Sets
    with one bit are settled first. Then each bit of a smallest set is a branch. A branch ends where disjoint
    required sets already need as many members as the best set has.
    """
    search = _Search(implied, most)
    search.explore(0, _without_supersets(required), 0)
    if not search.is_cut:
        return Cover(search.best, search.best.bit_count())
    return Cover(search.best, search.floor)


class _Search:
    def __init__(self, implied: Mapping[int, Sequence[int]], most: int) -> None:
        self._implied = implied
        self._branches_left = most
        self.best = -1
        self.floor = 0
        self.is_cut = False

    def explore(self, members: int, required: list[int], banned: int) -> None:
        """Search for sets that contain the members, none of the banned bits, and hit all required sets."""
        settled = self._settle(members, required, banned)
        if settled is None:
            return
        members, required = settled
        least = members.bit_count() + _disjoint_sets(required)
        if self.best < 0:
            self.floor = least
            self.best = self._greedy(members, required)
        if not required:
            self.best = min(self.best, members, key=lambda m: (m.bit_count(), m))
        elif least < self.best.bit_count():
            for bit in _most_frequent_first(min(required, key=int.bit_count), required):
                if self._branches_left <= 0:
                    self.is_cut = True
                    return
                self._branches_left -= 1
                self.explore(members | bit, [*required, *self._implied.get(bit, ())], banned)
                banned |= bit

    def _settle(self, members: int, required: list[int], banned: int) -> tuple[int, list[int]] | None:
        """Add all members that have no alternative; None if a set cannot be hit."""
        while True:
            left = [each & ~banned for each in required if not each & members]
            if not all(left):
                return None
            singles = {each for each in left if each & (each - 1) == 0}
            if not singles:
                return members, left
            for single in singles:
                members |= single
                left += self._implied.get(single, ())
            required = left

    def _greedy(self, members: int, required: list[int]) -> int:
        """Add the bit that hits most sets until all are hit."""
        while required:
            union = 0
            for each in required:
                union |= each
            bit = next(_most_frequent_first(union, required))
            members |= bit
            required = [e for e in (*required, *self._implied.get(bit, ())) if not e & members]
        return members


def _most_frequent_first(bits: int, required: list[int]) -> Iterator[int]:
    """Return the bits by the number of sets that contain them; of equal ones the lowest first."""
    found = []
    while bits:
        bit = bits & -bits
        found.append((-sum(each & bit != 0 for each in required), bit))
        bits ^= bit
    return (bit for _, bit in sorted(found))


def _disjoint_sets(required: list[int]) -> int:
    """Return the number of sets that share no bit; each of them needs its own member."""
    taken = number = 0
    for each in sorted(required, key=int.bit_count):
        if not each & taken:
            taken |= each
            number += 1
    return number


def _without_supersets(required: Iterable[int]) -> list[int]:
    """Return the sets that contain no other one: a superset is hit whenever its subset is."""
    singles, single_sets, others = 0, list[int](), list[int]()
    for each in sorted(set(required), key=lambda s: (s.bit_count(), s)):
        if each.bit_count() == 1:
            singles |= each
            single_sets.append(each)
        elif not each & singles and not any(each & other == other for other in others):
            others.append(each)
    return single_sets + others
