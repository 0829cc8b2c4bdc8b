"""Who stands in whose line: entries by what they lead down to, a circle of them as one."""

from __future__ import annotations

__all__ = ["Lines", "groups"]

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


class Lines:
    """The lines of a graph: from an entry to those below it, and theirs. Built in O(edges)."""

    def __init__(self, below: Mapping[str, Sequence[str]]) -> None:
        self._group: dict[str, int] = {}
        self._below: list[set[int]] = []
        self._depth: list[int] = []
        for number, members in enumerate(groups(below)):
            self._group.update(dict.fromkeys(members, number))
            lower = {self._group[target] for name in members for target in below[name]}
            lower.discard(number)
            self._below.append(lower)
            self._depth.append(1 + max(map(self._depth.__getitem__, lower), default=-1))

    def unrelated(self, rivals: Sequence[str]) -> tuple[str, ...]:
        """Those rivals, in their order, that stand in no other's line; of a circle the first of them.

        Cost: a visit to each group that stands no lower than the lowest rival, and its edges.
        """
        firsts: dict[int, str] = {}
        for rival in rivals:
            firsts.setdefault(self._group[rival], rival)
        if len(firsts) < 2:
            return tuple(firsts.values())
        dominated = self._under(firsts)
        return tuple(rival for group, rival in firsts.items() if group not in dominated)

    def _under(self, rivals: Mapping[int, str]) -> set[int]:
        """The groups below any of some groups, as far down as the lowest of these."""
        floor = min(self._depth[group] for group in rivals)
        found: set[int] = set()
        waiting = list(rivals)
        while waiting:
            for group in self._below[waiting.pop()]:
                if group not in found and self._depth[group] >= floor:
                    found.add(group)
                    waiting.append(group)
        return found
