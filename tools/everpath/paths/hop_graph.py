"""The hops between installed versions and the entries of one or more channels."""

from __future__ import annotations

__all__ = ["PATH_RESOLVERS", "Hop", "HopGraph", "PathResolver", "Predecessors", "build_hop_graph"]

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from everpath.graph import ChannelGraph, EdgeKind
from everpath.paths.resolver_hops import (
    effective_channel_v1,
    newest_first,
    resolve_all,
    resolve_all_v1_channels,
)
from everpath.ranges import IntervalSet
from everpath.resolvers import ResolverName, olm_v0, olm_v1
from everpath.resolvers.catalog_candidates import split_repeated_entries
from everpath.resolvers.resolution import InstalledBundle, ResolutionFailure
from everpath.versions import Version

#: `any`: every hop that an edge allows. A cluster makes such a hop after a late approval, with a pinned
#: version, or because the catalog was different at that time.
PathResolver = ResolverName | Literal["any"]
PATH_RESOLVERS: Final[tuple[PathResolver, ...]] = ("any", "v0", "v1")


class Hop(NamedTuple):
    """A hop of any path, the kinds of edge that allow it, and the channels that have these edges."""

    start: str
    end: str
    kinds: tuple[EdgeKind, ...]
    channels: tuple[str, ...]


class Predecessors(NamedTuple):
    """The versions from which a hop leads to an entry.

    `runs` are half-open index ranges in `HopGraph.by_version`. No name is both in `named` and in a run. A run
    may contain the entry itself, which is no hop.
    """

    named: tuple[str, ...] = ()
    runs: tuple[tuple[int, int], ...] = ()


_NO_PREDECESSORS: Final = Predecessors()


