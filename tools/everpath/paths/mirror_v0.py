"""The smallest mirror for OLM v0: the shortest section of the replaces chain that serves all versions.

OLM v0 needs one chain of `replaces`. An entry whose replacer is missing is a second head, and the channel is
not resolved. So the entries that can be installed are a section of the chain from the head down, including
skipped ones, long enough to contain an entry that accepts each version. Entries outside of the chain are
never installed. One may still be needed because it skips an entry of the section that leads to a dead end.
"""

from __future__ import annotations

__all__ = ["MOST_TRIALS", "mirror_v0"]

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from everpath.graph import ChannelGraph
from everpath.paths.mirror import (
    Mirror,
    MirroredChannel,
    entries_to_serve,
    reaching,
    reduced_channel,
    whole_channel,
)
from everpath.paths.resolver_hops import newest_first, next_hops
from everpath.resolvers import olm_v0
from everpath.upgrade_path.next_hops import next_hops_v0
from everpath.versions import Version

#: Candidates with entries outside of the chain that are tried before the search settles for a larger mirror.
MOST_TRIALS: Final = 500


class _Result(NamedTuple):
    """The mirrored channel, the entries that every mirror needs, and the smallest possible size."""

    channel: MirroredChannel
    required_entries: frozenset[str] = frozenset()
    at_least: int = 0


def mirror_v0(graphs: Sequence[ChannelGraph], since: Version | None = None) -> Mirror:
    """Return the smallest mirror of some channels, for all versions or those from `since` on.

    Cost: usually one resolution of each channel, for the first section that has an entry for each version.
    """
    results = [_mirror_channel(graph, since) for graph in graphs]
    versions = {name: version for graph in graphs for name, version in graph.versions.items()}
    bundles = newest_first({name for each in results for name in each.channel.entries}, versions)
    required = {name for each in results for name in each.required_entries}
    at_least = max([len(required), *(each.at_least for each in results)], default=0)
    total = len({name for graph in graphs for name in graph.entries})
    return Mirror("v0", tuple(each.channel for each in results), tuple(bundles), total, at_least)


def _mirror_channel(graph: ChannelGraph, since: Version | None) -> _Result:
    goal, wanted = graph.head, entries_to_serve(graph, since)
    if goal is None or next_hops_v0(graph).failures or goal in olm_v0.uninstallable(graph):
        return _Result(whole_channel(graph, wanted), frozenset(graph.entries))
    search = _ChainSearch(graph, goal, since)
    names, at_least = search.smallest()
    in_order = set(olm_v0.sort_channel(graph).chain)
    offered = [n for n in olm_v0.sort_channel(reduced_channel(graph, names)).chain if n not in in_order]
    channel = MirroredChannel(
        graph.name,
        (goal,),
        len(graph.entries),
        entries=_newest(graph, names),
        served=_newest(graph, search.served),
        cut_off=_newest(graph, wanted - search.served),
        needed_by={
            name: _newest(graph, search.versions_cut_off_by(names - {name}))
            for name in search.removable(names)
        },
        offered=tuple(offered),
    )
    return _Result(channel, search.required_entries, at_least)


def _newest(graph: ChannelGraph, names: Collection[str]) -> tuple[str, ...]:
    return tuple(newest_first(names, graph.versions))


class _ChainSearch:
    """Search for the shortest section of the chain, and for the entries outside of it that are needed."""

    def __init__(self, graph: ChannelGraph, goal: str, since: Version | None) -> None:
        self._graph, self._goal = graph, goal
        self._installed = {name: graph.versions.get(name) for name in graph.entries}
        hops = next_hops(graph, "v0", self._installed)
        self.served = reaching(hops, (goal,)) & entries_to_serve(graph, since)
        self._chain = tuple(_replaces_chain(graph, goal))
        self._least = self._shortest_accepting_section()

    @property
    def required_entries(self) -> frozenset[str]:
        """The section without which no installable entry accepts some version."""
        return frozenset(self._chain[: self._least])

    def versions_cut_off_by(self, names: Collection[str]) -> set[str]:
        """Return the served versions that no longer reach the goal if only `names` are kept."""
        hops = next_hops(reduced_channel(self._graph, names), "v0", self._installed)
        return self.served - (reaching(hops, (self._goal,)) if self._goal in names else set())

    def removable(self, names: frozenset[str]) -> Iterator[str]:
        """Yield the entries that can be removed without breaking the chain: its end, and all outside."""
        chain = frozenset(self._chain)
        section = [name for name in self._chain if name in names]
        yield from section[1:][-1:]
        yield from (name for name in _newest(self._graph, names) if name not in chain)

    def smallest(self) -> tuple[frozenset[str], int]:
        """Return the smallest set found, and the size that no set is smaller than."""
        outside, trials = self._useful_outside_chain(), MOST_TRIALS
        for size in range(self._least, len(self._graph.entries) + 1):
            for names in self._candidates(size, outside):
                if not self.versions_cut_off_by(names):
                    return names, size
                trials -= len(outside) > 0
                if trials <= 0:
                    return self._shortest_section(size), size
        raise AssertionError("the whole channel serves all served versions")

    def _candidates(self, size: int, outside: Sequence[str]) -> Iterator[frozenset[str]]:
        for length in range(min(size, len(self._chain)), self._least - 1, -1):
            for others in combinations(outside, size - length):
                yield frozenset((*self._chain[:length], *others))

    def _shortest_section(self, size: int) -> frozenset[str]:
        """Return the shortest section that works alone; if none does, the whole channel."""
        sections = (frozenset(self._chain[:length]) for length in range(size, len(self._chain) + 1))
        return next(
            (names for names in sections if not self.versions_cut_off_by(names)),
            frozenset(self._graph.entries),
        )

    def _shortest_accepting_section(self) -> int:
        """Return the length of the section that has an accepting entry for each version. O(edges · log n)."""
        index = {name: i for i, name in enumerate(self._chain)}
        best = self._graph.best_successors(index)
        lengths = [1]
        for name in self.served - {self._goal}:
            if best[name] != name:
                lengths.append(1 + index[best[name]])
            else:  # the range of the entry contains itself
                accepting = (edge.successor for edge in self._graph.successors(name))
                lengths.append(1 + min(index[by] for by in accepting if by in index and by != name))
        return max(lengths)

    def _useful_outside_chain(self) -> tuple[str, ...]:
        """Return entries outside of the chain that skip one of it, and those that replace or skip these."""
        graph, chain = self._graph, frozenset(self._chain)
        useful = {name for name, skips in graph.skips.items() if name not in chain and skips & chain}
        waiting = list(useful)
        while waiting:
            name = waiting.pop()
            for above in (*graph.replacers.get(name, ()), *graph.skippers.get(name, ())):
                if above not in chain and above not in useful:
                    useful.add(above)
                    waiting.append(above)
        return _newest(graph, useful)


def _replaces_chain(graph: ChannelGraph, head: str) -> Iterator[str]:
    """Yield the head and what it replaces, including skipped entries. There is no cycle: v0 resolves it."""
    name: str | None = head
    while name is not None and name in graph.entries:
        yield name
        name = graph.entries[name].replaces
