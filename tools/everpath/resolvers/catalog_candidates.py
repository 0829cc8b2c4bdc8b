"""What one catalog offers a ClusterExtension: the first, in OLM v1's order, of the bundles that may be taken.

Mirrors the part of CatalogResolver.Resolve of operator-controller v1.2.0 that is done once a catalog
(internal/operator-controller/{resolve,catalogmetadata}). Nobody validates a catalog before that: what a
second document of a name says is what counts, because operator-controller keeps one file a name.
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
from everpath.resolvers import MEMORY
from everpath.resolvers.olm_v1 import release_key
from everpath.resolvers.resolution import (
    CandidateResult,
    FailureKind,
    InstalledBundle,
    ResolutionFailure,
    Tracer,
    TraceStep,
)
from everpath.versions import Version, parse_or_none


class ClusterCatalog(NamedTuple):
    """A ClusterCatalog that serves, and what it has of the package; None if it does not know it."""

    name: str
    priority: int
    package: PackageGraph | None


class CandidateFilter(NamedTuple):
    """What a ClusterExtension asks for; `installed` only if upgrades must follow the catalog's edges."""

    channels: tuple[str, ...] = ()
    constraint: Constraint | None = None
    installed: InstalledBundle | None = None


class Candidate(NamedTuple):
    """A bundle that may be taken, and the edge that leads to it; None: there is no need of one."""

    source: ClusterCatalog
    bundle: Bundle
    version: Version | None
    is_deprecated: bool
    edge: Edge | None
    is_installed: bool

    @property
    def height(self) -> tuple[object, ...]:
        """What OLM v1 takes the highest of: not deprecated, readable, then by version.

        Of equal versions 1.2.0 takes the one whose file happens to be read first. Here it is the one that
        later releases take: build metadata is a release to them, and what no edge leads to no candidate.
        """
        return (not self.is_deprecated, *_height(self.version), self._is_linked, *_release(self.version))

    @property
    def _is_linked(self) -> bool:
        return self.is_installed or self.edge is not None


def _height(version: Version | None) -> tuple[bool, object]:
    return (False, ()) if version is None else (True, version.key)


def _release(version: Version | None) -> tuple[object, ...]:
    return () if version is None else (release_key(version),)


def served_package(graph: PackageGraph) -> PackageGraph:
    """A package as operator-controller keeps it: of documents with one name the last, of deprecations too.

    One that says nothing twice is itself.
    """
    package = graph.package
    channels = {channel.name: channel for channel in package.channels}
    bundles = {bundle.name: bundle for bundle in package.bundles}
    is_plain = len(channels) == len(package.channels) and len(bundles) == len(package.bundles)
    if is_plain and len(package.deprecations) < 2:
        return graph
    kept = package._replace(
        channels=tuple(channels.values()),
        bundles=tuple(bundles.values()),
        deprecations=package.deprecations[-1:],
    )
    return PackageGraph(kept)


def served_channel(package: PackageGraph, graph: ChannelGraph) -> tuple[PackageGraph, ChannelGraph]:
    """A package and its channel as operator-controller keeps them."""
    served = served_package(package)
    return (package, graph) if served is package else (served, served.by_name[graph.name])


def best_candidate(
    source: ClusterCatalog, wish: CandidateFilter, trace: Tracer | None = None
) -> Candidate | ResolutionFailure | None:
    """The offer of one catalog, None if it has nothing that may be taken, or what stops the whole resolution.

    Cost: the edges by name from the installed version, and what has that version; where nothing is
    installed, a range may crash, or somebody listens to `trace`, the bundles of the package. A package is
    sorted out once.
    """
    if source.package is None or _is_empty(source.package):
        return None
    if wish.installed is not None and wish.installed.version is None:
        return ResolutionFailure(FailureKind.UNREADABLE_VERSION, (wish.installed.name,))
    offers: list[Candidate] = []
    for found in _judged(source, source.package, wish, everybody=trace is not None):
        if isinstance(found, ResolutionFailure):
            return found
        if isinstance(found, Candidate):
            offers.append(found)
        elif trace is not None:
            trace(found)
    offers.sort(key=lambda offer: offer.height, reverse=True)
    if trace is not None:
        for offer in offers[1:]:
            trace(_passed_over(offer, offers[0]))
    return offers[0] if offers else None


