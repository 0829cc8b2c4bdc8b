"""The content of releases.yaml as frozen data.

Equality ignores places, so that a file can be compared with what was written.
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

_NO_PLACE: Final = Place("")
#: The value of `bundle` for a bundle that exists only in the catalog, where it is not regenerated.
PUBLISHED: Final = "published"


@dataclass(frozen=True, slots=True)
class DeclaredEdges:
    """The key `from`: the releases that can upgrade to a release, each as a version or a CSV name."""

    replaces: str | None = None
    skips: tuple[str, ...] = ()
    skip_range: str | None = None
    zstream: bool = False
    place: Place = field(default=_NO_PLACE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Membership:
    """A channel of a release, with its own `from` where channels differ."""

    channel: str
    edges: DeclaredEdges | None = None
    place: Place = field(default=_NO_PLACE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BundleMetadata:
    """The content of a bundle's metadata folder. None inherits the value of the file."""

    properties: tuple[Mapping[str, Any], ...] | None = None
    dependencies: tuple[Mapping[str, Any], ...] | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Release:
    """One release. `withdrawn` is the reason, empty if there is none, and None if it is not withdrawn.

    everpath does not interpret `procedures`, `engines` and the keys that start with `x-`.
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
    place: Place = field(default=_NO_PLACE, compare=False, repr=False)

    @property
    def semver(self) -> Version:
        """The parsed version; a file with an invalid version is not loaded."""
        return parse(self.version)

    def edges_in(self, channel: str) -> DeclaredEdges | None:
        """The edges of the release in a channel; None if it is not in the channel."""
        for membership in self.channels:
            if membership.channel == channel:
                return membership.edges if membership.edges is not None else self.edges
        return None


@dataclass(frozen=True, slots=True)
class ChannelDeclaration:
    """An item of `channels`."""

    name: str
    deprecated: str | None = None
    place: Place = field(default=_NO_PLACE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Variant:
    """An item of `catalogs`: a catalog with the releases of a range and some channels; all by default."""

    name: str
    releases: str | None = None
    channels: tuple[str, ...] = ()
    place: Place = field(default=_NO_PLACE, compare=False, repr=False)


@dataclass(frozen=True)
class ReleasesFile:
    """The whole file. Paths are as written, relative to the file's folder."""

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
    place: Place = field(default=_NO_PLACE, compare=False, repr=False)

    def csv_name(self, release: Release) -> str:
        """The name of a release's CSV and olm.bundle."""
        return release.name or default_csv_name(self.package, release.version)

    def bundle_image(self, release: Release) -> str:
        """The reference of a release's bundle image; empty if the file has none."""
        return release.image or (_with_version_tag(self.image, release) if self.image else "")

    def operator_images(self, release: Release) -> Mapping[str, str]:
        """The references of the operator's images in a release, by their name in the manifests."""
        shared = {name: _with_version_tag(reference, release) for name, reference in self.images.items()}
        return shared | dict(release.images)

    def bundle_metadata(self, release: Release) -> BundleMetadata:
        """The metadata of a release; what it lacks is that of the file."""
        own, shared = release.metadata, self.metadata
        return BundleMetadata(
            shared.properties if own.properties is None else own.properties,
            shared.dependencies if own.dependencies is None else own.dependencies,
            {**shared.annotations, **own.annotations},
        )

    @cached_property
    def by_name(self) -> Mapping[str, Release]:
        """Releases by the name of their CSV; the first of duplicates."""
        found: dict[str, Release] = {}
        for release in self.releases:
            found.setdefault(self.csv_name(release), release)
        return found

    @cached_property
    def by_version(self) -> Mapping[str, tuple[Release, ...]]:
        """Releases by version as written. Several have the same version only if they have a `name`."""
        found: dict[str, list[Release]] = {}
        for release in self.releases:
            found.setdefault(release.version, []).append(release)
        return {version: tuple(each) for version, each in found.items()}

    def find_release(self, text: str) -> Release | None:
        """Find a release by CSV name or version; None for a name that is not in the file."""
        if (named := self.by_name.get(text)) is not None:
            return named
        found = self.by_version.get(text, ())
        return found[0] if len(found) == 1 else None

    def resolve_csv_name(self, text: str) -> str:
        """The CSV name of a reference, which may be a version."""
        release = self.find_release(text)
        return text if release is None else self.csv_name(release)

    @cached_property
    def channel_names(self) -> tuple[str, ...]:
        """The channels with releases, sorted."""
        return tuple(sorted({m.channel for r in self.releases for m in r.channels}))

    @cached_property
    def prerelease_streams(self) -> frozenset[tuple[int, int]]:
        """The X.Y with a pre-release of X.Y.0."""
        versions = (release.semver for release in self.releases)
        return frozenset(v.minor_stream for v in versions if v.is_prerelease and not v.patch)

    @property
    def known_channels(self) -> tuple[str, ...]:
        """The channels with releases and those that are declared."""
        declared = (channel.name for channel in self.channels)
        return tuple(sorted({*self.channel_names, *declared, self.default_channel}))

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The catalogs to generate; by default a single one with everything."""
        return self.catalogs or (Variant(""),)

    def releases_in(self, channel: str) -> Iterator[tuple[Release, DeclaredEdges]]:
        """Yield the releases of a channel in the order of the file, each with its edges there."""
        for release in self.releases:
            if (origin := release.edges_in(channel)) is not None:
                yield release, origin


def default_csv_name(package: str, version: str) -> str:
    """PACKAGE.vVERSION as a valid name of a Kubernetes object."""
    return f"{package}.v{version.replace('+', '-').lower()}"


def _with_version_tag(reference: str, release: Release) -> str:
    """REFERENCE:vVERSION, unless it has a tag or a digest. A tag cannot contain `+`."""
    return reference if has_tag_or_digest(reference) else f"{reference}:v{release.version.replace('+', '-')}"


def has_tag_or_digest(reference: str) -> bool:
    """Whether an image reference has a tag or a digest."""
    return "@" in reference or ":" in reference.rpartition("/")[2]