@dataclass(frozen=True)
class HopGraph:
    """The hops of one channel, or of several between which a cluster may switch.

    `rank` numbers all versions, the newest 0. Hops are stored at their end: a channel in which every entry
    has a `skipRange` has n² hops, stored as n runs. `channel_failures` are the channels in which OLM v0
    resolves nothing. `failures` are the versions for which the resolver fails; these have no hop. `outside`
    are installed versions that are not entries.
    """

    graphs: tuple[ChannelGraph, ...]
    resolver: PathResolver
    rank: Mapping[str, int]
    versions: Mapping[str, Version]
    predecessors: Mapping[str, Predecessors]
    channel_failures: Mapping[str, ResolutionFailure] = field(default_factory=dict)
    failures: Mapping[str, ResolutionFailure] = field(default_factory=dict)
    outside: Mapping[str, InstalledBundle] = field(default_factory=dict)
    _successors: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    @cached_property
    def by_version(self) -> tuple[str, ...]:
        """Names that have a version, lowest first."""
        return tuple(name for name in reversed(tuple(self.rank)) if name in self.versions)

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Index of each name in `by_version`."""
        return {name: i for i, name in enumerate(self.by_version)}

    def starts(self, end: str) -> Iterator[str]:
        """Yield the versions from which a hop leads to an entry."""
        predecessors = self.predecessors.get(end, _NO_PREDECESSORS)
        yield from predecessors.named
        for low, high in predecessors.runs:
            yield from (name for name in self.by_version[low:high] if name != end)

    def successors(self, start: str) -> tuple[str, ...]:
        """Return the entries that a hop leads to, newest first. Computed from the edges once."""
        if start not in self._successors:
            ends: set[str] = set()
            for graph in self.graphs:
                installable = _installable(graph)
                edges = graph.successors(start, self.versions.get(start))
                ends.update(edge.successor for edge in edges if edge.successor in installable)
            self._successors[start] = tuple(sorted(ends - {start}, key=self.rank.__getitem__))
        return self._successors[start]

    @cached_property
    def is_ascending(self) -> bool:
        """Whether every hop leads to a higher version, so that there are no loops. O(entries · log n)."""
        keys = [self.versions[name].key for name in self.by_version]
        for end, predecessors in self.predecessors.items():
            version = self.versions.get(end)
            if version is None:
                if predecessors != _NO_PREDECESSORS:
                    return False
                continue
            floor, own = bisect_left(keys, version.key), self.position[end]
            above = [(max(low, floor), high) for low, high in predecessors.runs if high > floor]
            if above not in ([], [(own, own + 1)]):
                return False
            named = (self.versions.get(start) for start in predecessors.named)
            if not all(other is None or other < version for other in named):
                return False
        return True

    @cached_property
    def effective_graphs(self) -> tuple[ChannelGraph, ...]:
        """The channels that the resolver uses: of several with the same name, OLM v1 uses the last."""
        return self.graphs if self.resolver != "v1" else tuple(map(effective_channel_v1, self.graphs))

    @cached_property
    def _edge_graphs(self) -> tuple[ChannelGraph, ...]:
        """The same with all edges: of an entry that is declared twice, OLM v1 uses both declarations."""
        if self.resolver != "v1":
            return self.graphs
        return tuple(layer for graph in self.effective_graphs for layer in split_repeated_entries(graph))

    def hops(self, path: Sequence[str]) -> Iterator[Hop]:
        """Yield the hops of a path with their edges. Cost: the named edges of its entries."""
        for start, end in pairwise(path):
            found = [
                (kind, graph.name) for graph in self._edge_graphs for kind in self._kinds(graph, start, end)
            ]
            kinds = {kind for kind, _ in found}
            channels = dict.fromkeys(channel for _, channel in found)
            yield Hop(start, end, tuple(k for k in EdgeKind if k in kinds), tuple(channels))

    def _kinds(self, graph: ChannelGraph, start: str, end: str) -> Iterator[EdgeKind]:
        entry = graph.entries.get(end)
        if entry is None:
            return
        if entry.replaces == start:
            yield EdgeKind.REPLACES
        if start in entry.skips:
            yield EdgeKind.SKIPS
        version, skip_range = self.versions.get(start), graph.ranges.get(end)
        if version is not None and skip_range is not None and version in skip_range.intervals:
            yield EdgeKind.RANGE


def build_hop_graph(
    graphs: Sequence[ChannelGraph], resolver: PathResolver = "any", installed: Iterable[InstalledBundle] = ()
) -> HopGraph:
    """Return the hops of some channels of one package, and of `installed` versions outside of them.

    With several channels a cluster may switch: under v0 by editing the Subscription at any time; under v1 the
    ClusterExtension lists all of them. Cost: the named edges and the ranges, each times log n.
    """
    known = [*graphs, *_same_name_channels(graphs)] if resolver == "v1" else graphs
    versions = {name: version for graph in known for name, version in graph.versions.items()}
    names = dict.fromkeys(name for graph in known for name in graph.entries)
    outside = {each.name: each for each in installed if each.name not in names}
    names |= dict.fromkeys(outside)
    versions |= {name: each.version for name, each in outside.items() if each.version is not None}
    rank = {name: i for i, name in enumerate(newest_first(names, versions))}
    channel_failures = {g.name: f for g in graphs if (f := olm_v0.sort_channel(g).failure) is not None}
    if resolver == "any":
        allowed = _allowed_hops(graphs, rank, versions)
        return HopGraph(tuple(graphs), resolver, rank, versions, allowed, channel_failures, outside=outside)
    everything = {name: versions.get(name) for name in rank}
    if resolver == "v1" and len(graphs) > 1:
        results = [resolve_all_v1_channels(graphs, everything)]
    else:
        results = [resolve_all(graph, resolver, everything) for graph in graphs]
    ends: dict[str, set[str]] = {name: set() for name in rank}
    failures: dict[str, ResolutionFailure] = {}
    for result in results:
        failures |= result.failures
        for start, end in result.next.items():
            if end is not None:
                ends[start].add(end)
    successors = {start: tuple(sorted(names, key=rank.__getitem__)) for start, names in ends.items()}
    return HopGraph(
        tuple(graphs),
        resolver,
        rank,
        versions,
        _predecessors(successors),
        channel_failures,
        failures,
        outside,
        successors,
    )


def _same_name_channels(graphs: Sequence[ChannelGraph]) -> Iterator[ChannelGraph]:
    """Yield other channels with the same names: OLM v1 uses the last one declared."""
    names, own = {graph.name for graph in graphs}, {id(graph.channel) for graph in graphs}
    for channel in graphs[0].package.channels:
        if channel.name in names and id(channel) not in own:
            yield ChannelGraph(channel, graphs[0].package)


def _predecessors(successors: Mapping[str, Iterable[str]]) -> Mapping[str, Predecessors]:
    found: dict[str, list[str]] = {}
    for start, ends in successors.items():
        for end in ends:
            found.setdefault(end, []).append(start)
    return {end: Predecessors(tuple(starts)) for end, starts in found.items()}


def _installable(graph: ChannelGraph) -> Collection[str]:
    """Return the entries in OLM v0's order, and those with a bundle for OLM v1.

    OLM v1 may install any of the latter: a version range in the ClusterExtension can exclude all higher ones.
    """
    prohibited = olm_v0.uninstallable(graph)
    chain = (name for name in olm_v0.sort_channel(graph).chain if name not in prohibited)
    return olm_v1.ranking(graph).keys() | set(chain)


def _allowed_hops(
    graphs: Sequence[ChannelGraph], rank: Mapping[str, int], versions: Mapping[str, Version]
) -> Mapping[str, Predecessors]:
    """Return the predecessors of every installable entry by the edges of the channels."""
    ordered = [name for name in reversed(tuple(rank)) if name in versions]
    position = {name: i for i, name in enumerate(ordered)}
    sorted_versions = [versions[name] for name in ordered]
    named: dict[str, dict[str, None]] = {}
    ranges: dict[str, list[IntervalSet]] = {}
    for graph in graphs:
        for name in _installable(graph):
            entry = graph.entries[name]
            named.setdefault(name, {}).update(dict.fromkeys([*filter(None, [entry.replaces]), *entry.skips]))
            if (skip_range := graph.ranges.get(name)) is not None:
                ranges.setdefault(name, []).append(skip_range.intervals)
    found: dict[str, Predecessors] = {}
    for name, starts in named.items():
        runs = IntervalSet.union(ranges.get(name, ())).index_ranges(sorted_versions)
        in_runs = {
            start
            for start in starts
            if (index := position.get(start)) is not None and any(low <= index < high for low, high in runs)
        }
        others = (s for s in starts if s in rank and s != name and s not in in_runs)
        found[name] = Predecessors(tuple(others), tuple(runs))
    return found
