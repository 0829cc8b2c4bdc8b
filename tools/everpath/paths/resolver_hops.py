"""The next hop of every installed version under one resolver, and the targets of paths in a channel."""

from __future__ import annotations

__all__ = [
    "arrivals_v1",
    "effective_channel_v1",
    "new_install_v1",
    "newest_first",
    "next_hops",
    "path_targets",
    "resolve_all",
    "resolve_all_v1_channels",
]

from collections.abc import Iterable, Mapping, Sequence

from everpath.graph import ChannelGraph, PackageGraph
from everpath.resolvers import ResolverName, olm_v1, subscription
from everpath.resolvers.catalog_candidates import served_package
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension
from everpath.resolvers.cluster_extension import resolve as resolve_extension
from everpath.resolvers.resolution import InstalledBundle, Resolution
from everpath.upgrade_path.goals import path_goals
from everpath.upgrade_path.next_hops import NextHops, first_hop_v1, next_hops_v0, next_hops_v1
from everpath.versions import Version, parse_or_none


def newest_first(names: Iterable[str], versions: Mapping[str, Version]) -> list[str]:
    """Sort names by descending version, names without a version last, equal versions by name."""
    ordered = sorted(names)
    ordered.sort(key=lambda n: (n in versions, versions[n].key if n in versions else ()), reverse=True)
    return ordered


def path_targets(graph: ChannelGraph, resolver: str = "any") -> tuple[str, ...]:
    """Return the entries that upgrade paths of a channel should reach.

    These are the heads. Under OLM v1 they are the path_goals of the channel and its new installation, even if
    that is superseded. A channel without a head has its new installation as goal.
    """
    if resolver == "v1":
        new_install = new_install_v1(graph)
        found = [*path_goals(effective_channel_v1(graph), "v1"), *([new_install] if new_install else [])]
        if found:
            return tuple(dict.fromkeys(found))
    first = olm_v1.new_install(graph)
    return graph.heads or (() if first is None else (first,))


def effective_channel_v1(graph: ChannelGraph) -> ChannelGraph:
    """Return the channel that OLM v1 uses: of several with the same name, the last in the package."""
    same_name = [channel for channel in graph.package.channels if channel.name == graph.name]
    if len(same_name) < 2:
        return graph
    return ChannelGraph(same_name[-1], graph.package)


def arrivals_v1(graph: ChannelGraph) -> tuple[str, ...]:
    """Return the path_goals of a channel on which OLM v1 stays without failing."""
    decide = first_hop_v1(_package_with(graph), graph)
    bundles = {name: graph.bundle(name) for name in path_goals(graph, "v1")}
    installations = [
        InstalledBundle(name, parse_or_none(bundle.version))
        for name, bundle in bundles.items()
        if bundle is not None
    ]
    return tuple(installed.name for installed in installations if decide(installed)[:2] == (None, None))


def new_install_v1(graph: ChannelGraph) -> str | None:
    """Return what a new ClusterExtension installs; None if there is nothing, or if OLM v1 fails."""
    return first_hop_v1(_package_with(graph), graph)(None).next


def next_hops(
    graph: ChannelGraph, resolver: ResolverName, installed: Mapping[str, Version | None]
) -> Mapping[str, str | None]:
    """Return the next hop of every entry and installed version; None if it stays or the resolver fails."""
    return resolve_all(graph, resolver, installed).next


def resolve_all(
    graph: ChannelGraph, resolver: ResolverName, installed: Mapping[str, Version | None]
) -> NextHops:
    """Return the decision for every entry of a channel and for installed versions outside of it."""
    package = _package_with(graph)
    if resolver == "v1" and (served := served_package(package)) is not package:
        package, graph = served, served.by_name[graph.name]
    known = next_hops_v0(graph) if resolver == "v0" else next_hops_v1(package, graph)
    outside = [InstalledBundle(*each) for each in installed.items() if each[0] not in graph.entries]
    decide = first_hop_v1(package, graph) if outside and resolver == "v1" else None
    resolutions = {
        each.name: decide(each) if decide else subscription.resolve(graph, each) for each in outside
    }
    return _add_resolutions(known, resolutions)


def resolve_all_v1_channels(
    graphs: Sequence[ChannelGraph], installed: Mapping[str, Version | None]
) -> NextHops:
    """Return the decisions for one ClusterExtension that lists all these channels."""
    served = served_package(PackageGraph(graphs[0].package))
    package, source = served.package, ClusterCatalog("catalog", 0, served)
    channels = tuple(graph.name for graph in graphs)
    resolutions: dict[str, Resolution] = {}
    for name, version in installed.items():
        bundle = package.by_name.get(name)
        strict = parse_or_none(bundle.version) if bundle is not None else version
        wanted = ClusterExtension(package.name, channels, installed=InstalledBundle(name, strict))
        resolutions[name] = resolve_extension([source], wanted)
    return _add_resolutions(NextHops({}), resolutions)


def _add_resolutions(known: NextHops, resolutions: Mapping[str, Resolution]) -> NextHops:
    hops = {**known.next, **{name: resolution.next for name, resolution in resolutions.items()}}
    failures = {name: r.failure for name, r in resolutions.items() if r.failure is not None}
    return NextHops(hops, {**known.failures, **failures})


def _package_with(graph: ChannelGraph) -> PackageGraph:
    """Return the package of a channel that may have been reduced, with the channel as it is here."""
    package = graph.package
    if any(channel is graph.channel for channel in package.channels):
        return PackageGraph(package)
    others = tuple(channel for channel in package.channels if channel.name != graph.name)
    return PackageGraph(package._replace(channels=(graph.channel, *others)))
