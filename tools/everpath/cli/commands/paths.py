"""`everpath paths`: list upgrade paths, check constraints on them, and compute the smallest mirror."""

from __future__ import annotations

__all__ = ["paths"]

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from everpath.app.catalog_set import describe_unknown, package_count
from everpath.app.config import load
from everpath.app.inputs import Inputs
from everpath.cli.options import (
    channel_option,
    config_options,
    one_package_option,
    progress_option,
    quiet_option,
    update_mode_option,
)
from everpath.cli.output import print_message, warn_unread, write_output
from everpath.cli.terminal import ProgressLine, wants_colour
from everpath.errors import ExitCode, UsageError
from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Catalog, Package
from everpath.paths.bundle_list import as_bundle_list
from everpath.paths.bundle_selector import SelectedBundles, select_bundles, select_installed
from everpath.paths.constraints import Constraint, ConstraintKind
from everpath.paths.hop_graph import PATH_RESOLVERS, PathResolver
from everpath.paths.report import PathsQuery, PathsReport, report_paths
from everpath.reporters.formatting import join_names
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.resolvers.resolution import InstalledBundle
from everpath.versions import Version, VersionError, parse_tolerant


class _Request(NamedTuple):
    """The command line as it was given."""

    path: str | None
    package: str | None
    channels: tuple[str, ...]
    start: str | None
    goal: str | None
    policy: PathResolver
    across: bool
    limit: int
    must_pass: tuple[str, ...]
    never: tuple[str, ...]
    mirror: bool
    installed_since: str | None
    output: str
    output_file: str | None
    default_update_mode: str | None
    config_file: str | None
    no_config: bool
    quiet: bool
    no_progress: bool


@click.command("paths", short_help="List upgrade paths, and check constraints on them.")
@click.argument("path", required=False)
@one_package_option
@channel_option
@click.option("--from", "start", metavar="A", help="Only paths from this CSV or version.")
@click.option("--to", "goal", metavar="B", help="Only paths to this CSV or version.  [default: the head]")
@click.option(
    "--policy",
    type=click.Choice(PATH_RESOLVERS),
    default="any",
    show_default=True,
    help="All paths that the edges allow, or the path that OLM v0 or v1 takes.",
)
@click.option("--across", is_flag=True, help="Allow paths to switch between channels.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    default=20,
    show_default=True,
    help="Number of paths to list, the shortest first.",
)
@click.option(
    "--must-pass",
    metavar="X",
    multiple=True,
    help="Require that every upgrade path from below X passes X; may be repeated.",
)
@click.option(
    "--never",
    metavar="Y",
    multiple=True,
    help="Require that no upgrade path lands on Y: a name, a version or a range; may be repeated.",
)
@click.option(
    "--mirror", is_flag=True, help="List the fewest bundles to mirror so that every path still exists."
)
@click.option(
    "--installed-since",
    metavar="VERSION",
    help="With --mirror: keep paths from this version and newer ones only.",
)
@click.option(
    "-o", "--output", type=click.Choice(["text", "json", "imageset"]), default="text", show_default=True
)
@click.option("--output-file", metavar="FILE", help="Write the output to this file atomically.")
@update_mode_option
@config_options
@quiet_option
@progress_option
def paths(**options: Any) -> int:
    """List upgrade paths between two versions, or to the channel head, and check constraints on them.

    In an upgrade path each entry can succeed the one before, and no entry occurs twice. PATH is any input
    of validate-graph.

    \b
    $ everpath paths catalog/ -p searchkeeper -c stable --from 0.1.1
    package searchkeeper, channel stable: all upgrade paths that edges allow to searchkeeper.v0.2.2

    \b
    2 upgrade paths from searchkeeper.v0.1.1 to searchkeeper.v0.2.2 with 1 to 2 hops
      1 hop   searchkeeper.v0.1.1 -[replaces]-> searchkeeper.v0.2.2
      2 hops  searchkeeper.v0.1.1 -[replaces]-> searchkeeper.v0.2.1 -[skips]-> searchkeeper.v0.2.2

    \b
    $ everpath paths catalog/ -p searchkeeper --must-pass 0.1.1 --never '>=0.2.0 <0.2.2'
    $ everpath paths catalog/ -p searchkeeper --mirror --policy v0 --installed-since 0.1.1

    \b
    Exit codes:
      0  success, all constraints hold         2  invalid options, or an unknown name
      1  a path violates a constraint, or      3  input that cannot be read, or only in part
         OLM fails on one
    """
    return _told(_Request(**options))


def _told(request: _Request) -> int:
    _verify(request)
    config = load(request.config_file, wanted=not request.no_config)
    inputs = Inputs([request.path] if request.path else (), config, request.default_update_mode)
    with ProgressLine(sys.stderr, wanted=not (request.no_progress or request.quiet)) as progress:
        [catalog] = inputs.catalogs(progress)
    inputs.verify_names([request.package] if request.package else (), ())
    package = _package(inputs, catalog, request.package)
    inputs.verify_names([package.name], request.channels)
    book = report_paths(_question(request, inputs, PackageGraph(package)))
    write_output(_written(book, request, catalog), request.output_file, machine=request.output != "text")
    return _exit_code(book, inputs.unread)


