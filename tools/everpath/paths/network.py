"""Who may go where in one hop: what `roads`, `demands` and `mirror` walk on."""

from __future__ import annotations

__all__ = ["POLICIES", "Arrival", "Hop", "Network", "Policy", "goals", "hops_of", "network", "newest_first"]

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from everpath.graph import ChannelGraph, EdgeKind, PackageGraph
from everpath.policies import PolicyName, olm_v0, olm_v1, subscriptions
from everpath.policies.decisions import Failure, Installed
from everpath.policies.extensions import Extension, Source
from everpath.policies.extensions import resolve as extend
from everpath.ranges import IntervalSet
from everpath.versions import Key, Version

#: `any`: every hop that some cluster could make, by approving, pinning or waiting.
Policy = PolicyName | Literal["any"]
POLICIES: Final[tuple[Policy, ...]] = ("any", "v0", "v1")


class Hop(NamedTuple):
    """One step of a road, by which kinds of edge and in which channels it is allowed."""

    start: str
    end: str
    kinds: tuple[EdgeKind, ...]
    channels: tuple[str, ...]


class Arrival(NamedTuple):
    """From where one may come to an entry: from these, and from all in some runs of `by_version`.

    Nobody is in both. The entry itself may be in a run, which means nothing.
    """

    named: tuple[str, ...] = ()
    runs: tuple[tuple[int, int], ...] = ()


_NOWHERE: Final = Arrival()


