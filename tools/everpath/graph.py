"""The upgrade graph of a channel: who may succeed an installed version, whatever resolver is asked.

Two questions carry everything above this layer:

    graph.successors(name, version)   every entry that accepts an installed version, and by which edge
    graph.best_successors(rank)               for every entry at once, the best-ranked entry that accepts it

Neither asks one range after the other: `coverage` knows which ranges a version is in. The first costs its
answers, each times log n; the second answers for a whole channel in O((edges + ranges) · log n), because a
channel whose every entry has a skipRange has n² edges and no report should have to visit them.
"""

from __future__ import annotations

__all__ = ["Abstract", "ChannelGraph", "Edge", "EdgeKind", "PackageGraph"]

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from everpath.model import Bundle, Channel, Entry, Package
from everpath.ranges import Coverage, Range
from everpath.scc import Condensation
from everpath.versions import Key, Version, VersionError, parse_tolerant, version_suffix


class EdgeKind(StrEnum):
    """The three ways an entry can accept an installed version."""

    REPLACES = "replaces"
    SKIPS = "skips"
    RANGE = "skipRange"


class Edge(NamedTuple):
    """`successor` accepts `installed`."""

    successor: str
    installed: str
    kind: EdgeKind

    def __str__(self) -> str:
        if self.kind is EdgeKind.RANGE:
            return f"the skipRange of {self.successor} covers {self.installed}"
        return f"{self.successor} {self.kind.value} {self.installed}"


class Abstract(NamedTuple):
    """A name that is referred to and is no entry of the channel: a node without content."""

    name: str


