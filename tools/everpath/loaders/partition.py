"""The part of an input that one of several processes loads.

Files of one folder stay together, because they nearly always belong to one package. The caller that merges
the results must check that no package is in two partitions.
"""

from __future__ import annotations

__all__ = ["WHOLE", "Partition"]

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeVar

T = TypeVar("T")


class Partition(NamedTuple):
    """Partition `number` (from 0) of `total`."""

    number: int = 0
    total: int = 1

    def select(
        self,
        items: Sequence[T],
        folder: Callable[[T], str],
        weight: Callable[[T], int] = lambda _: 1,
    ) -> list[T]:
        """Return the items of this partition, in their order. Every item is in exactly one partition.

        The folders are assigned from the heaviest to the lightest, each to the partition with the least
        weight.
        """
        if self.total == 1:
            return list(items)
        weights: dict[str, int] = {}
        for item in items:
            weights[folder(item)] = weights.get(folder(item), 0) + weight(item)
        loads = [0] * self.total
        selected: set[str] = set()
        for name in sorted(weights, key=lambda name: (-weights[name], name)):
            lightest = loads.index(min(loads))
            loads[lightest] += weights[name]
            if lightest == self.number:
                selected.add(name)
        return [item for item in items if folder(item) in selected]


#: The whole input.
WHOLE: Final = Partition()
