"""The upgrade graph of a channel: which entries can succeed an installed version under any resolver.

    graph.successors(name, version)   the edges from an installed version to entries
    graph.best_successors(rank)       for every entry, the successor with the lowest rank

`coverage` finds the ranges that contain a version without evaluating every range. `successors` costs log n
for each result. `best_successors` costs O((edges + ranges) · log n) for a whole channel: a channel in which
every entry has a skipRange has n² edges, so reports must not visit every edge.
"""

from __future__ import annotations

__all__ = ["ChannelGraph", "Edge", "EdgeKind", "PackageGraph"]

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from everpath.model import Bundle, Channel, Entry, Package
from everpath.ranges import Coverage, Range
from everpath.scc import Condensation
from everpath.versions import Key, Version, parse_tolerant_or_none, version_suffix


class EdgeKind(StrEnum):
    """The field of an entry that makes an edge."""

    REPLACES = "replaces"
    SKIPS = "skips"
    RANGE = "skipRange"


class Edge(NamedTuple):
    """An upgrade from `installed` to `successor` that the successor allows."""

    successor: str
    installed: str
    kind: EdgeKind

    def __str__(self) -> str:
        if self.kind is EdgeKind.RANGE:
            return f"the skipRange of {self.successor} covers {self.installed}"
        return f"{self.successor} {self.kind.value} {self.installed}"


