"""Upgrade paths of installed versions in a channel that need not contain them."""

from __future__ import annotations

__all__ = ["Installations", "InstalledPaths", "installations"]

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import ClassVar

from everpath.comparison.differences import package_with
from everpath.graph import ChannelGraph
from everpath.resolvers import ResolverName, olm_v1
from everpath.resolvers.go_quote import go_quote
from everpath.resolvers.resolution import FailureKind, InstalledBundle, ResolutionFailure
from everpath.resolvers.subscription import no_channel_failure
from everpath.upgrade_path.channel_paths import ChannelPaths
from everpath.upgrade_path.goals import path_goals
from everpath.upgrade_path.hops import PathEnd
from everpath.upgrade_path.path import UpgradePath
from everpath.versions import Version

#: Names of installed bundles, each with the version that it had when it was installed.
Installations = Mapping[str, Version | None]


def installations(graph: ChannelGraph) -> dict[str, Version | None]:
    """Return everything that may be installed from a channel: all entries, also skipped ones."""
    return {name: graph.versions.get(name) for name in graph.entries}


class InstalledPaths:
    """The upgrade paths of installed versions in one channel under one resolver.

    `graph` is None if the catalog does not have the channel. A version that is not an entry, or is one with
    another version, has its own first hop and continues as an entry does. `is_trial`: the channel is a
    modified copy. Cost: O((edges + ranges) · log n), then O(log n) for each version.
    """

    #: Whether the channel stands for all channels of a package.
    is_all_channels: ClassVar[bool] = False

    def __init__(
        self,
        graph: ChannelGraph | None,
        resolver: ResolverName,
        installed: Installations,
        where: tuple[str, str],
        *,
        is_trial: bool = False,
    ) -> None:
        self.graph = graph if graph is not None and graph.entries else None
        self.resolver: ResolverName = resolver
        self.installed = installed
        self._where = where
        self._is_trial = is_trial
        self._known: dict[str, UpgradePath] = {}

    def in_trial(self, graph: ChannelGraph) -> InstalledPaths:
        """Return the paths of the same versions in a modified copy of the channel."""
        return InstalledPaths(graph, self.resolver, self.installed, self._where, is_trial=True)

    def path(self, name: str) -> UpgradePath:
        """Return the path of one installed version. Cached."""
        if name not in self._known:
            self._known[name] = self._installed_path(name)
        return self._known[name]

    def last(self, name: str) -> str:
        """Return the version at which the path of an installed version ends; of a loop, always the same."""
        path = self.path(name)
        if path.end is PathEnd.LOOP and path.next is not None:
            return self._channel_paths.loop_entry(path.next)
        return path.last or name

    def _installed_path(self, name: str) -> UpgradePath:
        version = self.installed.get(name)
        if self.graph is None:
            failure = no_channel_failure(*self._where) if self.resolver == "v0" else self._no_bundles(version)
            return UpgradePath.in_missing_channel(*self._where, self.resolver, name, failure)
        if self.has_installed(name):
            return self.entry_path(name)
        path = self._channel_paths.outside_path(InstalledBundle(name, version))
        if path.end is PathEnd.STRANDED and not path.hops and name in self.goals:
            # The goal was republished under another version.
            return path.at_goal()
        return path

    def entry_path(self, name: str) -> UpgradePath:
        """Return the path of an entry of the channel."""
        return self._channel_paths.entry_path(name)

    def next_hop(self, name: str) -> str | None:
        """Return the next hop of an entry."""
        return None if self.graph is None else self._channel_paths.next_hops.next.get(name)

    @cached_property
    def _channel_paths(self) -> ChannelPaths:
        assert self.graph is not None  # a channel without entries has no paths
        package = package_with(self.graph)
        return ChannelPaths(package, self.graph, self.resolver, channels=self._channels, goals=self.goals)

    @property
    def _channels(self) -> tuple[str, ...] | None:
        """`channels` of the ClusterExtension; None: this channel."""
        return None

    @cached_property
    def goals(self) -> frozenset[str]:
        """Where a path should end: at the head; under v1 also at what a new ClusterExtension gets."""
        return frozenset(path_goals(self.graph, self.resolver) if self.graph is not None else ())

    @property
    def top_entries(self) -> Collection[str]:
        """Entries that nothing in the channel updates, even if their version is low."""
        return () if self.graph is None or self.graph.head is None else (self.graph.head,)

    def is_head(self, name: str) -> bool:
        return self.graph is not None and name == self.graph.head

    def version(self, name: str) -> Version | None:
        """Return the version of an entry, or of an installed version without an entry."""
        known = self.graph.versions.get(name) if self.graph else None
        return known or self.installed.get(name)

    def has_installed(self, name: str) -> bool:
        """Return whether the channel contains an installed bundle, with the same version."""
        if self.graph is None or name not in self.graph.entries:
            return False
        entry = self.graph.versions.get(name)
        installed = self.installed.get(name, entry)
        if entry is None or installed is None:
            return entry is installed
        return entry.text == installed.text

    def equal_versions(self, name: str) -> tuple[str, ...]:
        """Return the first entries of equal version on a path, of which OLM v1 may install any; else nothing.

        Cost: the hops, and the edges from versions before equal ones.
        """
        if self.resolver != "v1" or self.graph is None or not self._equals:
            return ()
        stops = (name, *self.path(name).hops)
        for here, there in zip(stops, (*stops[1:], stops[-1]), strict=True):
            if there not in self._equals:
                continue
            others, version = self._equals[there], self.version(here)
            if here != there and version != self.version(there):  # equal versions need no edge
                accepting = {edge.successor for edge in self.graph.successors(here, version)}
                others = [other for other in others if other in accepting]
            if others:
                return (there, *others)
        return ()

    @cached_property
    def _equals(self) -> Mapping[str, list[str]]:
        """For each entry that has any: the others of its version, deprecated if it is deprecated."""
        assert self.graph is not None
        groups: dict[object, list[str]] = {}
        for name, key in olm_v1.sort_keys(self.graph).items():
            groups.setdefault(key, []).append(name)
        equal = (names for names in groups.values() if len(names) > 1)
        return {name: [n for n in names if n != name] for names in equal for name in names}

    def _no_bundles(self, version: Version | None) -> ResolutionFailure:
        """Return operator-controller's error for a missing package or channel."""
        package, channel = self._where
        message = f"error upgrading from currently installed version {go_quote(str(version))}: "
        message += f"no bundles found for package {go_quote(package)}"
        message += f" in channels [{channel}]" if self._channels is None else ""
        return ResolutionFailure(FailureKind.NO_CHANNEL, (), message if version is not None else "")
