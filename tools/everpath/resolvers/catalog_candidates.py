"""OLM v1: the best bundle of one catalog for a ClusterExtension.

Mirrors the part of CatalogResolver.Resolve of operator-controller v1.2.0 that runs once for each catalog
(internal/operator-controller/{resolve,catalogmetadata}). No validation precedes it. operator-controller
stores one file for each schema and name, so of documents with the same name the last one counts.
"""

from __future__ import annotations

__all__ = [
    "Candidate",
    "CandidateFilter",
    "ClusterCatalog",
    "best_candidate",
    "served_channel",
    "served_package",
    "split_repeated_entries",
]

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from everpath.graph import ChannelGraph, Edge, EdgeKind, PackageGraph
from everpath.model import Bundle, Entry
from everpath.ranges.masterminds import Constraint
from everpath.resolvers import CACHED_CHANNELS
from everpath.resolvers.olm_v1 import release_key
from everpath.resolvers.resolution import (
    CandidateResult,
    FailureKind,
    InstalledBundle,
    ReasonForm,
    ResolutionFailure,
    Tracer,
    TraceStep,
)
from everpath.versions import Version, parse_or_none


class ClusterCatalog(NamedTuple):
    """A ClusterCatalog and its documents of one package; `package` None: it does not have the package."""

    name: str
    priority: int
    package: PackageGraph | None


class CandidateFilter(NamedTuple):
    """What a ClusterExtension requires. `installed` is only set if upgrades must follow edges."""

    channels: tuple[str, ...] = ()
    constraint: Constraint | None = None
    installed: InstalledBundle | None = None


class Candidate(NamedTuple):
    """A bundle that may be installed, and the edge that leads to it; None: it needs none."""

    catalog: ClusterCatalog
    bundle: Bundle
    version: Version | None
    is_deprecated: bool
    edge: Edge | None
    is_installed: bool

    @property
    def sort_key(self) -> tuple[object, ...]:
        """The order of OLM v1, the best highest: not deprecated, valid version, higher version.

        Of equal versions 1.2.0 takes the one whose file it reads first. Here it is the one that later
        releases take: for them build metadata is a release, and a bundle without an edge is no candidate.
        """
        has_edge = self.is_installed or self.edge is not None
        return (not self.is_deprecated, *_version_key(self.version), has_edge, *_release_key(self.version))


def _version_key(version: Version | None) -> tuple[bool, object]:
    return (False, ()) if version is None else (True, version.key)


def _release_key(version: Version | None) -> tuple[object, ...]:
    return () if version is None else (release_key(version),)


def served_package(graph: PackageGraph) -> PackageGraph:
    """Return a package as operator-controller stores it: of documents with one name the last.

    Returns the same object if the package has no such documents.
    """
    package = graph.package
    channels = {channel.name: channel for channel in package.channels}
    bundles = {bundle.name: bundle for bundle in package.bundles}
    has_repeats = len(channels) < len(package.channels) or len(bundles) < len(package.bundles)
    if not has_repeats and len(package.deprecations) < 2:
        return graph
    stored = package._replace(
        channels=tuple(channels.values()),
        bundles=tuple(bundles.values()),
        deprecations=package.deprecations[-1:],
    )
    return PackageGraph(stored)


def served_channel(package: PackageGraph, graph: ChannelGraph) -> tuple[PackageGraph, ChannelGraph]:
    """Return a package and the channel of this name as operator-controller stores them."""
    served = served_package(package)
    return (package, graph) if served is package else (served, served.by_name[graph.name])