def _is_empty(graph: PackageGraph) -> bool:
    package = graph.package
    return not (package.declarations or package.channels or package.bundles or package.deprecations)


class _Stock:
    """What a package has for one kind of wish, sorted for the questions that come one after the other."""

    def __init__(self, package: PackageGraph, wish: CandidateFilter) -> None:
        self.channels = _channels(package, wish.channels)
        self.members = {n for channel in self.channels for n in channel.entries} if wish.channels else None
        self.deprecated = _deprecated(package)
        self.bundles = {bundle.name: bundle for bundle in package.package.bundles}
        self.versions = {name: parse_or_none(bundle.version) for name, bundle in self.bundles.items()}
        self.is_crashing = any(channel.panicking_entries for channel in self.channels)
        self._constraint = wish.constraint

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {name: place for place, name in enumerate(self.bundles)}

    @cached_property
    def _same(self) -> Mapping[Version | None, Sequence[str]]:
        found: dict[Version | None, list[str]] = {}
        for name, version in self.versions.items():
            found.setdefault(version, []).append(name)
        return found

    @cached_property
    def _choosers(self) -> Sequence[Callable[[Version], str | None]]:
        """For each channel, which of the ranges that hold a version belongs to the best that may be taken."""
        ranked = sorted(filter(self._is_eligible, self.bundles), key=self._height, reverse=True)
        ranks = {name: rank for rank, name in enumerate(ranked)}
        return [channel.coverage.chooser(ranks) for channel in self.channels]

    def _is_eligible(self, name: str) -> bool:
        return self._constraint is None or _why_outside(self._constraint, self.versions[name]) is None

    def _height(self, name: str) -> tuple[object, ...]:
        version = self.versions[name]
        return (name not in self.deprecated, *_height(version), *_release(version))

    def edges(self, installed: InstalledBundle) -> Iterator[Edge]:
        """Those that may matter: all by name, and of the ranges of a channel the best. Nothing may crash."""
        for channel, chooser in zip(self.channels, self._choosers, strict=True):
            yield from channel.named_edges(installed.name)
            best = chooser(installed.version) if installed.version is not None else None
            if best is not None:
                yield Edge(best, installed.name, EdgeKind.RANGE)

    def in_question(self, installed: InstalledBundle, edges: _Edges) -> Iterable[str]:
        """Bundles that an edge leads to, or that need none; in their order."""
        names = {*edges.found, *self._same.get(installed.version, ())}
        return sorted((n for n in names if n in self._places), key=self._places.__getitem__)


@lru_cache(maxsize=MEMORY)
def _stock(package: PackageGraph, wish: CandidateFilter) -> _Stock:
    return _Stock(package, wish)


def _judged(
    source: ClusterCatalog, package: PackageGraph, wish: CandidateFilter, *, everybody: bool
) -> Iterator[Candidate | TraceStep | ResolutionFailure]:
    """Bundles as offers, or with the reason for their refusal. Nothing comes after a failure.

    Unless `everybody` is wanted, those that cannot be the best are left out.
    """
    stock = _stock(package, wish._replace(installed=None))
    members, deprecated, edges = stock.members, stock.deprecated, _Edges()
    names: Iterable[str] = stock.bundles
    if wish.installed is not None and (everybody or stock.is_crashing):
        edges.add_all(stock.channels, wish.installed)
    elif wish.installed is not None:
        edges.add(stock.edges(wish.installed))
        names = stock.in_question(wish.installed, edges)
    for name in names:
        bundle, version = stock.bundles[name], stock.versions[name]
        if members is not None and name not in members:
            yield _refused(source, name, f"is in none of the channels {', '.join(wish.channels)}")
        elif wish.constraint is not None and (why := _why_outside(wish.constraint, version)):
            yield _refused(source, name, why)
        elif name in edges.panics:
            yield ResolutionFailure(FailureKind.PANIC, (name,))
            return
        elif wish.installed is None or name in edges.found or version == wish.installed.version:
            again = wish.installed is not None and name == wish.installed.name
            yield Candidate(source, bundle, version, name in deprecated, edges.found.get(name), again)
        else:
            yield _refused(source, name, f"no edge leads to it from {wish.installed.name}")


