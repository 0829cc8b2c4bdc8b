"""From the channels of a catalog back to a source that makes the same channels.

Nothing is guessed: every edge is written as it is found, so that generating gives back the same graph. Where
a release has the same edges in all its channels they are written once.
"""

from __future__ import annotations

__all__ = ["reconstruct_releases"]

from collections.abc import Iterable, Iterator, Mapping
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

_WANTED: Final = ("olm.package.required", "olm.constraint")
_DERIVED: Final = (
    *_WANTED,
    "olm.package",
    "olm.gvk",
    "olm.gvk.required",
    "olm.bundle.object",
    "olm.csv.metadata",
)
#: Larger numbers change on their way through a parser.
_EXACT: Final = 2**53


def reconstruct_releases(package: Package) -> ReleasesFile:
    """The source of a package. Raises UsageError for what opm refuses anyway, with what to mend first.

    Cost: O(entries · log entries).
    """
    _require_whole(package)
    memberships = _memberships(package)
    versions = _versions(package.bundles)
    short = _Short(package)
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


def _require_whole(package: Package) -> None:
    names = [channel.name for channel in package.channels]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(
            f"{package.name} declares the channel {twice[0]!r} twice",
            hint="opm refuses such a catalog: everpath validate-graph shows where; mend it first",
        )
    if not package.bundles:
        raise UsageError(f"{package.name} has no bundle", hint="there is nothing to make releases of")


def _memberships(package: Package) -> Mapping[str, Mapping[str, Entry]]:
    """For each bundle its entries by channel."""
    found: dict[str, dict[str, Entry]] = {}
    for channel in sorted(package.channels, key=lambda c: (c.name != package.default_channel, c.name)):
        for entry in channel.by_name.values():
            if entry.name not in package.by_name:
                raise UsageError(
                    f"{package.name}: the entry {entry.name} of the channel {channel.name!r} has no bundle",
                    hint="opm refuses such a catalog: everpath validate-graph shows where; mend it first",
                )
            found.setdefault(entry.name, {})[channel.name] = entry
    return found


def _versions(bundles: Iterable[Bundle]) -> Mapping[str, Version]:
    found: dict[str, Version] = {}
    for bundle in bundles:
        try:
            found[bundle.name] = parse(bundle.version or "")
        except VersionError as error:
            hint = "OLM v1 refuses it, too: everpath validate-graph shows where; mend it first"
            raise UsageError(f"{bundle.name}: {error}", hint=hint) from error
    return found


class _Short(dict[str, str]):
    """Names of bundles as the file refers to them: by version, where that says the same."""

    def __init__(self, package: Package) -> None:
        names: dict[str, list[str]] = {}
        for bundle in package.by_name.values():
            names.setdefault(bundle.version or "", []).append(bundle.name)
        super().__init__(
            (found[0], version) for version, found in names.items() if self._is_clear(package, version, found)
        )

    @staticmethod
    def _is_clear(package: Package, version: str, found: list[str]) -> bool:
        return len(found) == 1 and package.by_name.get(version) in (None, package.by_name[found[0]])

    def of(self, name: str) -> str:
        return self.get(name, name)


def _release(
    bundle: Bundle, entries: Mapping[str, Entry], short: _Short, prefix: str | None, deprecated: str | None
) -> Release:
    version = bundle.version or ""
    origins = {channel: _origin(entry, short) for channel, entry in entries.items()}
    distinct = set(origins.values())
    shared = distinct.pop() if len(distinct) == 1 else None
    usual = f"{prefix}:v{version.replace('+', '-')}" if prefix else None
    return Release(
        version,
        tuple(Membership(channel, None if shared else origin) for channel, origin in origins.items()),
        shared or DeclaredEdges(),
        deprecated=deprecated,
        name=bundle.name if bundle.name != default_csv_name(bundle.package, version) else None,
        image=bundle.image if bundle.image and bundle.image != usual else None,
        bundle=PUBLISHED,
        metadata=_additions(bundle),
    )


def _additions(bundle: Bundle) -> BundleMetadata:
    """What properties tell of a bundle's metadata folder; those that come of its manifests tell nothing."""
    properties = [
        {"type": p.type, "value": p.value}
        for p in bundle.properties
        if p.type not in _DERIVED and p.type == p.type.strip() != "" and _is_exact(p.value)
    ]
    wanted = [_dependency(p) for p in bundle.properties if p.type in _WANTED and _is_exact(p.value)]
    dependencies = tuple(item for item in wanted if item is not None)
    return BundleMetadata(tuple(properties) or None, dependencies or None)


def _dependency(stated: Property) -> Mapping[str, Any] | None:
    """As dependencies.yaml has it: a version there is a versionRange in a catalog."""
    if stated.type == "olm.constraint":
        return {"type": stated.type, "value": stated.value}
    value = stated.value if isinstance(stated.value, Mapping) else {}
    name, span = value.get("packageName"), value.get("versionRange")
    return {"type": "olm.package", "value": {"packageName": name, "version": span}} if name and span else None


def _is_exact(value: object) -> bool:
    """Whether YAML gives a value back as it is."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_exact(below) for key, below in value.items())
    if isinstance(value, list):
        return all(map(_is_exact, value))
    if isinstance(value, int | float):
        return abs(value) <= _EXACT
    return value is None or isinstance(value, str)


def _origin(entry: Entry, short: _Short) -> DeclaredEdges:
    replaces = short.of(entry.replaces) if entry.replaces else None
    return DeclaredEdges(replaces, tuple(_distinct(entry, short)), entry.skip_range or None)


def _distinct(entry: Entry, short: _Short) -> Iterator[str]:
    """What it skips, each once. To skip what is replaced as well is kept: it changes who may move."""
    yield from (short.of(name) for name in dict.fromkeys(entry.skips) if name)


def _image_prefix(bundles: Iterable[Bundle]) -> str | None:
    """What all images have before `:vVERSION`, if they are named that way."""
    found = {_prefix(bundle) for bundle in bundles if bundle.image}
    return found.pop() if len(found) == 1 else None


def _prefix(bundle: Bundle) -> str | None:
    repository, colon, tag = bundle.image.rpartition(":")
    version = (bundle.version or "").replace("+", "-")
    return repository if colon and tag == f"v{version}" else None


def _default(package: Package, versions: Mapping[str, Version]) -> str:
    """The default channel; where none is declared, the one with the highest release."""
    names = [channel.name for channel in package.channels]
    if package.default_channel in names:
        return package.default_channel

    heights = {c.name: max((versions[e.name].key for e in c.entries), default=()) for c in package.channels}
    return max(names, key=lambda name: (heights[name], name), default=package.default_channel)
