"""Installed versions that are not entries of a channel and still have a hop into it.

Such a version was pruned or is in another channel. An entry accepts it by its name, in `replaces` or `skips`,
or by its version, in `skipRange`.
"""

from __future__ import annotations

__all__ = ["named_versions", "versions_in_ranges"]

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from everpath.graph import ChannelGraph
from everpath.paths.hop_graph import PathResolver
from everpath.ranges import sample_versions
from everpath.resolvers.resolution import InstalledBundle
from everpath.simulate import find_installed
from everpath.versions import Version, parse

_LOWEST: Final = parse("0.0.0")


def named_versions(graphs: Sequence[ChannelGraph], resolver: PathResolver) -> tuple[InstalledBundle, ...]:
    """Return what an entry replaces or skips and none of the channels contains. O(edges).

    The version is that of the bundle in the package, else the one that the name ends with. OLM v1 knows the
    version of every installed bundle; if the name does not contain it, 0.0.0 is used.
    """
    package = graphs[0].package
    entries = {name for graph in graphs for name in graph.entries}
    names = dict.fromkeys(
        name for graph in graphs for edges in (graph.replacers, graph.skippers) for name in edges
    )
    found: list[InstalledBundle] = []
    for name in names:
        if name in entries:
            continue
        bundle, asked = package.by_name.get(name), find_installed((), name)[0]
        if bundle is not None:
            asked = asked._replace(version=bundle.version)
        installed = asked._replace(name=name).as_bundle("v1" if resolver == "v1" else "v0")
        if resolver == "v1":
            installed = installed._replace(version=installed.version or _LOWEST)
        found.append(installed)
    return tuple(found)


def versions_in_ranges(
    graphs: Sequence[ChannelGraph], known: Collection[InstalledBundle], boundaries: Iterable[Version]
) -> Iterator[InstalledBundle]:
    """Yield one version for each combination of ranges that accepts versions outside of the channels.

    Versions that are entries or in `known` are left out. Samples lie on both sides of each of the
    `boundaries`. Cost: the bounds of the ranges and the entries, each times log n.
    """
    entries = {name for graph in graphs for name in graph.entries} | {each.name for each in known}
    versions = {version for graph in graphs for version in graph.versions.values()}
    taken = versions | {each.version for each in known if each.version is not None}
    ranges = [skip_range.intervals for graph in graphs for skip_range in graph.ranges.values()]
    bundles = graphs[0].package.bundles
    named = (b for b in bundles if b.version and b.name.endswith(b.version))
    prefix = next((b.name.removesuffix(b.version or "") for b in named), "")
    for version in sample_versions(ranges, taken, boundaries):
        name = f"{prefix}{version}"
        yield InstalledBundle(name if name not in entries else str(version), version)
