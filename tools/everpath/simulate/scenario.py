"""What is simulated, and the simulation of one package."""

from __future__ import annotations

__all__ = ["ClusterExtensionOptions", "Scenario", "simulate_package"]

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from everpath.graph import ChannelGraph, PackageGraph
from everpath.resolvers import ResolverName
from everpath.resolvers.catalog_candidates import served_package
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension
from everpath.simulate.installed import InstalledVersion
from everpath.simulate.results import ChannelResult, InstalledResult
from everpath.upgrade_path.channel_paths import ChannelPaths
from everpath.upgrade_path.cluster_extension_paths import ClusterExtensionPaths
from everpath.upgrade_path.hops import PathInterner
from everpath.upgrade_path.path import UpgradePath


class ClusterExtensionOptions(NamedTuple):
    """Fields of `spec.source.catalog` of a ClusterExtension besides the package.

    `channels` None: one ClusterExtension for each channel. Empty: OLM v1 uses all channels.
    """

    channels: tuple[str, ...] | None = None
    version_range: str = ""
    self_certified: bool = False


class Scenario(NamedTuple):
    """What is simulated in every channel. At most one of `new_install`, `starting_csv`, `is_switch` is set.

    `channels` limits the channels; empty: all. In a channel switch clusters leave `channels` and join
    `targets`.
    """

    resolvers: tuple[ResolverName, ...] = ("v0", "v1")
    channels: frozenset[str] = frozenset()
    new_install: bool = False
    starting_csv: str | None = None
    is_switch: bool = False
    targets: frozenset[str] = frozenset()
    options: ClusterExtensionOptions = ClusterExtensionOptions()


def simulate_package(
    catalogs: Sequence[ClusterCatalog],
    scenario: Scenario,
    installed: Sequence[InstalledVersion] | None = None,
    *,
    with_catalog_names: bool = False,
) -> Iterator[ChannelResult]:
    """Simulate one package: yield a result for each channel of each catalog that has the package.

    `installed` limits the result to these versions. `with_catalog_names` is set if the run has several
    catalogs. Cost: near-linear in the entries and the hops of their paths.

    If a package declares something twice, OLM v1 uses the last declaration. OLM v0 is simulated with the
    first one, because opm rejects such a catalog.
    """
    if any(catalog.package is not None for catalog in catalogs):
        yield from _PackageSimulation(catalogs, scenario, installed, with_catalog_names).results()


