"""The fewest bundles that a mirror must keep so that all upgrade paths that reach a goal still do.

A mirrored channel is the channel without the entries that are not kept. `mirror_v0` and `mirror_v1` search
for the smallest one; whether a candidate works is decided by the resolver itself.
"""

from __future__ import annotations

__all__ = [
    "KeepReason",
    "Mirror",
    "MirroredChannel",
    "entries_to_serve",
    "reaching",
    "reduced_channel",
    "whole_channel",
]

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from everpath.graph import ChannelGraph
from everpath.paths.resolver_hops import newest_first
from everpath.resolvers import ResolverName
from everpath.upgrade_path.hops import PathEnd, last_entries
from everpath.versions import Version


class KeepReason(Enum):
    """Why a mirror keeps an entry of a channel."""

    GOAL = auto()
    #: Versions would be cut off without it; `MirroredChannel.needed_by` has them.
    NEEDED = auto()
    #: OLM v0 fails if the replaces chain has a gap.
    REPLACES_CHAIN = auto()
    NEEDED_IN_ANOTHER_CHANNEL = auto()
    #: Another kept entry could take its place.
    EQUIVALENT = auto()


@dataclass(frozen=True, slots=True)
class MirroredChannel:
    """The entries of one channel that a mirror keeps, newest first.

    `goals`: where the paths of all `served` versions end. It is empty if the resolver fails or no path stays
    at a goal; then the whole channel is kept. `served`: versions that reach a goal, kept or not. `cut_off`:
    versions that reach none even in the whole channel. `needed_by`: for a kept entry the versions that would
    be cut off without it, unless these are all. `offered`: entries that the whole channel skips and the
    mirror does not.
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
    """A mirror of some channels of a package. No mirror has fewer than `at_least` bundles."""

    resolver: ResolverName
    channels: tuple[MirroredChannel, ...]
    bundles: tuple[str, ...]
    total: int
    at_least: int

    @property
    def is_smallest(self) -> bool:
        return len(self.bundles) == self.at_least

    def keep_reason(self, channel: MirroredChannel, name: str) -> KeepReason:
        """Return why an entry of one of the channels is kept."""
        if name in channel.goals:
            return KeepReason.GOAL
        if channel.needed_by.get(name):
            return KeepReason.NEEDED
        if self.resolver == "v0":
            return KeepReason.REPLACES_CHAIN
        is_needed_elsewhere = any(name in other.needed_by or name in other.goals for other in self.channels)
        return KeepReason.NEEDED_IN_ANOTHER_CHANNEL if is_needed_elsewhere else KeepReason.EQUIVALENT


def whole_channel(graph: ChannelGraph, cut_off: Collection[str]) -> MirroredChannel:
    """Keep all entries, because the resolver does not show which of them are needed."""
    entries = newest_first(graph.entries, graph.versions)
    unserved = newest_first(cut_off, graph.versions)
    return MirroredChannel(graph.name, (), len(entries), entries=tuple(entries), cut_off=tuple(unserved))


def reduced_channel(graph: ChannelGraph, names: Collection[str]) -> ChannelGraph:
    """Return the channel with only some of its entries."""
    entries = tuple(entry for entry in graph.channel.entries if entry.name in names)
    return ChannelGraph(graph.channel._replace(entries=entries), graph.package)


def reaching(hops: Mapping[str, str | None], goals: Collection[str]) -> set[str]:
    """Return the versions whose upgrade paths end at one of the goals."""
    return {name for name, last in last_entries(hops, goals, hops).items() if last.end is PathEnd.HEAD}


def entries_to_serve(graph: ChannelGraph, since: Version | None) -> set[str]:
    """Return the entries from a version on, and those without a version; all if `since` is None."""
    versions = graph.versions
    return {n for n in graph.entries if since is None or n not in versions or versions[n] >= since}
