"""The next hop of every entry of a channel, including failures, without resolving entry by entry."""

from __future__ import annotations

__all__ = ["NextHops", "first_hop_v1", "next_hops_v0", "next_hops_v1"]

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Bundle
from everpath.resolvers import CACHED_CHANNELS, cluster_extension, olm_v0, olm_v1
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension
from everpath.resolvers.resolution import InstalledBundle, Resolution, ResolutionFailure
from everpath.versions import parse_or_none

#: The name of the only catalog.
_CATALOG: Final = "catalog"


@dataclass(frozen=True, slots=True)
class NextHops:
    """The next hop of each entry (None: it stays or the resolver fails), and failures by entry."""

    next: Mapping[str, str | None]
    failures: Mapping[str, ResolutionFailure] = field(default_factory=dict)

    @staticmethod
    def of(hops: Mapping[str, str | None], failures: Mapping[str, ResolutionFailure]) -> NextHops:
        """Return the next hops with None for entries for which the resolver fails."""
        if not failures:
            return NextHops(hops)
        return NextHops({n: None if n in failures else hop for n, hop in hops.items()}, failures)


def next_hops_v0(graph: ChannelGraph) -> NextHops:
    """Return the next hops under OLM v0. O((edges + ranges) · log n)."""
    hops = olm_v0.next_hops(graph)
    if hops.failure is not None:
        return NextHops(dict.fromkeys(graph.entries), dict.fromkeys(graph.entries, hops.failure))
    return NextHops.of(hops.next, hops.failures)


def next_hops_v1(
    package: PackageGraph, graph: ChannelGraph, channels: tuple[str, ...] | None = None
) -> NextHops:
    """Return the next hops under OLM v1 for `channels: [that channel]`.

    `channels` replaces that list. It may select other channels too if the package has no bundles outside this
    one: only those of this channel are considered.
    Cost: O((edges + ranges) · log n); for an irregular channel, one resolution of `cluster_extension` for
    each entry.
    """
    failures: dict[str, ResolutionFailure] = {}
    if _is_irregular(graph):
        hops: dict[str, str | None] = {}
        catalog = ClusterCatalog(_CATALOG, 0, package)
        for name in graph.entries:
            bundle = graph.bundle(name)
            installed = InstalledBundle(name, parse_or_none(bundle.version) if bundle is not None else None)
            resolution = cluster_extension.resolve([catalog], _extension(graph, channels, installed))
            hops[name] = resolution.next
            if resolution.failure is not None:
                failures[name] = resolution.failure
        return NextHops.of(hops, failures)
    found = olm_v1.next_hops(graph)
    bundle_failures: dict[str, ResolutionFailure | None] = {}
    for name, hop in found.items():
        chosen = hop or name
        if chosen not in bundle_failures:
            bundle = graph.bundle(chosen)
            failed = cluster_extension.bundle_failure(bundle) if bundle is not None else None
            bundle_failures[chosen] = failed
        failure = _unknown_version_failure(graph, name) or bundle_failures[chosen]
        if failure is not None:
            failures[name] = failure
    return NextHops.of(found, failures)


def first_hop_v1(
    package: PackageGraph, graph: ChannelGraph, channels: tuple[str, ...] | None = None
) -> Callable[[InstalledBundle | None], Resolution]:
    """Return the resolution of OLM v1 for versions that are not in the channel, and for new installations.

    Cost of a call: the edges from what is installed; for an irregular channel, the bundles of the package.
    """
    is_irregular = _is_irregular(graph)
    versions = frozenset() if is_irregular else {parse_or_none(bundle.version) for bundle in _bundles(graph)}
    without_bundles = PackageGraph(package.package._replace(bundles=()))

    def resolve(installed: InstalledBundle | None) -> Resolution:
        extension = _extension(graph, channels, installed)
        # A bundle of the same version needs no edge.
        is_outside = (
            installed is not None
            and installed.version is not None
            and installed.version not in versions
            and installed.name not in graph.entries
        )
        if is_irregular or installed is None or not is_outside:
            return cluster_extension.resolve([ClusterCatalog(_CATALOG, 0, package)], extension)
        best = next(olm_v1.candidates(graph, *installed), None)
        if best is None:
            return cluster_extension.resolve([ClusterCatalog(_CATALOG, 0, without_bundles)], extension)
        bundle = graph.bundle(best.successor)
        failure = cluster_extension.bundle_failure(bundle) if bundle is not None else None
        return Resolution(None if failure else best.successor, failure)

    return resolve


def _extension(
    graph: ChannelGraph, channels: tuple[str, ...] | None, installed: InstalledBundle | None
) -> ClusterExtension:
    selected = (graph.name,) if channels is None else channels
    return ClusterExtension(graph.package.name, selected, installed=installed)


def _bundles(graph: ChannelGraph) -> Iterator[Bundle]:
    return (bundle for name in graph.entries if (bundle := graph.bundle(name)) is not None)


@lru_cache(maxsize=CACHED_CHANNELS)
def _is_irregular(graph: ChannelGraph) -> bool:
    """Whether a channel must be resolved entry by entry with `cluster_extension.resolve`.

    `olm_v1` has the same results only for a channel without repeated declarations, equal versions, versions
    that OLM v1 cannot parse, and ranges that panic.
    """
    package = graph.package
    versions = [parse_or_none(bundle.version) for bundle in _bundles(graph)]
    return (
        bool(graph.panicking_entries)
        or len(graph.entries) != len(graph.channel.entries)
        or len(package.by_name) != len(package.bundles)
        or len(package.channels_by_name) != len(package.channels)
        or len(package.deprecations) > 1
        or None in versions
        or len(set(versions)) != len(versions)
    )


def _unknown_version_failure(graph: ChannelGraph, name: str) -> ResolutionFailure | None:
    """Return the failure for an installed entry whose version is unknown because it has no bundle."""
    if graph.bundle(name) is not None:
        return None
    extension = ClusterExtension(graph.package.name, (graph.name,), installed=InstalledBundle(name, None))
    return cluster_extension.resolve(
        [ClusterCatalog(_CATALOG, 0, PackageGraph(graph.package))], extension
    ).failure
