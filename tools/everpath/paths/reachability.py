"""Answers for a whole network at once, without a look at every hop of a range."""

from __future__ import annotations

__all__ = ["Way", "comers", "nearest", "onward", "swept"]

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from everpath.paths.hop_graph import Network


def nearest(
    network: Network, goals: Collection[str], without: Collection[str] = frozenset()
) -> Mapping[str, tuple[int, str]]:
    """For every entry that has a road to a goal: its hops, and the newest that is next on a shortest one.

    Back from the goals, one hop after the other. O((entries + named edges) · log): who has a road is struck
    from the list, and what is left of a range is found without passing over the others again.
    """
    found = {goal: (0, goal) for goal in goals}
    waiting = _Waiting(network, {*goals, *without})
    layer, hops = list(goals), 0
    while layer:
        hops += 1
        reached = []
        for end in sorted(layer, key=network.place.__getitem__):
            for start in waiting.leave_for(end):
                found[start] = (hops, end)
                reached.append(start)
        layer = reached
    return found


def comers(network: Network, ends: Collection[str]) -> Mapping[str, str]:
    """Who comes to one of these in one hop, and to which: the first that accepts them. The same cost."""
    found: dict[str, str] = {}
    waiting = _Waiting(network, ())
    for end in ends:
        for start in waiting.leave_for(end):
            # A range may hold its own entry, which hides it from the others.
            other = end if start != end else next((e for e in network.ahead(start) if e in ends), None)
            if other is not None:
                found[start] = other
    return found


def onward(network: Network, starts: Iterable[str]) -> Collection[str]:
    """Whatever one comes to from some starts, themselves included. Cost: the hops from there."""
    met = set(starts)
    waiting = list(met)
    while waiting:
        new = [name for name in network.ahead(waiting.pop()) if name not in met]
        met.update(new)
        waiting += new
    return met


class _Waiting:
    """The entries that have no road yet."""

    def __init__(self, network: Network, gone: Collection[str]) -> None:
        self._network = network
        self._gone = set(gone)
        self._next = list(range(len(network.by_version) + 1))

    def leave_for(self, end: str) -> Iterator[str]:
        """Those who can go to an entry; they are struck from the list."""
        arrival = self._network.arrivals.get(end)
        if arrival is None:
            return
        for start in arrival.named:
            yield from self._strike(start)
        for low, high in arrival.runs:
            position = self._first(low)
            while position < high:
                self._next[position] = position + 1
                yield from self._strike(self._network.by_version[position])
                position = self._first(position)

    def _strike(self, name: str) -> Iterator[str]:
        if name not in self._gone:
            self._gone.add(name)
            yield name

    def _first(self, position: int) -> int:
        """The first position from this one on that no range has asked about."""
        trail = []
        while self._next[position] != position:
            trail.append(position)
            position = self._next[position]
        for passed in trail:
            self._next[passed] = position
        return position


#: A way to go on, the longest first, of equal ones the newest: minus the hops, the place, the name.
_Claim = tuple[int, int, str]


class Way(NamedTuple):
    """How many roads an entry has, the hops of a longest one, and its next entry (none at the goal)."""

    roads: int
    longest: int
    next: tuple[str, ...]


def swept(network: Network, goal: str, reaching: Collection[str]) -> Mapping[str, Way]:
    """The roads of all who reach the goal, where every hop goes up. O((entries + named edges) · log).

    From the newest down: whoever is done tells those that can come to it, all of a range at once.
    """
    found: dict[str, Way] = {}
    board = _Board(network)
    for name in network.place:
        if name in reaching:
            found[name] = way = Way(1, 0, ()) if name == goal else board.heard(name)
            board.tell(name, way)
    return found


class _Board:
    """What those who are done have told. What is told to a run stands at log n nodes of a tree above it."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._size = len(network.by_version)
        self._roads = [0] * (2 * self._size)
        self._claims: list[_Claim | None] = [None] * (2 * self._size)
        self._named: dict[str, list[tuple[int, _Claim]]] = {}

    def tell(self, name: str, way: Way) -> None:
        """Let everybody who can come to an entry know of its roads."""
        claim = (-way.longest - 1, self._network.place[name], name)
        arrival = self._network.arrivals.get(name)
        if arrival is not None:
            for start in arrival.named:
                self._named.setdefault(start, []).append((way.roads, claim))
            for node in (node for low, high in arrival.runs for node in self._above(low, high)):
                self._roads[node] += way.roads
                self._claims[node] = min(self._claims[node] or claim, claim)

    def _above(self, low: int, high: int) -> Iterator[int]:
        """The fewest nodes of the tree that have these positions below them and no others."""
        low, high = low + self._size, high + self._size
        while low < high:
            if low & 1:
                yield low
                low += 1
            if high & 1:
                high -= 1
                yield high
            low, high = low // 2, high // 2

    def heard(self, name: str) -> Way:
        """What all whom an entry can go to have told it. There must be one."""
        told = self._named.get(name, [])
        roads, claims = sum(count for count, _ in told), [claim for _, claim in told]
        node = self._network.position.get(name, -self._size) + self._size
        while node:
            roads += self._roads[node]
            if (claim := self._claims[node]) is not None:
                claims.append(claim)
            node //= 2
        longest, _, following = min(claims)
        return Way(roads, -longest, (following,))
