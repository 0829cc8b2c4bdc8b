"""The next hop of every entry of a channel, failures included, without asking one after the other."""

from __future__ import annotations

__all__ = ["NextHops", "first_hop_v1", "next_hops_v0", "next_hops_v1"]

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Bundle
from everpath.resolvers import MEMORY, cluster_extension, olm_v0, olm_v1
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension
from everpath.resolvers.resolution import InstalledBundle, Resolution, ResolutionFailure
from everpath.versions import Version, parse_or_none

#: Stands for the catalog where there is one and its name does not matter.
_ONLY: Final = "catalog"


@dataclass(frozen=True, slots=True)
class NextHops:
    """What a resolver does next for each entry: a name, None if it stays; or how it fails."""

    next: Mapping[str, str | None]
    failures: Mapping[str, ResolutionFailure] = field(default_factory=dict)

    @staticmethod
    def of(hops: Mapping[str, str | None], failures: Mapping[str, ResolutionFailure]) -> NextHops:
        """Nobody who meets a failure moves."""
        if not failures:
            return NextHops(hops)
        return NextHops({n: None if n in failures else hop for n, hop in hops.items()}, failures)


def next_hops_v0(graph: ChannelGraph) -> NextHops:
    """OLM v0's. O((edges + ranges) · log n)."""
    hops = olm_v0.next_hops(graph)
    if hops.failure is not None:
        return NextHops(dict.fromkeys(graph.entries), dict.fromkeys(graph.entries, hops.failure))
    return NextHops.of(hops.next, hops.failures)


def next_hops_v1(
    package: PackageGraph, graph: ChannelGraph, channels: tuple[str, ...] | None = None
) -> NextHops:
    """OLM v1's, for `channels: [that channel]`, or a list under which that one is all there is.

    Cost: O((edges + ranges) · log n) in a channel without oddities.
    """
    if _is_odd(graph):
        return _one_by_one(package, graph, channels)
    hops = olm_v1.next_hops(graph)
    failures: dict[str, ResolutionFailure] = {}
    defects: dict[str, ResolutionFailure | None] = {}
    for installed, hop in hops.items():
        chosen = hop or installed
        if chosen not in defects:
            defects[chosen] = _defect(graph, chosen)
        if (failure := _unreadable(graph, installed) or defects[chosen]) is not None:
            failures[installed] = failure
    return NextHops.of(hops, failures)


def first_hop_v1(
    package: PackageGraph, graph: ChannelGraph, channels: tuple[str, ...] | None = None
) -> Callable[[InstalledBundle | None], Resolution]:
    """What OLM v1 does with somebody who comes from outside of the channel, or with nobody.

    Cost of an answer: the edges from what is installed; in an odd channel the bundles of the package.
    """
    versions = None if _is_odd(graph) else {parse_or_none(bundle.version) for bundle in _bundles(graph)}
    bare = PackageGraph(package.package._replace(bundles=()))

    def decide(installed: InstalledBundle | None) -> Resolution:
        wanted = _extension(graph, channels, installed)
        if installed is None or versions is None or _is_of(graph, versions, installed):
            return cluster_extension.resolve([ClusterCatalog(_ONLY, 0, package)], wanted)
        best = next(olm_v1.candidates(graph, *installed), None)
        if best is None:
            return cluster_extension.resolve([ClusterCatalog(_ONLY, 0, bare)], wanted)
        return Resolution(None if (failure := _defect(graph, best.successor)) else best.successor, failure)

    return decide


def _is_of(graph: ChannelGraph, versions: Container[Version | None], installed: InstalledBundle) -> bool:
    """Whether it, or something of its version, which needs no edge, is in the channel; or who knows."""
    return installed.version is None or installed.version in versions or installed.name in graph.entries


def _bundles(graph: ChannelGraph) -> Iterator[Bundle]:
    return (bundle for name in graph.entries if (bundle := graph.bundle(name)) is not None)


@lru_cache(maxsize=MEMORY)
def _is_odd(graph: ChannelGraph) -> bool:
    """Whether something is there that only the resolver itself knows how to take.

    That is what is said twice, versions that are equal or that v1 cannot read, and ranges that crash.
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


def _extension(
    graph: ChannelGraph, channels: tuple[str, ...] | None, installed: InstalledBundle | None
) -> ClusterExtension:
    named = (graph.name,) if channels is None else channels
    return ClusterExtension(graph.package.name, named, installed=installed)


def _one_by_one(package: PackageGraph, graph: ChannelGraph, channels: tuple[str, ...] | None) -> NextHops:
    """The resolver's answers. Cost: the bundles of the package for each entry."""
    source = ClusterCatalog(_ONLY, 0, package)
    hops: dict[str, str | None] = {}
    failures: dict[str, ResolutionFailure] = {}
    for name in graph.entries:
        wanted = _extension(graph, channels, _installed(graph, name))
        decision = cluster_extension.resolve([source], wanted)
        hops[name] = decision.next
        if decision.failure is not None:
            failures[name] = decision.failure
    return NextHops.of(hops, failures)


def _installed(graph: ChannelGraph, name: str) -> InstalledBundle:
    bundle = graph.bundle(name)
    return InstalledBundle(name, parse_or_none(bundle.version) if bundle is not None else None)


def _unreadable(graph: ChannelGraph, name: str) -> ResolutionFailure | None:
    """v1's failure for an installed version that nobody knows, because there is no bundle. Looks at none."""
    if graph.bundle(name) is not None:
        return None
    wanted = ClusterExtension(graph.package.name, (graph.name,), installed=InstalledBundle(name, None))
    return cluster_extension.resolve([ClusterCatalog(_ONLY, 0, PackageGraph(graph.package))], wanted).failure


def _defect(graph: ChannelGraph, name: str) -> ResolutionFailure | None:
    """v1's failure over a bundle that it has chosen; it takes no other in its stead."""
    bundle = graph.bundle(name)
    return cluster_extension.bundle_failure(bundle) if bundle is not None else None
