"""The functions of `import everpath`: load, lint, compare and explain catalogs, and list upgrade paths.

Every function accepts a catalog from `load`, or what `load` accepts. Errors are `EverpathError`s.
"""

from __future__ import annotations

__all__ = ["CatalogInput", "compare", "explain", "lint", "load", "upgrade_paths"]

import os
from collections.abc import Iterable
from typing import TypeAlias

from everpath.app.config import Config
from everpath.app.explain import default_channel
from everpath.app.inputs import Inputs
from everpath.compare import catalogs as catalog_comparison
from everpath.errors import UsageError
from everpath.explain import ExplainQuery, Explanation
from everpath.explain import explain as explain_question
from everpath.graph import PackageGraph
from everpath.model import Catalog
from everpath.resolvers import ResolverName
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.rules import lint as linter
from everpath.rules.findings import Finding
from everpath.rules.registry import find_rules
from everpath.simulate import InstalledVersion, Scenario, all_paths, find_installed, simulate_package
from everpath.upgrade_paths import UpgradePath
from everpath.versions import Version

#: A loaded catalog, a path, or an image reference.
CatalogInput: TypeAlias = Catalog | str | os.PathLike[str]


def load(path: str | os.PathLike[str]) -> Catalog:
    """Load a catalog.

    `path` is a file-based catalog (a folder or a file), a bundle folder, an operators repository, a
    package-manifest folder, or an image such as `quay.io/me/catalog:v1`, `oci:FOLDER` or
    `oci-archive:FILE`. Raises UnreadableInput if it cannot be read and Unreachable if a registry does not
    respond. A document that cannot be parsed is no error: `lint` reports it.
    """
    return Inputs((), Config()).load(os.fspath(path), None)


def lint(
    catalog: CatalogInput,
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    packages: Iterable[str] = (),
    channels: Iterable[str] = (),
    resolver: ResolverName | None = None,
) -> linter.Report:
    """Lint a catalog, like `everpath validate-graph`, and return the report.

    `select` and `ignore` have rule ids (`EP203`), prefixes (`EP2`) or names (`fork`). `packages` and
    `channels` limit the report, empty means all. `resolver` "v0" or "v1" leaves out rules about the other
    one. Each finding has `rule`, `name`, `severity`, `message`, `file`, `line`, `column`, `package`,
    `channel`, `entry`, `because` and `fix`. Waivers of a configuration file do not apply. Raises UsageError
    for an unknown rule.
    """
    selection = linter.Selection(
        rules=find_rules(tuple(select)),
        ignored=find_rules(tuple(ignore)),
        packages=frozenset(packages),
        channels=frozenset(channels),
        policy=resolver,
    )
    report = linter.lint(_catalog(catalog), selection)
    inputs = Inputs((), Config())

    def located(finding: Finding) -> Finding:
        location = inputs.locate(finding.place)
        place = finding.place._replace(file=location.file)
        return finding._replace(place=place, line=location.line, column=location.column)

    return report._replace(findings=tuple(map(located, report.findings)))


def upgrade_paths(
    catalog: CatalogInput,
    package: str,
    channel: str | None = None,
    resolver: ResolverName = "v0",
    *,
    installed: str | Version | None = None,
) -> list[UpgradePath]:
    """Return the upgrade path of every version of a package, in one channel or in each.

    A path has `installed`, `hops`, `end` and `reason`; `end` is `PathEnd.HEAD` if it reaches the channel
    head. `installed` limits the result to one CSV name or version, which need not be in the catalog.
    Raises UsageError for an unknown package or channel.
    """
    graph = _package(_catalog(catalog), package, channel)
    scenario = Scenario(resolvers=(resolver,), channels=frozenset([channel] if channel is not None else ()))
    versions = find_installed([graph], str(installed)) if installed is not None else None
    return list(all_paths(simulate_package([ClusterCatalog("catalog", 0, graph)], scenario, versions)))


def compare(
    old: CatalogInput,
    new: CatalogInput,
    *,
    packages: Iterable[str] = (),
    channels: Iterable[str] = (),
    resolver: ResolverName | None = None,
) -> catalog_comparison.Comparison:
    """Compare two catalogs: follow every installed version of `old` into `new`.

    `stranded` of the result is the number of versions that lose their upgrade path, `changes` has the
    changes with cause and fix. `resolver` None compares under OLM v0 and v1.
    """
    scope = catalog_comparison.Scope(frozenset(packages), frozenset(channels), _resolvers(resolver))
    return catalog_comparison.compare(_catalog(old), _catalog(new), scope)


def explain(
    catalog: CatalogInput,
    package: str,
    installed: str | Version | None = None,
    *,
    channel: str | None = None,
    resolver: ResolverName | None = None,
) -> Explanation:
    """Explain why OLM upgrades an installed version, or not, like `everpath why`.

    `installed` is a CSV name or a version, which need not be in the catalog; None explains a new
    installation. `channel` None is the default channel, or one that has the installed version. `resolver`
    None explains OLM v0 and v1. Raises UsageError for an unknown package or channel, and if several CSVs
    have the version.
    """
    loaded = _catalog(catalog)
    graph = _package(loaded, package, channel)
    csv = _one_csv(graph, str(installed)) if installed is not None else None
    question = ExplainQuery(
        package,
        channel if channel is not None else default_channel([graph], csv.name if csv else None),
        csv,
        _resolvers(resolver),
    )
    return explain_question([ClusterCatalog("catalog", 0, graph)], question, {"catalog": loaded})


def _catalog(catalog: CatalogInput) -> Catalog:
    return catalog if isinstance(catalog, Catalog) else load(catalog)


def _package(catalog: Catalog, name: str, channel: str | None) -> PackageGraph:
    if name not in catalog.by_name:
        raise UsageError(f"no package is called {name!r}", hint=f"there are: {', '.join(catalog.by_name)}")
    graph = PackageGraph(catalog.by_name[name])
    if channel is not None and channel not in graph.by_name:
        hint = f"package {name} has: {', '.join(graph.by_name)}"
        raise UsageError(f"no channel is called {channel!r}", hint=hint)
    return graph


def _one_csv(graph: PackageGraph, text: str) -> InstalledVersion:
    csvs = find_installed([graph], text)
    if len(csvs) > 1:
        names = ", ".join(sorted(csv.name for csv in csvs))
        raise UsageError(f"several CSVs have version {text}: {names}", hint="give the name of one")
    return csvs[0]


def _resolvers(resolver: ResolverName | None) -> tuple[ResolverName, ...]:
    return ("v0", "v1") if resolver is None else (resolver,)
