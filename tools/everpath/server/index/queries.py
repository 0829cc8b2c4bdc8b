"""The calls of the registry API, answered from an index.

Messages and errors are those of `opm serve`. opm iterates over Go maps, so the order of its streams, and its
choice among several bundles that replace one, are random. Here entries are sorted by package, channel and
bundle, and of several bundles that replace one, the one that OLM v0 installs is returned.
"""

from __future__ import annotations

__all__ = ["ManifestReader", "NotFound", "RegistryQueries"]

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

from everpath.model import Gvk
from everpath.resolvers.go_quote import go_quote
from everpath.server import registry_pb2 as api
from everpath.server.index.model import (
    VALID_NAME,
    CustomDocument,
    Index,
    IndexedChannel,
    IndexedEntry,
    IndexedPackage,
    LocatedEntry,
)

#: Returns the manifests of a bundle of a package as JSON: its CSV, and all manifests.
ManifestReader: TypeAlias = Callable[[IndexedPackage, str], tuple[str, Sequence[str]]]


class NotFound(LookupError):
    """The catalog does not have what a call names. The message is opm's."""


class RegistryQueries:
    """One method for each call of the registry API. Manifests come from `read_manifests`."""

    def __init__(self, index: Index, read_manifests: ManifestReader) -> None:
        self._index = index
        self._read_manifests = read_manifests

    @cached_property
    def has_inline_manifests(self) -> bool:
        """Whether a bundle has no image. ListBundles returns its manifests, which takes longer."""
        return any(not located.entry.has_image for located in self._index.entries())

    def list_packages(self) -> Iterator[bytes]:
        """ListPackages: yield serialised `PackageName`s."""
        return (api.PackageName(name=name).SerializeToString() for name in self._index.packages)

    def get_package(self, name: str) -> api.Package:
        """GetPackage. Raises `NotFound`."""
        package = self._package(name)
        message = api.Package(name=package.name, defaultChannelName=package.default_channel)
        for channel in package.channels.values():
            channel_message = message.channels.add(name=channel.name, csvName=channel.head)
            if channel.deprecation is not None:
                channel_message.deprecation.message = channel.deprecation
        if package.deprecation is not None:
            message.deprecation.message = package.deprecation
        return message

    def list_bundles(self) -> Iterator[bytes]:
        """ListBundles: yield serialised `Bundle`s by channel, package and name.

        They have their edges, and manifests only if the bundle has no image.
        """
        for package, _, entry in self._stream_order:
            if entry.has_image:
                yield entry.message
            else:
                yield self._bundle_with_manifests(package, entry).SerializeToString()

    def get_bundle(self, package_name: str, channel_name: str, name: str) -> api.Bundle:
        """GetBundle. Raises `NotFound`."""
        package = self._package(package_name)
        entry = _channel(package, channel_name).entries.get(name)
        if entry is None:
            raise NotFound(
                f"package {go_quote(package_name)}, channel {go_quote(channel_name)}, "
                f"bundle {go_quote(name)} not found"
            )
        return self._bundle_without_edges(package, entry)

    def get_bundle_for_channel(self, package_name: str, channel_name: str) -> api.Bundle:
        """GetBundleForChannel: return the head. Raises `NotFound`."""
        package = self._package(package_name)
        channel = _channel(package, channel_name)
        return self._bundle_without_edges(package, channel.entries[channel.head])

    def get_bundle_that_replaces(self, name: str, package_name: str, channel_name: str) -> api.Bundle:
        """GetBundleThatReplaces: return the first in OLM v0's order; skipRange does not count.

        Raises `NotFound`.
        """
        package = self._index.packages.get(package_name)
        if package is None:
            # opm quotes the name in the errors of all other calls.
            raise NotFound(f"package {package_name} not found")
        channel = _channel(package, channel_name)
        for entry in map(channel.entries.__getitem__, channel.olm_order):
            if entry.replaces == name or name in entry.skips:
                return self._bundle_without_edges(package, entry)
        raise NotFound(
            f"no entry found for package {go_quote(package_name)}, channel {go_quote(channel_name)}"
        )

    def get_channel_entries_that_replace(self, name: str) -> list[api.ChannelEntry]:
        """GetChannelEntriesThatReplace. Raises `NotFound`."""
        replacing = self._replacing.get(name)
        if not replacing:
            raise NotFound(f"no channel entries found that replace {name}")
        return [_channel_entry(located, located.entry.replaces) for located in replacing]

    def get_channel_entries_that_provide(self, gvk: Gvk) -> list[api.ChannelEntry]:
        """GetChannelEntriesThatProvide: return an entry for each edge. Raises `NotFound`."""
        return _edges_of_providers(gvk, self._providing.get(gvk, ()))

    def get_latest_channel_entries_that_provide(self, gvk: Gvk) -> list[api.ChannelEntry]:
        """GetLatestChannelEntriesThatProvide: return channel heads, one for each edge within the channel.

        Raises `NotFound`.
        """
        return _edges_of_providers(gvk, self._heads_providing(gvk), within_channel=True)

    def get_default_bundle_that_provides(self, gvk: Gvk) -> api.Bundle:
        """GetDefaultBundleThatProvides: return the first head of a default channel. Raises `NotFound`."""
        heads = self._heads_providing(gvk)
        if not heads:
            raise NotFound(f"no channel entries found that provide {_gvk_text(gvk)}")
        for package, channel, entry in heads:
            if channel.name == package.default_channel:
                return self._bundle_without_edges(package, entry)
        raise NotFound(f"no entry found that provides {_gvk_text(gvk)}")

    def list_custom_documents(self, schema: str, package: str) -> list[CustomDocument]:
        """ExperimentalListPackageCustomSchemas. Raises ValueError for an invalid schema or package."""
        for parameter, name in (("schema", schema), ("packageName", package)):
            if name and VALID_NAME.fullmatch(name) is None:
                reason = f"invalid {parameter} {go_quote(name)}: must match ^{VALID_NAME.pattern}$"
                raise ValueError(f"invalid custom schema query: {reason}")
        return [
            custom
            for custom in self._index.custom_documents
            if (custom.schema, custom.package) == (schema, package)
        ]

    def _package(self, name: str) -> IndexedPackage:
        package = self._index.packages.get(name)
        if package is None:
            raise NotFound(f"package {go_quote(name)} not found")
        return package

    def _bundle_with_manifests(self, package: IndexedPackage, entry: IndexedEntry) -> api.Bundle:
        message = api.Bundle.FromString(entry.message)
        message.csvJson, objects = self._read_manifests(package, entry.name)
        message.object.extend(objects)
        return message

    def _bundle_without_edges(self, package: IndexedPackage, entry: IndexedEntry) -> api.Bundle:
        """Build the bundle that calls for a single bundle return: with manifests, without edges."""
        message = self._bundle_with_manifests(package, entry)
        message.ClearField("replaces")
        message.ClearField("skips")
        return message

    def _heads_providing(self, gvk: Gvk) -> list[LocatedEntry]:
        return [
            located for located in self._providing.get(gvk, ()) if located.channel.head == located.entry.name
        ]

    @cached_property
    def _stream_order(self) -> list[LocatedEntry]:
        return sorted(
            self._index.entries(),
            key=lambda located: (located.channel.name, located.package.name, located.entry.name),
        )

    @cached_property
    def _providing(self) -> dict[Gvk, list[LocatedEntry]]:
        found: dict[Gvk, list[LocatedEntry]] = {}
        for located in self._index.entries():
            for gvk in dict.fromkeys(located.entry.provided_apis):
                found.setdefault(gvk, []).append(located)
        return found

    @cached_property
    def _replacing(self) -> dict[str, list[LocatedEntry]]:
        """Entries by the names they replace or skip. An entry that skips a name twice is listed twice."""
        found: dict[str, list[LocatedEntry]] = {}
        for located in self._index.entries():
            for name in _outgoing_edges(located.entry):
                found.setdefault(name, []).append(located)
        return found


