"""The fewest bundles that a mirror must keep so that nobody who arrives loses the road.

Every channel of the mirror is that of the catalog without the entries that are not kept. Who is served is
judged by asking the policy itself what it makes of that; `chain` and `climb` only say where to look.
"""

from __future__ import annotations

__all__ = ["Kept", "Mirror", "arriving", "kept_in", "wanted", "whole"]

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from everpath.graph import ChannelGraph
from everpath.paths.hop_graph import newest_first
from everpath.resolvers import ResolverName
from everpath.upgrade_paths.hops import PathEnd, last_entries
from everpath.versions import Version

Hops = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of one channel, newest first.

    `goals` are where everybody served ends, as `arrivals` has it: none if nothing can be judged, because the
    policy brings nobody there or fails; then all is kept. `served` are those who have a road, kept themselves
    or not; `cut_off` have none even in the whole channel. `needed_by` says of a kept entry who would lose the
    road without it, where that is not everybody. `offered` are entries that the whole channel skips and the
    mirror would offer.
    """

    channel: str
    goals: tuple[str, ...]
    total: int
    entries: tuple[str, ...] = ()
    served: tuple[str, ...] = ()
    cut_off: tuple[str, ...] = ()
    needed_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    offered: tuple[str, ...] = ()


class Mirror(NamedTuple):
    """What is kept of some channels of a package. No mirror has fewer than `at_least` bundles."""

    policy: ResolverName
    channels: tuple[Kept, ...]
    bundles: tuple[str, ...]
    total: int
    at_least: int

    @property
    def is_smallest(self) -> bool:
        return len(self.bundles) == self.at_least


def whole(graph: ChannelGraph, cut_off: Collection[str]) -> Kept:
    """All of a channel: who knows what its users need while OLM takes them nowhere?"""
    entries = newest_first(graph.entries, graph.versions)
    lost = newest_first(cut_off, graph.versions)
    return Kept(graph.name, (), len(entries), entries=tuple(entries), cut_off=tuple(lost))


def kept_in(graph: ChannelGraph, kept: Collection[str]) -> ChannelGraph:
    """The channel with nothing but some of its entries."""
    entries = tuple(entry for entry in graph.channel.entries if entry.name in kept)
    return ChannelGraph(graph.channel._replace(entries=entries), graph.package)


def arriving(hops: Hops, goals: Collection[str]) -> set[str]:
    """Who comes to one of the goals by following these hops, and stays there."""
    ends = last_entries(hops, None, hops)
    return {name for name, (stop, end) in ends.items() if end is not PathEnd.LOOP and stop in goals}


def wanted(graph: ChannelGraph, since: Version | None) -> set[str]:
    """Whom a mirror has to serve: all, or those from a version on. Who has no version may be on any."""
    versions = graph.versions
    return {n for n in graph.entries if since is None or n not in versions or versions[n] >= since}
