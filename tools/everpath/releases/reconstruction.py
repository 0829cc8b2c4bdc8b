"""Reconstructs a releases.yaml from a package of a catalog, such that it generates the same channels.

Every edge is copied. Edges that are the same in all channels of a release are written once.
"""

from __future__ import annotations

__all__ = ["reconstruct_releases"]

from collections.abc import Iterable, Mapping
from typing import Any, Final

from everpath.errors import UsageError
from everpath.model import Bundle, DeprecationEntry, Entry, Package, Property
from everpath.releases.model import (
    PUBLISHED,
    BundleMetadata,
    ChannelDeclaration,
    DeclaredEdges,
    Membership,
    Release,
    ReleasesFile,
    default_csv_name,
)
from everpath.versions import Version, VersionError, parse

_DEPENDENCY_TYPES: Final = ("olm.package.required", "olm.constraint")
_GENERATED_TYPES: Final = (
    *_DEPENDENCY_TYPES,
    "olm.package",
    "olm.gvk",
    "olm.gvk.required",
    "olm.bundle.object",
    "olm.csv.metadata",
)
#: Larger numbers lose precision in a parser.
_MAX_EXACT_NUMBER: Final = 2**53


def reconstruct_releases(package: Package) -> ReleasesFile:
    """Reconstruct the file of a package. Raises UsageError for a package that opm rejects.

    Cost: O(entries · log entries).
    """
    _require_valid(package)
    memberships = _memberships(package)
    versions = _versions(package.bundles)
    short = _ShortNames(package)
    ordered = sorted(package.by_name.values(), key=lambda bundle: versions[bundle.name].key)
    prefix = _image_prefix(ordered)
    deprecated = package.deprecations_by_name("olm.bundle")
    releases = tuple(
        _release(bundle, memberships.get(bundle.name, {}), short, prefix, _message(deprecated, bundle.name))
        for bundle in ordered
    )
    channels = package.deprecations_by_name("olm.channel")
    return ReleasesFile(
        package.name,
        _default(package, versions),
        releases,
        image=prefix,
        deprecated=_message(package.deprecations_by_name("olm.package"), ""),
        channels=tuple(
            ChannelDeclaration(c.name, channels[c.name].message)
            for c in package.channels
            if c.name in channels
        ),
    )


def _message(deprecated: Mapping[str, DeprecationEntry], name: str) -> str | None:
    return deprecated[name].message or "deprecated" if name in deprecated else None


def _require_valid(package: Package) -> None:
    names = [channel.name for channel in package.channels]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(
            f"{package.name} declares the channel {twice[0]!r} twice",
            hint="fix the catalog first: opm rejects it, and everpath validate-graph shows where",
        )
    if not package.bundles:
        raise UsageError(f"{package.name} has no bundle", hint="choose a package with bundles")


def _memberships(package: Package) -> Mapping[str, Mapping[str, Entry]]:
    """Return the entries of each bundle, by channel."""
    found: dict[str, dict[str, Entry]] = {}
    for channel in sorted(package.channels, key=lambda c: (c.name != package.default_channel, c.name)):
        for entry in channel.by_name.values():
            if entry.name not in package.by_name:
                raise UsageError(
                    f"{package.name}: the entry {entry.name} of the channel {channel.name!r} has no bundle",
                    hint="fix the catalog first: opm rejects it, and everpath validate-graph shows where",
                )
            found.setdefault(entry.name, {})[channel.name] = entry
    return found


def _versions(bundles: Iterable[Bundle]) -> Mapping[str, Version]:
    found: dict[str, Version] = {}
    for bundle in bundles:
        try:
            found[bundle.name] = parse(bundle.version or "")
        except VersionError as error:
            hint = "fix the catalog first: OLM v1 refuses it, and everpath validate-graph shows where"
            raise UsageError(f"{bundle.name}: {error}", hint=hint) from error
    return found


