"""A mirror that is said by names alone: a bundle that is kept is kept in all of its channels.

Mirroring tools that take a list of bundles know no channels. What one channel needs is then also in the
others, where it may be an entry without a replacer: a second head, with which OLM v0 resolves nothing.
"""

from __future__ import annotations

__all__ = ["Torn", "by_name"]

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from everpath.graph import ChannelGraph
from everpath.paths.hop_graph import hops_of, newest_first
from everpath.paths.mirror import Kept, Mirror, arriving, kept_in


class Torn(NamedTuple):
    """A channel in which somebody would lose the road."""

    channel: str
    missed: tuple[str, ...]


def by_name(graphs: Sequence[ChannelGraph], mirror: Mirror) -> tuple[Mirror, tuple[Torn, ...]]:
    """The mirror with all that its names ask for in every channel, and the channels that are torn even so.

    Cost: the entries added, each once, and a simulation a channel.
    """
    names = set(mirror.bundles)
    if mirror.policy == "v0":
        while more := {name for graph in graphs for name in _lacking(graph, names)}:
            names |= more
    versions = {name: version for graph in graphs for name, version in graph.versions.items()}
    channels = tuple(_within(graph, kept, names) for graph, kept in zip(graphs, mirror.channels, strict=True))
    torn = [_torn(graph, kept, mirror) for graph, kept in zip(graphs, channels, strict=True)]
    whole = mirror._replace(bundles=tuple(newest_first(names, versions)), channels=channels)
    return whole, tuple(each for each in torn if each.missed)


def _lacking(graph: ChannelGraph, names: set[str]) -> Iterable[str]:
    """For every entry but the head somebody who replaces it, if there is one, else somebody who skips it."""
    for name in graph.entries:
        above = (*graph.replacers.get(name, ()), *graph.skippers.get(name, ()))
        if name in names and above and names.isdisjoint(above):
            yield above[0]


def _within(graph: ChannelGraph, kept: Kept, names: set[str]) -> Kept:
    return replace(kept, entries=tuple(n for n in newest_first(graph.entries, graph.versions) if n in names))


def _torn(graph: ChannelGraph, kept: Kept, mirror: Mirror) -> Torn:
    everyone = {name: graph.versions.get(name) for name in graph.entries}
    hops = hops_of(kept_in(graph, kept.entries), mirror.policy, everyone)
    there = arriving(hops, kept.goals)
    return Torn(graph.name, tuple(name for name in kept.served if name not in there))
