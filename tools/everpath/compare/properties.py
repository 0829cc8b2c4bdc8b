"""The properties that a new catalog should have, as the design of OLM's upgrades states them:

    any operator found in the old catalog has a single replacement in the new one
    any operator found in the new catalog has one, too
    any z-stream release of the old catalog updates to the latest z-stream release of the new one

OLM always takes one replacement where there are several (`validate-graph` reports the forks), so what can
be missing is the replacement; the head needs none, a bundle in no channel does. A release that goes past its
own z-stream, to a newer minor version, does not need the latest of a stream that it leaves.
"""

from __future__ import annotations

__all__ = ["Properties", "Property", "properties", "strays"]

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from everpath.compare.channel_paths import Road, Roads
from everpath.compare.channels import ChannelComparison
from everpath.compare.outcomes import Meeting
from everpath.graph import ChannelGraph, PackageGraph
from everpath.resolvers import ResolverName, olm_v0
from everpath.versions import Version, parse_or_none


class Property(NamedTuple):
    """How many installed versions were asked, each under each policy, and of how many it is not true."""

    asked: int = 0
    broken: int = 0

    @property
    def holds(self) -> bool:
        return not self.broken


class Properties(NamedTuple):
    """The three of them."""

    found_in_old: Property = Property()
    found_in_new: Property = Property()
    z_streams: Property = Property()

    @classmethod
    def summed(cls, parts: Iterable[Properties]) -> Properties:
        """Those of several channels or packages together."""
        all_parts = list(parts)
        return cls(*(_sum(part[place] for part in all_parts) for place in range(3)))


def _sum(parts: Iterable[Property]) -> Property:
    asked, broken = 0, 0
    for part in parts:
        asked, broken = asked + part.asked, broken + part.broken
    return Property(asked, broken)


def properties(compared: ChannelComparison) -> Properties:
    """Whether they hold in one channel. O((edges + ranges) · log n)."""
    held = [Properties(*_of(meeting)) for meeting in compared.meetings]
    return Properties.summed(held)


def strays(package: PackageGraph, policies: Sequence[ResolverName]) -> Properties:
    """Whether any channel takes in the bundles that are in none. Cost: a look at each channel for each."""
    installed = {
        name: parse_or_none(package.package.by_name[name].version) for name in package.bundles_without_channel
    }
    lacking = 0
    for policy in policies if installed else ():
        roads = [Roads(graph, policy, installed, (package.name, graph.name)) for graph in package.channels]
        lacking += sum(all(each.road(name).next is None for each in roads) for name in installed)
    return Properties(found_in_new=Property(len(installed) * len(policies), lacking))


def _of(meeting: Meeting) -> tuple[Property, Property, Property]:
    new = meeting.new
    lacking = sum(not _has_replacement(new, name) for name in new.installed)
    return Property(len(new.installed), lacking), _found_in_new(new), _z_streams(new)


def _has_replacement(roads: Roads, name: str) -> bool:
    return _is_replaced(roads, name, roads.road(name))


def _is_replaced(roads: Roads, name: str, road: Road) -> bool:
    return road.next is not None or (road.failure is None and name in roads.homes)


def _found_in_new(roads: Roads) -> Property:
    if roads.graph is None:
        return Property()
    own = ((name, roads.entry_road(name)) for name in roads.graph.entries)
    return Property(len(roads.graph.entries), sum(not _is_replaced(roads, name, road) for name, road in own))


def _z_streams(roads: Roads) -> Property:
    """Asked of whoever is not on the latest release of their z-stream, if the new channel has one."""
    if roads.graph is None:
        return Property()
    latest = _latest(roads.graph)
    behind = [
        (name, version)
        for name, version in roads.installed.items()
        if version is not None and version < latest.get(version.minor_stream, version)
    ]
    return Property(len(behind), sum(not _catches_up(roads, name, latest, v) for name, v in behind))


def _latest(graph: ChannelGraph) -> Mapping[tuple[int, int], Version]:
    """The latest release of each z-stream that was not withdrawn."""
    forbidden = olm_v0.uninstallable(graph)
    found: dict[tuple[int, int], Version] = {}
    for name in graph.by_version:
        version = graph.versions[name]
        if not version.is_prerelease and name not in graph.skippers and name not in forbidden:
            found[version.minor_stream] = version
    return found


def _catches_up(
    roads: Roads, name: str, latest: Mapping[tuple[int, int], Version], installed: Version
) -> bool:
    """Whether the next hop is the latest release of the stream, or leads out of it, upwards."""
    following = roads.road(name).next
    version = roads.version(following) if following is not None else None
    return version is not None and version >= latest[installed.minor_stream]