class ChannelGraph:
    """A channel with parsed versions and ranges. Immutable; results are cached."""

    def __init__(self, channel: Channel, package: Package) -> None:
        self.channel = channel
        self.package = package

    @property
    def name(self) -> str:
        return self.channel.name

    @property
    def entries(self) -> Mapping[str, Entry]:
        """Entries by name, in the order of the file."""
        return self.channel.by_name

    def bundle(self, name: str) -> Bundle | None:
        return self.package.by_name.get(name)

    @cached_property
    def versions(self) -> Mapping[str, Version]:
        """Versions by entry, parsed tolerantly as OLM does. Entries without a valid version are absent."""
        found: dict[str, Version] = {}
        for name in self.entries:
            bundle = self.bundle(name)
            version = parse_tolerant_or_none(bundle.version) if bundle else None
            if version is not None:
                found[name] = version
        return found

    @cached_property
    def stated_versions(self) -> Mapping[str, Version]:
        """`versions`, and for other entries the version at the end of their name.

        Resolvers do not use names. Suggested fixes do: otherwise the newest release would count as the oldest
        while its bundle is missing.
        """
        found = dict(self.versions)
        for name in self.entries:
            if name not in found and (version := parse_tolerant_or_none(version_suffix(name))) is not None:
                found[name] = version
        return found

    @cached_property
    def ranges(self) -> Mapping[str, Range]:
        """Skip ranges by entry. OLM ignores a range that does not parse."""
        found: dict[str, Range] = {}
        for name, entry in self.entries.items():
            parsed = Range.parse_or_none(entry.skip_range) if entry.skip_range else None
            if parsed is not None:
                found[name] = parsed
        return found

    @cached_property
    def coverage(self) -> Coverage:
        """Finds the entries whose range contains a version. A range on which OLM panics contains nothing."""
        return Coverage({name: skip_range.intervals for name, skip_range in self.ranges.items()})

    @cached_property
    def by_version(self) -> tuple[str, ...]:
        """Names of the entries that have a version, in ascending order; equal versions by name."""
        return tuple(sorted(self.versions, key=lambda n: (self.versions[n].key, n)))

    @cached_property
    def sorted_versions(self) -> tuple[Version, ...]:
        """The versions of `by_version`."""
        return tuple(self.versions[name] for name in self.by_version)

    def is_lower(self, one: str, other: str) -> bool:
        """Return whether both names have a version, and that of `one` is lower."""
        first, second = self.versions.get(one), self.versions.get(other)
        return first is not None and second is not None and first < second

    @cached_property
    def replacers(self) -> Mapping[str, tuple[str, ...]]:
        """The entries that replace each name, whether or not the name is an entry."""
        return _invert((e.name, [e.replaces] if e.replaces else []) for e in self.entries.values())

    @cached_property
    def skippers(self) -> Mapping[str, tuple[str, ...]]:
        """The entries that skip each name, whether or not the name is an entry."""
        return _invert((e.name, e.skips) for e in self.entries.values())

    @cached_property
    def skips(self) -> Mapping[str, frozenset[str]]:
        """The skipped names by entry, as sets for fast lookup."""
        return {name: frozenset(entry.skips) for name, entry in self.entries.items() if entry.skips}

    @cached_property
    def heads(self) -> tuple[str, ...]:
        """Entries that no entry replaces or skips, sorted. opm and OLM ignore skip ranges here."""
        return tuple(sorted(n for n in self.entries if n not in self.replacers and n not in self.skippers))

    @property
    def head(self) -> str | None:
        """The head, if there is exactly one."""
        return self.heads[0] if len(self.heads) == 1 else None

    def head_below(self, name: str) -> str | None:
        """Return the newest head with a stated version lower than that of an entry. Cost: log n."""
        version = self.stated_versions.get(name)
        index = bisect_left(self._heads_by_version, version.key, key=self._stated_key) if version else 0
        return self._heads_by_version[index - 1] if index else None

    @cached_property
    def _heads_by_version(self) -> tuple[str, ...]:
        """Heads with a stated version in ascending order; equal versions by name, descending."""
        names = (n for n in reversed(self.heads) if n in self.stated_versions)
        return tuple(sorted(names, key=self._stated_key))

    def _stated_key(self, name: str) -> Key:
        return self.stated_versions[name].key

    def named_edges(self, installed: str) -> Iterator[Edge]:
        """Yield the edges from a name by replaces and skips. An entry may have both."""
        for successor in self.replacers.get(installed, ()):
            yield Edge(successor, installed, EdgeKind.REPLACES)
        for successor in self.skippers.get(installed, ()):
            yield Edge(successor, installed, EdgeKind.SKIPS)

    def successors(self, installed: str, version: Version | None = None) -> Iterator[Edge]:
        """Yield all edges from an installed version, including one to itself if its own range contains it.

        Pass `version` for an installed version that is not in the channel. Ranges on which OLM panics are
        left out; `panicking_entries` has them.
        """
        yield from self.named_edges(installed)
        version = version or self.versions.get(installed)
        if version is not None:
            for name in self.coverage.covering(version):
                yield Edge(name, installed, EdgeKind.RANGE)

    def sample_successors(self, installed: str, limit: int) -> tuple[list[Edge], int]:
        """Return the edges to other entries, with at most `limit` by range, and how many are left out.

        For reports that show a few of thousands. Cost: log n for each edge.
        """
        named = [edge for edge in self.named_edges(installed) if edge.successor != installed]
        if (version := self.versions.get(installed)) is None:
            return named, 0
        # One more than the limit, because the entry itself may be among them.
        covering = self.coverage.lowest_covering(version, limit + 1)
        others = [name for name in covering if name != installed][:limit]
        left_out = self.coverage.count(version) - self._covers(installed, installed) - len(others)
        return named + [Edge(name, installed, EdgeKind.RANGE) for name in others], left_out

    @cached_property
    def panicking_entries(self) -> tuple[str, ...]:
        """Entries whose range crashes OLM for some versions (nothing between two `||`)."""
        return tuple(name for name, skip_range in self.ranges.items() if skip_range.can_panic)

    def edges_between(self, successor: str, installed: str) -> Iterator[Edge]:
        """Yield the edges from an installed version to one entry."""
        if self.entries[successor].replaces == installed:
            yield Edge(successor, installed, EdgeKind.REPLACES)
        if installed in self.skips.get(successor, ()):
            yield Edge(successor, installed, EdgeKind.SKIPS)
        if self._covers(successor, installed):
            yield Edge(successor, installed, EdgeKind.RANGE)

    def _covers(self, successor: str, installed: str) -> bool:
        skip_range, version = self.ranges.get(successor), self.versions.get(installed)
        return skip_range is not None and version is not None and version in skip_range.intervals

    def best_successors(self, rank: Mapping[str, int]) -> Mapping[str, str]:
        """Return the successor with the lowest rank for each entry; this may be the entry itself.

        Only entries in `rank` count as successors. Entries without one are absent from the result.
        """
        best: dict[str, str] = {}
        if self.ranges:
            choose = self.coverage.chooser(rank)
            best = {n: by for n, version in self.versions.items() if (by := choose(version)) is not None}
        for installed, successor in self._named_pairs():
            if successor in rank:
                current = best.get(installed)
                if current is None or rank[successor] < rank[current]:
                    best[installed] = successor
        return best

    def _named_pairs(self) -> Iterator[tuple[str, str]]:
        """Yield every entry with each entry that replaces or skips it, without creating edges."""
        entries = self.entries
        for successors_by_name in (self.replacers, self.skippers):
            for installed, successors in successors_by_name.items():
                if installed in entries:
                    for successor in successors:
                        yield installed, successor

    @cached_property
    def successor_counts(self) -> Mapping[str, int]:
        """The number of *other* entries that can succeed each entry. O((edges + ranges) · log n)."""
        counts = dict.fromkeys(self.entries, 0)
        if self.ranges:
            for name, version in self.versions.items():
                counts[name] = self.coverage.count(version) - self._covers(name, name)
        for installed, successor in dict.fromkeys(self._named_pairs()):
            if successor != installed and not self._covers(successor, installed):
                counts[installed] += 1
        return counts

    def topmost(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the entries that no other of these replaces or skips, directly or over other entries.

        Newest first. Of entries in the same cycle, only the newest is returned.
        """
        ranked = sorted(names, key=self._newest_first_key)
        return self._condensation.topmost(ranked) if len(ranked) > 1 else tuple(ranked)

    def _newest_first_key(self, name: str) -> tuple[int, int, str]:
        position = self._positions.get(name)
        return (1, 0, name) if position is None else (0, -position, name)

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        ranked = sorted(self.stated_versions, key=lambda n: (self._stated_key(n), n))
        return {name: i for i, name in enumerate(ranked)}

    @cached_property
    def _condensation(self) -> Condensation:
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
        """Channel graphs by name. Of channels with the same name, the first."""
        found: dict[str, ChannelGraph] = {}
        for graph in self.channels:
            found.setdefault(graph.name, graph)
        return found

    @cached_property
    def channels_by_entry(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the channels that have an entry, by the entry's name."""
        return _invert((graph.name, graph.entries) for graph in self.channels)

    @cached_property
    def bundles_without_channel(self) -> tuple[str, ...]:
        """Rendered bundles that are in no channel. opm rejects a catalog with such a bundle."""
        bundles = self.package.by_name.values()
        return tuple(b.name for b in bundles if b.csv is None and b.name not in self.channels_by_entry)


def _invert(pairs: Iterable[tuple[str, Iterable[str]]]) -> Mapping[str, tuple[str, ...]]:
    """Map each target to its owners. An owner that has a target twice is listed once."""
    found: dict[str, list[str]] = {}
    for owner, targets in pairs:
        for target in targets:
            owners = found.setdefault(target, [])
            if owner not in owners[-1:]:
                owners.append(owner)
    return {target: tuple(owners) for target, owners in found.items()}
