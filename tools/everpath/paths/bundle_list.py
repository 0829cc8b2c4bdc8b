"""A mirror as a list of bundle names, as oc-mirror takes it: a bundle is kept in all of its channels.

A bundle that one channel needs is then in the others, too. There it may be an entry without a replacer, which
is a second head, and OLM v0 does not resolve the channel.
"""

from __future__ import annotations

__all__ = ["BrokenChannel", "as_bundle_list"]

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from everpath.graph import ChannelGraph
from everpath.paths.mirror import Mirror, reaching, reduced_channel
from everpath.paths.resolver_hops import newest_first, next_hops


class BrokenChannel(NamedTuple):
    """A channel in which versions are cut off by the list."""

    channel: str
    cut_off: tuple[str, ...]


def as_bundle_list(
    graphs: Sequence[ChannelGraph], mirror: Mirror
) -> tuple[Mirror, tuple[BrokenChannel, ...]]:
    """Return the mirror with what its bundles need in all channels, and the channels that break even so.

    Cost: each added entry once, and one resolution of each channel.
    """
    names = set(mirror.bundles)
    while mirror.resolver == "v0":
        missing: set[str] = set()
        for graph in graphs:
            for name in graph.entries:
                above = (*graph.replacers.get(name, ()), *graph.skippers.get(name, ()))
                if name in names and above and names.isdisjoint(above):
                    missing.add(above[0])  # without it the entry is a second head
        if not missing:
            break
        names |= missing
    channels, broken = [], []
    for graph, mirrored in zip(graphs, mirror.channels, strict=True):
        entries = tuple(name for name in newest_first(graph.entries, graph.versions) if name in names)
        channels.append(replace(mirrored, entries=entries))
        installed = {name: graph.versions.get(name) for name in graph.entries}
        hops = next_hops(reduced_channel(graph, entries), mirror.resolver, installed)
        arriving = reaching(hops, mirrored.goals)
        if cut_off := tuple(name for name in mirrored.served if name not in arriving):
            broken.append(BrokenChannel(graph.name, cut_off))
    versions = {name: version for graph in graphs for name, version in graph.versions.items()}
    bundles = tuple(newest_first(names, versions))
    return mirror._replace(bundles=bundles, channels=tuple(channels)), tuple(broken)
