"""Search for the name that is most similar to another one, without comparing it with all names."""

from __future__ import annotations

__all__ = ["SimilarNames"]

from bisect import bisect_left
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

#: Names that are compared on either side of the sorted position.
_MOST_NEIGHBOURS: Final = 12


class SimilarNames:
    """Names, to find the one that a package or channel was renamed to.

    A renamed thing usually keeps the start or the end of its name, so the new name is near the old one in the
    order of names or of reversed names. Cost: O(n · log n) once, then O(log n) and a few comparisons for each
    search.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._sorted = sorted(self._names)
        self._reversed = sorted(name[::-1] for name in self._names)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def most_similar(self, name: str) -> str | None:
        """Return the most similar name; None if no name is similar."""
        same_start = _neighbours(self._sorted, name)
        same_end = (found[::-1] for found in _neighbours(self._reversed, name[::-1]))
        matches = get_close_matches(name, sorted({*same_start, *same_end}), n=1)
        return matches[0] if matches else None


def _neighbours(names: list[str], name: str) -> list[str]:
    index = bisect_left(names, name)
    return names[max(0, index - _MOST_NEIGHBOURS) : index + _MOST_NEIGHBOURS]
