"""Simulate the upgrades of every installed version in the catalogs of one cluster."""

from __future__ import annotations

__all__ = ["SimulationResult", "simulate"]

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from everpath.app.inputs.catalog_set import CatalogSet, find_installed_by_package, with_entry
from everpath.app.inputs.inputs import Inputs
from everpath.app.inputs.served_catalogs import ServedCatalog
from everpath.model import OpmError
from everpath.model.progress import Progress
from everpath.rules.opm_errors import opm_errors
from everpath.simulate import ChannelResult, Scenario, all_paths, simulate_package
from everpath.upgrade_path.path import UpgradePath


@dataclass(frozen=True)
class SimulationResult:
    """The results for each channel, and notes about an installed version that is in no catalog."""

    channels: tuple[ChannelResult, ...]
    catalogs: CatalogSet
    notes: tuple[str, ...] = ()

    @property
    def paths(self) -> Iterator[UpgradePath]:
        """Every upgrade path once."""
        return all_paths(self.channels)

    @cached_property
    def opm_errors(self) -> tuple[tuple[str | None, OpmError], ...]:
        """The errors of opm in every simulated package, each with its catalog if there are several."""
        packages = [(each.catalog, each.graph.package) for each in self.channels if each.graph is not None]
        # A result for several channels together has no graph.
        joint = dict.fromkeys(each.package for each in self.channels if each.graph is None)
        for name in joint:
            packages += (
                (source.name if self.catalogs.names else None, source.package.package)
                for source in self.catalogs.packages([name])[name]
                if source.package is not None
            )
        distinct = {(catalog, id(package)): package for catalog, package in packages}
        return tuple(
            (catalog, error) for (catalog, _), package in distinct.items() for error in opm_errors(package)
        )


def simulate(
    inputs: Inputs,
    scenario: Scenario,
    *,
    catalogs: Sequence[ServedCatalog] = (),
    packages: Sequence[str] = (),
    installed: str | None = None,
    progress: Progress | None = None,
) -> SimulationResult:
    """Load the inputs as the catalogs of one cluster, and simulate the scenario in each package.

    `catalogs` has the name and priority of each input; by default inputs are named after their folders and
    have priority 0. `packages` limits the packages. `installed` limits the result to one CSV name or
    version, which need not be in a catalog if there is one package. Raises an error for an unknown name.
    """
    catalog_set = CatalogSet.load(inputs, catalogs, progress)
    channels = {*scenario.channels, *scenario.targets, *(scenario.options.channels or ())}
    inputs.verify_names(packages, channels)
    selected = catalog_set.packages(packages)
    versions, notes = None, list[str]()
    if installed is not None:
        versions, notes = find_installed_by_package(installed, selected, catalog_set.unread)
        selected = {name: selected[name] for name in versions}
    if scenario.starting_csv is not None:
        selected = with_entry(scenario.starting_csv, selected, catalog_set.unread)
    results = [
        result
        for name, sources in selected.items()
        for result in simulate_package(
            sources,
            scenario,
            versions[name] if versions is not None else None,
            with_catalog_names=bool(catalog_set.names),
        )
    ]
    return SimulationResult(tuple(results), catalog_set, tuple(notes))