@dataclass(frozen=True)
class Network:
    """The hops of one channel, or of several between which a cluster may switch.

    `place` has a number for every entry, the newest at 0. Hops are kept by where they lead to: a channel of
    nothing but ranges has n² of them, and is held as n runs. `failures` are the channels in which OLM v0
    resolves nothing at all; under v0 they have no hops.
    """

    graphs: tuple[ChannelGraph, ...]
    policy: Policy
    place: Mapping[str, int]
    versions: Mapping[str, Version]
    arrivals: Mapping[str, Arrival]
    failures: Mapping[str, Failure] = field(default_factory=dict)
    _ahead: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    @cached_property
    def by_version(self) -> tuple[str, ...]:
        """The entries that have a version, lowest first."""
        return tuple(name for name in reversed(tuple(self.place)) if name in self.versions)

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Where in `by_version` an entry stands."""
        return {name: i for i, name in enumerate(self.by_version)}

    def starts(self, end: str) -> Iterator[str]:
        """From where one may come to an entry."""
        arrival = self.arrivals.get(end, _NOWHERE)
        yield from arrival.named
        for low, high in arrival.runs:
            yield from (name for name in self.by_version[low:high] if name != end)

    def ahead(self, start: str) -> tuple[str, ...]:
        """Where one may go from an entry, newest first. Cost: its edges, once."""
        if start not in self._ahead:
            ends = {end for graph in self.graphs for end in self._accepting(graph, start)} - {start}
            self._ahead[start] = tuple(sorted(ends, key=self.place.__getitem__))
        return self._ahead[start]

    def _accepting(self, graph: ChannelGraph, start: str) -> Iterator[str]:
        targets = _installable(graph)
        edges = graph.successors(start, self.versions.get(start))
        return (edge.successor for edge in edges if edge.successor in targets)

    @cached_property
    def goes_up(self) -> bool:
        """Whether every hop leads to a higher version, so that there can be no loop. O(entries · log)."""
        keys = [self.versions[name].key for name in self.by_version]
        return all(self._comes_from_below(end, arrival, keys) for end, arrival in self.arrivals.items())

    def _comes_from_below(self, end: str, arrival: Arrival, keys: Sequence[Key]) -> bool:
        version = self.versions.get(end)
        if version is None:
            return arrival == _NOWHERE
        floor, own = bisect_left(keys, version.key), self.position[end]
        above = [(max(low, floor), high) for low, high in arrival.runs if high > floor]
        named = (self.versions.get(start) for start in arrival.named)
        return above in ([], [(own, own + 1)]) and all(v is None or v < version for v in named)

    def hops(self, road: Sequence[str]) -> Iterator[Hop]:
        """The steps of a road with their edges. Cost: the edges from each of its entries."""
        for start, end in pairwise(road):
            found = [(kind, graph.name) for graph in self.graphs for kind in self._kinds(graph, start, end)]
            kinds = {kind for kind, _ in found}
            channels = dict.fromkeys(channel for _, channel in found)
            yield Hop(start, end, tuple(k for k in EdgeKind if k in kinds), tuple(channels))

    def _kinds(self, graph: ChannelGraph, start: str, end: str) -> Iterator[EdgeKind]:
        if end in graph.entries:
            edges = graph.successors(start, self.versions.get(start))
            yield from (edge.kind for edge in edges if edge.successor == end)


def newest_first(names: Iterable[str], versions: Mapping[str, Version]) -> list[str]:
    """Names by descending version, those without one last, equal ones by name."""
    ordered = sorted(names)
    ordered.sort(key=lambda n: (n in versions, versions[n].key if n in versions else ()), reverse=True)
    return ordered


def goals(graph: ChannelGraph, policy: Policy = "any") -> tuple[str, ...]:
    """Where the roads of a channel lead: its heads; under v1, or without any, what a new install gets."""
    first = olm_v1.fresh_install(graph)
    ranked = () if first is None else (first,)
    return ranked if policy == "v1" else graph.heads or ranked


def network(
    graphs: Sequence[ChannelGraph], policy: Policy = "any", installed: Installed | None = None
) -> Network:
    """The hops of some channels of one package; `installed` may be something outside of them.

    With several channels a cluster may switch: under v0 to any of them at any time, while a ClusterExtension
    has them all at once. Cost: the named edges and the ranges, each times log n.
    """
    versions = {name: version for graph in graphs for name, version in graph.versions.items()}
    names = dict.fromkeys(name for graph in graphs for name in graph.entries)
    if installed is not None and installed.name not in names:
        names[installed.name] = None
        if installed.version is not None:
            versions[installed.name] = installed.version
    place = {name: i for i, name in enumerate(newest_first(names, versions))}
    failures = {g.name: f for g in graphs if (f := olm_v0.order(g).failure) is not None}
    if policy == "any":
        return Network(tuple(graphs), policy, place, versions, _allowed(graphs, place, versions), failures)
    ahead: dict[str, set[str]] = {name: set() for name in place}
    for start, end in _taken(graphs, policy, {name: versions.get(name) for name in place}):
        ahead[start].add(end)
    ordered = {start: tuple(sorted(ends, key=place.__getitem__)) for start, ends in ahead.items()}
    return Network(tuple(graphs), policy, place, versions, _inverted(ordered), failures, ordered)


def _inverted(ahead: Mapping[str, Iterable[str]]) -> Mapping[str, Arrival]:
    found: dict[str, list[str]] = {}
    for start, ends in ahead.items():
        for end in ends:
            found.setdefault(end, []).append(start)
    return {end: Arrival(tuple(starts)) for end, starts in found.items()}


def _installable(graph: ChannelGraph) -> Collection[str]:
    """Whatever OLM v0 has in its order, or OLM v1 has a bundle of.

    v1 comes to any of these: a version range in the ClusterExtension rules out whatever ranks before it.
    """
    prohibited = olm_v0.prohibited(graph)
    chain = (name for name in olm_v0.order(graph).chain if name not in prohibited)
    return olm_v1.ranking(graph).keys() | set(chain)


def _allowed(
    graphs: Sequence[ChannelGraph], place: Mapping[str, int], versions: Mapping[str, Version]
) -> Mapping[str, Arrival]:
    """From where the edges of the channels lead to everything that can be installed."""
    ordered = [name for name in reversed(tuple(place)) if name in versions]
    position = {name: i for i, name in enumerate(ordered)}
    sorted_versions = [versions[name] for name in ordered]
    named: dict[str, dict[str, None]] = {}
    covered: dict[str, list[IntervalSet]] = {}
    for graph in graphs:
        for name in _installable(graph):
            entry = graph.entries[name]
            named.setdefault(name, {}).update(dict.fromkeys([*filter(None, [entry.replaces]), *entry.skips]))
            if (span := graph.ranges.get(name)) is not None:
                covered.setdefault(name, []).append(span.intervals)
    found: dict[str, Arrival] = {}
    for name, starts in named.items():
        runs = IntervalSet.union(covered.get(name, ())).spans(sorted_versions)
        others = (s for s in starts if s in place and s != name and not _within(runs, position.get(s)))
        found[name] = Arrival(tuple(others), tuple(runs))
    return found


def _within(runs: Sequence[tuple[int, int]], position: int | None) -> bool:
    return position is not None and any(low <= position < high for low, high in runs)


_Everyone = Mapping[str, Version | None]
_Hops = Iterator[tuple[str, str]]


def _taken(graphs: Sequence[ChannelGraph], policy: PolicyName, everyone: _Everyone) -> _Hops:
    """The hops that a resolver makes."""
    if policy == "v1" and len(graphs) > 1:
        yield from _extended(graphs, everyone)
        return
    for graph in graphs:
        for name, following in hops_of(graph, policy, everyone).items():
            if following is not None:
                yield name, following


def hops_of(graph: ChannelGraph, policy: PolicyName, everyone: _Everyone) -> Mapping[str, str | None]:
    """The next hop of everyone under a policy, in the channel or not. None: stays, or OLM fails."""
    if policy == "v1":
        inside: Mapping[str, str | None] = olm_v1.hops(graph)
    else:
        found = olm_v0.hops(graph)
        if found.failure is not None:
            return dict.fromkeys(everyone)
        inside = {name: None if name in found.failures else to for name, to in found.next.items()}
    return {
        name: inside[name] if name in graph.entries else _from_outside(graph, policy, name, version)
        for name, version in everyone.items()
    }


def _from_outside(graph: ChannelGraph, policy: PolicyName, name: str, version: Version | None) -> str | None:
    if policy == "v0":
        return subscriptions.resolve(graph, Installed(name, version)).next
    return next((edge.successor for edge in olm_v1.candidates(graph, name, version)), None)


def _extended(graphs: Sequence[ChannelGraph], everyone: _Everyone) -> _Hops:
    """One ClusterExtension that lists all these channels."""
    package = graphs[0].package
    source = Source("catalog", 0, PackageGraph(package))
    channels = tuple(graph.name for graph in graphs)
    for name, version in everyone.items():
        wish = Extension(package.name, channels, installed=Installed(name, version))
        following = extend([source], wish).next
        if following is not None:
            yield name, following
