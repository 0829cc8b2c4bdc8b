"""Which of many names is spelled like another one, without comparing it with all of them."""

from __future__ import annotations

__all__ = ["Spellings"]

from bisect import bisect_left
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

#: So many names are looked at on either side, in the order of their beginnings and in that of their ends.
_MOST_BESIDE: Final = 12


class Spellings:
    """Names, to be asked for the one that another one may have become.

    Whatever is renamed keeps its beginning or its end, as a rule, and so stands near itself in one of two
    orders. Cost: O(n · log n) once, then O(log n) and a few comparisons a question.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._known = frozenset(names)
        self._forwards = sorted(self._known)
        self._backwards = sorted(name[::-1] for name in self._known)

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def nearest(self, name: str) -> str | None:
        """The name that is spelled most like it; None if none is."""
        begun_alike = _beside(self._forwards, name)
        ended_alike = (found[::-1] for found in _beside(self._backwards, name[::-1]))
        near = get_close_matches(name, sorted({*begun_alike, *ended_alike}), n=1)
        return near[0] if near else None


def _beside(names: list[str], name: str) -> list[str]:
    place = bisect_left(names, name)
    return names[max(0, place - _MOST_BESIDE) : place + _MOST_BESIDE]
