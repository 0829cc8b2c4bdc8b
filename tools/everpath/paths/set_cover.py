"""The smallest set that meets every one of many: an exact search where it ends in time, else a good guess.

Members are the bits of an integer, as are the demands: a demand is met when the set has one of its bits.
"""

from __future__ import annotations

__all__ = ["MOST_STEPS", "Cover", "smallest_cover"]

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

#: Branches of the search after which the best set found so far is taken.
MOST_STEPS: Final = 20_000


class Cover(NamedTuple):
    """A set that meets all demands, and a number that no such set is smaller than."""

    members: int
    at_least: int

    @property
    def is_smallest(self) -> bool:
        return self.members.bit_count() == self.at_least


def smallest_cover(
    demands: Iterable[int], implied: Mapping[int, Sequence[int]], most: int = MOST_STEPS
) -> Cover:
    """The smallest set, proven so within `most` branches; no demand may be empty.

    `implied`: for a bit, the demands that come with it once the bit is in the set. Demands with one bit are
    settled first. Then a branch for each bit of a shortest demand; a branch ends where the demands that share
    no bit with one another already ask for as many members as the best set has.
    """
    search = _Search(implied, most)
    search.explore(0, _essential(demands), 0)
    if not search.is_cut:
        return Cover(search.best, search.best.bit_count())
    return Cover(search.best, search.floor)


class _Search:
    def __init__(self, implied: Mapping[int, Sequence[int]], most: int) -> None:
        self._implied = implied
        self._left = most
        self.best = -1
        self.floor = 0
        self.is_cut = False

    def explore(self, members: int, demands: list[int], banned: int) -> None:
        """Look for sets that contain the members, none of the banned bits, and meet the demands."""
        settled = self._settled(members, demands, banned)
        if settled is None:
            return
        members, demands = settled
        least = members.bit_count() + _apart(demands)
        if self.best < 0:
            self.floor = least
            self.best = self._guessed(members, demands)
        if not demands:
            self.best = min(self.best, members, key=lambda m: (m.bit_count(), m))
        elif least < self.best.bit_count():
            self._branch(members, demands, banned)

    def _branch(self, members: int, demands: list[int], banned: int) -> None:
        for bit in _by_use(min(demands, key=int.bit_count), demands):
            if self._left <= 0:
                self.is_cut = True
                return
            self._left -= 1
            self.explore(members | bit, self._with(bit, demands), banned)
            banned |= bit

    def _with(self, bit: int, demands: list[int]) -> list[int]:
        return [*demands, *self._implied.get(bit, ())]

    def _settled(self, members: int, demands: list[int], banned: int) -> tuple[int, list[int]] | None:
        """The members with what follows from them, and what is left to meet; None if that cannot be."""
        while True:
            left = [demand & ~banned for demand in demands if not demand & members]
            if not all(left):
                return None
            singles = {demand for demand in left if demand & (demand - 1) == 0}
            if not singles:
                return members, left
            for single in singles:
                members |= single
                left += self._implied.get(single, ())
            demands = left

    def _guessed(self, members: int, demands: list[int]) -> int:
        """Whatever meets most of what is left, again and again."""
        while demands:
            every = 0
            for demand in demands:
                every |= demand
            bit = next(_by_use(every, demands))
            members |= bit
            demands = [demand for demand in self._with(bit, demands) if not demand & members]
        return members


def _by_use(bits: int, demands: list[int]) -> Iterator[int]:
    """Bits by how many demands have them, most first; of equal ones the lowest."""
    each = []
    while bits:
        bit = bits & -bits
        each.append((-sum(demand & bit != 0 for demand in demands), bit))
        bits ^= bit
    return (bit for _, bit in sorted(each))


def _apart(demands: list[int]) -> int:
    """How many demands share no bit with one another: each needs a member of its own."""
    taken = number = 0
    for demand in sorted(demands, key=int.bit_count):
        if not demand & taken:
            taken |= demand
            number += 1
    return number


def _essential(demands: Iterable[int]) -> list[int]:
    """The demands without those that are met whenever another one is."""
    singles, kept, others = 0, list[int](), list[int]()
    for demand in sorted(set(demands), key=lambda d: (d.bit_count(), d)):
        if demand.bit_count() == 1:
            singles |= demand
            kept.append(demand)
        elif not demand & singles and not any(demand & other == other for other in others):
            others.append(demand)
    return kept + others
