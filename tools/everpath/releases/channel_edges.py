"""The package of one catalog, generated from releases.yaml: channels with their edges, deprecations.

Three kinds of edges are computed instead of written by the user:

- a z-stream release takes over every lower release of its X.Y;
- the release that replaces a withdrawn one takes it over;
- in a catalog without some releases, the release that replaces one of them takes it over.

To take over a release is to accept upgrades from it and from every version that it accepts, so that no
installed version loses its upgrade path. That is one operation, `Edges.absorb`.
"""

from __future__ import annotations

__all__ = ["Edges", "catalog_channel", "catalog_package", "union_range"]

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from everpath.model import (
    Bundle,
    Channel,
    Declaration,
    DeprecationEntry,
    Deprecations,
    Entry,
    Package,
    Property,
)
from everpath.ranges import IntervalSet, Range
from everpath.releases.model import DeclaredEdges, Release, ReleasesFile, Variant
from everpath.versions import Version

_WHOLE_CATALOG = Variant("")


class Edges(NamedTuple):
    """The edges of a channel entry, by CSV name."""

    replaces: str | None = None
    skips: tuple[str, ...] = ()
    skip_range: str | None = None

    def absorb(self, name: str, other: Edges) -> Edges:
        """Return the edges that also accept an entry and everything that the entry accepts.

        If these edges replace the entry, the replaces chain continues with what the entry replaces.
        """
        below = other.replaces if self.replaces in (name, None) else self.replaces
        accepted = (*self.skips, name, *other.skips, *((other.replaces,) if other.replaces else ()))
        skips = tuple(n for n in dict.fromkeys(accepted) if n != below)
        return Edges(below, skips, union_range(self.skip_range, other.skip_range))


def union_range(one: str | None, other: str | None) -> str | None:
    """Return a range that contains both ranges, as short as possible."""
    if not one or not other or one == other:
        return one or other
    first, second = Range.parse_or_none(one), Range.parse_or_none(other)
    if first is None or second is None or first.can_panic or second.can_panic:
        # OLM ignores an invalid range. Joined to a valid one, it would make that invalid.
        return one if first is not None and not first.can_panic else other
    if second.intervals.is_subset(first.intervals):
        return one
    if first.intervals.is_subset(second.intervals):
        return other
    return _single_interval_range(first.intervals | second.intervals) or f"{one} || {other}"


def _single_interval_range(intervals: IntervalSet) -> str | None:
    """The range of a single interval; None for several."""
    runs = list(intervals)
    if len(runs) != 1:
        return None
    low, high = runs[0].low, runs[0].high
    ends = [f">{'=' * runs[0].low_inclusive}{low}"] if low is not None else []
    ends += [f"<{'=' * runs[0].high_inclusive}{high}"] if high is not None else []
    found = Range.parse_or_none(" ".join(ends))
    return found.text if found is not None else None


@dataclass(frozen=True)
class _ChannelBuilder:
    """Computes the edges of one channel of one catalog."""

    source: ReleasesFile
    name: str
    variant: Variant
    known_edges: dict[str, Edges] = field(default_factory=dict)

    @cached_property
    def members(self) -> Mapping[str, tuple[Release, DeclaredEdges]]:
        """All releases of the channel by CSV name, also those that are not in this catalog."""
        found: dict[str, tuple[Release, DeclaredEdges]] = {}
        for release, edges in self.source.releases_in(self.name):
            found.setdefault(self.source.csv_name(release), (release, edges))
        return found

    @cached_property
    def absent(self) -> frozenset[str]:
        """The members that are not in this catalog."""
        span = Range.parse_or_none(self.variant.releases) if self.variant.releases else None
        if span is None:
            return frozenset()
        return frozenset(n for n, (r, _) in self.members.items() if r.semver not in span.intervals)

    @cached_property
    def ascending(self) -> tuple[str, ...]:
        """The members by ascending version: a z-stream release needs the edges of lower ones."""
        return tuple(sorted(self.members, key=lambda name: self._version(name).key))

    def entries(self) -> Iterator[Entry]:
        """Yield the entries in file order. A withdrawn one has no edges: OLM v1 would follow them."""
        for name in self.ascending:
            self._edges(name)
        for name, (release, _) in self.members.items():
            if name not in self.absent:
                edges = Edges() if self._is_withdrawn(name) else self._without_removed(name)
                yield Entry(name, release.place, edges.replaces, edges.skips, edges.skip_range)

    def _edges(self, name: str) -> Edges:
        """The edges of a member as declared, or of its z-stream, if no release is withdrawn or absent."""
        if name not in self.known_edges:
            release, declared = self.members[name]
            resolve = self.source.resolve_csv_name
            edges = Edges(
                resolve(declared.replaces) if declared.replaces else None,
                tuple(dict.fromkeys(map(resolve, declared.skips))),
                declared.skip_range,
            )
            self.known_edges[name] = self._zstream_edges(release, edges) if declared.zstream else edges
        return self.known_edges[name]

    def _zstream_edges(self, release: Release, declared: Edges) -> Edges:
        """Take over every lower release of the X.Y, down to the next z-stream release, which did the same."""
        version, absorbed = release.semver, list[str]()
        edges = declared._replace(
            skip_range=union_range(zstream_range(self.source, release), declared.skip_range)
        )
        for name in self._below(version):
            if self._version(name).minor_stream != version.minor_stream:
                break
            absorbed.append(name)
            edges = edges.absorb(name, self._edges(name))
            if self.members[name][1].zstream:
                break
        if not absorbed and not declared.replaces:
            below = next((name for name in self._below(version) if not self._is_withdrawn(name)), None)
            return edges._replace(replaces=below)
        return self._without_skips_in_chain(edges, absorbed)

    def _below(self, version: Version) -> Iterator[str]:
        """Yield the members below a version, highest first."""
        first = bisect_left(self.ascending, version.key, key=lambda name: self._version(name).key)
        return (self.ascending[position] for position in range(first - 1, -1, -1))

    def _version(self, name: str) -> Version:
        return self.members[name][0].semver

    def _is_withdrawn(self, name: str) -> bool:
        return self.members[name][0].withdrawn is not None

    def _without_removed(self, name: str) -> Edges:
        """Take over the withdrawn and absent releases that a member replaces, one after the other.

        An absent release is taken over only if that makes the member accept another entry of this catalog.
        """
        edges = result = self._edges(name)
        seen = [name]
        while (below := edges.replaces) in self.members and below not in seen:
            assert below is not None  # a member's name
            is_withdrawn = self._is_withdrawn(below)
            if not is_withdrawn and below not in self.absent:
                break
            seen.append(below)
            edges = edges.absorb(below, self._edges(below))
            gained = {edges.replaces, *edges.skips} - {result.replaces, *result.skips}
            if is_withdrawn or any(entry in self.members and entry not in self.absent for entry in gained):
                result = edges
        return result

    def _without_skips_in_chain(self, edges: Edges, absorbed: Iterable[str]) -> Edges:
        """Remove skips of entries on the own replaces chain: OLM v0 never installs a skipped entry.

        Such a skip is inherited from an absorbed entry that replaced something lower than the chain continues
        with. Absorbed entries and what they skip are not on the chain.
        """
        chain: set[str] = set()
        name = edges.replaces
        while name is not None and name not in chain:
            chain.add(name)
            name = self.known_edges[name].replaces if name in self.known_edges else None
        for name in absorbed:
            chain -= {name, *self._edges(name).skips}
        return edges._replace(skips=tuple(name for name in edges.skips if name not in chain))


