"""Number of upgrade paths to a goal, the longest of them, and paths in order of length.

A path visits no entry twice and ends at its goal. Paths are counted, not enumerated: the count of an entry is
the sum of the counts of its successors, so a channel with 2^998 paths costs its edges. Inside a loop the
count depends on the entries visited before. Loops of up to `MOST_IN_LOOP` entries are counted exactly; in
larger ones only paths that ascend inside the loop are counted, and the count is marked as a lower bound.
"""

from __future__ import annotations

__all__ = ["MOST_IN_LOOP", "PathCount", "longest_path", "loops", "path_counts", "paths_by_length"]

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from everpath.paths.hop_graph import HopGraph
from everpath.paths.reachability import Distance, distances
from everpath.scc import strongly_connected_components

#: Largest loop with exact counts: 12 · 2^11 sets of entries are visited.
MOST_IN_LOOP: Final = 12


class PathCount(NamedTuple):
    """The paths from one entry to the goal.

    `longest_start` is the start of a longest path, without the entry; the path continues with that of its
    last entry. If not exact, there are more paths, and there may be longer ones.
    """

    paths: int
    shortest: int
    longest: int
    longest_start: tuple[str, ...]
    is_exact: bool = True


def loops(hop_graph: HopGraph) -> tuple[tuple[str, ...], ...]:
    """Return groups of entries that can reach one another, each newest first, the newest group first."""
    if hop_graph.is_ascending:
        return ()
    successors = {name: hop_graph.successors(name) for name in hop_graph.rank}
    groups = (group for group in strongly_connected_components(successors) if len(group) > 1)
    ordered = (tuple(sorted(group, key=hop_graph.rank.__getitem__)) for group in groups)
    return tuple(sorted(ordered, key=lambda group: hop_graph.rank[group[0]]))


def path_counts(hop_graph: HopGraph, goal: str) -> Mapping[str, PathCount]:
    """Return the count of every entry that has a path to the goal.

    O((entries + named edges) · log n) if all hops ascend; otherwise O(edges), plus the loops.
    """
    shortest = distances(hop_graph, (goal,))
    if hop_graph.is_ascending:
        return _ascending_counts(hop_graph, goal, shortest)
    successors = _successors_towards(hop_graph, goal, shortest)
    counts = {goal: PathCount(1, 0, 0, ())}
    for group in strongly_connected_components(successors):
        if len(group) == 1:
            [name] = group
            if name != goal:
                counts[name] = _sum_of_successors(successors[name], counts, shortest[name].hops)
        elif len(group) <= MOST_IN_LOOP:
            counts.update(_LoopCounter(group, successors, counts, shortest).counts())
        else:
            counts.update(_counts_in_large_loop(hop_graph, group, successors, counts, shortest))
    return counts


def longest_path(counts: Mapping[str, PathCount], start: str) -> tuple[str, ...]:
    """Return a longest path from an entry that has one."""
    path = [start]
    while more := counts[path[-1]].longest_start:
        path += more
    return tuple(path)


def _successors_towards(
    hop_graph: HopGraph, goal: str, names: Collection[str]
) -> Mapping[str, Sequence[str]]:
    """Return the hops between entries that can reach the goal; the goal itself has none."""
    return {name: [n for n in hop_graph.successors(name) if n in names and name != goal] for name in names}


def _sum_of_successors(
    successors: Sequence[str], counts: Mapping[str, PathCount], shortest: int
) -> PathCount:
    following = [(name, counts[name]) for name in successors]
    best, its = max(following, key=lambda pair: pair[1].longest)
    return PathCount(
        sum(count.paths for _, count in following),
        shortest,
        its.longest + 1,
        (best,),
        all(count.is_exact for _, count in following),
    )


class _LoopCounter:
    """Counts the paths through a small loop, for each set of entries visited before."""

    def __init__(
        self,
        group: Sequence[str],
        successors: Mapping[str, Sequence[str]],
        counts: Mapping[str, PathCount],
        shortest: Mapping[str, Distance],
    ) -> None:
        self._bits = {name: 1 << i for i, name in enumerate(group)}
        self._inside = {name: [n for n in successors[name] if n in self._bits] for name in group}
        self._outside = {name: [n for n in successors[name] if n not in self._bits] for name in group}
        self._counts, self._shortest = counts, shortest
        self._known: dict[tuple[str, int], tuple[int, int, tuple[str, ...]]] = {}
        self._is_exact = all(counts[n].is_exact for outside in self._outside.values() for n in outside)

    def counts(self) -> Iterator[tuple[str, PathCount]]:
        for name, bit in self._bits.items():
            paths, longest, start = self._paths_from(name, bit)
            yield name, PathCount(paths, self._shortest[name].hops, longest, start, self._is_exact)

    def _paths_from(self, name: str, visited: int) -> tuple[int, int, tuple[str, ...]]:
        """Return the number of paths that avoid visited entries, the longest length and its first entries."""
        known = self._known.get((name, visited))
        if known is not None:
            return known
        paths, longest, start = 0, -1, tuple[str, ...]()
        for following in self._outside[name]:
            count = self._counts[following]
            paths += count.paths
            if count.longest + 1 > longest:
                longest, start = count.longest + 1, (following,)
        for following in self._inside[name]:
            if not visited & (bit := self._bits[following]):
                more, length, rest = self._paths_from(following, visited | bit)
                paths += more
                if more and length + 1 > longest:
                    longest, start = length + 1, (following, *rest)
        self._known[name, visited] = paths, longest, start
        return paths, longest, start


