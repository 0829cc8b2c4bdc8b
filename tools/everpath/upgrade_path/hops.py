"""Sequences of hops, from a mapping of every entry to its next hop (None: it stays).

A chain of n entries has n²/2 hops. `Hops` refers to the mapping and lists them on iteration.
"""

from __future__ import annotations

__all__ = [
    "Hops",
    "LastEntry",
    "PathEnd",
    "PathInterner",
    "hops_by_entry",
    "hops_from",
    "last_entries",
    "prepend",
]

from collections.abc import Container, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

NextHopOf = Mapping[str, str | None]


class PathEnd(StrEnum):
    """How an upgrade path ends, the best first."""

    #: At a goal: the head or, under OLM v1, what a new ClusterExtension installs.
    HEAD = "head"
    #: At another entry, which has no next hop.
    STRANDED = "stranded"
    #: At no entry: the hops repeat.
    LOOP = "loop"
    #: At an entry for which the resolver fails.
    ERROR = "error"


class LastEntry(NamedTuple):
    """The last entry of a path and how the path ends; of a loop, the same entry for all paths into it."""

    name: str
    end: PathEnd


class PathInterner(dict[tuple[object, ...], int]):
    """Numbers for paths. Two paths of one interner that do not loop are equal if their numbers are.

    The key of a path is its first hop and the number of the rest; the key of a path without hops is empty.
    """

    def number(self, *key: object) -> int:
        """Return the number of a key: that of its first use, counted from 0."""
        return self.setdefault(key, len(self))


class Hops:
    """The hops of one path. Length, first and last cost a constant, iteration costs the length.

    `ends` are the first and the last hop, empty strings if there are none. `number` is the number in an
    interner, None for loops and without an interner. Two `Hops` of one interner are compared by number,
    others hop by hop.
    """

    __slots__ = ("_first", "_interner", "_last", "_length", "_next", "number")

    def __init__(
        self,
        next_hops: NextHopOf,
        ends: tuple[str, str],
        length: int,
        interner: PathInterner | None = None,
        number: int | None = None,
    ) -> None:
        self._next = next_hops
        self._first, self._last = ends
        self._length = length
        self._interner = interner
        self.number = number

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        here: str | None = self._first
        for _ in range(self._length):
            assert here is not None  # the length counts the hops
            yield here
            here = self._next.get(here)

    def __getitem__(self, index: int) -> str:
        """Return the first hop (0) or the last (-1). Others are only iterated."""
        if not self._length or index not in (0, -1):
            raise IndexError(index)
        return self._first if index == 0 else self._last

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Hops):
            is_interned = self._interner is not None and self._interner is other._interner
            if is_interned and self.number is not None and other.number is not None:
                return self.number == other.number
        return isinstance(other, Hops | tuple) and len(self) == len(other) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Hops({', '.join(self)})"


def hops_by_entry(
    next_hops: NextHopOf, entries: Iterable[str], interner: PathInterner | None = None
) -> Mapping[str, Hops]:
    """Return the hops from every entry, up to the first entry that is met twice. O(n)."""
    found: dict[str, Hops] = {}
    no_hops = Hops(next_hops, ("", ""), 0, interner, interner.number() if interner is not None else None)
    for start in entries:
        unknown: dict[str, int] = {}
        here: str | None = start
        while here is not None and here not in found and here not in unknown:
            unknown[here] = len(unknown)
            here = next_hops.get(here)
        if here in unknown:
            loop = list(unknown)[unknown[here] :]
            for name, successor in zip(loop, (*loop[1:], loop[0]), strict=True):
                found[name] = Hops(next_hops, (successor, name), len(loop), interner)
        for name in reversed(unknown):
            if name not in found:
                following = next_hops.get(name)
                found[name] = no_hops if following is None else prepend(following, found[following])
    return found


def prepend(first: str, rest: Hops) -> Hops:
    """Return the hop to an entry, followed by the hops from there."""
    interner, number = rest._interner, rest.number
    if interner is not None and number is not None:
        number = interner.number(first, number)
    return Hops(rest._next, (first, rest[-1] if rest else first), len(rest) + 1, interner, number)


def hops_from(next_hops: NextHopOf, installed: str) -> tuple[str, ...]:
    """Return the hops from one entry, up to the first entry that is met twice."""
    met, hops = {installed}, list[str]()
    here = next_hops.get(installed)
    while here is not None:
        hops.append(here)
        if here in met:
            break
        met.add(here)
        here = next_hops.get(here)
    return tuple(hops)


def last_entries(
    next_hops: NextHopOf,
    goals: Container[str | None],
    entries: Iterable[str],
    failures: Container[str] = (),
) -> Mapping[str, LastEntry]:
    """Return where and how the path from every entry ends. O(n).

    A path ends at an entry for which the resolver fails, even if `next_hops` has a next hop of it.
    """
    found: dict[str, LastEntry] = {}
    for start in entries:
        unknown: dict[str, None] = {}
        here = start
        while here not in found and here not in unknown:
            unknown[here] = None
            following = None if here in failures else next_hops.get(here)
            if following is None:
                found[here] = LastEntry(here, _end_at(here, goals, failures))
                break
            here = following
        last = found.get(here) or LastEntry(here, PathEnd.LOOP)
        for name in unknown:
            found.setdefault(name, last)
    return found


def _end_at(last: str, goals: Container[str | None], failures: Container[str]) -> PathEnd:
    if last in failures:
        return PathEnd.ERROR
    return PathEnd.HEAD if last in goals else PathEnd.STRANDED
