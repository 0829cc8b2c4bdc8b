"""The smallest mirror for OLM v1: for each version a kept entry that accepts it and ranks higher.

OLM v1 needs no chain of `replaces`, and a missing entry changes no other hop for the worse: a version always
goes to the highest entry that accepts it. So a mirror serves all versions if it contains one of the accepting
entries of each: a minimum hitting set (`set_cover`).

A version that is not kept can also be replaced by another bundle of the same version, without an edge. Which
of several bundles with the same version OLM v1 installs is not defined. All that are kept lead on to a goal,
so any choice works.
"""

from __future__ import annotations

__all__ = ["mirror_v1"]

from collections.abc import Iterable, Iterator, Mapping, Sequence

from everpath.graph import ChannelGraph
from everpath.paths.mirror import (
    Mirror,
    MirroredChannel,
    entries_to_serve,
    reaching,
    reduced_channel,
    whole_channel,
)
from everpath.paths.resolver_hops import arrivals_v1, newest_first, next_hops
from everpath.paths.set_cover import smallest_cover
from everpath.resolvers import olm_v1
from everpath.versions import Version


def mirror_v1(graphs: Sequence[ChannelGraph], since: Version | None = None) -> Mirror:
    """Return the smallest mirror of some channels, for all versions or those from `since` on.

    Served are all versions that can reach an arrival by ascending in the ranking; kept entries must be able
    to as well. Cost: the named edges and ranges, entries² bits, and the search of `smallest_cover`.
    """
    versions = {name: version for graph in graphs for name, version in graph.versions.items()}
    names = newest_first({name for graph in graphs for name in graph.entries}, versions)
    bits = {name: 1 << i for i, name in enumerate(names)}
    searches = [_ChannelSearch(graph, bits, since) for graph in graphs]
    implied: dict[int, list[int]] = {}
    for search in searches:
        for name, accepting in search.implied_sets():
            implied.setdefault(bits[name], []).append(accepting)
    required = (each for search in searches for each in search.required_sets())
    cover = smallest_cover(required, implied)
    channels = tuple(search.mirrored_channel(cover.members) for search in searches)
    unreduced = {name for channel in channels if not channel.goals for name in channel.entries}
    kept = tuple(name for name in names if cover.members & bits[name] or name in unreduced)
    return Mirror("v1", channels, kept, len(names), max(cover.at_least, len(unreduced)))


class _ChannelSearch:
    """One channel under OLM v1: the versions that can reach an arrival, and the entries that accept them.

    Sets of entries are integers; each entry has one bit.
    """

    def __init__(self, graph: ChannelGraph, bits: Mapping[str, int], since: Version | None) -> None:
        self._graph, self._bits = graph, bits
        self._goals = arrivals_v1(graph)
        self._wanted = entries_to_serve(graph, since)
        self._equals = _equal_entries(graph, bits)
        #: Entries with a bundle that can reach a goal.
        self._ascending = 0
        #: For each version that can reach a goal: the entries of which one must be the next hop.
        self._accepting = dict(self._find_accepting())

    def _find_accepting(self) -> Iterator[tuple[str, int]]:
        """Go down the ranking, so that the higher entries that can reach a goal are known."""
        sort_keys, covering = olm_v1.sort_keys(self._graph), self._covering_entries()
        unranked = (name for name in self._graph.entries if name not in sort_keys)
        for name in (*sort_keys, *unranked):
            named = (edge.successor for edge in self._graph.named_edges(name))
            accepting = _bit_set(self._bits, set(named)) | covering.get(name, 0)
            if name in sort_keys and not sort_keys[name][0]:
                # A bundle of the same version that is not deprecated is installed without an edge.
                accepting |= self._equals.get((True, *sort_keys[name][1:]), 0)
            accepting &= self._ascending
            if accepting or name in self._goals:
                self._ascending |= self._bits[name] if name in sort_keys else 0
                yield name, accepting

    def _covering_entries(self) -> Mapping[str, int]:
        """Return for each version the entries whose range contains it, by a sweep over sorted versions."""
        toggles: dict[int, int] = {}
        for name, skip_range in self._graph.ranges.items():
            for run in skip_range.intervals.index_ranges(self._graph.sorted_versions):
                for position in run:
                    toggles[position] = toggles.get(position, 0) ^ self._bits[name]
        found, current = {}, 0
        for position, name in enumerate(self._graph.by_version):
            current ^= toggles.get(position, 0)
            found[name] = current
        return found

    @property
    def _served_versions(self) -> set[str]:
        return self._wanted & self._accepting.keys()

    def required_sets(self) -> Iterator[int]:
        """Yield for each served version, and for each goal, the entries of which one must be kept."""
        for name in self._served_versions.union(self._goals):
            yield self._entries_serving(name)

    def _entries_serving(self, name: str) -> int:
        """Return the entries that a version which is not kept is upgraded to; for a goal, its equals."""
        sort_key = olm_v1.sort_keys(self._graph).get(name)
        equal = self._equals.get(sort_key, 0) & self._ascending if sort_key is not None else 0
        if name in self._goals:
            return equal & _bit_set(self._bits, self._goals)
        return self._accepting[name] | equal & ~self._bits[name]

    def implied_sets(self) -> Iterator[tuple[str, int]]:
        """Yield for each entry the entries of which one must be kept if it is kept itself."""
        for name, accepting in self._accepting.items():
            if name not in self._goals:
                yield name, accepting

    def mirrored_channel(self, members: int) -> MirroredChannel:
        """Return the reduced channel if the resolver confirms that it works, else the whole channel."""
        channel = self._reduced_channel(members)
        installed = {name: self._graph.versions.get(name) for name in self._graph.entries}
        hops = next_hops(reduced_channel(self._graph, channel.entries), "v1", installed)
        if self._goals and reaching(hops, self._goals).issuperset(channel.served):
            return channel
        return whole_channel(self._graph, self._wanted)

    def _reduced_channel(self, members: int) -> MirroredChannel:
        versions, kept = self._graph.versions, members & self._ascending
        entries = [name for name in self._accepting if self._bits[name] & kept]
        served_alone: dict[int, list[str]] = {}
        for name in newest_first(self._served_versions.union(entries), versions):
            is_kept = self._bits[name] & kept
            by = (self._accepting[name] if is_kept else self._entries_serving(name)) & kept
            if by.bit_count() == 1:
                served_alone.setdefault(by, []).append(name)
        needed_by = {
            name: tuple(served_alone[bit]) for name in entries if (bit := self._bits[name]) in served_alone
        }
        return MirroredChannel(
            self._graph.name,
            self._goals,
            len(self._graph.entries),
            entries=tuple(newest_first(entries, versions)),
            served=tuple(newest_first(self._served_versions, versions)),
            cut_off=tuple(newest_first(self._wanted - self._accepting.keys(), versions)),
            needed_by=needed_by,
        )


def _equal_entries(graph: ChannelGraph, bits: Mapping[str, int]) -> Mapping[tuple[bool, bool, object], int]:
    """Group entries between which OLM v1 does not distinguish; an invalid version is equal to nothing."""
    found: dict[tuple[bool, bool, object], int] = {}
    for name, sort_key in olm_v1.sort_keys(graph).items():
        if sort_key[1]:
            found[sort_key] = found.get(sort_key, 0) | bits[name]
    return found


def _bit_set(bits: Mapping[str, int], names: Iterable[str]) -> int:
    return sum(bits[name] for name in names)
