"""What is asked: who has what installed, what they do, and of which resolver; and the sheets that answer."""

from __future__ import annotations

__all__ = ["Scenario", "Terms", "sheets"]

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from everpath.graph import ChannelGraph, PackageGraph
from everpath.resolvers import PolicyName
from everpath.resolvers.cluster_extension import Extension, Source
from everpath.resolvers.catalog_candidates import as_served
from everpath.simulate.installed import Asked
from everpath.simulate.results import Line, Row, Sheet
from everpath.simulate.cluster_extension_paths import Spanning
from everpath.upgrade_paths.channel_paths import Stream
from everpath.upgrade_paths.lazy_hops import Book


class Terms(NamedTuple):
    """What a ClusterExtension says beyond its package; `channels` None: each channel, one at a time.

    An empty list of channels is what OLM v1 takes it for: all of them.
    """

    channels: tuple[str, ...] | None = None
    version_range: str = ""
    self_certified: bool = False


class Scenario(NamedTuple):
    """What is asked of every channel. At most one of `fresh`, `starting` and `switching` is set.

    `channels`: only these; of somebody who switches, those that are left, and `targets` those that are
    joined. Empty: all.
    """

    policies: tuple[PolicyName, ...] = ("v0", "v1")
    channels: frozenset[str] = frozenset()
    fresh: bool = False
    starting: str | None = None
    switching: bool = False
    targets: frozenset[str] = frozenset()
    terms: Terms = Terms()


def sheets(
    sources: Sequence[Source],
    scenario: Scenario,
    asked: Sequence[Asked] | None = None,
    *,
    named: bool = False,
) -> Iterator[Sheet]:
    """One package: a sheet for each channel of each catalog that has it.

    `asked` limits the answers to something installed. `named`: there are other catalogs, so say which.
    Cost: near-linear in entries and in the stops of their walks.

    Of what a package says twice OLM v1 takes the last, and OLM v0 is shown with the first: opm refuses it.
    """
    if any(source.package is not None for source in sources):
        yield from _Package(sources, scenario, asked, named).sheets()