class _PackageSimulation:
    """One package in all catalogs that have it."""

    def __init__(
        self,
        catalogs: Sequence[ClusterCatalog],
        scenario: Scenario,
        installed: Sequence[InstalledVersion] | None,
        with_catalog_names: bool,
    ) -> None:
        self.catalogs = catalogs
        self.scenario = scenario
        self.installed = installed
        self.with_catalog_names = with_catalog_names
        packages = [catalog.package for catalog in catalogs if catalog.package is not None]
        self._name = packages[0].name
        self._served = {package: served_package(package) for package in packages}
        self._extensions: dict[tuple[str, ...], ClusterExtensionPaths] = {}
        self._reported_v1: set[UpgradePath | None] = set()
        self._ranks: dict[PackageGraph, Mapping[str, int]] = {}

    def results(self) -> Iterator[ChannelResult]:
        if self.scenario.options.channels is not None:
            yield self._joint_result(self.scenario.options.channels)
            return
        selected = self.scenario.targets if self.scenario.is_switch else self.scenario.channels
        for catalog in self.catalogs:
            if catalog.package is not None:
                for name in sorted(catalog.package.by_name):
                    if not selected or name in selected:
                        yield self._channel_result(catalog, catalog.package, catalog.package.by_name[name])

    def _channel_result(
        self, catalog: ClusterCatalog, package: PackageGraph, graph: ChannelGraph
    ) -> ChannelResult:
        scenario, interner = self.scenario, PathInterner()
        v0 = ChannelPaths(package, graph, "v0", interner=interner) if "v0" in scenario.resolvers else None
        v1 = None
        if "v1" in scenario.resolvers and scenario.starting_csv is None:  # a ClusterExtension has none
            v1 = self._v1_paths(self._served[package], graph.name, interner)
        origins = self._origins(package, graph) if scenario.is_switch else {}
        catalog_name = catalog.name if self.with_catalog_names else None
        results = []
        for installed in self._installed_versions(package, graph, origins):
            name = installed.name if installed is not None else None
            left = origins.get(name, ()) if name is not None else ()
            path_v0 = path_v1 = None
            if v0 is not None:
                stated = self._first_declared(package, installed)
                path_v0 = v0.path(
                    stated.as_bundle("v0") if stated is not None else None, scenario.starting_csv
                )
                path_v0 = self._with_context(path_v0, catalog, left)
                path_v0 = replace(path_v0, catalog=catalog_name) if catalog_name is not None else path_v0
            if v1 is not None:
                path_v1 = v1.path(installed.as_bundle("v1") if installed is not None else None)
                path_v1 = self._with_context(path_v1, catalog, left)
            version = installed.version if installed is not None else None
            results.append(InstalledResult(name, path_v0, path_v1, version))
        if v0 is None and len(self.catalogs) > 1:
            # OLM v1 alone: the same path is not repeated for every catalog.
            results = [result for result in results if self._add_reported(result.v1)]
        is_default = graph.name == package.package.default_channel
        return ChannelResult(
            package.name, graph.name, graph, tuple(results), self._versions, catalog_name, is_default
        )

    def _add_reported(self, path: UpgradePath | None) -> bool:
        """Add a path to the reported ones. Return whether it is new."""
        is_new = path not in self._reported_v1
        self._reported_v1.add(path)
        return is_new

    def _v1_paths(
        self, package: PackageGraph, channel: str, interner: PathInterner
    ) -> ChannelPaths | ClusterExtensionPaths:
        options = self.scenario.options
        if len(self.catalogs) == 1 and not options.version_range and not options.self_certified:
            return ChannelPaths(package, package.by_name[channel], "v1", interner=interner)
        return self._extension_paths((channel,), channel)

    def _extension_paths(self, channels: tuple[str, ...], label: str) -> ClusterExtensionPaths:
        if channels not in self._extensions:
            options = self.scenario.options
            extension = ClusterExtension(self._name, channels, options.version_range, options.self_certified)
            served = [c._replace(package=self._served[c.package]) if c.package else c for c in self.catalogs]
            self._extensions[channels] = ClusterExtensionPaths(served, extension, label)
        return self._extensions[channels]

    def _with_context(
        self, path: UpgradePath, catalog: ClusterCatalog, origins: tuple[str, ...]
    ) -> UpgradePath:
        if self.with_catalog_names and not path.sources:
            return replace(path, origins=origins, sources=(catalog.name,) * len(path.hops))
        return replace(path, origins=origins) if origins else path

    def _first_declared(
        self, package: PackageGraph, installed: InstalledVersion | None
    ) -> InstalledVersion | None:
        """Return the entry with the version of its first declaration; other versions as they are."""
        if installed is None or installed.name not in package.channels_by_entry:
            return installed
        if installed == self._entry(package, installed.name):
            return _stated_entry(package, installed.name)
        return installed

    def _entry(self, package: PackageGraph, name: str) -> InstalledVersion:
        """Return an entry with the version that its catalog states, or else another catalog."""
        found = _stated_entry(self._served[package], name)
        if found.version is not None or len(self._served) == 1:
            return found
        others = (_stated_entry(other, name) for other in self._served.values())
        return next((other for other in others if other.version is not None), found)

    def _installed_versions(
        self, package: PackageGraph, graph: ChannelGraph, origins: Mapping[str, tuple[str, ...]]
    ) -> Iterator[InstalledVersion | None]:
        """Yield the versions whose paths are simulated in a channel, the newest first."""
        scenario = self.scenario
        entries = self._entries(package, graph)
        if scenario.new_install or scenario.starting_csv is not None:
            yield None
        elif scenario.is_switch:
            selected = {each.name for each in self.installed} if self.installed is not None else None
            names = [name for name in origins if selected is None or name in selected]
            yield from (self._entry(package, name) for name in self._newest_first(package, names))
            yield from (each for each in self.installed or () if self._is_in_no_channel(each))
        elif self.installed is None:
            yield from (self._entry(package, name) for name in self._newest_first(package, entries))
        else:
            for each in self.installed:
                # A channel that is named on the command line is simulated for versions of other channels too.
                if scenario.channels or each.name in entries or self._is_in_no_channel(each):
                    yield each

    def _is_in_no_channel(self, installed: InstalledVersion) -> bool:
        return not installed.is_known or all(
            installed.name not in package.channels_by_entry for package in self._served
        )

    def _entries(self, package: PackageGraph, graph: ChannelGraph) -> Collection[str]:
        """Return the entries of all channels with the name of this one."""
        if self._served[package] is package:
            return graph.entries
        return {name for other in package.channels if other.name == graph.name for name in other.entries}

    @cached_property
    def _versions(self) -> Mapping[str, str]:
        """The version of each bundle, if no other has it."""
        stated = {
            (name, str(version))
            for package in self._served.values()
            for graph in package.channels
            for name, version in graph.versions.items()
        }
        names, versions = Counter(name for name, _ in stated), Counter(version for _, version in stated)
        return {name: version for name, version in stated if names[name] == versions[version] == 1}

    def _newest_first(self, package: PackageGraph, names: Iterable[str]) -> list[str]:
        """Sort entries by version whatever their order in the file; entries without a version are last."""
        if package not in self._ranks:
            versions = {n: v for graph in package.channels for n, v in graph.versions.items()}
            ranked = sorted(versions, key=lambda n: (versions[n].key, n), reverse=True)
            ranked += sorted(package.channels_by_entry.keys() - versions.keys())
            self._ranks[package] = {name: rank for rank, name in enumerate(ranked)}
        return sorted(names, key=self._ranks[package].__getitem__)

    def _origins(self, package: PackageGraph, target: ChannelGraph) -> Mapping[str, tuple[str, ...]]:
        """Return the channels from which clusters on each entry may switch to a channel."""
        selected = self.scenario.channels
        found: dict[str, tuple[str, ...]] = {}
        for name, channels in package.channels_by_entry.items():
            others = tuple(
                sorted(c for c in channels if c != target.name and (not selected or c in selected))
            )
            if others:
                found[name] = others
        return found

    def _joint_result(self, channels: tuple[str, ...]) -> ChannelResult:
        """Simulate one ClusterExtension with several channels."""
        label = ",".join(channels) or "*"
        paths = self._extension_paths(channels, label)
        results = []
        for installed in self._installed_versions_in(channels):
            bundle = installed.as_bundle("v1") if installed is not None else None
            results.append(InstalledResult(bundle.name if bundle else None, None, paths.path(bundle)))
        return ChannelResult(self._name, label, None, tuple(results), self._versions)

    def _installed_versions_in(self, channels: tuple[str, ...]) -> Iterator[InstalledVersion | None]:
        if self.scenario.new_install:
            yield None
            return
        if self.installed is not None:
            yield from self.installed
            return
        met: set[InstalledVersion] = set()
        for package in (catalog.package for catalog in self.catalogs if catalog.package is not None):
            graphs = (g for g in package.channels if not channels or g.name in channels)
            for name in self._newest_first(package, {name for graph in graphs for name in graph.entries}):
                if (installed := self._entry(package, name)) not in met:
                    met.add(installed)
                    yield installed


def _stated_entry(package: PackageGraph, name: str) -> InstalledVersion:
    bundle = package.package.by_name.get(name)
    return InstalledVersion(name, bundle.version if bundle is not None else None)