def _channels(package: PackageGraph, selected: Sequence[str]) -> list[ChannelGraph]:
    """Those that supply edges: all, or the selected ones alone. Of two with one name the last."""
    channels = {graph.name: graph for graph in package.channels}
    chosen = [graph for name, graph in channels.items() if not selected or name in selected]
    return [layer for graph in chosen for layer in split_repeated_entries(graph)]


def split_repeated_entries(graph: ChannelGraph) -> Iterable[ChannelGraph]:
    """The channel, or several without an entry twice: the edges of both count."""
    if len(graph.entries) == len(graph.channel.entries):
        return (graph,)
    found: list[dict[str, Entry]] = []
    for entry in graph.channel.entries:
        layer = next((layer for layer in found if entry.name not in layer), None)
        if layer is None:
            found.append(layer := {})
        layer[entry.name] = entry
    parts = (graph.channel._replace(entries=tuple(layer.values())) for layer in found)
    return [ChannelGraph(part, graph.package) for part in parts]


def _deprecated(package: PackageGraph) -> frozenset[str]:
    """Bundles that olm.deprecations names: the last such document, because it has no name to differ by."""
    stated = package.package.deprecations
    return (
        frozenset(e.name for e in stated[-1].entries if e.schema == "olm.bundle") if stated else frozenset()
    )


class _Edges:
    """Who accepts what is installed, by which edge of the first channel in which somebody does.

    `panics`: whose range is asked before such an edge is met and crashes the resolver.
    """

    def __init__(self) -> None:
        self.found: dict[str, Edge] = {}
        self.panics: set[str] = set()

    def add(self, edges: Iterable[Edge]) -> None:
        for edge in edges:
            self.found.setdefault(edge.successor, edge)

    def add_all(self, channels: Iterable[ChannelGraph], installed: InstalledBundle) -> None:
        version = installed.version
        assert version is not None  # or there was no offer
        for channel in channels:
            self.add(channel.successors(installed.name, version))
            crashing = (n for n in channel.panicking_entries if channel.ranges[n].panics_on(version))
            self.panics.update(name for name in crashing if name not in self.found)


def _why_outside(constraint: Constraint, version: Version | None) -> str | None:
    if version is None:
        return "has no version that parses, so that no version range holds it"
    if constraint.contains(version):
        return None
    if version.is_prerelease and not constraint.names_prereleases:
        return f"is a pre-release, and the version range '{constraint}' names none"
    return f"is outside the version range '{constraint}'"


def _refused(source: ClusterCatalog, name: str, reason: str) -> TraceStep:
    return TraceStep(name, CandidateResult.REFUSED, reason, catalog=source.name)


def _passed_over(offer: Candidate, best: Candidate) -> TraceStep:
    name = best.bundle.name
    if offer.is_deprecated and not best.is_deprecated:
        reason = f"is deprecated, and {name} is not"
    elif offer.version is None:
        reason = "has no version that parses, and such are taken last"
    elif offer.version == best.version:
        reason = f"has the same version as {name}: OLM 1.2.0 takes either, later releases {name}"
    else:
        reason = f"is lower than {name}: {offer.version} and {best.version}"
    return TraceStep(offer.bundle.name, CandidateResult.PASSED_OVER, reason, offer.edge, offer.source.name)
