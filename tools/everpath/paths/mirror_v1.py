"""The smallest mirror for OLM v1: for everyone somebody who accepts them and ranks before them.

OLM v1 knows no chain. Nobody is led astray by what is missing, and whoever can go up in the ranking does, so
that a mirror serves everybody if it has one of those who accept each of them: the search for a smallest set
that meets one of each group (`cover`).

Whoever runs what is not kept is also taken over by another bundle of that version, which needs no edge. Which
of several equal ones OLM v1 takes is chance: all that are kept lead on, so that nobody is lost by any choice.
"""

from __future__ import annotations

__all__ = ["mirror_v1"]

from collections.abc import Iterable, Iterator, Mapping, Sequence

from everpath.graph import ChannelGraph
from everpath.paths.hop_graph import arrivals_v1, hops_of, newest_first
from everpath.paths.mirror import Kept, Mirror, arriving, kept_in, wanted, whole
from everpath.paths.set_cover import smallest_cover
from everpath.resolvers import olm_v1
from everpath.versions import Version


def mirror_v1(graphs: Sequence[ChannelGraph], since: Version | None = None) -> Mirror:
    """The smallest mirror of some channels, for everybody or for those from a version on.

    Served are all who can come to where one arrives by going up in the ranking; what is kept must be able to
    as well. Cost: the named edges and ranges, entries² bits, and the search of `smallest_cover`.
    """
    versions = {name: version for graph in graphs for name, version in graph.versions.items()}
    names = newest_first({name for graph in graphs for name in graph.entries}, versions)
    bits = {name: 1 << i for i, name in enumerate(names)}
    climbs = [_Climb(graph, bits, since) for graph in graphs]
    demands = (demand for climb in climbs for demand in climb.demands())
    cover = smallest_cover(demands, _implied(climbs, bits))
    channels = tuple(climb.judged(cover.members) for climb in climbs)
    uncut = {name for kept in channels if not kept.goals for name in kept.entries}
    kept = tuple(name for name in names if cover.members & bits[name] or name in uncut)
    return Mirror("v1", channels, kept, len(names), max(cover.at_least, len(uncut)))


class _Climb:
    """One channel as OLM v1 sees it: who can be brought to where one arrives, and by whom."""

    def __init__(self, graph: ChannelGraph, bits: Mapping[str, int], since: Version | None) -> None:
        self._graph, self._bits = graph, bits
        self._goals = arrivals_v1(graph)
        self._wanted = wanted(graph, since)
        self._equals = _equals(graph, bits)
        self._climbing = 0
        #: For everyone who can be brought there: those who do the next hop of it.
        self._accepting = dict(self._accepted())

    def _accepted(self) -> Iterator[tuple[str, int]]:
        """From the first of the ranking down, so that only those are asked who rank before and climb."""
        standings, covering = olm_v1.sort_keys(self._graph), self._covering()
        unranked = (name for name in self._graph.entries if name not in standings)
        for name in (*standings, *unranked):
            named = (edge.successor for edge in self._graph.named_edges(name))
            accepting = _mask(self._bits, set(named)) | covering.get(name, 0)
            if name in standings and not standings[name][0]:
                # Another of that version that is not deprecated is taken without an edge.
                accepting |= self._equals.get((True, *standings[name][1:]), 0)
            accepting &= self._climbing
            if accepting or name in self._goals:
                self._climbing |= self._bits[name] if name in standings else 0
                yield name, accepting

    def _covering(self) -> Mapping[str, int]:
        """For every entry those whose range has its version: a sweep over the versions."""
        turns: dict[int, int] = {}
        for name, span in self._graph.ranges.items():
            for turn in (
                turn for run in span.intervals.index_ranges(self._graph.sorted_versions) for turn in run
            ):
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
        """For everyone served those of whom one must be kept, and of every goal it or an equal one."""
        for name in self._served.union(self._goals):
            yield self._serving(name)

    def _serving(self, name: str) -> int:
        """Who brings somebody on that is not kept, or is kept in the place of a goal."""
        standing = olm_v1.sort_keys(self._graph).get(name)
        equal = self._equals.get(standing, 0) & self._climbing if standing is not None else 0
        if name in self._goals:
            return equal & _mask(self._bits, self._goals)
        return self._accepting[name] | equal & ~self._bits[name]

    def implied(self) -> Iterator[tuple[str, int]]:
        """Of whom one must be kept beside an entry, if that is kept."""
        for name, accepting in self._accepting.items():
            if name not in self._goals:
                yield name, accepting

    def judged(self, members: int) -> Kept:
        """What is kept, if OLM v1 itself then brings there whom it should; else the whole channel."""
        kept = self._kept(members)
        everyone = {name: self._graph.versions.get(name) for name in self._graph.entries}
        hops = hops_of(kept_in(self._graph, kept.entries), "v1", everyone)
        if self._goals and arriving(hops, self._goals).issuperset(kept.served):
            return kept
        return whole(self._graph, self._wanted)

    def _kept(self, members: int) -> Kept:
        versions, here = self._graph.versions, members & self._climbing
        entries = [name for name in self._accepting if self._bits[name] & here]
        alone: dict[int, list[str]] = {}
        for name in newest_first(self._served.union(entries), versions):
            by = (self._accepting[name] if self._bits[name] & here else self._serving(name)) & here
            if by.bit_count() == 1:
                alone.setdefault(by, []).append(name)
        needed_by = {name: tuple(alone[bit]) for name in entries if (bit := self._bits[name]) in alone}
        return Kept(
            self._graph.name,
            self._goals,
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


def _equals(graph: ChannelGraph, bits: Mapping[str, int]) -> Mapping[tuple[bool, bool, object], int]:
    """Those of equal standing, of whom OLM v1 takes any; what it cannot read is equal to nothing."""
    found: dict[tuple[bool, bool, object], int] = {}
    for name, standing in olm_v1.sort_keys(graph).items():
        if standing[1]:
            found[standing] = found.get(standing, 0) | bits[name]
    return found


def _mask(bits: Mapping[str, int], names: Iterable[str]) -> int:
    return sum(bits[name] for name in names)