def _channel(package: IndexedPackage, name: str) -> IndexedChannel:
    channel = package.channels.get(name)
    if channel is None:
        raise NotFound(f"package {go_quote(package.name)}, channel {go_quote(name)} not found")
    return channel


def _edges_of_providers(
    gvk: Gvk, providers: Sequence[LocatedEntry], *, within_channel: bool = False
) -> list[api.ChannelEntry]:
    """Return an entry for each edge, of skipped names only those in the channel if `within_channel`."""
    edges = [
        _channel_entry(located, name)
        for located in providers
        for name in _outgoing_edges(located.entry)
        if not within_channel or name == located.entry.replaces or name in located.channel.entries
    ]
    if not edges:
        raise NotFound(f"no channel entries found that provide {_gvk_text(gvk)}")
    return edges


def _outgoing_edges(entry: IndexedEntry) -> Iterator[str]:
    """Yield the replaced name, which may be empty, and the skipped ones."""
    yield entry.replaces
    yield from (name for name in entry.skips if name != entry.replaces)


def _channel_entry(located: LocatedEntry, replaces: str) -> api.ChannelEntry:
    package, channel, entry = located
    return api.ChannelEntry(
        packageName=package.name, channelName=channel.name, bundleName=entry.name, replaces=replaces
    )


def _gvk_text(gvk: Gvk) -> str:
    group, version, kind = map(go_quote, gvk)
    return f"group:{group} version:{version} kind:{kind}"
