"""The functions of `import everpath`: load, lint, compare and explain catalogs, and list upgrade paths.

Every function accepts a catalog from `load`, or what `load` accepts. Every error is an `EverpathError`; an
unknown package, channel, rule or resolver is one, so that a misspelt name never looks like a clean catalog.
docs/python-api.md is the reference page.
"""

from __future__ import annotations

__all__ = ["CatalogInput", "Names", "compare", "explain", "lint", "load", "upgrade_paths"]

import os
from collections.abc import Iterable
from typing import TypeAlias

from everpath.app.compare import compare_catalogs
from everpath.app.config.config import Config
from everpath.app.explain import Installation, explain_installation
from everpath.app.inputs.inputs import Inputs
from everpath.comparison.catalogs import Comparison, ComparisonScope
from everpath.errors import UsageError
from everpath.explanation import Explanation
from everpath.graph import PackageGraph
from everpath.model import Catalog
from everpath.resolvers import ResolverName
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.rules import lint as linter
from everpath.rules.registry import find_rules
from everpath.simulate import Scenario, all_paths, find_installed, simulate_package
from everpath.upgrade_path.path import UpgradePath
from everpath.versions import Version

#: A loaded catalog, a path, or an image reference.
CatalogInput: TypeAlias = Catalog | str | os.PathLike[str]

#: One name or several.
Names: TypeAlias = str | Iterable[str]


def load(path: str | os.PathLike[str]) -> Catalog:
    """Load a catalog.

    `path` is a file-based catalog (a folder or a file), a bundle folder, an operators repository, a
    package-manifest folder, or an image such as `quay.io/me/catalog:v1`, `oci:FOLDER` or
    `oci-archive:FILE`. A document that cannot be parsed is no error: `lint` reports it.

    Raises UnreadableInput if nothing can be read at the path, and Unreachable if a registry does not answer.
    """
    return Inputs((), Config()).load(os.fspath(path), None)


def lint(
    catalog: CatalogInput,
    *,
    select: Names = (),
    ignore: Names = (),
    packages: Names = (),
    channels: Names = (),
    resolver: ResolverName | None = None,
) -> linter.Report:
    """Lint a catalog, like `everpath validate-graph`, and return the report.

    `select` are the rules to run, by id (`EP203`), prefix (`EP2`) or name (`fork`); empty means all. `ignore`
    are rules to leave out. `packages` and `channels` limit the report; empty means all. `resolver` "v0" or
    "v1" leaves out the rules that are only about the other one.

    `findings` of the report are in the order of the input. Each has `rule`, `name`, `severity`, `message`,
    `file`, `line`, `column`, `package`, `channel`, `entry`, `because` and `fix`. No configuration file is
    read, so waivers do not apply.

    Raises UsageError for an unknown rule, package, channel or resolver, and the errors of `load`.
    """
    loaded = _catalog(catalog)
    selection = linter.Selection(
        rules=find_rules(_names(select)),
        ignored=find_rules(_names(ignore)),
        packages=frozenset(_names(packages)),
        channels=frozenset(_names(channels)),
        resolver=_resolver(resolver) if resolver is not None else None,
    )
    _require_names([loaded], selection.packages, selection.channels)
    return linter.lint(loaded, selection).with_positions(Inputs((), Config()).locate)


def upgrade_paths(
    catalog: CatalogInput,
    package: str,
    channel: str | None = None,
    resolver: ResolverName = "v0",
    *,
    installed: str | Version | None = None,
) -> list[UpgradePath]:
    """Return the upgrade path of every version of a package, in one channel or in each.

    `resolver` is "v0" or "v1". `installed` limits the result to one installed version: the name of a CSV, or
    a version; it need not be in the catalog. There is one path for each version and channel.

    A path has `channel`, `installed`, `hops` (the names of the versions that OLM installs one after the
    other), `end` and `reason`. `end` is `PathEnd.HEAD` if the path reaches the channel head.

    Raises UsageError for an unknown package, channel or resolver, and the errors of `load`.
    """
    graph = _package(_catalog(catalog), package, channel)
    scenario = Scenario(
        resolvers=(_resolver(resolver),), channels=frozenset([channel] if channel is not None else ())
    )
    versions = find_installed([graph], str(installed)) if installed is not None else None
    return list(all_paths(simulate_package([ClusterCatalog("catalog", 0, graph)], scenario, versions)))


