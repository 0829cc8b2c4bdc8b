"""How many roads lead to a goal, the shortest, the longest, and the first few: never all of them.

A road visits no entry twice and ends where it meets its goal. Roads are counted by adding up what the next
entries have, goal first, so that a thousand entries with 2^998 roads cost their edges. Entries that accept
one another in a loop are counted set by set; beyond `MOST_IN_LOOP` of them only roads that go up inside of
the loop are counted, and the tally says that there are more.
"""

from __future__ import annotations

__all__ = [
    "MOST_IN_LOOP",
    "Road",
    "Tally",
    "distances",
    "first_roads",
    "longest_road",
    "loops",
    "shortest_road",
    "tallies",
]

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from everpath.paths.hop_graph import Network
from everpath.paths.reachability import nearest, swept
from everpath.scc import strongly_connected_components

#: Entries of one loop through which roads are counted exactly: 12 · 2^11 sets of entries are looked at.
MOST_IN_LOOP: Final = 12

Road = tuple[str, ...]
_NOBODY: Final[frozenset[str]] = frozenset()


class Tally(NamedTuple):
    """The roads from one entry. If not exact, there are more roads, and there may be longer ones.

    `way` is the beginning of a longest road, up to where that of its last entry goes on.
    """

    roads: int
    shortest: int
    longest: int
    way: Road
    is_exact: bool = True


def distances(network: Network, goal: str, without: Collection[str] = _NOBODY) -> Mapping[str, int]:
    """Hops of the shortest road to a goal from every entry that has one.

    O((entries + named edges) · log): of a range only those are looked at who have no road yet.
    """
    return {name: hops for name, (hops, _) in nearest(network, (goal,), without).items()}


def shortest_road(
    network: Network, start: str, goals: Collection[str], without: Collection[str] = _NOBODY
) -> Road | None:
    """A shortest road to one of the goals that avoids some entries; of several that by newer entries."""
    found = nearest(network, goals, without)
    if start not in found or start in without:
        return None
    road = [start]
    while road[-1] not in goals:
        road.append(found[road[-1]][1])
    return tuple(road)


def loops(network: Network) -> tuple[Road, ...]:
    """Groups of entries that lead to one another, each newest first, the newest group first."""
    if network.goes_up:
        return ()
    every = {name: network.ahead(name) for name in network.place}
    found = (group for group in strongly_connected_components(every) if len(group) > 1)
    ordered = (tuple(sorted(group, key=network.place.__getitem__)) for group in found)
    return tuple(sorted(ordered, key=lambda group: network.place[group[0]]))


def tallies(network: Network, goal: str) -> Mapping[str, Tally]:
    """How many roads to the goal every entry has that has any.

    O((entries + named edges) · log) where all hops go up; else O(edges), but for loops.
    """
    shortest = nearest(network, (goal,))
    if network.goes_up:
        return {
            name: Tally(count, shortest[name][0], longest, way)
            for name, (count, longest, way) in swept(network, goal, shortest).items()
        }
    ahead = _leading_to(network, goal, shortest)
    found = {goal: Tally(1, 0, 0, ())}
    for group in strongly_connected_components(ahead):
        if len(group) == 1:
            [name] = group
            if name != goal:
                found[name] = _summed(ahead[name], found, shortest[name][0])
        elif len(group) <= MOST_IN_LOOP:
            found.update(_Loop(group, ahead, found, shortest).tallies())
        else:
            found.update(_upward(network, group, ahead, found, shortest))
    return found


def longest_road(tally: Mapping[str, Tally], start: str) -> Road:
    """A longest road from an entry that has one."""
    road = [start]
    while way := tally[road[-1]].way:
        road += way
    return tuple(road)


def _summed(ahead: Sequence[str], found: Mapping[str, Tally], shortest: int) -> Tally:
    """The roads of an entry in no loop: those of the next entries, one hop longer."""
    following = [(name, found[name]) for name in ahead]
    best, its = max(following, key=lambda pair: pair[1].longest)
    return Tally(
        sum(tally.roads for _, tally in following),
        shortest,
        its.longest + 1,
        (best,),
        all(tally.is_exact for _, tally in following),
    )


