"""From the source to the channels of one catalog: what each release replaces, skips and covers there.

Three things are worked out here, so that nobody has to write them down and get them wrong:

- a z-stream release stands in for every lower one of its X.Y;
- whatever replaces a withdrawn release stands in for it, too;
- in a catalog without some releases, whatever replaces one of those stands in for it.

To stand in for a release is to accept it and all that it accepted: then whoever could move on still can, and
nobody needs to land on it. That is one operation, `Reach.over`.
"""

from __future__ import annotations

__all__ = ["Edges", "catalog_channel", "catalog_deprecations", "catalog_package", "union_range"]

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
    Place,
    Property,
)
from everpath.ranges import IntervalSet, Range
from everpath.releases.model import DeclaredEdges, Release, ReleasesFile, Variant
from everpath.versions import Version

_EVERYTHING = Variant("")


class Edges(NamedTuple):
    """From where an entry is reached, by the names of CSVs."""

    replaces: str | None = None
    skips: tuple[str, ...] = ()
    skip_range: str | None = None

    def absorb(self, name: str, other: Edges) -> Edges:
        """This one after it stands in for an entry: it accepts the entry and all that the entry accepted.

        The line goes on below what the other replaced, if this one replaced the other.
        """
        below = other.replaces if self.replaces in (name, None) else self.replaces
        accepted = (*self.skips, name, *other.skips, *((other.replaces,) if other.replaces else ()))
        skips = tuple(n for n in dict.fromkeys(accepted) if n != below)
        return Edges(below, skips, union_range(self.skip_range, other.skip_range))


def union_range(one: str | None, other: str | None) -> str | None:
    """A range that covers what either covers, written as short as one of them if that will do."""
    if not one or not other or one == other:
        return one or other
    first, second = Range.parse_or_none(one), Range.parse_or_none(other)
    if first is None or second is None or first.can_panic or second.can_panic:
        # OLM ignores a range it cannot read, and so must we: joined to a good one it would spoil that.
        return one if first is not None and not first.can_panic else other
    if second.intervals.is_subset(first.intervals):
        return one
    if first.intervals.is_subset(second.intervals):
        return other
    return _one_run(first.intervals | second.intervals) or f"{one} || {other}"


def _one_run(intervals: IntervalSet) -> str | None:
    """A set that is one run of versions, from its first to its last; None where it is not."""
    runs = list(intervals)
    if len(runs) != 1:
        return None
    low, high = runs[0].low, runs[0].high
    ends = [f">{'=' * runs[0].low_inclusive}{low}"] if low is not None else []
    ends += [f"<{'=' * runs[0].high_inclusive}{high}"] if high is not None else []
    found = Range.parse_or_none(" ".join(ends))
    return found.text if found is not None else None


@dataclass(frozen=True)
class _Stream:
    """One channel of one catalog while its edges are worked out."""

    source: ReleasesFile
    name: str
    variant: Variant
    reaches: dict[str, Edges] = field(default_factory=dict)

    @cached_property
    def members(self) -> Mapping[str, tuple[Release, DeclaredEdges]]:
        """All releases of the channel, also those that this catalog leaves out."""
        found: dict[str, tuple[Release, DeclaredEdges]] = {}
        for release, origin in self.source.releases_in(self.name):
            found.setdefault(self.source.csv_name(release), (release, origin))
        return found

    @cached_property
    def absent(self) -> frozenset[str]:
        """Members that this catalog leaves out."""
        span = Range.parse_or_none(self.variant.releases) if self.variant.releases else None
        if span is None:
            return frozenset()
        return frozenset(n for n, (r, _) in self.members.items() if r.semver not in span.intervals)

    @cached_property
    def ascending(self) -> tuple[str, ...]:
        """Members from the lowest version up, so that what a z-stream stands in for is known before it is."""
        return tuple(sorted(self.members, key=lambda name: self._version(name).key))

    def entries(self) -> Iterator[Entry]:
        """The entries, oldest first. No edge leads to a withdrawn one: OLM v1 would follow it."""
        for name in self.ascending:
            self.reach(name)
        for name, (release, _) in self.members.items():
            if name not in self.absent:
                reach = Edges() if self._is_withdrawn(name) else self._standing(name, self.reach(name))
                yield Entry(name, release.place, reach.replaces, reach.skips, reach.skip_range)

    def reach(self, name: str) -> Edges:
        """From where a member is reached if nothing is withdrawn or left out: as written, or its z-stream."""
        if name not in self.reaches:
            release, origin = self.members[name]
            literal = self.source.resolve_csv_name
            stated = Edges(
                literal(origin.replaces) if origin.replaces else None,
                tuple(dict.fromkeys(map(literal, origin.skips))),
                origin.skip_range,
            )
            self.reaches[name] = self._zstream(release, stated) if origin.zstream else stated
        return self.reaches[name]

    def _zstream(self, release: Release, stated: Edges) -> Edges:
        """Stands in for every lower release of its X.Y, from the newest down to one that does so itself."""
        version, passed = release.semver, list[str]()
        reach = stated._replace(
            skip_range=union_range(zstream_range(self.source, release), stated.skip_range)
        )
        for name in self._below(version):
            if self._version(name).minor_stream != version.minor_stream:
                break
            passed.append(name)
            reach = reach.absorb(name, self.reach(name))
            if self.members[name][1].zstream:
                break
        if not passed and not stated.replaces:
            below = next((name for name in self._below(version) if not self._is_withdrawn(name)), None)
            return reach._replace(replaces=below)
        return self._without_line(reach, passed)

    def _below(self, version: Version) -> Iterator[str]:
        """Members below a version, the highest first."""
        first = bisect_left(self.ascending, version.key, key=lambda name: self._version(name).key)
        return (self.ascending[position] for position in range(first - 1, -1, -1))

    def _version(self, name: str) -> Version:
        return self.members[name][0].semver

    def _is_withdrawn(self, name: str) -> bool:
        return self.members[name][0].withdrawn is not None

    def _standing(self, name: str, reach: Edges) -> Edges:
        """Stands in for whatever it replaces that is withdrawn or not in this catalog.

        Where a catalog begins above what is replaced, nothing would be gained, and the name stays as it is
        written.
        """
        kept, passed = reach, [name]
        while (below := reach.replaces) in self.members and below not in passed:
            assert below is not None  # a member's name
            is_withdrawn = self._is_withdrawn(below)
            if not is_withdrawn and below not in self.absent:
                break
            passed.append(below)
            reach = reach.absorb(below, self.reach(below))
            if is_withdrawn or self._gains(kept, reach):
                kept = reach
        return kept

    def _gains(self, one: Edges, other: Edges) -> bool:
        """Whether the other accepts an entry of this catalog that the one does not."""
        gained = {other.replaces, *other.skips} - {one.replaces, *one.skips}
        return any(name in self.members and name not in self.absent for name in gained)

    def _without_line(self, reach: Edges, passed: Iterable[str]) -> Edges:
        """The reach without skips of what stands in its own line: OLM v0 never moves to a skipped entry.

        Such a skip comes of an entry that was stood in for and had replaced something lower than the line
        goes on with. What has been passed, or was skipped by what was, is not in the line.
        """
        skipped = {n for name in passed for n in self.reach(name).skips}
        line = self._line(reach.replaces) - {*passed, *skipped}
        return reach._replace(skips=tuple(name for name in reach.skips if name not in line))

    def _line(self, start: str | None) -> set[str]:
        """What is replaced from a name on downwards, as far as that is known yet."""
        found: set[str] = set()
        while start is not None and start not in found:
            found.add(start)
            start = self.reaches[start].replaces if start in self.reaches else None
        return found


