"""Shortest paths and reachability in a hop graph, without visiting every hop of a range."""

from __future__ import annotations

__all__ = ["Distance", "distances", "hops_onto", "reachable_from", "shortest_path"]

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from everpath.paths.hop_graph import HopGraph


class Distance(NamedTuple):
    """Number of hops to the nearest goal, and the next entry on that path (the goal itself at a goal)."""

    hops: int
    next: str


def distances(
    hop_graph: HopGraph, goals: Collection[str], without: Collection[str] = frozenset()
) -> Mapping[str, Distance]:
    """Return the distance of every version from which a goal can be reached.

    Of several next entries the newest is chosen. Entries in `without` are not passed. The search goes back
    from the goals, one hop at a time, and visits each version of a range once: O((entries + named edges) ·
    log n).
    """
    found = {goal: Distance(0, goal) for goal in goals}
    unvisited = _Unvisited(hop_graph, {*goals, *without})
    layer, hops = list(goals), 0
    while layer:
        hops += 1
        reached = []
        for end in sorted(layer, key=hop_graph.rank.__getitem__):
            for start in unvisited.visit_predecessors(end):
                found[start] = Distance(hops, end)
                reached.append(start)
        layer = reached
    return found


def shortest_path(
    hop_graph: HopGraph, start: str, goals: Collection[str], without: Collection[str] = frozenset()
) -> tuple[str, ...] | None:
    """Return a shortest path to one of the goals that avoids `without`; of several, by newer entries."""
    found = distances(hop_graph, goals, without)
    if start not in found or start in without:
        return None
    path = [start]
    while path[-1] not in goals:
        path.append(found[path[-1]].next)
    return tuple(path)


def hops_onto(hop_graph: HopGraph, ends: Collection[str]) -> Mapping[str, str]:
    """Return the versions with a hop to one of `ends`, each with the end. Cost as `distances`."""
    found: dict[str, str] = {}
    unvisited = _Unvisited(hop_graph, ())
    for end in ends:
        for start in unvisited.visit_predecessors(end):
            # A range may contain its own entry, which is then visited although it is no hop.
            other = end if start != end else next((e for e in hop_graph.successors(start) if e in ends), None)
            if other is not None:
                found[start] = other
    return found


def reachable_from(hop_graph: HopGraph, starts: Iterable[str]) -> Collection[str]:
    """Return all versions that can be reached from `starts`, including these. Cost: the hops from there."""
    reached = set(starts)
    waiting = list(reached)
    while waiting:
        new = [name for name in hop_graph.successors(waiting.pop()) if name not in reached]
        reached.update(new)
        waiting += new
    return reached


class _Unvisited:
    """The versions that a search has not visited; visited runs are skipped by union-find."""

    def __init__(self, hop_graph: HopGraph, visited: Collection[str]) -> None:
        self._hop_graph = hop_graph
        self._visited = set(visited)
        self._next = list(range(len(hop_graph.by_version) + 1))

    def visit_predecessors(self, end: str) -> Iterator[str]:
        """Yield the unvisited versions with a hop to `end`, and mark them as visited."""
        predecessors = self._hop_graph.predecessors.get(end)
        if predecessors is None:
            return
        for start in predecessors.named:
            yield from self._visit(start)
        for low, high in predecessors.runs:
            position = self._first_unvisited(low)
            while position < high:
                self._next[position] = position + 1
                yield from self._visit(self._hop_graph.by_version[position])
                position = self._first_unvisited(position)

    def _visit(self, name: str) -> Iterator[str]:
        if name not in self._visited:
            self._visited.add(name)
            yield name

    def _first_unvisited(self, position: int) -> int:
        passed = []
        while self._next[position] != position:
            passed.append(position)
            position = self._next[position]
        for each in passed:
            self._next[each] = position
        return position
