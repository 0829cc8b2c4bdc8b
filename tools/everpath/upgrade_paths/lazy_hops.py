"""The stops of walks. A channel of n entries in a row has n²/2 of them, so that they are kept as hops."""

from __future__ import annotations

__all__ = ["Book", "Way", "extended", "ways"]

from collections.abc import Iterable, Iterator, Mapping, Sequence

Hops = Mapping[str, str | None]


class Book(dict[tuple[object, ...], int]):
    """Numbers for ways that end: two of one book are alike if and only if their numbers are."""

    def number(self, *key: object) -> int:
        return self.setdefault(key, len(self))


class Way:
    """A sequence of stops. Its length, its first and its last cost nothing; to go through it, its length.

    One that goes round has no number, and is compared stop by stop.
    """

    __slots__ = ("_book", "_first", "_hops", "_last", "_length", "number")

    def __init__(
        self, hops: Hops, ends: tuple[str, str], length: int, book: Book, number: int | None
    ) -> None:
        self._hops = hops
        self._first, self._last = ends
        self._length = length
        self._book = book
        self.number = number

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        here: str | None = self._first
        hops = self._hops
        for _ in range(self._length):
            assert here is not None  # a way is as long as its hops
            yield here
            here = hops.get(here)

    @property
    def first(self) -> str | None:
        return self._first if self._length else None

    @property
    def last(self) -> str | None:
        return self._last if self._length else None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Way) and other._book is self._book and None not in (self.number, other.number):
            return self.number == other.number
        return isinstance(other, Way | tuple) and len(self) == len(other) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Way({', '.join(self)})"


def ways(hops: Hops, entries: Iterable[str], book: Book) -> Mapping[str, Way]:
    """From every entry, up to and including the first stop that is met twice. Each is visited once: O(n)."""
    known: dict[str, Way] = {}
    nowhere = Way(hops, ("", ""), 0, book, book.number())
    for start in entries:
        trail: dict[str, int] = {}
        here: str | None = start
        while here is not None and here not in known and here not in trail:
            trail[here] = len(trail)
            here = hops.get(here)
        if here in trail:
            known |= _circle(hops, list(trail)[trail[here] :], book)
        for name in reversed(trail):
            if name not in known:
                below = hops.get(name)
                known[name] = nowhere if below is None else extended(below, known[below])
    return known


def _circle(hops: Hops, stops: Sequence[str], book: Book) -> Iterator[tuple[str, Way]]:
    """The ways of those who go round: each comes back to where it started."""
    for place, name in enumerate(stops):
        first = stops[(place + 1) % len(stops)]
        yield name, Way(hops, (first, name), len(stops), book, None)


def extended(first: str, rest: Way) -> Way:
    """The way to a stop and on from there."""
    book, number = rest._book, rest.number
    ends = first, rest.last or first
    return Way(rest._hops, ends, len(rest) + 1, book, None if number is None else book.number(first, number))