def _verify(request: _Request) -> None:
    if request.installed_since is not None and not request.mirror:
        raise UsageError("--installed-since limits whom a mirror serves", hint="add --mirror")
    if request.mirror and not (request.must_pass or request.never):
        _refuse_roads(request)
    if request.output == "imageset" and (not request.mirror or request.policy == "any"):
        hint = "add --mirror, and --policy v0 or --policy v1"
        raise UsageError("-o imageset writes the mirror for one resolver", hint=hint)


def _refuse_roads(request: _Request) -> None:
    """Raise UsageError for what limits roads: a mirror serves all, in every channel by itself."""
    given = click.get_current_context().get_parameter_source("limit") is not ParameterSource.DEFAULT
    limits = {
        "--from": (request.start is not None, "--installed-since VERSION limits whom it serves"),
        "--to": (request.goal is not None, "it serves the roads to the head; -c chooses channels"),
        "--across": (request.across, "it keeps what every channel needs; -c chooses channels"),
        "--limit": (given, "leave it out: all that is kept is listed"),
    }
    for option, (is_given, hint) in limits.items():
        if is_given:
            raise UsageError(f"{option} means nothing to --mirror", hint=hint)


def _package(inputs: Inputs, catalog: Catalog, name: str | None) -> Package:
    if name is not None:
        return catalog.by_name[name]
    if not catalog.packages:
        raise inputs.no_package_error()
    if len(catalog.packages) != 1:
        hint = f"choose one with -p; {inputs.list_command('packages')} lists them"
        raise UsageError(f"the catalog has {package_count(catalog.by_name)}", hint=hint)
    return catalog.packages[0]


def _question(request: _Request, inputs: Inputs, package: PackageGraph) -> PathsQuery:
    listing = inputs.list_command("bundles", package.name)
    channels = _channels(package, request.channels)
    goal = select_bundles(package, request.goal, listing) if request.goal is not None else None
    if goal is not None and not any(goal.names & graph.entries.keys() for graph in channels):
        raise _elsewhere(package, goal)
    constraints = [
        *(
            Constraint(ConstraintKind.MUST_PASS, select_bundles(package, text, listing))
            for text in request.must_pass
        ),
        *(
            Constraint(ConstraintKind.NEVER, select_bundles(package, text, listing, allow_range=True))
            for text in request.never
        ),
    ]
    return PathsQuery(
        package,
        channels,
        resolver=request.policy,
        across=request.across,
        start=_start(request, package, channels, listing),
        goal=goal,
        limit=request.limit,
        constraints=tuple(constraints),
        mirror=request.mirror,
        since=_version(request.installed_since),
    )


def _start(
    request: _Request, package: PackageGraph, channels: Sequence[ChannelGraph], listing: str
) -> InstalledBundle | None:
    if request.start is None:
        return None
    asked = select_installed(package, channels, request.start, listing)
    if not asked.is_known:
        sources = {package.name: [ClusterCatalog(package.name, 0, package)]}
        for line in describe_unknown(request.start, asked, sources):
            print_message(line)
    return asked.as_bundle("v1" if request.policy == "v1" else "v0")


def _elsewhere(package: PackageGraph, goal: SelectedBundles) -> UsageError:
    there = sorted({c for name in goal.names for c in package.channels_by_entry.get(name, ())})
    hint = (
        f"it is in {join_names(there)}"
        if there
        else "it is in no channel at all, so that no road leads to it"
    )
    return UsageError(f"no channel that was chosen has {goal.text!r}", hint=hint)


def _channels(package: PackageGraph, wanted: Sequence[str]) -> tuple[ChannelGraph, ...]:
    chosen = (graph for graph in package.by_name.values() if not wanted or graph.name in wanted)
    return tuple(sorted(chosen, key=lambda graph: graph.name))


def _version(text: str | None) -> Version | None:
    if text is None:
        return None
    try:
        return parse_tolerant(text)
    except VersionError as error:
        raise UsageError(f"--installed-since: {error}", hint="give a version such as 1.2.3") from None


def _written(book: PathsReport, request: _Request, catalog: Catalog) -> Iterator[str]:
    if request.output == "json":
        from everpath.reporters import paths_json  # noqa: PLC0415 - one view is enough

        return paths_json.render(book)
    if request.output == "imageset":
        from everpath.reporters import paths_imageset  # noqa: PLC0415

        return paths_imageset.render(_by_name(book), catalog.name)
    from everpath.reporters import paths_text  # noqa: PLC0415

    colour = request.output_file is None and wants_colour(sys.stdout, os.environ)
    return paths_text.render(book, colour=colour)


def _by_name(book: PathsReport) -> PathsReport:
    """The mirror with what a list of names needs beside; an error where no such list would do."""
    mirror, torn = as_bundle_list(book.query.channels, book.mirrors[0])
    if torn:
        lost = f"in channel {torn[0].channel} {torn[0].cut_off[0]} would have no road"
        hint = f"a list keeps a bundle in all of its channels, and {lost}: choose fewer channels with -c"
        raise UsageError("the channels need different mirrors, which an imageset cannot say", hint=hint)
    return book._replace(mirrors=(mirror,))


def _exit_code(book: PathsReport, unread: int) -> ExitCode:
    if unread:
        warn_unread(unread)
        return ExitCode.UNREADABLE
    return ExitCode.CLEAN if all(verdict.holds for verdict in book.constraint_results) else ExitCode.FINDINGS
