"""What releases.yaml says, as plain frozen data: the one file a package's bundles and catalogs come from.

Equality ignores places, so that what was written and what is read back from it can be compared.
"""

from __future__ import annotations

__all__ = [
    "PUBLISHED",
    "BundleMetadata",
    "ChannelDeclaration",
    "DeclaredEdges",
    "Membership",
    "Release",
    "ReleasesFile",
    "Variant",
    "default_csv_name",
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
class DeclaredEdges:
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
    edges: DeclaredEdges | None = None
    place: Place = field(default=_NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BundleMetadata:
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
    edges: DeclaredEdges = DeclaredEdges()
    withdrawn: str | None = None
    deprecated: str | None = None
    min_kube_version: str | None = None
    procedures: tuple[int, ...] = ()
    engines: tuple[str, ...] = ()
    name: str | None = None
    image: str | None = None
    bundle: str | None = None
    images: Mapping[str, str] = field(default_factory=dict)
    metadata: BundleMetadata = BundleMetadata()
    extra: Mapping[str, Any] = field(default_factory=dict)
    place: Place = field(default=_NOWHERE, compare=False, repr=False)

    @property
    def semver(self) -> Version:
        """Its version; the reader takes no text that is none."""
        return parse(self.version)

    def edges_in(self, channel: str) -> DeclaredEdges | None:
        """Its `from` in a channel; None if it is not in it."""
        for membership in self.channels:
            if membership.channel == channel:
                return membership.edges if membership.edges is not None else self.edges
        return None


@dataclass(frozen=True, slots=True)
class ChannelDeclaration:
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
class ReleasesFile:
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
    metadata: BundleMetadata = BundleMetadata()
    channels: tuple[ChannelDeclaration, ...] = ()
    catalogs: tuple[Variant, ...] = ()
    place: Place = field(default=_NOWHERE, compare=False, repr=False)

    def csv_name(self, release: Release) -> str:
        """The name of its CSV and of its olm.bundle."""
        return release.name or default_csv_name(self.package, release.version)

    def bundle_image(self, release: Release) -> str:
        """The reference of its bundle's image; empty where nobody says."""
        return release.image or (_tagged(self.image, release) if self.image else "")

    def operator_images(self, release: Release) -> Mapping[str, str]:
        """The references of the operator's own images, by what the manifests call them."""
        return {name: _tagged(ref, release) for name, ref in self.images.items()} | dict(release.images)

    def bundle_metadata(self, release: Release) -> BundleMetadata:
        """Those of the release, and where it has none those of the file; annotations one by one."""
        own, all_ = release.metadata, self.metadata
        return BundleMetadata(
            all_.properties if own.properties is None else own.properties,
            all_.dependencies if own.dependencies is None else own.dependencies,
            {**all_.annotations, **own.annotations},
        )

    @cached_property
    def by_name(self) -> Mapping[str, Release]:
        """Releases by the name of their CSV, the first of each."""
        found: dict[str, Release] = {}
        for release in self.releases:
            found.setdefault(self.csv_name(release), release)
        return found

    @cached_property
    def by_version(self) -> Mapping[str, tuple[Release, ...]]:
        """Releases by their version as written; several only where each has a name of its own."""
        found: dict[str, list[Release]] = {}
        for release in self.releases:
            found.setdefault(release.version, []).append(release)
        return {version: tuple(each) for version, each in found.items()}

    def find_release(self, text: str) -> Release | None:
        """The release that a name or a version stands for; None for a name from elsewhere."""
        if (named := self.by_name.get(text)) is not None:
            return named
        found = self.by_version.get(text, ())
        return found[0] if len(found) == 1 else None

    def resolve_csv_name(self, text: str) -> str:
        """The CSV's name that a reference stands for."""
        release = self.find_release(text)
        return text if release is None else self.csv_name(release)

    @cached_property
    def channel_names(self) -> tuple[str, ...]:
        """Channels that have a release, in order of name."""
        return tuple(sorted({m.channel for r in self.releases for m in r.channels}))

    @cached_property
    def prerelease_streams(self) -> frozenset[tuple[int, int]]:
        """The X.Y of which pre-releases of X.Y.0 are out."""
        versions = (release.semver for release in self.releases)
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

    def releases_in(self, channel: str) -> Iterator[tuple[Release, DeclaredEdges]]:
        """The releases of a channel in the file's order, each with its `from` there."""
        for release in self.releases:
            if (origin := release.edges_in(channel)) is not None:
                yield release, origin


def default_csv_name(package: str, version: str) -> str:
    """PACKAGE.vVERSION, without what no object of a cluster may have in its name."""
    return f"{package}.v{version.replace('+', '-').lower()}"


def _tagged(reference: str, release: Release) -> str:
    """REFERENCE:vVERSION, unless it has a tag or a digest already. `+` cannot stand in a tag."""
    return reference if has_tag_or_digest(reference) else f"{reference}:v{release.version.replace('+', '-')}"


def has_tag_or_digest(reference: str) -> bool:
    """Whether an image's reference says which of them is meant: by tag or digest."""
    return "@" in reference or ":" in reference.rpartition("/")[2]