def best_candidate(
    catalog: ClusterCatalog, wanted: CandidateFilter, trace: Tracer | None = None
) -> Candidate | ResolutionFailure | None:
    """Return the best candidate of one catalog, None if it has none, or what fails the whole resolution.

    Cost: the edges by name from the installed version, and the bundles of that version. For a new
    installation, with a range that may panic, or with `trace`: the bundles of the package.
    """
    if catalog.package is None:
        return None
    package = catalog.package.package
    if not (package.declarations or package.channels or package.bundles or package.deprecations):
        return None
    if wanted.installed is not None and wanted.installed.version is None:
        return ResolutionFailure(FailureKind.UNREADABLE_VERSION, (wanted.installed.name,))
    candidates: list[Candidate] = []
    for found in _examine(catalog, catalog.package, wanted, with_all_bundles=trace is not None):
        if isinstance(found, ResolutionFailure):
            return found
        if isinstance(found, Candidate):
            candidates.append(found)
        elif trace is not None:
            trace(found)
    candidates.sort(key=lambda candidate: candidate.sort_key, reverse=True)
    if trace is not None:
        for candidate in candidates[1:]:
            reason = _passed_over_reason(candidate, candidates[0])
            step = TraceStep(candidate.bundle.name, CandidateResult.PASSED_OVER, reason, candidate.edge)
            trace(step._replace(catalog=catalog.name))
    return candidates[0] if candidates else None


class _PackageIndex:
    """What is the same for all installed versions: the bundles of a package under one filter."""

    def __init__(self, package: PackageGraph, wanted: CandidateFilter) -> None:
        # Channels that supply edges: the selected ones, or all. Of two with one name the last counts.
        channels = {graph.name: graph for graph in package.channels}
        selected = [
            graph for name, graph in channels.items() if not wanted.channels or name in wanted.channels
        ]
        self.channels = [part for graph in selected for part in split_repeated_entries(graph)]
        self.members = {n for channel in self.channels for n in channel.entries} if wanted.channels else None
        # A document of olm.deprecations has no name, so the last one counts.
        deprecations = package.package.deprecations[-1:]
        self.deprecated = frozenset(
            entry.name for each in deprecations for entry in each.entries if entry.schema == "olm.bundle"
        )
        self.bundles = {bundle.name: bundle for bundle in package.package.bundles}
        self.versions = {name: parse_or_none(bundle.version) for name, bundle in self.bundles.items()}
        self.can_panic = any(channel.panicking_entries for channel in self.channels)
        self._constraint = wanted.constraint

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        return {name: position for position, name in enumerate(self.bundles)}

    @cached_property
    def _names_by_version(self) -> Mapping[Version | None, Sequence[str]]:
        found: dict[Version | None, list[str]] = {}
        for name, version in self.versions.items():
            found.setdefault(version, []).append(name)
        return found

    @cached_property
    def _best_covering(self) -> Sequence[Callable[[Version], str | None]]:
        """For each channel: which of the ranges that contain a version belongs to the best candidate."""
        eligible = (
            name
            for name, version in self.versions.items()
            if self._constraint is None or _constraint_error(self._constraint, version) is None
        )
        ranked = sorted(eligible, key=self._sort_key, reverse=True)
        ranks = {name: rank for rank, name in enumerate(ranked)}
        return [channel.coverage.chooser(ranks) for channel in self.channels]

    def _sort_key(self, name: str) -> tuple[object, ...]:
        version = self.versions[name]
        return (name not in self.deprecated, *_version_key(version), *_release_key(version))

    def relevant_edges(self, installed: InstalledBundle) -> Iterator[Edge]:
        """Yield all edges by name and, of the ranges of each channel, the best one. No range may panic."""
        for channel, best_covering in zip(self.channels, self._best_covering, strict=True):
            yield from channel.named_edges(installed.name)
            best = best_covering(installed.version) if installed.version is not None else None
            if best is not None:
                yield Edge(best, installed.name, EdgeKind.RANGE)

    def relevant_names(self, installed: InstalledBundle, edges: _Edges) -> Iterable[str]:
        """Return bundles with an edge from the installed one or with its version, in the catalog's order."""
        names = {*edges.by_successor, *self._names_by_version.get(installed.version, ())}
        return sorted((n for n in names if n in self._positions), key=self._positions.__getitem__)


@lru_cache(maxsize=CACHED_CHANNELS)
def _package_index(package: PackageGraph, wanted: CandidateFilter) -> _PackageIndex:
    return _PackageIndex(package, wanted)


