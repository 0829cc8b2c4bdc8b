"""Who may go where in one hop: what `roads`, `demands` and `mirror` walk on."""

from __future__ import annotations

__all__ = [
    "POLICIES",
    "Arrival",
    "Hop",
    "Network",
    "Policy",
    "arrivals_v1",
    "followed_v1",
    "fresh_v1",
    "goals",
    "hops_of",
    "network",
    "newest_first",
]

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from everpath.graph import ChannelGraph, EdgeKind, PackageGraph
from everpath.ranges import IntervalSet
from everpath.resolvers import ResolverName, olm_v0, olm_v1, subscription
from everpath.resolvers.catalog_candidates import served_package, split_repeated_entries
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension
from everpath.resolvers.cluster_extension import resolve as extend
from everpath.resolvers.resolution import InstalledBundle, ResolutionFailure
from everpath.upgrade_paths.goals import path_goals
from everpath.upgrade_paths.next_hops import NextHops, first_hop_v1, next_hops_v0, next_hops_v1
from everpath.versions import Key, Version, parse_or_none

#: `any`: every hop that some cluster could make, by approving, pinning or waiting.
Policy = ResolverName | Literal["any"]
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
    resolves nothing at all; under v0 they have no hops. `stuck` are those for whom the policy fails, and how:
    they have no hop in that channel. `absent` are those who are in none of the channels.
    """

    graphs: tuple[ChannelGraph, ...]
    policy: Policy
    place: Mapping[str, int]
    versions: Mapping[str, Version]
    arrivals: Mapping[str, Arrival]
    failures: Mapping[str, ResolutionFailure] = field(default_factory=dict)
    stuck: Mapping[str, ResolutionFailure] = field(default_factory=dict)
    absent: Mapping[str, InstalledBundle] = field(default_factory=dict)
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

    @cached_property
    def followed(self) -> tuple[ChannelGraph, ...]:
        """The channels that the policy goes by: of several of one name OLM v1 takes the last."""
        return self.graphs if self.policy != "v1" else tuple(map(followed_v1, self.graphs))

    @cached_property
    def _written(self) -> tuple[ChannelGraph, ...]:
        """The same with all that is written: OLM v1 also takes the edges of an entry's second line."""
        if self.policy != "v1":
            return self.graphs
        return tuple(layer for graph in self.followed for layer in split_repeated_entries(graph))

    def hops(self, road: Sequence[str]) -> Iterator[Hop]:
        """The steps of a road with their edges. Cost: the named edges of its entries."""
        for start, end in pairwise(road):
            found = [(kind, graph.name) for graph in self._written for kind in self._kinds(graph, start, end)]
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
        version, span = self.versions.get(start), graph.ranges.get(end)
        if version is not None and span is not None and version in span.intervals:
            yield EdgeKind.RANGE


def newest_first(names: Iterable[str], versions: Mapping[str, Version]) -> list[str]:
    """Names by descending version, those without one last, equal ones by name."""
    ordered = sorted(names)
    ordered.sort(key=lambda n: (n in versions, versions[n].key if n in versions else ()), reverse=True)
    return ordered


def goals(graph: ChannelGraph, policy: Policy = "any") -> tuple[str, ...]:
    """Where the roads of a channel lead: its heads, or what a new install gets where there is none.

    Under v1 that is where one arrives, and then what a new install gets, also if it is withdrawn.
    """
    if policy == "v1":
        afresh = fresh_v1(graph)
        found = [*path_goals(followed_v1(graph), "v1"), *(() if afresh is None else (afresh,))]
        if found:
            return tuple(dict.fromkeys(found))
    first = olm_v1.new_install(graph)
    return graph.heads or (() if first is None else (first,))


def followed_v1(graph: ChannelGraph) -> ChannelGraph:
    """The channel that OLM v1 takes for this one: the last of that name in the package."""
    namesakes = [channel for channel in graph.package.channels if channel.name == graph.name]
    if len(namesakes) < 2:
        return graph
    return ChannelGraph(namesakes[-1], graph.package)


def arrivals_v1(graph: ChannelGraph) -> tuple[str, ...]:
    """Where one arrives under OLM v1, as far as it then stays there and does not fail."""
    decide = first_hop_v1(_home(graph), graph)
    bundles = {name: graph.bundle(name) for name in path_goals(graph, "v1")}
    runs = [
        InstalledBundle(name, parse_or_none(bundle.version))
        for name, bundle in bundles.items()
        if bundle is not None
    ]
    return tuple(one.name for one in runs if decide(one)[:2] == (None, None))


def fresh_v1(graph: ChannelGraph) -> str | None:
    """What OLM v1 installs where nothing is: None if there is nothing, or if it fails."""
    return first_hop_v1(_home(graph), graph)(None).next


def _home(graph: ChannelGraph) -> PackageGraph:
    """The package of a channel, with the channel as it is here: a mirror has not all of its entries."""
    package = graph.package
    if any(channel is graph.channel for channel in package.channels):
        return PackageGraph(package)
    others = tuple(channel for channel in package.channels if channel.name != graph.name)
    return PackageGraph(package._replace(channels=(graph.channel, *others)))