@dataclass
class _Package:
    """One package in all catalogs that have it."""

    sources: Sequence[Source]
    scenario: Scenario
    asked: Sequence[Asked] | None
    named: bool
    _spanning: dict[tuple[str, ...], Spanning] = field(default_factory=dict)
    _told: set[Row | None] = field(default_factory=set)
    _ranked: dict[PackageGraph, Mapping[str, int]] = field(default_factory=dict)
    _served: dict[PackageGraph, PackageGraph] = field(default_factory=dict)

    def __post_init__(self) -> None:
        packages = [source.package for source in self.sources if source.package is not None]
        self._served = {package: as_served(package) for package in packages}

    def sheets(self) -> Iterator[Sheet]:
        if self.scenario.terms.channels is not None:
            yield self._joint(self.scenario.terms.channels)
            return
        wanted = self.scenario.targets if self.scenario.switching else self.scenario.channels
        for source in self.sources:
            package = source.package
            for name in sorted(package.by_name) if package is not None else ():
                if not wanted or name in wanted:
                    assert package is not None  # it has a channel
                    yield self._sheet(source, package, package.by_name[name])

    @property
    def name(self) -> str:
        return next(source.package.name for source in self.sources if source.package is not None)

    def _sheet(self, source: Source, package: PackageGraph, graph: ChannelGraph) -> Sheet:
        book = Book()
        v0 = Stream.v0(graph, book) if "v0" in self.scenario.policies else None
        served = self._served[package]
        v1 = self._v1(served, served.by_name[graph.name], book) if self._asks_v1 else None
        origins = self._origins(package, graph) if self.scenario.switching else {}
        catalog = source.name if self.named else None
        lines = []
        for asked in self._questions(package, graph, origins):
            left = origins.get(asked.name, ()) if asked is not None else ()
            row0 = v0.row(self._at_first(package, asked), self.scenario.starting) if v0 is not None else None
            if row0 is not None:
                row0 = self._placed(row0, source, left)._replace(catalog=catalog)
            row1 = self._placed(v1.row(asked), source, left) if v1 is not None else None
            lines.append(Line(asked.name if asked is not None else None, row0, row1))
        if v0 is None and len(self.sources) > 1:
            lines = [line for line in lines if self._is_news(line)]
        is_default = graph.name == package.package.default_channel
        return Sheet(package.name, graph.name, graph, tuple(lines), self._versions, catalog, is_default)

    def _at_first(self, package: PackageGraph, asked: Asked | None) -> Asked | None:
        """Something installed, of the version that the first document of its own catalog gives it."""
        if asked is None or asked.name not in package.channels_by_entry:
            return asked
        return _entry(package, asked.name) if asked == self._entry(package, asked.name) else asked

    def _entry(self, package: PackageGraph, name: str) -> Asked:
        """An entry, of the version that its catalog gives it, or else one of the others."""
        found = _entry(self._served[package], name)
        if found.version is not None or len(self._served) == 1:
            return found
        others = (_entry(other, name) for other in self._served.values())
        return next((other for other in others if other.version is not None), found)

    def _is_news(self, line: Line) -> bool:
        """Whether no sheet of another catalog has it. OLM v1, if nobody else is asked, is told of once."""
        known = line.v1 in self._told
        self._told.add(line.v1)
        return not known

    @property
    def _asks_v1(self) -> bool:
        """A ClusterExtension has no startingCSV."""
        return "v1" in self.scenario.policies and self.scenario.starting is None

    def _placed(self, row: Row, source: Source, origins: tuple[str, ...]) -> Row:
        """The row with what the run as a whole knows."""
        if self.named and not row.sources:
            return row._replace(origins=origins, sources=(source.name,) * len(row.way))
        return row._replace(origins=origins) if origins else row

    def _v1(self, package: PackageGraph, graph: ChannelGraph, book: Book) -> Stream | Spanning:
        """In bulk, where nothing beside the channel counts."""
        terms = self.scenario.terms
        if len(self.sources) == 1 and not terms.version_range and not terms.self_certified:
            return Stream.v1(package, graph, book)
        return self._extension((graph.name,), graph.name)

    def _extension(self, channels: tuple[str, ...], label: str) -> Spanning:
        if channels not in self._spanning:
            terms = self.scenario.terms
            wanted = Extension(self.name, channels, terms.version_range, terms.self_certified)
            sources = [s._replace(package=self._served[s.package]) if s.package else s for s in self.sources]
            self._spanning[channels] = Spanning(sources, wanted, label)
        return self._spanning[channels]

    def _questions(
        self, package: PackageGraph, graph: ChannelGraph, origins: Mapping[str, tuple[str, ...]]
    ) -> Iterator[Asked | None]:
        """Who is asked about in a channel, the newest first."""
        entries = self._entries(package, graph)
        if self.scenario.fresh or self.scenario.starting is not None:
            yield None
        elif self.scenario.switching:
            chosen = {asked.name for asked in self.asked} if self.asked is not None else None
            names = [name for name in origins if chosen is None or name in chosen]
            yield from (self._entry(package, name) for name in self._newest_first(package, names))
            yield from (a for a in self.asked or () if self._is_homeless(a))
        elif self.asked is None:
            yield from (self._entry(package, name) for name in self._newest_first(package, entries))
        else:
            # Who names a channel wants its answer, also about something that is not in it.
            everybody = bool(self.scenario.channels)
            yield from (a for a in self.asked if everybody or a.name in entries or self._is_homeless(a))

    def _is_homeless(self, asked: Asked) -> bool:
        """Whether it is in no channel at all, so that every channel may be asked to take it."""
        return not asked.is_known or all(
            asked.name not in package.channels_by_entry for package in self._served
        )

    def _entries(self, package: PackageGraph, graph: ChannelGraph) -> Collection[str]:
        """The entries of a channel, of all the documents that have its name."""
        if self._served[package] is package:
            return graph.entries
        return {name for other in package.channels if other.name == graph.name for name in other.entries}

    @cached_property
    def _versions(self) -> Mapping[str, str]:
        """The version of each bundle, if no other has it."""
        stated = {
            (name, str(version))
            for source in self.sources
            for graph in (self._served[source.package].channels if source.package is not None else ())
            for name, version in graph.versions.items()
        }
        names, versions = (Counter(column) for column in zip(*stated, strict=True)) if stated else ({}, {})
        return {name: version for name, version in stated if names[name] == versions[version] == 1}

    def _newest_first(self, package: PackageGraph, names: Iterable[str]) -> list[str]:
        if package not in self._ranked:
            self._ranked[package] = _ranks(package)
        return sorted(names, key=self._ranked[package].__getitem__)

    def _origins(self, package: PackageGraph, target: ChannelGraph) -> Mapping[str, tuple[str, ...]]:
        """For every entry that may come from another channel: from which."""
        wanted = self.scenario.channels
        found: dict[str, tuple[str, ...]] = {}
        for name, channels in package.channels_by_entry.items():
            others = tuple(sorted(c for c in channels if c != target.name and (not wanted or c in wanted)))
            if others:
                found[name] = others
        return found

    def _joint(self, channels: tuple[str, ...]) -> Sheet:
        """Several channels as one, as a ClusterExtension takes its list."""
        label = ",".join(channels) or "*"
        extension = self._extension(channels, label)
        lines = [
            Line(a.name if a is not None else None, None, extension.row(a)) for a in self._joined(channels)
        ]
        return Sheet(self.name, label, None, tuple(lines), self._versions)

    def _joined(self, channels: tuple[str, ...]) -> Iterator[Asked | None]:
        if self.scenario.fresh:
            yield None
            return
        if self.asked is not None:
            yield from self.asked
            return
        met: set[Asked] = set()
        for package in (source.package for source in self.sources if source.package is not None):
            graphs = (g for g in package.channels if not channels or g.name in channels)
            for name in self._newest_first(package, {name for graph in graphs for name in graph.entries}):
                if (asked := self._entry(package, name)) not in met:
                    met.add(asked)
                    yield asked


def _entry(package: PackageGraph, name: str) -> Asked:
    bundle = package.package.by_name.get(name)
    return Asked(name, bundle.version if bundle is not None else None)


def _ranks(package: PackageGraph) -> Mapping[str, int]:
    """The entries of a package, newest first whatever the order of writing, without a version last."""
    versions = {n: v for graph in package.channels for n, v in graph.versions.items()}
    dated = sorted(versions, key=lambda n: (versions[n].key, n), reverse=True)
    undated = sorted(package.channels_by_entry.keys() - versions.keys())
    return {name: rank for rank, name in enumerate(dated + undated)}