class ChannelGraph:
    """One channel with its versions and ranges understood. Immutable; each answer is computed once."""

    def __init__(self, channel: Channel, package: Package) -> None:
        self.channel = channel
        self.package = package

    @property
    def name(self) -> str:
        return self.channel.name

    @property
    def entries(self) -> Mapping[str, Entry]:
        """Entries by name, in the order they were written."""
        return self.channel.by_name

    def node(self, name: str) -> Entry | Abstract:
        """The entry of that name, or the placeholder for a name that has none."""
        return self.entries.get(name) or Abstract(name)

    def bundle(self, name: str) -> Bundle | None:
        return self.package.by_name.get(name)

    @cached_property
    def versions(self) -> Mapping[str, Version]:
        """Versions of the entries that have a readable one (OLM reads them tolerantly)."""
        found: dict[str, Version] = {}
        for name in self.entries:
            bundle = self.bundle(name)
            version = _parse_tolerant_or_none(bundle.version) if bundle else None
            if version is not None:
                found[name] = version
        return found

    @cached_property
    def stated_versions(self) -> Mapping[str, Version]:
        """The same, and for entries that have none the version in which the name ends: people go by it.

        No resolver does; it is for advice, which must not take the newest release for the oldest because its
        bundle is not there yet.
        """
        named = (
            (name, _parse_tolerant_or_none(version_suffix(name)))
            for name in self.entries
            if name not in self.versions
        )
        return {**self.versions, **{name: version for name, version in named if version is not None}}

    @cached_property
    def ranges(self) -> Mapping[str, Range]:
        """Skip ranges that parse, by entry. OLM ignores the others as if they were not there."""
        found: dict[str, Range] = {}
        for name, entry in self.entries.items():
            parsed = Range.parse_or_none(entry.skip_range) if entry.skip_range else None
            if parsed is not None:
                found[name] = parsed
        return found

    @cached_property
    def coverage(self) -> Coverage:
        """Which entries' ranges accept a version, in or out of the channel; where OLM panics, none does."""
        return Coverage({name: span.intervals for name, span in self.ranges.items()})

    @cached_property
    def by_version(self) -> tuple[str, ...]:
        """Names of the entries that have a version, lowest first; equal versions by name."""
        return tuple(sorted(self.versions, key=lambda n: (self.versions[n].key, n)))

    @cached_property
    def sorted_versions(self) -> tuple[Version, ...]:
        """The versions of `by_version`."""
        return tuple(self.versions[name] for name in self.by_version)

    @cached_property
    def replacers(self) -> Mapping[str, tuple[str, ...]]:
        """For every name that is replaced, existing or not: the entries that replace it."""
        return _invert((e.name, [e.replaces] if e.replaces else []) for e in self.entries.values())

    @cached_property
    def skippers(self) -> Mapping[str, tuple[str, ...]]:
        """For every name that is skipped, existing or not: the entries that skip it."""
        return _invert((e.name, e.skips) for e in self.entries.values())

    @cached_property
    def skips(self) -> Mapping[str, frozenset[str]]:
        """For every entry that skips somebody: whom. An entry's own tuple is slow to search."""
        return {name: frozenset(entry.skips) for name, entry in self.entries.items() if entry.skips}

    @cached_property
    def heads(self) -> tuple[str, ...]:
        """Entries that no entry replaces or skips, sorted. Neither opm nor OLM asks the ranges here."""
        return tuple(sorted(n for n in self.entries if n not in self.replacers and n not in self.skippers))

    @property
    def head(self) -> str | None:
        """The one head, if there is exactly one."""
        return self.heads[0] if len(self.heads) == 1 else None

    def head_below(self, name: str) -> str | None:
        """The newest head whose stated version is lower than an entry's. Cost: one binary search."""
        version = self.stated_versions.get(name)
        place = bisect_left(self._ranked_heads, version.key, key=self._key) if version else 0
        return self._ranked_heads[place - 1] if place else None

    @cached_property
    def _ranked_heads(self) -> tuple[str, ...]:
        """Heads that state a version, lowest first; of equal ones the first by name last."""
        return tuple(sorted((n for n in reversed(self.heads) if n in self.stated_versions), key=self._key))

    def _key(self, name: str) -> Key:
        return self.stated_versions[name].key

    def named_edges(self, installed: str) -> Iterator[Edge]:
        """Edges to a name by replaces and skips. An entry that does both gives both."""
        for successor in self.replacers.get(installed, ()):
            yield Edge(successor, installed, EdgeKind.REPLACES)
        for successor in self.skippers.get(installed, ()):
            yield Edge(successor, installed, EdgeKind.SKIPS)

    def successors(self, installed: str, version: Version | None = None) -> Iterator[Edge]:
        """Every edge by which some entry accepts an installed version; self edges included.

        `version` may be given for an installed operator that is not in the channel.
        A range that would make OLM panic accepts nothing here; `panicking` names it.
        """
        yield from self.named_edges(installed)
        version = version or self.versions.get(installed)
        if version is not None:
            for name in self.coverage.covering(version):
                yield Edge(name, installed, EdgeKind.RANGE)

    def sample_successors(self, installed: str, most: int) -> tuple[list[Edge], int]:
        """The edges of other entries, of ranges at most so many, and the number of ranges left out.

        For reports, where a few of thousands make the point. Cost: log n an edge that is shown.
        """
        named = [edge for edge in self.named_edges(installed) if edge.successor != installed]
        if (version := self.versions.get(installed)) is None:
            return named, 0
        # One more than wanted, because the entry itself may be among them.
        others = [name for name in self.coverage.lowest_covering(version, most + 1) if name != installed][
            :most
        ]
        left_out = self.coverage.count(version) - self._covers(installed, installed) - len(others)
        return named + [Edge(name, installed, EdgeKind.RANGE) for name in others], left_out

    @cached_property
    def panicking_entries(self) -> tuple[str, ...]:
        """Entries whose range crashes OLM for some versions (an empty arm between two `||`)."""
        return tuple(name for name, span in self.ranges.items() if span.can_panic)

    def edges_between(self, successor: str, installed: str) -> Iterator[Edge]:
        """The edges, if any, by which one entry accepts another."""
        if self.entries[successor].replaces == installed:
            yield Edge(successor, installed, EdgeKind.REPLACES)
        if installed in self.skips.get(successor, ()):
            yield Edge(successor, installed, EdgeKind.SKIPS)
        if self._covers(successor, installed):
            yield Edge(successor, installed, EdgeKind.RANGE)

    def _covers(self, successor: str, installed: str) -> bool:
        span, version = self.ranges.get(successor), self.versions.get(installed)
        return span is not None and version is not None and version in span.intervals

    def best_successors(self, rank: Mapping[str, int]) -> Mapping[str, str]:
        """For each entry, who accepts it and has the lowest rank; itself, if its own range covers it.

        Entries that nobody of `rank` accepts are absent.
        """
        best: dict[str, str] = {}
        if self.ranges:
            chosen = self.coverage.chooser(rank)
            best = {n: by for n, version in self.versions.items() if (by := chosen(version)) is not None}
        for installed, successor in self._named_pairs():
            if successor in rank:
                rival = best.get(installed)
                if rival is None or rank[successor] < rank[rival]:
                    best[installed] = successor
        return best

    def _named_pairs(self) -> Iterator[tuple[str, str]]:
        """Every entry with everyone who replaces or skips it: `named_edges` of all, without making them."""
        entries = self.entries
        for accepting in (self.replacers, self.skippers):
            for installed, successors in accepting.items():
                if installed in entries:
                    for successor in successors:
                        yield installed, successor

    @cached_property
    def successor_counts(self) -> Mapping[str, int]:
        """How many *other* entries accept each entry, by any edge. O((edges + ranges) · log n)."""
        counts = dict.fromkeys(self.entries, 0)
        if self.ranges:
            for name, version in self.versions.items():
                counts[name] = self.coverage.count(version) - self._covers(name, name)
        for installed, successor in dict.fromkeys(self._named_pairs()):
            if successor != installed and not self._covers(successor, installed):
                counts[installed] += 1
        return counts

    def topmost(self, rivals: Iterable[str]) -> tuple[str, ...]:
        """Those rivals that stand in no other rival's line (the entries it replaces or skips, and theirs).

        Newest first. Of rivals in one circle, each in the line of all others, only the newest is told.
        Looks only at entries that stand no lower than the lowest rival, each once.
        """
        ranked = sorted(rivals, key=self._newest_first)
        return self._lines.topmost(ranked) if len(ranked) > 1 else tuple(ranked)

    def _newest_first(self, name: str) -> tuple[int, int, str]:
        position = self._positions.get(name)
        return (1, 0, name) if position is None else (0, -position, name)

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        ranked = sorted(self.stated_versions, key=lambda n: (self.stated_versions[n].key, n))
        return {name: i for i, name in enumerate(ranked)}

    @cached_property
    def _lines(self) -> Condensation:
        entries = self.entries
        return Condensation(
            {n: [t for t in (e.replaces, *e.skips) if t and t in entries] for n, e in entries.items()}
        )


