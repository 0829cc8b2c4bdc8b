"""A share of an input: what one of several processes reads of it.

Files of one folder stay together, because they are about one package nearly always. Whether a package ended
up in two shares all the same is for whoever puts the shares together to see.
"""

from __future__ import annotations

__all__ = ["WHOLE", "Share"]

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeVar

T = TypeVar("T")


class Share(NamedTuple):
    """Which of how many shares."""

    number: int = 0
    total: int = 1

    def of(
        self,
        items: Sequence[T],
        folder: Callable[[T], str],
        weight: Callable[[T], int] = lambda _: 1,
    ) -> list[T]:
        """The items of this share, in their order. Every item is in one share; their weights are alike.

        The heaviest folder goes to whoever has least, then the next. Cost: one sort of the folders.
        """
        if self.total == 1:
            return list(items)
        weights: dict[str, int] = {}
        for item in items:
            weights[folder(item)] = weights.get(folder(item), 0) + weight(item)
        loads = [0] * self.total
        mine: set[str] = set()
        for name in sorted(weights, key=lambda name: (-weights[name], name)):
            lightest = loads.index(min(loads))
            loads[lightest] += weights[name]
            if lightest == self.number:
                mine.add(name)
        return [item for item in items if folder(item) in mine]


#: All of it.
WHOLE: Final = Share()