def _examine(
    catalog: ClusterCatalog, package: PackageGraph, wanted: CandidateFilter, *, with_all_bundles: bool
) -> Iterator[Candidate | TraceStep | ResolutionFailure]:
    """Yield bundles as candidates, or with the reason why they are refused. A failure is the last item.

    Unless `with_all_bundles` is set, bundles that cannot be the best are left out.
    """
    index = _package_index(package, wanted._replace(installed=None))
    installed, edges = wanted.installed, _Edges()
    names: Iterable[str] = index.bundles
    if installed is not None and (with_all_bundles or index.can_panic):
        edges.add_all(index.channels, installed)
    elif installed is not None:
        edges.add(index.relevant_edges(installed))
        names = index.relevant_names(installed, edges)
    for name in names:
        version = index.versions[name]
        form = ReasonForm.PREDICATE
        if index.members is not None and name not in index.members:
            reason: str | None = f"is in none of the channels {', '.join(wanted.channels)}"
        else:
            reason = _constraint_error(wanted.constraint, version) if wanted.constraint is not None else None
        if reason is None:
            if name in edges.panicking:
                yield ResolutionFailure(FailureKind.PANIC, (name,))
                return
            if installed is None or name in edges.by_successor or version == installed.version:
                yield Candidate(
                    catalog,
                    index.bundles[name],
                    version,
                    name in index.deprecated,
                    edges.by_successor.get(name),
                    installed is not None and name == installed.name,
                )
                continue
            reason, form = f"no edge leads to it from {installed.name}", ReasonForm.CLAUSE
        yield TraceStep(name, CandidateResult.REFUSED, reason, catalog=catalog.name, form=form)


def split_repeated_entries(graph: ChannelGraph) -> Iterable[ChannelGraph]:
    """Return the channel, or several if it has an entry twice: the edges of all its entries count."""
    if len(graph.entries) == len(graph.channel.entries):
        return (graph,)
    parts: list[dict[str, Entry]] = []
    for entry in graph.channel.entries:
        part = next((part for part in parts if entry.name not in part), None)
        if part is None:
            parts.append(part := {})
        part[entry.name] = entry
    channels = (graph.channel._replace(entries=tuple(part.values())) for part in parts)
    return [ChannelGraph(channel, graph.package) for channel in channels]


class _Edges:
    """The edges from what is installed, by successor; of several the one in the first channel.

    `panicking`: entries whose range is evaluated before such an edge is found, and crashes the resolver.
    """

    def __init__(self) -> None:
        self.by_successor: dict[str, Edge] = {}
        self.panicking: set[str] = set()

    def add(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            self.by_successor.setdefault(edge.successor, edge)

    def add_all(self, channels: Iterable[ChannelGraph], installed: InstalledBundle) -> None:
        version = installed.version
        assert version is not None  # without a version the resolution has failed
        for channel in channels:
            self.add(channel.successors(installed.name, version))
            panicking = (n for n in channel.panicking_entries if channel.ranges[n].panics_on(version))
            self.panicking.update(name for name in panicking if name not in self.by_successor)


def _constraint_error(constraint: Constraint, version: Version | None) -> str | None:
    if version is None:
        return "has no valid version, so no version range contains it"
    if constraint.contains(version):
        return None
    if version.is_prerelease and not constraint.names_prereleases:
        return f"is a pre-release, and the version range '{constraint}' names none"
    return f"is outside the version range '{constraint}'"


def _passed_over_reason(candidate: Candidate, best: Candidate) -> str:
    name = best.bundle.name
    if candidate.is_deprecated and not best.is_deprecated:
        return f"is deprecated, and {name} is not"
    if candidate.version is None:
        return "has no valid version, and OLM v1 ranks it last"
    if candidate.version == best.version:
        return f"has the same version as {name}: OLM 1.2.0 takes either, later releases take {name}"
    return f"is lower than {name}: {candidate.version} and {best.version}"
