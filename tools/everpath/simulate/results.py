"""Results of a simulation: upgrade paths by channel and installed version."""

from __future__ import annotations

__all__ = ["ChannelResult", "InstalledResult", "all_paths"]

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from everpath.graph import ChannelGraph
from everpath.upgrade_path.path import UpgradePath
from everpath.versions import parse_tolerant_or_none


class InstalledResult(NamedTuple):
    """The paths of one installed version; None for a resolver that was not simulated.

    `installed` is None for a new installation. `version` is the text of its version, if that is known.
    """

    installed: str | None
    v0: UpgradePath | None
    v1: UpgradePath | None
    version: str | None = None

    @property
    def paths(self) -> Iterator[UpgradePath]:
        return (path for path in (self.v0, self.v1) if path is not None)

    @property
    def differs(self) -> bool:
        """Whether the two resolvers install different versions or end differently."""
        if self.v0 is None or self.v1 is None:
            return False
        return (self.v0.hops, self.v0.end) != (self.v1.hops, self.v1.end)


class ChannelResult(NamedTuple):
    """The result for one channel of one catalog; `graph` is None for several channels together.

    `versions` has the bundles whose version no other bundle of the package has, in any catalog.
    """

    package: str
    channel: str
    graph: ChannelGraph | None
    installed: tuple[InstalledResult, ...]
    versions: Mapping[str, str]
    catalog: str | None = None
    is_default: bool = False

    @property
    def no_update_causes(self) -> tuple[object, ...] | None:
        """Why no cluster gets updates: equal for two channels if nothing but their names differs.

        None if a cluster gets updates or is at a goal, and if an edge of the channel is the cause.
        """
        if self.graph is None:
            return None
        causes: list[object] = []
        for each in self.installed:
            for path in each.paths:
                if path.reaches_goal or path.hops or (path.failure is None and self._has_edges(each)):
                    return None
                failure = (path.failure.kind, path.failure.names) if path.failure is not None else None
                causes.append((path.resolver, path.installed, path.end, failure))
        return (self.catalog, self.package, *causes)

    def _has_edges(self, installed: InstalledResult) -> bool:
        """Whether an installed version has edges in this channel; assumed if there are several catalogs."""
        if self.graph is None or self.catalog is not None or installed.installed is None:
            return True
        version = parse_tolerant_or_none(installed.version)
        return next(self.graph.successors(installed.installed, version), None) is not None

    def ends_at_other_goal(self, path: UpgradePath) -> bool:
        """Whether a path of OLM v1 ends well at an entry that is not the head of the channel.

        False if there are several catalogs or channels: then no single head exists to compare with.
        """
        if self.graph is None or self.catalog is not None:
            return False
        return path.reaches_goal and path.last != self.graph.head


def all_paths(results: Iterable[ChannelResult]) -> Iterator[UpgradePath]:
    """Yield every path once. With several catalogs, the result of each contains the same paths of OLM v1."""
    seen: set[UpgradePath] = set()
    for result in results:
        for installed in result.installed:
            for path in installed.paths:
                if result.catalog is not None and path.catalog is None:
                    if path in seen:
                        continue
                    seen.add(path)
                yield path
