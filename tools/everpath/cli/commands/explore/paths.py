"""`everpath paths`: list upgrade paths, check constraints on them, and compute the smallest mirror."""

from __future__ import annotations

__all__ = ["paths"]

from collections.abc import Iterator

import click
from click.core import ParameterSource

from everpath.app.list_paths import PathsResult, list_paths, mirror_as_bundle_list
from everpath.cli.options.common import (
    InputOptions,
    OutputOptions,
    channel_option,
    input_options,
    one_package_option,
    output_options,
    quiet_option,
)
from everpath.cli.output import print_notes, warn_unread
from everpath.errors import ExitCode, UsageError
from everpath.paths.hop_graph import PATH_RESOLVERS, PathResolver


@click.command("paths", short_help="List upgrade paths, and check constraints on them.")
@click.argument("path", required=False)
@one_package_option
@channel_option
@click.option("--from", "start", metavar="A", help="Only paths from this CSV or version.")
@click.option("--to", "goal", metavar="B", help="Only paths to this CSV or version.  [default: the head]")
@click.option(
    "--olm",
    "--policy",
    "olm",
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
@output_options("text", "json", "imageset")
@quiet_option
@input_options
def paths(  # noqa: PLR0913 - a parameter for each option
    *,
    path: str | None,
    package: str | None,
    channels: tuple[str, ...],
    start: str | None,
    goal: str | None,
    olm: PathResolver,
    across: bool,
    limit: int,
    must_pass: tuple[str, ...],
    never: tuple[str, ...],
    mirror: bool,
    installed_since: str | None,
    output: OutputOptions,
    quiet: bool,
    loading: InputOptions,
) -> int:
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
    $ everpath paths catalog/ -p searchkeeper --mirror --olm v0 --installed-since 0.1.1

    \b
    Exit codes:
      0  success, all constraints hold         2  invalid options, or an unknown name
      1  a path violates a constraint, or      3  input that cannot be read, or only in part
         OLM fails on one
    """
    if installed_since is not None and not mirror:
        raise UsageError("--installed-since requires --mirror", hint="add --mirror")
    if output.format == "imageset" and (not mirror or olm == "any"):
        hint = "add --mirror, and --olm v0 or --olm v1"
        raise UsageError("-o imageset writes the mirror for one resolver", hint=hint)
    if mirror and not (must_pass or never):
        _reject_path_options(click.get_current_context())
    with output.progress_line(quiet=quiet) as progress:
        result = list_paths(
            loading.inputs([path] if path else ()),
            package,
            channels=channels,
            resolver=olm,
            across=across,
            start=start,
            goal=goal,
            limit=limit,
            must_pass=must_pass,
            never=never,
            mirror=mirror,
            installed_since=installed_since,
            progress=progress,
        )
    print_notes(result.notes)
    output.write(_render(result, output))
    warn_unread(result.unread)
    if result.unread:
        return ExitCode.UNREADABLE
    return ExitCode.CLEAN if result.constraints_hold else ExitCode.FINDINGS


def _reject_path_options(context: click.Context) -> None:
    """Raise UsageError for an option that limits paths: a mirror keeps all paths of every channel."""
    hints = {
        "start": ("--from", "--installed-since VERSION limits the versions that a mirror serves"),
        "goal": ("--to", "a mirror keeps the paths to the head; -c selects channels"),
        "across": ("--across", "a mirror keeps what every channel needs; -c selects channels"),
        "limit": ("--limit", "leave it out: all bundles to keep are listed"),
    }
    for parameter, (option, hint) in hints.items():
        if context.get_parameter_source(parameter) is not ParameterSource.DEFAULT:
            raise UsageError(f"{option} cannot be combined with --mirror", hint=hint)


def _render(result: PathsResult, output: OutputOptions) -> Iterator[str]:
    if output.format == "json":
        from everpath.reporters.paths import json as paths_json  # noqa: PLC0415 - one reporter is enough

        return paths_json.render(result.report)
    if output.format == "imageset":
        from everpath.reporters.paths import imageset as paths_imageset  # noqa: PLC0415 - one reporter is enough

        return paths_imageset.render(mirror_as_bundle_list(result.report), result.catalog)
    from everpath.reporters.paths import text as paths_text  # noqa: PLC0415 - one reporter is enough

    return paths_text.render(result.report, colour=output.colour)