def compare(
    old: CatalogInput,
    new: CatalogInput,
    *,
    packages: Names = (),
    channels: Names = (),
    resolver: ResolverName | None = None,
) -> Comparison:
    """Compare the upgrade paths of every version of `old` with those that it has in `new`.

    `packages` and `channels` limit the comparison; empty means all. `resolver` is "v0", "v1", or None for
    both.

    `stranded` of the result is the number of installed versions that lose their upgrade path, counted for
    each channel and resolver. `rows` has the outcome for each of them, `changes` what `everpath compare`
    reports, with cause, fix and `position`.

    Raises UsageError for the folder of a single bundle, for a package or channel that neither catalog has,
    for an unknown resolver, and the errors of `load`.
    """
    catalogs = _catalog(old), _catalog(new)
    scope = ComparisonScope(frozenset(_names(packages)), frozenset(_names(channels)), _resolvers(resolver))
    _require_names(catalogs, scope.packages, scope.channels)
    return compare_catalogs(*catalogs, scope, locate=Inputs((), Config()).locate)


def explain(
    catalog: CatalogInput,
    package: str,
    installed: str | Version | None = None,
    *,
    channel: str | None = None,
    resolver: ResolverName | None = None,
) -> Explanation:
    """Explain why OLM upgrades an installed version, or not, like `everpath why`.

    `installed` is the name of a CSV, or a version; it need not be in the catalog. None explains a new
    installation. `channel` None is the default channel, or one that has the installed version. `resolver` is
    "v0", "v1", or None for both.

    `explanations` of the result has one explanation for each resolver, with `summary`, `candidates`,
    `path_summary` and `fixes` in sentences. `reaches_goal` is True if every path reaches the head.

    Raises UsageError for an unknown package, channel or resolver, if several CSVs have the version, and the
    errors of `load`.
    """
    loaded = _catalog(catalog)
    source = ClusterCatalog("catalog", 0, _package(loaded, package, channel))
    return explain_installation(
        [source],
        Installation(package, channel, str(installed) if installed is not None else None),
        resolvers=_resolvers(resolver),
        catalogs={source.name: loaded},
        locate=Inputs((), Config()).locate,
    )


def _catalog(catalog: CatalogInput) -> Catalog:
    return catalog if isinstance(catalog, Catalog) else load(catalog)


def _names(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _require_names(catalogs: Iterable[Catalog], packages: Iterable[str], channels: Iterable[str]) -> None:
    """Raise UsageError for a package, or a channel of these packages, that no catalog has."""
    known: dict[str, set[str]] = {}
    for package in (package for catalog in catalogs for package in catalog.packages):
        known.setdefault(package.name, set()).update(channel.name for channel in package.channels)
    for name in packages:
        _require("package", name, known)
    selected = list(packages) or list(known)
    for name in channels:
        _require("channel", name, {channel for package in selected for channel in known[package]})


def _require(noun: str, name: str, known: Iterable[str]) -> None:
    names = sorted(known)
    if name not in names:
        raise UsageError(f"no {noun} is called {name!r}", hint=f"there are: {', '.join(names)}")


def _package(catalog: Catalog, name: str, channel: str | None) -> PackageGraph:
    _require_names([catalog], [name], [channel] if channel is not None else [])
    return PackageGraph(catalog.by_name[name])


def _resolvers(resolver: ResolverName | None) -> tuple[ResolverName, ...]:
    return ("v0", "v1") if resolver is None else (_resolver(resolver),)


def _resolver(name: ResolverName) -> ResolverName:
    _require("resolver", name, ("v0", "v1"))
    return name
