"""What releases.yaml says, as plain frozen data: the one file a package's bundles and catalogs come from.

Equality ignores places, so that what was written and what is read back from it can be compared.
"""

from __future__ import annotations

__all__ = [
    "PUBLISHED",
    "Additions",
    "ChannelNote",
    "Membership",
    "Origin",
    "Release",
    "Source",
    "Variant",
    "usual_name",
]

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from everpath.model import Place
from everpath.versions import Version, parse

_NOWHERE: Final = Place("")
#: In the stead of a digest, for a bundle that only a catalog has: it is kept as it is there.
PUBLISHED: Final = "published"


@dataclass(frozen=True, slots=True)
class Origin:
    """From where a release is reached (`from`). A name is a version of the file, or that of a CSV."""

    replaces: str | None = None
    skips: tuple[str, ...] = ()
    skip_range: str | None = None
    zstream: bool = False
    place: Place = field(default=_NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Membership:
    """A channel that a release is in, with a `from` of its own where channels differ."""

    channel: str
    origin: Origin | None = None
    place: Place = field(default=_NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Additions:
    """What a bundle says besides its manifests: its metadata folder. None leaves it to the file's own."""

    properties: tuple[Mapping[str, Any], ...] | None = None
    dependencies: tuple[Mapping[str, Any], ...] | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Release:
    """One release. `withdrawn` is the reason, empty where none is given; None for those that stand.

    `procedures`, `engines` and the keys that begin with `x-` are the operator's own and kept as they are.
    """

    version: str
    channels: tuple[Membership, ...] = ()
    origin: Origin = Origin()
    withdrawn: str | None = None
    deprecated: str | None = None
    min_kube_version: str | None = None
    procedures: tuple[int, ...] = ()
    engines: tuple[str, ...] = ()
    name: str | None = None
    image: str | None = None
    bundle: str | None = None
    images: Mapping[str, str] = field(default_factory=dict)
    additions: Additions = Additions()
    extra: Mapping[str, Any] = field(default_factory=dict)
    place: Place = field(default=_NOWHERE, compare=False, repr=False)

    @property
    def parsed(self) -> Version:
        """Its version; the reader takes no text that is none."""
        return parse(self.version)

    def origin_in(self, channel: str) -> Origin | None:
        """Its `from` in a channel; None if it is not in it."""
        for membership in self.channels:
            if membership.channel == channel:
                return membership.origin if membership.origin is not None else self.origin
        return None


@dataclass(frozen=True, slots=True)
class ChannelNote:
    """What there is to say of a channel besides its releases."""

    name: str
    deprecated: str | None = None
    place: Place = field(default=_NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Variant:
    """One of several catalogs from one source: releases in a range, channels of some names; all without."""

    name: str
    releases: str | None = None
    channels: tuple[str, ...] = ()
    place: Place = field(default=_NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Source:
    """The whole file. Paths are as written: they count from the file's folder."""

    package: str
    default_channel: str
    releases: tuple[Release, ...] = ()
    operator: tuple[str, ...] = ()
    bundles: str | None = None
    image: str | None = None
    images: Mapping[str, str] = field(default_factory=dict)
    deprecated: str | None = None
    pins: str | None = None
    additions: Additions = Additions()
    channels: tuple[ChannelNote, ...] = ()
    catalogs: tuple[Variant, ...] = ()
    place: Place = field(default=_NOWHERE, compare=False, repr=False)

    def name_of(self, release: Release) -> str:
        """The name of its CSV and of its olm.bundle."""
        return release.name or usual_name(self.package, release.version)

    def image_of(self, release: Release) -> str:
        """The reference of its bundle's image; empty where nobody says."""
        return release.image or (_tagged(self.image, release) if self.image else "")

    def images_of(self, release: Release) -> Mapping[str, str]:
        """The references of the operator's own images, by what the manifests call them."""
        return {name: _tagged(ref, release) for name, ref in self.images.items()} | dict(release.images)

    def additions_of(self, release: Release) -> Additions:
        """Those of the release, and where it has none those of the file; annotations one by one."""
        own, all_ = release.additions, self.additions
        return Additions(
            all_.properties if own.properties is None else own.properties,
            all_.dependencies if own.dependencies is None else own.dependencies,
            {**all_.annotations, **own.annotations},
        )

    @cached_property
    def by_name(self) -> Mapping[str, Release]:
        """Releases by the name of their CSV, the first of each."""
        found: dict[str, Release] = {}
        for release in self.releases:
            found.setdefault(self.name_of(release), release)
        return found

    @cached_property
    def by_version(self) -> Mapping[str, tuple[Release, ...]]:
        """Releases by their version as written; several only where each has a name of its own."""
        found: dict[str, list[Release]] = {}
        for release in self.releases:
            found.setdefault(release.version, []).append(release)
        return {version: tuple(each) for version, each in found.items()}

    def referred(self, text: str) -> Release | None:
        """The release that a name or a version stands for; None for a name from elsewhere."""
        if (named := self.by_name.get(text)) is not None:
            return named
        found = self.by_version.get(text, ())
        return found[0] if len(found) == 1 else None

    def literal(self, text: str) -> str:
        """The CSV's name that a reference stands for."""
        release = self.referred(text)
        return text if release is None else self.name_of(release)

    @cached_property
    def channel_names(self) -> tuple[str, ...]:
        """Channels that have a release, in order of name."""
        return tuple(sorted({m.channel for r in self.releases for m in r.channels}))

    @cached_property
    def early_streams(self) -> frozenset[tuple[int, int]]:
        """The X.Y of which pre-releases of X.Y.0 are out."""
        versions = (release.parsed for release in self.releases)
        return frozenset(v.minor_stream for v in versions if v.is_prerelease and not v.patch)

    @property
    def known_channels(self) -> tuple[str, ...]:
        """Channels that have a release, or may be given their first."""
        noted = (note.name for note in self.channels)
        return tuple(sorted({*self.channel_names, *noted, self.default_channel}))

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The catalogs to make; without any by name a single one, with everything in it."""
        return self.catalogs or (Variant(""),)

    def in_channel(self, channel: str) -> Iterator[tuple[Release, Origin]]:
        """The releases of a channel in the file's order, each with its `from` there."""
        for release in self.releases:
            if (origin := release.origin_in(channel)) is not None:
                yield release, origin


def usual_name(package: str, version: str) -> str:
    """PACKAGE.vVERSION, without what no object of a cluster may have in its name."""
    return f"{package}.v{version.replace('+', '-').lower()}"


def _tagged(reference: str, release: Release) -> str:
    """REFERENCE:vVERSION, unless it has a tag or a digest already. `+` cannot stand in a tag."""
    return reference if is_tagged(reference) else f"{reference}:v{release.version.replace('+', '-')}"


def is_tagged(reference: str) -> bool:
    """Whether an image's reference says which of them is meant: by tag or digest."""
    return "@" in reference or ":" in reference.rpartition("/")[2]