class _Loop:
    """The roads through a small loop: inside of it what is left depends on the entries visited before."""

    def __init__(
        self,
        group: Sequence[str],
        ahead: Mapping[str, Sequence[str]],
        found: Mapping[str, Tally],
        shortest: Mapping[str, tuple[int, str]],
    ) -> None:
        self._bits = {name: 1 << i for i, name in enumerate(group)}
        self._inside = {name: [n for n in ahead[name] if n in self._bits] for name in group}
        self._outside = {name: [n for n in ahead[name] if n not in self._bits] for name in group}
        self._found, self._shortest = found, shortest
        self._known: dict[tuple[str, int], tuple[int, int, Road]] = {}
        self._exact = all(found[n].is_exact for outside in self._outside.values() for n in outside)

    def tallies(self) -> Iterator[tuple[str, Tally]]:
        for name, bit in self._bits.items():
            roads, longest, way = self._from(name, bit)
            yield name, Tally(roads, self._shortest[name][0], longest, way, self._exact)

    def _from(self, name: str, visited: int) -> tuple[int, int, Road]:
        """Roads from an entry that avoid the visited ones, the length of the longest and how it begins."""
        known = self._known.get((name, visited))
        if known is not None:
            return known
        roads, longest, way = 0, -1, Road()
        for following in self._outside[name]:
            tally = self._found[following]
            roads += tally.roads
            if tally.longest + 1 > longest:
                longest, way = tally.longest + 1, (following,)
        for following in self._inside[name]:
            if not visited & (bit := self._bits[following]):
                more, length, rest = self._from(following, visited | bit)
                roads += more
                if more and length + 1 > longest:
                    longest, way = length + 1, (following, *rest)
        self._known[name, visited] = roads, longest, way
        return roads, longest, way


def _upward(
    network: Network,
    group: Sequence[str],
    ahead: Mapping[str, Sequence[str]],
    found: Mapping[str, Tally],
    shortest: Mapping[str, tuple[int, str]],
) -> Iterator[tuple[str, Tally]]:
    """The roads through a large loop that only go up in it; of who has none such, the shortest one."""
    members, place, up = set(group), network.place, dict[str, Tally]()
    for name in sorted(group, key=place.__getitem__):
        inside = [n for n in ahead[name] if n in up and place[n] < place[name]]
        outside = [n for n in ahead[name] if n not in members]
        if inside or outside:
            known = {n: found[n] for n in outside} | {n: up[n] for n in inside}
            tally = _summed(list(known), known, shortest[name][0])
            up[name] = tally._replace(is_exact=False)
            yield name, up[name]
        else:
            way = _followed(name, shortest)
            yield name, Tally(1, len(way), len(way), way, is_exact=False)


def _followed(name: str, shortest: Mapping[str, tuple[int, str]]) -> Road:
    way = []
    while shortest[name][0]:
        name = shortest[name][1]
        way.append(name)
    return tuple(way)


#: Ways to go on from an entry: the hops left from there, its place, its name.
_Choices = list[tuple[int, int, str]]


def first_roads(network: Network, start: str, goal: str) -> Iterator[Road]:
    """The roads between two entries, shortest first, of equal ones those by newer entries first.

    For each, O(its length · log) and, if there are loops, O(its length · all edges). The edges of an entry
    are sorted once; of the roads that part there only the next best waits, however many there are.
    """
    ideal = distances(network, goal)
    if start not in ideal:
        return
    is_loopy = not network.goes_up and any(
        len(group) > 1 for group in strongly_connected_components(_leading_to(network, goal, ideal))
    )
    place = network.place
    sorted_ahead: dict[str, _Choices] = {}

    def choices(road: Road) -> _Choices:
        """Where one may go on to, the best first, with the hops that are left from there."""
        here = road[-1]
        # What is left to go depends on the entries visited only where roads can come back to them.
        if is_loopy or here not in sorted_ahead:
            left = distances(network, goal, road) if is_loopy else ideal
            sorted_ahead[here] = sorted(
                (left[end], place[end], end) for end in network.ahead(here) if end in left
            )
        return sorted_ahead[here]

    # By length and order: a road, what there was to choose from at its last hop, and the number of that.
    waiting: list[tuple[int, tuple[int, ...], Road, _Choices, int]] = []

    def wait(before: Road, order: tuple[int, ...], rest: _Choices, number: int) -> None:
        if number < len(rest):
            left, its, end = rest[number]
            heapq.heappush(waiting, (len(before) + left, (*order, its), (*before, end), rest, number))

    wait((), (), [(ideal[start], place[start], start)], 0)
    while waiting:
        _, order, road, others, number = heapq.heappop(waiting)
        wait(road[:-1], order[:-1], others, number + 1)
        if road[-1] == goal:
            yield road
        else:
            wait(road, order, choices(road), 0)


def _leading_to(network: Network, goal: str, names: Collection[str]) -> Mapping[str, Sequence[str]]:
    """The hops between entries that have a road to the goal, where roads end."""
    return {name: [n for n in network.ahead(name) if n in names and name != goal] for name in names}
