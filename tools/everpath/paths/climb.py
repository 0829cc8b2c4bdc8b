"""The smallest mirror for OLM v1: for everyone somebody who accepts them and ranks before them.

OLM v1 knows no chain. Nobody is led astray by what is missing, and whoever can go up in the ranking does, so
that a mirror serves everybody if it has one of those who accept each of them: the search for a smallest set
that meets one of each group (`cover`).
"""

from __future__ import annotations

__all__ = ["mirror_v1"]

from collections.abc import Iterable, Iterator, Mapping, Sequence

from everpath.graph import ChannelGraph
from everpath.paths.cover import smallest_cover
from everpath.paths.mirror import Kept, Mirror, arriving, kept_in, wanted, whole
from everpath.paths.network import fresh_v1, hops_of, newest_first
from everpath.policies import olm_v1
from everpath.versions import Version


def mirror_v1(graphs: Sequence[ChannelGraph], since: Version | None = None) -> Mirror:
    """The smallest mirror of some channels, for everybody or for those from a version on.

    Served are all who can come to the first of the ranking by going up in it; what is kept must be able to as
    well. Cost: the named edges and ranges, entries² bits, and the search of `smallest_cover`.
    """
    versions = {name: version for graph in graphs for name, version in graph.versions.items()}
    names = newest_first({name for graph in graphs for name in graph.entries}, versions)
    bits = {name: 1 << i for i, name in enumerate(names)}
    climbs = [_Climb(graph, bits, since) for graph in graphs]
    demands = (demand for climb in climbs for demand in climb.demands())
    cover = smallest_cover(demands, _implied(climbs, bits))
    channels = tuple(climb.judged(cover.members) for climb in climbs)
    uncut = {name for kept in channels if kept.goal is None for name in kept.entries}
    kept = tuple(name for name in names if cover.members & bits[name] or name in uncut)
    return Mirror("v1", channels, kept, len(names), max(cover.at_least, len(uncut)))


class _Climb:
    """One channel as OLM v1 sees it: who can be brought to the top of the ranking, and by whom."""

    def __init__(self, graph: ChannelGraph, bits: Mapping[str, int], since: Version | None) -> None:
        self._graph, self._bits = graph, bits
        first = fresh_v1(graph)
        # Of two channels of one name OLM v1 may go by the other.
        self._goal = first if first in graph.entries else None
        self._wanted = wanted(graph, since)
        self._climbing = 0
        #: For everyone who can be brought to the top: those who do the next hop of it.
        self._accepting = dict(self._accepted())

    def _accepted(self) -> Iterator[tuple[str, int]]:
        """From the first of the ranking down, so that only those are asked who rank before and climb."""
        ranking, covering = olm_v1.ranking(self._graph), self._covering()
        unranked = (name for name in self._graph.entries if name not in ranking)
        for name in (*ranking, *unranked):
            named = (edge.successor for edge in self._graph.named_edges(name))
            accepting = (_mask(self._bits, set(named)) | covering.get(name, 0)) & self._climbing
            if accepting or name == self._goal:
                self._climbing |= self._bits[name] if name in ranking else 0
                yield name, accepting

    def _covering(self) -> Mapping[str, int]:
        """For every entry those whose range has its version: a sweep over the versions."""
        turns: dict[int, int] = {}
        for name, span in self._graph.ranges.items():
            for turn in (turn for run in span.intervals.spans(self._graph.sorted_versions) for turn in run):
                turns[turn] = turns.get(turn, 0) ^ self._bits[name]
        found, running = {}, 0
        for position, name in enumerate(self._graph.by_version):
            running ^= turns.get(position, 0)
            found[name] = running
        return found

    @property
    def _served(self) -> set[str]:
        return self._wanted & self._accepting.keys()

    def demands(self) -> Iterator[int]:
        """For everyone served those of whom one must be kept, and the goal."""
        yield from (self._accepting[name] for name in self._served - {self._goal})
        if self._goal is not None:
            yield self._bits[self._goal]

    def implied(self) -> Iterator[tuple[str, int]]:
        """Of whom one must be kept beside an entry that need not be served, if that is kept."""
        for name, accepting in self._accepting.items():
            if name not in self._wanted and name != self._goal:
                yield name, accepting

    def judged(self, members: int) -> Kept:
        """What is kept, if OLM v1 itself then brings there whom it should; else the whole channel."""
        kept = self._kept(members)
        everyone = {name: self._graph.versions.get(name) for name in self._graph.entries}
        hops = hops_of(kept_in(self._graph, kept.entries), "v1", everyone)
        if self._goal is not None and arriving(hops, self._goal).issuperset(kept.served):
            return kept
        return whole(self._graph, self._wanted)

    def _kept(self, members: int) -> Kept:
        versions, here = self._graph.versions, members & self._climbing
        entries = [name for name in self._accepting if self._bits[name] & here]
        alone: dict[int, list[str]] = {}
        for name in newest_first(self._served.union(entries), versions):
            if (by := self._accepting[name] & here).bit_count() == 1:
                alone.setdefault(by, []).append(name)
        needed_by = {name: tuple(alone[bit]) for name in entries if (bit := self._bits[name]) in alone}
        return Kept(
            self._graph.name,
            self._goal,
            len(self._graph.entries),
            entries=tuple(newest_first(entries, versions)),
            served=tuple(newest_first(self._served, versions)),
            cut_off=tuple(newest_first(self._wanted - self._accepting.keys(), versions)),
            needed_by=needed_by,
        )


def _implied(climbs: Iterable[_Climb], bits: Mapping[str, int]) -> Mapping[int, Sequence[int]]:
    found: dict[int, list[int]] = {}
    for climb in climbs:
        for name, accepting in climb.implied():
            found.setdefault(bits[name], []).append(accepting)
    return found


def _mask(bits: Mapping[str, int], names: Iterable[str]) -> int:
    return sum(bits[name] for name in names)
