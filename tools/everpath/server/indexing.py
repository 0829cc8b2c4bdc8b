"""From a catalog to the index that a registry answers from."""

from __future__ import annotations

__all__ = ["index_of"]

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Bundle, Catalog, Entry, Package, Place
from everpath.resolvers import olm_v0
from everpath.server.index import ChannelOf, Custom, Index, PackageOf, Step, Where
from everpath.server.messages import bundle_message, provided

_PACKAGE, _CHANNEL, _BUNDLE = "olm.package", "olm.channel", "olm.bundle"

# No file is longer.
_TO_THE_END: Final = 2**62

_Ends: TypeAlias = Mapping[str, list[int]]


def index_of(catalog: Catalog) -> Index:
    """The index of a catalog that opm accepts. Cost: one message an entry."""
    ends = _ends(catalog)
    packages = {package.name: _package(package, ends) for package in catalog.packages}
    customs = (Custom(o.schema, o.package, _where(o.place, ends)) for o in catalog.others)
    return Index(packages, tuple(customs))


def _package(package: Package, ends: _Ends) -> PackageOf:
    deprecated = package.deprecations_by_name(_PACKAGE).get("")
    messages = {name: entry.message for name, entry in package.deprecations_by_name(_BUNDLE).items()}
    channels = package.deprecations_by_name(_CHANNEL)
    graphs = sorted(PackageGraph(package).channels, key=lambda graph: graph.name)
    return PackageOf(
        package.name,
        package.default_channel,
        deprecated.message if deprecated else None,
        _where(package.declarations[0].place, ends),
        {
            graph.name: _channel(
                graph, channels[graph.name].message if graph.name in channels else None, messages
            )
            for graph in graphs
        },
        {bundle.name: _where(bundle.place, ends) for bundle in package.bundles},
    )


def _channel(graph: ChannelGraph, deprecation: str | None, messages: Mapping[str, str]) -> ChannelOf:
    names = sorted(graph.entries)
    preferred = olm_v0.order(graph).chain
    steps = {}
    for name in names:
        bundle = graph.package.by_name[name]
        steps[name] = _step(graph.name, bundle, graph.entries[name], messages.get(name))
    return ChannelOf(
        graph.name,
        graph.heads[0],
        deprecation,
        steps,
        (*preferred, *(name for name in names if name not in set(preferred))),
    )


def _step(channel: str, bundle: Bundle, entry: Entry, deprecation: str | None) -> Step:
    message = bundle_message(channel, bundle, entry, deprecation)
    return Step(
        entry.name,
        entry.replaces or "",
        entry.skips,
        bool(bundle.image),
        message.SerializeToString(deterministic=True),
        tuple(provided(bundle)),
    )


def _ends(catalog: Catalog) -> dict[str, list[int]]:
    """By file, where documents start: one ends where the next starts."""
    starts: dict[str, set[int]] = {}
    for place in _places(catalog):
        starts.setdefault(place.file, set()).add(place.offset)
    return {file: sorted(offsets) for file, offsets in starts.items()}


def _places(catalog: Catalog) -> Iterator[Place]:
    for package in catalog.packages:
        for group in (package.declarations, package.channels, package.bundles, package.deprecations):
            yield from (one.place for one in group)
    yield from (other.place for other in catalog.others)


def _where(place: Place, ends: _Ends) -> Where:
    starts = ends[place.file]
    following = bisect_right(starts, place.offset)
    return Where(place.file, place.offset, starts[following] if following < len(starts) else _TO_THE_END)
