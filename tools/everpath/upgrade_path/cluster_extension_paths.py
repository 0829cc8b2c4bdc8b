"""Upgrade paths of a ClusterExtension over several catalogs or channels, or with a version range.

`ChannelPaths` resolves a whole channel at once; here every hop is resolved by itself.
"""

from __future__ import annotations

__all__ = ["ClusterExtensionPaths"]

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from everpath.graph import ChannelGraph
from everpath.resolvers import cluster_extension
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension
from everpath.resolvers.resolution import (
    CandidateResult,
    InstalledBundle,
    ReasonForm,
    Resolution,
    ResolutionFailure,
    TraceStep,
)
from everpath.upgrade_path.goals import GoalKind, goal_kind, path_goals
from everpath.upgrade_path.hops import PathEnd
from everpath.upgrade_path.path import UpgradePath
from everpath.upgrade_path.reasons import (
    failure_reason,
    goal_reason,
    loop_reason,
    new_install_opening,
    stranded_reason,
    with_opening,
)
from everpath.versions import parse_or_none

_MAX_CANDIDATES_IN_REASON: Final = 3


class _Hops(NamedTuple):
    """The hops from one installed version, the catalog of each, and how they end.

    `last` is what runs then; None if nothing is installed.
    """

    names: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    failure: ResolutionFailure | None = None
    is_loop: bool = False
    last: InstalledBundle | None = None


class ClusterExtensionPaths:
    """The upgrade paths of one ClusterExtension. Each installed version is resolved once."""

    def __init__(self, catalogs: Sequence[ClusterCatalog], extension: ClusterExtension, channel: str) -> None:
        self._catalogs = catalogs
        self._extension = extension
        self._channel = channel
        self._resolutions: dict[InstalledBundle | None, Resolution] = {}
        self._hops: dict[InstalledBundle | None, _Hops] = {}
        self._goals_by_entry: dict[tuple[str, str | None], Mapping[str, GoalKind]] = {}

    def path(self, installed: InstalledBundle | None) -> UpgradePath:
        """Return the path of a cluster on a version, or of a new installation (None)."""
        hops = self._follow(installed)
        end, reason = self._end(installed, hops)
        name = installed.name if installed is not None else None
        return UpgradePath(
            self._extension.package,
            self._channel,
            "v1",
            name,
            hops.names,
            end,
            lambda _: reason,
            hops.failure,
            sources=hops.sources,
        )

    def _follow(self, start: InstalledBundle | None) -> _Hops:
        """Resolve until the extension stays, fails or gets a version for the second time.

        A path that meets one that is known continues as that one. A loop is not stored: from each start it
        ends elsewhere.
        """
        here, met = start, {start}
        names, sources = list[str](), list[str]()
        while here not in self._hops:
            resolution = self._resolve(here)
            if resolution.failure is not None or resolution.next is None:
                self._hops[here] = _Hops(failure=resolution.failure, last=here)
                break
            here = self._bundle(resolution)
            names.append(here.name)
            sources.append(resolution.catalog or "")
            if here in met:
                return _Hops(tuple(names), tuple(sources), is_loop=True, last=here)
            met.add(here)
        rest = self._hops[here]
        self._hops[start] = rest._replace(names=(*names, *rest.names), sources=(*sources, *rest.sources))
        return self._hops[start]

    def _resolve(self, installed: InstalledBundle | None) -> Resolution:
        if installed not in self._resolutions:
            extension = self._extension._replace(installed=installed)
            self._resolutions[installed] = cluster_extension.resolve(self._catalogs, extension)
        return self._resolutions[installed]

    def _bundle(self, resolution: Resolution) -> InstalledBundle:
        """Return what is installed after a hop, with the version that the chosen catalog states."""
        assert resolution.next is not None  # it is a hop
        catalog = next(each for each in self._catalogs if each.name == resolution.catalog)
        assert catalog.package is not None  # it has the bundle
        version = parse_or_none(catalog.package.package.by_name[resolution.next].version)
        return InstalledBundle(resolution.next, version)

    def _end(self, installed: InstalledBundle | None, hops: _Hops) -> tuple[PathEnd, str]:
        opening = new_install_opening("v1", hops.names[0]) if installed is None and hops.names else ""
        if hops.failure is not None:
            at = hops.names[-1] if hops.names else None
            return PathEnd.ERROR, with_opening(opening, failure_reason("v1", hops.failure, at))
        if hops.is_loop:
            names = [*([installed.name] if installed is not None else []), *hops.names]
            return PathEnd.LOOP, with_opening(opening, loop_reason(names[names.index(names[-1]) :]))
        last = hops.last
        assert last is not None  # a new installation has a hop or fails
        goal = self._goals(last).get(last.name)
        if goal is None and self._is_restricted and last == self._new_install:
            goal = GoalKind.NEW_INSTALL
        if goal is not None:
            return PathEnd.HEAD, goal_reason(goal, len(hops.names), opening)
        return PathEnd.STRANDED, with_opening(opening, self._stranded_reason(last))

    @cached_property
    def _is_restricted(self) -> bool:
        """Whether the extension may want another version than the head of its channel."""
        names = {graph.name for catalog in self._catalogs for graph in self._channels(catalog)}
        return bool(self._extension.version_range) or self._extension.self_certified or len(names) > 1

    @cached_property
    def _new_install(self) -> InstalledBundle | None:
        resolution = self._resolve(None)
        return self._bundle(resolution) if resolution.next is not None else None

    def _goals(self, last: InstalledBundle) -> Mapping[str, GoalKind]:
        """Return the goals of the channels that contain what a new installation gets, with their kinds.

        These are channels of the catalog that it comes from. If a new installation fails, the channels that
        contain `last`, in the catalog that keeps it, are used.
        """
        goal, catalog_name = self._new_install, self._resolve(None).catalog
        if goal is None:
            goal, catalog_name = last, self._resolve(last).catalog
        key = (goal.name, catalog_name)
        if key not in self._goals_by_entry:
            graphs = (g for c in self._catalogs if c.name == catalog_name for g in self._channels(c))
            self._goals_by_entry[key] = {
                name: goal_kind(graph, name)
                for graph in graphs
                if goal.name in graph.entries
                for name in path_goals(graph, "v1")
            }
        return self._goals_by_entry[key]

    def _channels(self, catalog: ClusterCatalog) -> Iterator[ChannelGraph]:
        selected = self._extension.channels
        for graph in catalog.package.channels if catalog.package is not None else ():
            if not selected or graph.name in selected:
                yield graph

    def _stranded_reason(self, last: InstalledBundle) -> str:
        trace: list[TraceStep] = []
        cluster_extension.resolve(self._catalogs, self._extension._replace(installed=last), trace.append)
        rejected = [
            f"{step.edge}, but {'it ' if step.form is ReasonForm.PREDICATE else ''}{step.reason}"
            for step in trace
            if step.result is not CandidateResult.TAKEN and step.entry != last.name and step.edge is not None
        ]
        none = "no entry of its channels accepts it"
        return stranded_reason(last.name, "; ".join(rejected[:_MAX_CANDIDATES_IN_REASON]) or none)