class _ShortNames(dict[str, str]):
    """The version of each bundle, by name, if no other bundle has that version or name."""

    def __init__(self, package: Package) -> None:
        names: dict[str, list[str]] = {}
        for bundle in package.by_name.values():
            names.setdefault(bundle.version or "", []).append(bundle.name)
        super().__init__(
            (found[0], version)
            for version, found in names.items()
            if len(found) == 1 and package.by_name.get(version) in (None, package.by_name[found[0]])
        )

    def of(self, name: str) -> str:
        return self.get(name, name)


def _release(
    bundle: Bundle,
    entries: Mapping[str, Entry],
    short: _ShortNames,
    prefix: str | None,
    deprecated: str | None,
) -> Release:
    version = bundle.version or ""
    edges = {channel: _declared_edges(entry, short) for channel, entry in entries.items()}
    distinct = set(edges.values())
    shared = distinct.pop() if len(distinct) == 1 else None
    usual = f"{prefix}:v{version.replace('+', '-')}" if prefix else None
    return Release(
        version,
        tuple(Membership(channel, None if shared else own) for channel, own in edges.items()),
        shared or DeclaredEdges(),
        deprecated=deprecated,
        name=bundle.name if bundle.name != default_csv_name(bundle.package, version) else None,
        image=bundle.image if bundle.image and bundle.image != usual else None,
        bundle=PUBLISHED,
        metadata=_metadata(bundle),
    )


def _metadata(bundle: Bundle) -> BundleMetadata:
    """Reconstruct the metadata folder from the properties that are not generated from manifests."""
    properties = [
        {"type": p.type, "value": p.value}
        for p in bundle.properties
        if p.type not in _GENERATED_TYPES and p.type == p.type.strip() != "" and _is_exact(p.value)
    ]
    found = [_dependency(p) for p in bundle.properties if p.type in _DEPENDENCY_TYPES and _is_exact(p.value)]
    dependencies = tuple(item for item in found if item is not None)
    return BundleMetadata(tuple(properties) or None, dependencies or None)


def _dependency(stated: Property) -> Mapping[str, Any] | None:
    """Convert a property to an item of dependencies.yaml."""
    if stated.type == "olm.constraint":
        return {"type": stated.type, "value": stated.value}
    value = stated.value if isinstance(stated.value, Mapping) else {}
    name, span = value.get("packageName"), value.get("versionRange")
    return {"type": "olm.package", "value": {"packageName": name, "version": span}} if name and span else None


def _is_exact(value: object) -> bool:
    """Whether YAML preserves a value."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_exact(below) for key, below in value.items())
    if isinstance(value, list):
        return all(map(_is_exact, value))
    if isinstance(value, int | float):
        return abs(value) <= _MAX_EXACT_NUMBER
    return value is None or isinstance(value, str)


def _declared_edges(entry: Entry, short: _ShortNames) -> DeclaredEdges:
    """Convert the edges of an entry. An entry that is both replaced and skipped stays so: OLM v0 differs."""
    replaces = short.of(entry.replaces) if entry.replaces else None
    skips = tuple(short.of(name) for name in dict.fromkeys(entry.skips) if name)
    return DeclaredEdges(replaces, skips, entry.skip_range or None)


def _image_prefix(bundles: Iterable[Bundle]) -> str | None:
    """The common part of all images before `:vVERSION`; None if they have another form."""
    found: set[str | None] = set()
    for bundle in bundles:
        if bundle.image:
            repository, colon, tag = bundle.image.rpartition(":")
            version = (bundle.version or "").replace("+", "-")
            found.add(repository if colon and tag == f"v{version}" else None)
    return found.pop() if len(found) == 1 else None


def _default(package: Package, versions: Mapping[str, Version]) -> str:
    """The default channel; if it does not exist, the channel with the highest version."""
    names = [channel.name for channel in package.channels]
    if package.default_channel in names:
        return package.default_channel

    highest = {c.name: max((versions[e.name].key for e in c.entries), default=()) for c in package.channels}
    return max(names, key=lambda name: (highest[name], name), default=package.default_channel)
