"""Explain why OLM upgrades an installed version, or not."""

from __future__ import annotations

__all__ = ["ExplainResult", "Installation", "explain_inputs", "explain_installation"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from everpath.app.config.config import selected_resolvers
from everpath.app.inputs.catalog_set import CatalogSet, package_count
from everpath.app.inputs.inputs import Inputs
from everpath.app.inputs.served_catalogs import ServedCatalog, parse_served_catalogs
from everpath.errors import UsageError
from everpath.explanation import ExplainQuery, Explanation, ProposedFix, explain
from everpath.graph import PackageGraph
from everpath.model import Catalog, Place, SourcePosition
from everpath.model.progress import Progress
from everpath.resolvers import ResolverName
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.simulate import ClusterExtensionOptions, InstalledVersion, find_installed

_DEFAULT_EXTENSION = ClusterExtensionOptions()


@dataclass(frozen=True, slots=True)
class Installation:
    """What a cluster has installed, or is going to install.

    `package` None: the only package of the catalogs, or the only one with the installed CSV. `channel`: that
    of the Subscription; None: the default channel, or the first one with the installed CSV. `installed`: the
    name or version of the CSV, which need not be in a catalog; None: nothing is installed. `starting_csv`:
    that of a Subscription for a new installation.
    """

    package: str | None = None
    channel: str | None = None
    installed: str | None = None
    starting_csv: str | None = None


class ExplainResult(NamedTuple):
    """An explanation, and the number of parts of the catalogs that could not be read."""

    explanation: Explanation
    unread: int = 0


def explain_inputs(
    inputs: Inputs,
    installation: Installation,
    *,
    catalogs: Sequence[ServedCatalog] = (),
    olm: str | None = None,
    extension: ClusterExtensionOptions = _DEFAULT_EXTENSION,
    progress: Progress | None = None,
) -> ExplainResult:
    """Load the catalogs of a cluster and explain what OLM does with an installation.

    `catalogs` has the name and priority of each input; without it they are named after their folders. The
    configuration provides the package, the channel and the OLM version that are not given. Raises UsageError
    if the package is unknown or ambiguous.
    """
    config, loaded = inputs.config, list(inputs.catalogs(progress))
    served = catalogs or parse_served_catalogs(inputs.chosen_paths())
    inputs.verify_names([installation.package] if installation.package else (), extension.channels or ())
    catalog_set = CatalogSet(served, loaded)
    if installation.channel is None and len(config.channels) == 1:
        installation = replace(installation, channel=config.channels[0])
    explanation = explain_installation(
        _package_sources(catalog_set, installation, inputs),
        installation,
        resolvers=selected_resolvers(olm or config.olm),
        extension=extension,
        catalogs={each.name: catalog for each, catalog in zip(served, loaded, strict=True)},
        locate=inputs.locate,
    )
    return ExplainResult(explanation, catalog_set.unread)


def explain_installation(
    sources: Sequence[ClusterCatalog],
    installation: Installation,
    *,
    resolvers: tuple[ResolverName, ...] = ("v0", "v1"),
    extension: ClusterExtensionOptions = _DEFAULT_EXTENSION,
    catalogs: Mapping[str, Catalog],
    locate: Callable[[Place], SourcePosition],
) -> Explanation:
    """Explain what OLM does with an installation, given the sources that have the package.

    `catalogs` are the loaded catalogs of the sources, by name. `locate` returns the position of a fix. Raises
    UsageError if several CSVs have the installed version.
    """
    graphs = _graphs(sources)
    installed = _installed_csv(graphs, installation.installed) if installation.installed is not None else None
    csv = installed.name if installed is not None else installation.starting_csv
    query = ExplainQuery(
        package=graphs[0].name,
        channel=installation.channel if installation.channel is not None else _default_channel(graphs, csv),
        installed=installed,
        resolvers=resolvers,
        starting_csv=installation.starting_csv,
        options=extension,
    )
    explanation = explain(sources, query, catalogs)

    def with_position(fix: ProposedFix) -> ProposedFix:
        return fix._replace(position=locate(fix.place)) if fix.place is not None else fix

    return explanation._replace(
        explanations=tuple(
            each._replace(fixes=tuple(map(with_position, each.fixes))) for each in explanation.explanations
        )
    )


def _package_sources(
    catalog_set: CatalogSet, installation: Installation, inputs: Inputs
) -> list[ClusterCatalog]:
    """Return the catalogs of the given package, the only one, or the only one with the installed CSV."""
    wanted = [installation.package] if installation.package else inputs.config.packages
    packages = catalog_set.packages(wanted)
    csv = installation.installed or installation.starting_csv
    if len(packages) > 1 and csv is not None:
        with_csv = {
            name: sources
            for name, sources in packages.items()
            if find_installed(_graphs(sources), csv, guess=False)
        }
        packages = with_csv or packages
    if not packages:
        inputs.verify_names(wanted, ())
        raise inputs.no_package_error()
    if len(packages) != 1:
        hint = f"-p NAME; {inputs.list_command('packages')} lists them"
        raise UsageError(f"no package is given; the input has {package_count(packages)}", hint=hint)
    [sources] = packages.values()
    return sources


def _installed_csv(graphs: Sequence[PackageGraph], text: str) -> InstalledVersion:
    """Return the CSV of a name or version. Raises UsageError if several CSVs have the version."""
    csvs = find_installed(graphs, text)
    if len(csvs) > 1:
        names = ", ".join(sorted(csv.name for csv in csvs))
        raise UsageError(f"several CSVs have version {text}: {names}", hint="give the name of one of them")
    return csvs[0]


def _default_channel(graphs: Sequence[PackageGraph], csv: str | None) -> str:
    """Return the default channel, unless only other channels have the CSV."""
    default = next((graph.package.default_channel for graph in graphs if graph.package.default_channel), "")
    with_csv = sorted({name for graph in graphs for name in graph.channels_by_entry.get(csv or "", ())})
    if default and (default in with_csv or not with_csv):
        return default
    return next(iter(with_csv or sorted(name for graph in graphs for name in graph.by_name)), default)


def _graphs(sources: Sequence[ClusterCatalog]) -> list[PackageGraph]:
    return [source.package for source in sources if source.package is not None]
