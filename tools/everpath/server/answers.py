"""Every answer of the registry API, from an index: opm's answers, and its words where there is none.

opm walks Go's maps, so where it has several answers their order, or which of them it gives, is chance. Here
everything is in order of package, channel and bundle, and of several bundles that replace one it is that
which OLM v0 would go to.
"""

from __future__ import annotations

__all__ = ["Absent", "Answers", "Read"]

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Final, TypeAlias

from everpath.model import Gvk
from everpath.resolvers.quoting import quoted
from everpath.server import registry_pb2 as api
from everpath.server.index import ChannelOf, Custom, Index, PackageOf, Step

#: Gives the manifests of a bundle of a package in JSON: first its CSV, then all of them.
Read: TypeAlias = Callable[[PackageOf, str], tuple[str, Sequence[str]]]

_Found: TypeAlias = tuple[PackageOf, ChannelOf, Step]

_KEY: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*")


class Absent(LookupError):
    """What was asked for is not there; in opm's words."""


class Answers:
    """The answers from one catalog. `read` gives manifests; everything else is in the index."""

    def __init__(self, index: Index, read: Read) -> None:
        self._index = index
        self._read = read

    @cached_property
    def has_inline(self) -> bool:
        """Whether some bundle has its manifests in the catalog and in no image: it takes time to list."""
        return any(not step.has_image for _, _, step in self._index.steps())

    def packages(self) -> Iterator[bytes]:
        """ListPackages: `PackageName`s."""
        return (api.PackageName(name=name).SerializeToString() for name in self._index.packages)

    def package(self, name: str) -> api.Package:
        """GetPackage. Raises `Absent`."""
        found = self._package(name)
        message = api.Package(name=found.name, defaultChannelName=found.default_channel)
        for channel in found.channels.values():
            listed = message.channels.add(name=channel.name, csvName=channel.head)
            if channel.deprecation is not None:
                listed.deprecation.message = channel.deprecation
        if found.deprecation is not None:
            message.deprecation.message = found.deprecation
        return message

    def bundles(self) -> Iterator[bytes]:
        """ListBundles: `Bundle`s with their edges; with manifests only where no image has them."""
        for package, _, step in self._in_stream:
            yield step.listed if step.has_image else self._whole(package, step).SerializeToString()

    def bundle(self, package: str, channel: str, name: str) -> api.Bundle:
        """GetBundle. Raises `Absent`."""
        found = self._channel(self._package(package), channel)
        step = found.steps.get(name)
        if step is None:
            raise Absent(
                f"package {quoted(package)}, channel {quoted(channel)}, bundle {quoted(name)} not found"
            )
        return self._apart(self._package(package), step)

    def head(self, package: str, channel: str) -> api.Bundle:
        """GetBundleForChannel: the head. Raises `Absent`."""
        found = self._channel(self._package(package), channel)
        return self._apart(self._package(package), found.steps[found.head])

    def replacement(self, name: str, package: str, channel: str) -> api.Bundle:
        """GetBundleThatReplaces: of several, what OLM v0 prefers; ranges do not count. Raises `Absent`."""
        if package not in self._index.packages:
            raise Absent(f"package {package} not found")
        found = self._channel(self._index.packages[package], channel)
        for step in map(found.steps.__getitem__, found.order):
            if step.replaces == name or name in step.skips:
                return self._apart(self._index.packages[package], step)
        raise Absent(f"no entry found for package {quoted(package)}, channel {quoted(channel)}")

    def replacements(self, name: str) -> list[api.ChannelEntry]:
        """GetChannelEntriesThatReplace. Raises `Absent`."""
        found = self._replacers.get(name)
        if not found:
            raise Absent(f"no channel entries found that replace {name}")
        return [_entry(one, one[2].replaces) for one in found]

    def providers(self, gvk: Gvk) -> list[api.ChannelEntry]:
        """GetChannelEntriesThatProvide: all of them, once for each edge. Raises `Absent`."""
        return _required(gvk, (_edges(one, everywhere=True) for one in self._providers.get(gvk, ())))

    def latest_providers(self, gvk: Gvk) -> list[api.ChannelEntry]:
        """GetLatestChannelEntriesThatProvide: heads, once for each edge that stays in the channel.

        Raises `Absent`.
        """
        return _required(gvk, (_edges(one, everywhere=False) for one in self._latest(gvk)))

    def default_provider(self, gvk: Gvk) -> api.Bundle:
        """GetDefaultBundleThatProvides: of the first package whose default channel's head does.

        Raises `Absent`.
        """
        self.latest_providers(gvk)
        for package, channel, step in self._latest(gvk):
            if channel.name == package.default_channel:
                return self._apart(package, step)
        raise Absent(f"no entry found that provides {_words(gvk)}")

    def customs(self, schema: str, package: str) -> list[Custom]:
        """ExperimentalListPackageCustomSchemas: the documents. Raises ValueError for what is no key."""
        for what, text in (("schema", schema), ("packageName", package)):
            if text and _KEY.fullmatch(text) is None:
                reason = f"invalid {what} {quoted(text)}: must match ^{_KEY.pattern}$"
                raise ValueError(f"invalid custom schema query: {reason}")
        return [one for one in self._index.customs if (one.schema, one.package) == (schema, package)]

    def _package(self, name: str) -> PackageOf:
        found = self._index.packages.get(name)
        if found is None:
            raise Absent(f"package {quoted(name)} not found")
        return found

    def _channel(self, package: PackageOf, name: str) -> ChannelOf:
        found = package.channels.get(name)
        if found is None:
            raise Absent(f"package {quoted(package.name)}, channel {quoted(name)} not found")
        return found

    def _whole(self, package: PackageOf, step: Step) -> api.Bundle:
        message = api.Bundle.FromString(step.listed)
        message.csvJson, objects = self._read(package, step.name)
        message.object.extend(objects)
        return message

    def _apart(self, package: PackageOf, step: Step) -> api.Bundle:
        """A bundle by itself: with manifests, without its edges."""
        message = self._whole(package, step)
        message.ClearField("replaces")
        message.ClearField("skips")
        return message

    def _latest(self, gvk: Gvk) -> Iterator[_Found]:
        return (one for one in self._providers.get(gvk, ()) if one[1].head == one[2].name)

    @cached_property
    def _in_stream(self) -> list[_Found]:
        """In the order of the stream, which is by channel first."""
        return sorted(self._index.steps(), key=lambda one: (one[1].name, one[0].name, one[2].name))

    @cached_property
    def _providers(self) -> dict[Gvk, list[_Found]]:
        found: dict[Gvk, list[_Found]] = {}
        for one in self._index.steps():
            for gvk in dict.fromkeys(one[2].apis):
                found.setdefault(gvk, []).append(one)
        return found

    @cached_property
    def _replacers(self) -> dict[str, list[_Found]]:
        """By whom they replace or skip; who skips a name twice is there twice."""
        found: dict[str, list[_Found]] = {}
        for one in self._index.steps():
            step = one[2]
            for name in (step.replaces, *(skipped for skipped in step.skips if skipped != step.replaces)):
                found.setdefault(name, []).append(one)
        return found


def _required(gvk: Gvk, found: Iterable[Iterable[api.ChannelEntry]]) -> list[api.ChannelEntry]:
    entries = list(chain.from_iterable(found))
    if not entries:
        raise Absent(f"no channel entries found that provide {_words(gvk)}")
    return entries


def _edges(found: _Found, *, everywhere: bool) -> Iterator[api.ChannelEntry]:
    _, channel, step = found
    yield _entry(found, step.replaces)
    for skipped in step.skips:
        if skipped != step.replaces and (everywhere or skipped in channel.steps):
            yield _entry(found, skipped)


def _entry(found: _Found, replaces: str) -> api.ChannelEntry:
    package, channel, step = found
    return api.ChannelEntry(
        packageName=package.name, channelName=channel.name, bundleName=step.name, replaces=replaces
    )


def _words(gvk: Gvk) -> str:
    group, version, kind = map(quoted, gvk)
    return f"group:{group} version:{version} kind:{kind}"