def network(
    graphs: Sequence[ChannelGraph], policy: Policy = "any", installed: Iterable[InstalledBundle] = ()
) -> Network:
    """The hops of some channels of one package, and of what else may be installed, outside of them.

    With several channels a cluster may switch: under v0 to any of them at any time, while a ClusterExtension
    has them all at once. Cost: the named edges and the ranges, each times log n.
    """
    known = [*graphs, *_namesakes(graphs)] if policy == "v1" else graphs
    versions = {name: version for graph in known for name, version in graph.versions.items()}
    names = dict.fromkeys(name for graph in known for name in graph.entries)
    absent = {one.name: one for one in installed if one.name not in names}
    names |= dict.fromkeys(absent)
    versions |= {name: one.version for name, one in absent.items() if one.version is not None}
    place = {name: i for i, name in enumerate(newest_first(names, versions))}
    failures = {g.name: f for g in graphs if (f := olm_v0.sort_channel(g).failure) is not None}
    if policy == "any":
        allowed = _allowed(graphs, place, versions)
        return Network(tuple(graphs), policy, place, versions, allowed, failures, absent=absent)
    ahead: dict[str, set[str]] = {name: set() for name in place}
    stuck: dict[str, ResolutionFailure] = {}
    for answers in _taken(graphs, policy, {name: versions.get(name) for name in place}):
        stuck |= answers.failures
        for start, end in answers.next.items():
            if end is not None:
                ahead[start].add(end)
    ordered = {start: tuple(sorted(ends, key=place.__getitem__)) for start, ends in ahead.items()}
    inverted = _inverted(ordered)
    return Network(tuple(graphs), policy, place, versions, inverted, failures, stuck, absent, ordered)


def _namesakes(graphs: Sequence[ChannelGraph]) -> Iterator[ChannelGraph]:
    """Other channels of the same names: of those OLM v1 may go by another one."""
    names, own = {graph.name for graph in graphs}, {id(graph.channel) for graph in graphs}
    for channel in graphs[0].package.channels:
        if channel.name in names and id(channel) not in own:
            yield ChannelGraph(channel, graphs[0].package)


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
    prohibited = olm_v0.uninstallable(graph)
    chain = (name for name in olm_v0.sort_channel(graph).chain if name not in prohibited)
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
        runs = IntervalSet.union(covered.get(name, ())).index_ranges(sorted_versions)
        others = (s for s in starts if s in place and s != name and not _within(runs, position.get(s)))
        found[name] = Arrival(tuple(others), tuple(runs))
    return found


def _within(runs: Sequence[tuple[int, int]], position: int | None) -> bool:
    return position is not None and any(low <= position < high for low, high in runs)


_Everyone = Mapping[str, Version | None]


def _taken(graphs: Sequence[ChannelGraph], policy: ResolverName, everyone: _Everyone) -> Iterator[NextHops]:
    """The hops that a resolver makes, and where it fails."""
    if policy == "v1" and len(graphs) > 1:
        yield _extended(graphs, everyone)
        return
    yield from (_answers(graph, policy, everyone) for graph in graphs)


def hops_of(graph: ChannelGraph, policy: ResolverName, everyone: _Everyone) -> Mapping[str, str | None]:
    """The next hop of everyone under a policy, in the channel or not. None: stays, or OLM fails."""
    return _answers(graph, policy, everyone).next


def _answers(graph: ChannelGraph, policy: ResolverName, everyone: _Everyone) -> NextHops:
    """What `simulate` says of everyone."""
    package = _home(graph)
    if policy == "v1" and (served := served_package(package)) is not package:
        package, graph = served, served.by_name[graph.name]
    inside = next_hops_v0(graph) if policy == "v0" else next_hops_v1(package, graph)
    hops, failures = dict(inside.next), dict(inside.failures)
    outside = [InstalledBundle(*one) for one in everyone.items() if one[0] not in graph.entries]
    arrival = first_hop_v1(package, graph) if outside and policy == "v1" else None
    for installed in outside:
        decision = arrival(installed) if arrival else subscription.resolve(graph, installed)
        hops[installed.name] = decision.next
        if decision.failure is not None:
            failures[installed.name] = decision.failure
    return NextHops(hops, failures)


def _extended(graphs: Sequence[ChannelGraph], everyone: _Everyone) -> NextHops:
    """One ClusterExtension that lists all these channels."""
    served = served_package(PackageGraph(graphs[0].package))
    package, source = served.package, ClusterCatalog("catalog", 0, served)
    channels = tuple(graph.name for graph in graphs)
    hops: dict[str, str | None] = {}
    failures: dict[str, ResolutionFailure] = {}
    for name, version in everyone.items():
        bundle = package.by_name.get(name)
        strict = parse_or_none(bundle.version) if bundle is not None else version
        wish = ClusterExtension(package.name, channels, installed=InstalledBundle(name, strict))
        decision = extend([source], wish)
        hops[name] = decision.next
        if decision.failure is not None:
            failures[name] = decision.failure
    return NextHops(hops, failures)
