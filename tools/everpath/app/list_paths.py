"""List upgrade paths, check constraints on them, and compute the smallest mirror."""

from __future__ import annotations

__all__ = ["PathsResult", "list_paths", "mirror_as_bundle_list"]

from collections.abc import Collection, Sequence
from typing import NamedTuple

from everpath.app.inputs.catalog_set import describe_unknown, package_count
from everpath.app.inputs.inputs import Inputs
from everpath.errors import UsageError
from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Catalog, Package
from everpath.model.progress import Progress
from everpath.paths.bundle_list import as_bundle_list
from everpath.paths.bundle_selector import SelectedBundles, select_bundles, select_installed
from everpath.paths.constraints import ConstraintKind, PathConstraint
from everpath.paths.hop_graph import PathResolver
from everpath.paths.report import PathsQuery, PathsReport, report_paths
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.versions import Version, VersionError, parse_tolerant
from everpath.wording import join_names


class PathsResult(NamedTuple):
    """The upgrade paths of a package.

    `catalog` is the name of the loaded catalog. `notes` say what an unknown start is taken for. `unread` is
    the number of parts of the catalog that could not be read.
    """

    report: PathsReport
    catalog: str
    notes: tuple[str, ...] = ()
    unread: int = 0

    @property
    def constraints_hold(self) -> bool:
        return all(result.holds for result in self.report.constraint_results)


def list_paths(  # noqa: PLR0913 - the options of `everpath paths`
    inputs: Inputs,
    package: str | None = None,
    *,
    channels: Collection[str] = (),
    resolver: PathResolver = "any",
    across: bool = False,
    start: str | None = None,
    goal: str | None = None,
    limit: int = 20,
    must_pass: Sequence[str] = (),
    never: Sequence[str] = (),
    mirror: bool = False,
    installed_since: str | None = None,
    progress: Progress | None = None,
) -> PathsResult:
    """Load a catalog and list the upgrade paths of a package.

    `package` may be None if the catalog has only one. `start`, `goal`, `must_pass` and `never` are names or
    versions of bundles, `never` also ranges. For the other arguments see `PathsQuery`. Raises UsageError for
    unknown names.
    """
    [catalog] = inputs.catalogs(progress)
    inputs.verify_names([package] if package else (), ())
    graph = PackageGraph(_package(inputs, catalog, package))
    inputs.verify_names([graph.name], channels)
    graphs = tuple(graph.by_name[name] for name in sorted(graph.by_name) if not channels or name in channels)
    listing = inputs.list_command("bundles", graph.name)
    installed, notes = None, list[str]()
    if start is not None:
        csv = select_installed(graph, graphs, start, listing)
        installed = csv.as_bundle("v1" if resolver == "v1" else "v0")
        if not csv.is_known:
            notes = describe_unknown(start, csv, {graph.name: [ClusterCatalog(graph.name, 0, graph)]})
    must_pass_constraints = (
        PathConstraint(ConstraintKind.MUST_PASS, select_bundles(graph, text, listing)) for text in must_pass
    )
    never_constraints = (
        PathConstraint(ConstraintKind.NEVER, select_bundles(graph, text, listing, allow_range=True))
        for text in never
    )
    query = PathsQuery(
        graph,
        graphs,
        resolver=resolver,
        across=across,
        start=installed,
        goal=_goal(graph, graphs, goal, listing) if goal is not None else None,
        limit=limit,
        constraints=(*must_pass_constraints, *never_constraints),
        mirror=mirror,
        since=_parse_installed_since(installed_since) if installed_since is not None else None,
    )
    return PathsResult(report_paths(query), catalog.name, tuple(notes), inputs.unread)


def mirror_as_bundle_list(report: PathsReport) -> PathsReport:
    """Return the report with a mirror that keeps every bundle in all of its channels.

    The report must have one mirror. Raises UsageError if the channels need different mirrors.
    """
    mirror, broken = as_bundle_list(report.query.channels, report.mirrors[0])
    if broken:
        first = broken[0]
        raise UsageError(
            "the channels need different mirrors, and an imageset can have only one",
            hint="an imageset keeps a bundle in all of its channels, and in channel "
            f"{first.channel} {first.cut_off[0]} would have no upgrade path: select fewer channels with -c",
        )
    return report._replace(mirrors=(mirror,))


def _package(inputs: Inputs, catalog: Catalog, name: str | None) -> Package:
    if name is not None:
        return catalog.by_name[name]
    if not catalog.packages:
        raise inputs.no_package_error()
    if len(catalog.packages) != 1:
        hint = f"choose one with -p; {inputs.list_command('packages')} lists them"
        raise UsageError(f"the catalog has {package_count(catalog.by_name)}", hint=hint)
    return catalog.packages[0]


def _goal(
    package: PackageGraph, channels: Sequence[ChannelGraph], text: str, listing: str
) -> SelectedBundles:
    """Return the bundles of a name or version. Raises UsageError if none of the channels has one."""
    goal = select_bundles(package, text, listing)
    if any(goal.names & graph.entries.keys() for graph in channels):
        return goal
    others = sorted({c for name in goal.names for c in package.channels_by_entry.get(name, ())})
    where = join_names(others) if others else "no channel, so no upgrade path leads to it"
    raise UsageError(f"none of the selected channels has {text!r}", hint=f"it is in {where}")


def _parse_installed_since(text: str) -> Version:
    try:
        return parse_tolerant(text)
    except VersionError as error:
        raise UsageError(f"--installed-since: {error}", hint="give a version such as 1.2.3") from None