def _counts_in_large_loop(
    hop_graph: HopGraph,
    group: Sequence[str],
    successors: Mapping[str, Sequence[str]],
    counts: Mapping[str, PathCount],
    shortest: Mapping[str, Distance],
) -> Iterator[tuple[str, PathCount]]:
    """Count only the paths that ascend inside the loop; an entry without one has its shortest path."""
    members, rank, ascending = set(group), hop_graph.rank, dict[str, PathCount]()
    for name in sorted(group, key=rank.__getitem__):
        inside = [n for n in successors[name] if n in ascending and rank[n] < rank[name]]
        outside = [n for n in successors[name] if n not in members]
        if inside or outside:
            known = {n: counts[n] for n in outside} | {n: ascending[n] for n in inside}
            count = _sum_of_successors(list(known), known, shortest[name].hops)
            ascending[name] = count._replace(is_exact=False)
            yield name, ascending[name]
        else:
            path, here = [], name
            while shortest[here].hops:
                here = shortest[here].next
                path.append(here)
            yield name, PathCount(1, len(path), len(path), tuple(path), is_exact=False)


def _ascending_counts(
    hop_graph: HopGraph, goal: str, shortest: Mapping[str, Distance]
) -> Mapping[str, PathCount]:
    """Count from the newest entry down; each adds its count to all versions of its ranges at once."""
    counts: dict[str, PathCount] = {}
    tree = _RangeSums(hop_graph)
    for name in hop_graph.rank:
        if name in shortest:
            paths, longest, start = (1, 0, ()) if name == goal else tree.total(name)
            counts[name] = PathCount(paths, shortest[name].hops, longest, start)
            tree.add_to_predecessors(name, counts[name])
    return counts


#: A candidate for the longest path, the best lowest: minus its hops, the rank of its next entry, its name.
_Longest = tuple[int, int, str]


class _RangeSums:
    """Segment tree over `by_version`: adds a count to a run of versions, and sums up what one version got."""

    def __init__(self, hop_graph: HopGraph) -> None:
        self._hop_graph = hop_graph
        self._size = len(hop_graph.by_version)
        self._paths = [0] * (2 * self._size)
        self._longest: list[_Longest | None] = [None] * (2 * self._size)
        self._named: dict[str, list[tuple[int, _Longest]]] = {}

    def add_to_predecessors(self, name: str, count: PathCount) -> None:
        longest = (-count.longest - 1, self._hop_graph.rank[name], name)
        predecessors = self._hop_graph.predecessors.get(name)
        if predecessors is None:
            return
        for start in predecessors.named:
            self._named.setdefault(start, []).append((count.paths, longest))
        for node in (node for low, high in predecessors.runs for node in self._nodes(low, high)):
            self._paths[node] += count.paths
            self._longest[node] = min(self._longest[node] or longest, longest)

    def _nodes(self, low: int, high: int) -> Iterator[int]:
        """Yield the fewest nodes that cover exactly these positions."""
        low, high = low + self._size, high + self._size
        while low < high:
            if low & 1:
                yield low
                low += 1
            if high & 1:
                high -= 1
                yield high
            low, high = low // 2, high // 2

    def total(self, name: str) -> tuple[int, int, tuple[str, ...]]:
        """Return number of paths, longest length and next entry. At least one count must have been added."""
        named = self._named.get(name, [])
        paths, candidates = sum(count for count, _ in named), [longest for _, longest in named]
        node = self._hop_graph.position.get(name, -self._size) + self._size
        while node:
            paths += self._paths[node]
            if (longest := self._longest[node]) is not None:
                candidates.append(longest)
            node //= 2
        hops, _, following = min(candidates)
        return paths, -hops, (following,)


#: Continuations of a path, the best first: hops left from the entry, its rank, its name.
_Choices = list[tuple[int, int, str]]


def paths_by_length(hop_graph: HopGraph, start: str, goal: str) -> Iterator[tuple[str, ...]]:
    """Yield the paths between two entries, shortest first, of equal length those by newer entries first.

    Each costs O(its length · log n) and, if there are loops, O(its length · all edges). The continuations of
    an entry are sorted once, and only the next best of them waits in the heap.
    """
    ideal = distances(hop_graph, (goal,))
    if start not in ideal:
        return
    has_loops = not hop_graph.is_ascending and any(
        len(group) > 1 for group in strongly_connected_components(_successors_towards(hop_graph, goal, ideal))
    )
    rank = hop_graph.rank
    known: dict[str, _Choices] = {}

    def continuations(path: tuple[str, ...]) -> _Choices:
        here = path[-1]
        # Only in a loop does the distance to the goal depend on the entries visited before.
        if has_loops or here not in known:
            left = distances(hop_graph, (goal,), path) if has_loops else ideal
            known[here] = sorted(
                (left[end].hops, rank[end], end) for end in hop_graph.successors(here) if end in left
            )
        return known[here]

    # Total length, ranks of the entries, the path, the choices at its last hop, and the index chosen.
    waiting: list[tuple[int, tuple[int, ...], tuple[str, ...], _Choices, int]] = []

    def push(prefix: tuple[str, ...], ranks: tuple[int, ...], choices: _Choices, index: int) -> None:
        if index < len(choices):
            left, its_rank, end = choices[index]
            entry = (len(prefix) + left, (*ranks, its_rank), (*prefix, end), choices, index)
            heapq.heappush(waiting, entry)

    push((), (), [(ideal[start].hops, rank[start], start)], 0)
    while waiting:
        _, ranks, path, choices, index = heapq.heappop(waiting)
        push(path[:-1], ranks[:-1], choices, index + 1)
        if path[-1] == goal:
            yield path
        else:
            push(path, ranks, continuations(path), 0)
