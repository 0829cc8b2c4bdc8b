"""Entries that lead to one another, by Tarjan's algorithm."""

from __future__ import annotations

__all__ = ["groups"]

from collections.abc import Iterator, Mapping, Sequence


def groups(ahead: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """The strongly connected components; whatever a group leads to comes before it. O(edges).

    Every name that somebody leads to must be a key.
    """
    search = _Search(ahead)
    for root in ahead:
        if root not in search.number:
            yield from search.down(root)


class _Search:
    """A walk along the edges, without recursion: a channel may be longer than Python's stack."""

    def __init__(self, ahead: Mapping[str, Sequence[str]]) -> None:
        self._ahead = ahead
        self.number: dict[str, int] = {}
        self._low: dict[str, int] = {}
        self._open: dict[str, None] = {}
        self._trail: list[tuple[str, Iterator[str]]] = []

    def down(self, root: str) -> Iterator[list[str]]:
        self._enter(root)
        while self._trail:
            here, rest = self._trail[-1]
            following = next(rest, None)
            if following is None:
                self._trail.pop()
                yield from self._leave(here)
            elif following not in self.number:
                self._enter(following)
            elif following in self._open:
                self._low[here] = min(self._low[here], self.number[following])

    def _enter(self, name: str) -> None:
        self.number[name] = self._low[name] = len(self.number)
        self._open[name] = None
        self._trail.append((name, iter(self._ahead[name])))

    def _leave(self, name: str) -> Iterator[list[str]]:
        """The group that is complete with this name, if one is."""
        if self._trail:
            above = self._trail[-1][0]
            self._low[above] = min(self._low[above], self._low[name])
        if self._low[name] == self.number[name]:
            group = [self._open.popitem()[0]]
            while group[-1] != name:
                group.append(self._open.popitem()[0])
            yield group