def zstream_range(source: ReleasesFile, release: Release) -> str:
    """The range of the versions of X.Y below a z-stream release, also of unpublished ones.

    It starts at X.Y.0-0, the lowest pre-release, if the file has a pre-release of X.Y.0.
    """
    version = release.semver
    early = version.minor_stream in source.prerelease_streams
    # blang/semver does not accept build metadata in ranges.
    return f">={version.major}.{version.minor}.0{'-0' if early else ''} <{version.text.partition('+')[0]}"


def catalog_channel(source: ReleasesFile, name: str, variant: Variant = _WHOLE_CATALOG) -> Channel:
    """Build one channel of a catalog. Cost: O(releases), for a z-stream also the releases of the stream."""
    entries = tuple(_ChannelBuilder(source, name, variant).entries())
    declaration = next((channel for channel in source.channels if channel.name == name), None)
    place = declaration.place if declaration else source.place
    return Channel(name, source.package, place, entries)


def catalog_package(source: ReleasesFile, variant: Variant = _WHOLE_CATALOG) -> Package:
    """Build the package of a catalog. Channels without a release are left out: opm rejects them.

    Bundles have only a name, a version and an image.
    """
    names = [name for name in source.channel_names if not variant.channels or name in variant.channels]
    channels = [built for name in names if (built := catalog_channel(source, name, variant)).entries]
    entries = {entry.name for channel in channels for entry in channel.entries}
    default = source.default_channel
    if channels and default not in {channel.name for channel in channels}:
        default = channels[-1].name
    deprecations = tuple(_deprecations(source, {channel.name for channel in channels}, entries))
    return Package(
        source.package,
        declarations=(Declaration(source.place, default),),
        channels=tuple(channels),
        bundles=tuple(_bundle(source, r) for r in source.releases if source.csv_name(r) in entries),
        deprecations=(Deprecations(source.package, source.place, deprecations),) if deprecations else (),
    )


def _bundle(source: ReleasesFile, release: Release) -> Bundle:
    name, value = source.csv_name(release), {"packageName": source.package, "version": release.version}
    image = source.bundle_image(release)
    return Bundle(
        name,
        source.package,
        release.version,
        release.place,
        image=image,
        properties=(Property("olm.package", value, release.place),),
        # A catalog contains the manifests of a bundle without an image.
        has_objects=not image,
    )


def _deprecations(source: ReleasesFile, channels: set[str], bundles: set[str]) -> Iterator[DeprecationEntry]:
    """Yield the deprecations of a catalog. A withdrawn release is deprecated with its reason."""
    if source.deprecated is not None:
        yield DeprecationEntry("olm.package", "", source.deprecated, source.place.at("deprecated"))
    for channel in source.channels:
        if channel.deprecated is not None and channel.name in channels:
            yield DeprecationEntry("olm.channel", channel.name, channel.deprecated, channel.place)
    for release in source.releases:
        name = source.csv_name(release)
        if name not in bundles:
            continue
        if release.deprecated is not None:
            yield DeprecationEntry("olm.bundle", name, release.deprecated, release.place.at("deprecated"))
        elif release.withdrawn is not None:
            message = f"withdrawn: {release.withdrawn}" if release.withdrawn else "withdrawn"
            yield DeprecationEntry("olm.bundle", name, message, release.place.at("withdrawn"))