def zstream_range(source: ReleasesFile, release: Release) -> str:
    """The range of a z-stream release: its X.Y below it, also what was never published.

    `-0` is the lowest pre-release: it is written only where pre-releases of X.Y.0 are known to be out.
    """
    version = release.semver
    early = version.minor_stream in source.prerelease_streams
    # Build metadata takes no part in comparison, and blang's ranges do not read it.
    return f">={version.major}.{version.minor}.0{'-0' if early else ''} <{version.text.partition('+')[0]}"


def catalog_channel(source: ReleasesFile, name: str, variant: Variant = _EVERYTHING) -> Channel:
    """One channel. O(releases), and for z-streams the releases of the stream."""
    entries = tuple(_Stream(source, name, variant).entries())
    note = next((note for note in source.channels if note.name == name), None)
    return Channel(name, source.package, note.place if note else source.place, entries)


def catalog_package(source: ReleasesFile, variant: Variant = _EVERYTHING) -> Package:
    """The package as this catalog has it. A channel without a release here is not in it: opm refuses those.

    Bundles have what edges need of them and nothing else: name, version, image.
    """
    chosen = [name for name in source.channel_names if not variant.channels or name in variant.channels]
    channels = [made for name in chosen if (made := catalog_channel(source, name, variant)).entries]
    kept = {entry.name for each in channels for entry in each.entries}
    default = _default(source, channels)
    return Package(
        source.package,
        declarations=(Declaration(source.place, default),),
        channels=tuple(channels),
        bundles=tuple(_bundle(source, r) for r in source.releases if source.csv_name(r) in kept),
        deprecations=catalog_deprecations(source, {each.name for each in channels}, kept),
    )


def _default(source: ReleasesFile, channels: Iterable[Channel]) -> str:
    """The default channel; in a catalog without it the only one there is, or the last by name."""
    names = [each.name for each in channels]
    return source.default_channel if source.default_channel in names or not names else names[-1]


def _bundle(source: ReleasesFile, release: Release) -> Bundle:
    name, value = source.csv_name(release), {"packageName": source.package, "version": release.version}
    stated = Property("olm.package", value, release.place)
    image = source.bundle_image(release)
    # Where there is no image to pull, a catalog carries the manifests.
    return Bundle(
        name,
        source.package,
        release.version,
        release.place,
        image=image,
        properties=(stated,),
        has_objects=not image,
    )


def catalog_deprecations(
    source: ReleasesFile, channels: set[str], bundles: set[str]
) -> tuple[Deprecations, ...]:
    """The package's one olm.deprecations document, or none. A withdrawn release is told to who runs it."""
    found = [*_deprecated(source, channels, bundles)]
    return (Deprecations(source.package, source.place, tuple(found)),) if found else ()


def _deprecated(source: ReleasesFile, channels: set[str], bundles: set[str]) -> Iterator[DeprecationEntry]:
    if source.deprecated is not None:
        yield DeprecationEntry("olm.package", "", source.deprecated, source.place.at("deprecated"))
    for note in source.channels:
        if note.deprecated is not None and note.name in channels:
            yield DeprecationEntry("olm.channel", note.name, note.deprecated, note.place)
    for release in source.releases:
        name, message = source.csv_name(release), _message(release)
        if message is not None and name in bundles:
            yield DeprecationEntry("olm.bundle", name, message, _told_at(release))


def _message(release: Release) -> str | None:
    if release.deprecated is not None or release.withdrawn is None:
        return release.deprecated
    return f"withdrawn: {release.withdrawn}" if release.withdrawn else "withdrawn"


def _told_at(release: Release) -> Place:
    return release.place.at("withdrawn" if release.deprecated is None else "deprecated")