class PackageGraph:
    """A package with the graphs of its channels."""

    def __init__(self, package: Package) -> None:
        self.package = package

    @property
    def name(self) -> str:
        return self.package.name

    @cached_property
    def channels(self) -> tuple[ChannelGraph, ...]:
        return tuple(ChannelGraph(channel, self.package) for channel in self.package.channels)

    @cached_property
    def by_name(self) -> Mapping[str, ChannelGraph]:
        """Channel graphs by name; of two with one name the first."""
        found: dict[str, ChannelGraph] = {}
        for graph in self.channels:
            found.setdefault(graph.name, graph)
        return found

    @cached_property
    def channels_by_entry(self) -> Mapping[str, tuple[str, ...]]:
        """For each entry name, the channels that hold it."""
        return _invert((graph.name, graph.entries) for graph in self.channels)

    @cached_property
    def bundles_without_channel(self) -> tuple[str, ...]:
        """Rendered bundles that are in no channel, for which opm refuses the catalog. O(bundles)."""
        bundles = self.package.by_name.values()
        return tuple(b.name for b in bundles if b.csv is None and b.name not in self.channels_by_entry)


def _invert(pairs: Iterable[tuple[str, Iterable[str]]]) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for owner, targets in pairs:
        for target in targets:
            owners = found.setdefault(target, [])
            if owner not in owners[-1:]:
                owners.append(owner)
    return {target: tuple(owners) for target, owners in found.items()}


def _parse_tolerant_or_none(text: str | None) -> Version | None:
    if not text:
        return None
    try:
        return parse_tolerant(text)
    except VersionError:
        return None
