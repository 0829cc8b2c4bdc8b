"""The upgrade paths of one channel under one resolver."""

from __future__ import annotations

__all__ = ["ChannelPaths", "upgrade_paths"]

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain

from everpath.graph import ChannelGraph, PackageGraph
from everpath.resolvers import ResolverName, subscription
from everpath.resolvers.catalog_candidates import served_channel
from everpath.resolvers.resolution import InstalledBundle, Resolution, ResolutionFailure
from everpath.upgrade_path.goals import goal_kind, path_goals
from everpath.upgrade_path.hops import (
    Hops,
    LastEntry,
    PathEnd,
    PathInterner,
    hops_by_entry,
    last_entries,
    prepend,
)
from everpath.upgrade_path.next_hops import NextHops, first_hop_v1, next_hops_v0, next_hops_v1
from everpath.upgrade_path.path import UpgradePath
from everpath.upgrade_path.reasons import (
    ChannelReasons,
    failure_reason,
    goal_reason,
    loop_reason,
    new_install_opening,
    with_opening,
)
from everpath.versions import parse_or_none


def upgrade_paths(
    package: PackageGraph, graph: ChannelGraph, resolver: ResolverName
) -> Mapping[str, UpgradePath]:
    """Return the upgrade path of every entry of a channel.

    v0: a Subscription to the channel. v1: a ClusterExtension with `channels: [that channel]`.
    """
    if resolver == "v1":
        package, graph = served_channel(package, graph)
    paths = ChannelPaths(package, graph, resolver)
    return {name: paths.entry_path(name) for name in graph.entries}


class ChannelPaths:
    """The upgrade paths of one channel of a package under one resolver.

    `channels` replaces `spec.source.catalog.channels` of the ClusterExtension (v1 only). `goals` replaces the
    entries at which a path ends well. Paths of one `interner` are compared in constant time.
    """

    def __init__(
        self,
        package: PackageGraph,
        graph: ChannelGraph,
        resolver: ResolverName,
        *,
        channels: tuple[str, ...] | None = None,
        goals: Collection[str] | None = None,
        interner: PathInterner | None = None,
    ) -> None:
        self.graph = graph
        self.resolver: ResolverName = resolver
        self._package = package
        self._channels = channels
        self._goals = goals
        self._interner = interner
        self._reasons = ChannelReasons(graph, resolver)

    @cached_property
    def next_hops(self) -> NextHops:
        """The next hop of every entry, and the failures of the resolver."""
        if self.resolver == "v0":
            return next_hops_v0(self.graph)
        return next_hops_v1(self._package, self.graph, self._channels)

    @cached_property
    def goals(self) -> frozenset[str]:
        """Entries at which a path ends well: the channel head, and what a new ClusterExtension gets."""
        return frozenset(path_goals(self.graph, self.resolver) if self._goals is None else self._goals)

    def entry_path(self, name: str) -> UpgradePath:
        """Return the path of a cluster on an entry of this channel."""
        return self._path(name, self._hops[name], *self._end(name))

    def path(self, installed: InstalledBundle | None, starting_csv: str | None = None) -> UpgradePath:
        """Return the path of a cluster on any version, or of a new installation (None)."""
        if installed is not None and self._is_entry(installed):
            return self.entry_path(installed.name)
        return self.outside_path(installed, starting_csv)

    def outside_path(self, installed: InstalledBundle | None, starting_csv: str | None = None) -> UpgradePath:
        """Return the path of a cluster on a version that is not in this channel, or of a new installation.

        Only the first hop is resolved; the path goes on like that of the entry.
        """
        name = installed.name if installed is not None else None
        if self.resolver == "v0":
            resolution = subscription.resolve(self.graph, installed, starting_csv=starting_csv)
        else:
            resolution = self._first_hop_v1(installed)
        first = resolution.next
        if resolution.failure is not None:
            return self._path(name, (), PathEnd.ERROR, resolution.failure)
        if first is None:
            assert installed is not None  # a new installation has a first hop or fails
            path = self._path(name, (), PathEnd.STRANDED, None)
            return replace(path, describe=lambda _: self._reasons.not_accepted(installed))
        opening = new_install_opening(self.resolver, first, starting_csv) if installed is None else ""
        # OLM v1 takes the last of two channels with one name, which may lead to what this one does not have.
        rest = self._hops.get(first) or Hops(self.next_hops.next, ("", ""), 0)
        return self._path(name, prepend(first, rest), *self._end(first), opening)

    def loop_entry(self, name: str) -> str:
        """Return the entry that stands for a loop: the same one for all entries with a path into it."""
        return self._last_entries[name].name

    def _is_entry(self, installed: InstalledBundle) -> bool:
        """Whether this channel has what is installed, with the same version."""
        if installed.name not in self.graph.entries:
            return False
        if self.resolver == "v0":
            version = self.graph.versions.get(installed.name)
        else:
            bundle = self.graph.bundle(installed.name)
            version = parse_or_none(bundle.version) if bundle is not None else None
        return str(version) == str(installed.version)

    @cached_property
    def _first_hop_v1(self) -> Callable[[InstalledBundle | None], Resolution]:
        return first_hop_v1(self._package, self.graph, self._channels)

    @cached_property
    def _hops(self) -> Mapping[str, Hops]:
        return hops_by_entry(self.next_hops.next, self.graph.entries, self._interner)

    @cached_property
    def _last_entries(self) -> Mapping[str, LastEntry]:
        hops = self.next_hops
        return last_entries(hops.next, self.goals, self.graph.entries, hops.failures)

    def _end(self, first: str) -> tuple[PathEnd, ResolutionFailure | None]:
        """Return how a path ends that begins with this entry."""
        last, end = self._last_entries.get(first) or LastEntry(
            first, PathEnd.HEAD if first in self.goals else PathEnd.STRANDED
        )
        return end, self.next_hops.failures.get(last)

    def _path(
        self,
        installed: str | None,
        hops: Hops | tuple[str, ...],
        end: PathEnd,
        failure: ResolutionFailure | None,
        opening: str = "",
    ) -> UpgradePath:
        describe = partial(self._reason, opening=opening) if opening else self._reason
        return UpgradePath(
            self.graph.package.name, self.graph.name, self.resolver, installed, hops, end, describe, failure
        )

    def _reason(self, path: UpgradePath, opening: str = "") -> str:
        last = path.last
        if path.failure is not None:
            return with_opening(
                opening, failure_reason(self.resolver, path.failure, last if path.hops else None)
            )
        assert last is not None  # only a failed installation has no last version
        if path.end is PathEnd.LOOP:
            return with_opening(opening, loop_reason(chain((last,), self._hops[last])))
        if path.end is PathEnd.HEAD:
            reason = goal_reason(goal_kind(self.graph, last), len(path.hops), opening)
            return reason + self._reasons.head_not_reached(last)
        return with_opening(opening, self._reasons.stranded_entry_reason(last))
