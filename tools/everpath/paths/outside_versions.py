"""Who is no entry of a channel, and yet has a road in it: users of what was pruned, or is elsewhere.

An entry accepts them by the name that its replaces or skips has, or by the version that its skipRange holds.
"""

from __future__ import annotations

__all__ = ["in_ranges", "named"]

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from everpath.graph import ChannelGraph
from everpath.model import Package
from everpath.paths.hop_graph import Policy
from everpath.ranges import sample_versions
from everpath.resolvers.resolution import InstalledBundle
from everpath.simulate import find_installed
from everpath.versions import Version, parse

_LOWEST: Final = parse("0.0.0")


def named(graphs: Sequence[ChannelGraph], policy: Policy) -> tuple[InstalledBundle, ...]:
    """Whom an entry replaces or skips that is in none of the channels. O(edges).

    The version is that of the bundle, where the package has one, else the one that the name ends with. OLM v1
    knows that of whatever it has installed: where nobody else does, the lowest stands for it.
    """
    entries = {name for graph in graphs for name in graph.entries}
    names = dict.fromkeys(
        name for graph in graphs for edges in (graph.replacers, graph.skippers) for name in edges
    )
    return tuple(_installed(graphs[0].package, name, policy) for name in names if name not in entries)


def _installed(package: Package, name: str, policy: Policy) -> InstalledBundle:
    bundle, asked = package.by_name.get(name), find_installed((), name)[0]
    if bundle is not None:
        asked = asked._replace(version=bundle.version)
    found = asked._replace(name=name).as_bundle("v1" if policy == "v1" else "v0")
    return found._replace(version=found.version or _LOWEST) if policy == "v1" else found


def in_ranges(
    graphs: Sequence[ChannelGraph], known: Collection[InstalledBundle], parted: Iterable[Version]
) -> Iterator[InstalledBundle]:
    """For every way in which the ranges accept a version, one that is neither in the channels nor `known`.

    It is called as the package calls its own. Versions below each of the `parted` ones stand for themselves.
    Cost: the bounds of the ranges and the entries, each times log n.
    """
    entries = {name for graph in graphs for name in graph.entries} | {one.name for one in known}
    versions = {version for graph in graphs for version in graph.versions.values()}
    taken = versions | {one.version for one in known if one.version is not None}
    spans = [span.intervals for graph in graphs for span in graph.ranges.values()]
    stem = _stem(graphs[0].package)
    for version in sample_versions(spans, taken, parted):
        name = f"{stem}{version}"
        yield InstalledBundle(name if name not in entries else str(version), version)


def _stem(package: Package) -> str:
    """How the names of a package begin, up to the version."""
    named_so = (b for b in package.bundles if b.version and b.name.endswith(b.version))
    return next((b.name.removesuffix(b.version or "") for b in named_so), "")
