"""`everpath graph`: pictures of a package's channels."""

from __future__ import annotations

__all__ = ["graph"]

import os
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from importlib import import_module
from typing import Any, Final, NamedTuple

import click

from everpath.app.catalog_set import find_installed
from everpath.app.config import Config, load
from everpath.app.inputs import Inputs, not_found_error
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
from everpath.graph import PackageGraph
from everpath.layout.drawing import ChannelDrawing, LocatedFinding, channel_drawings
from everpath.model import Catalog, Package
from everpath.reporters.formatting import count, printable
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.rules.findings import Finding
from everpath.rules.lint import Selection, lint
from everpath.simulate import InstalledVersion

_VIEWS: Final = {
    "text": "tree_text",
    "mermaid": "mermaid",
    "dot": "dot",
    "svg": "svg",
    "html": "graph_page",
    "json": "graph_json",
}


class _Request(NamedTuple):
    """The command line."""

    path: str | None
    package: str | None
    channels: tuple[str, ...]
    installed: tuple[str, ...]
    output: str
    output_file: str | None
    default_update_mode: str | None
    config_file: str | None
    no_config: bool
    quiet: bool
    no_progress: bool


@click.command("graph", short_help="Draw the channels of a package.")
@click.argument("path", required=False)
@one_package_option
@channel_option
@click.option(
    "--installed",
    metavar="NAME|VERSION",
    multiple=True,
    help="Show the road of this installed version, in the channel or not; may be repeated.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(list(_VIEWS)),
    default="text",
    show_default=True,
    help="A tree, a flowchart for Markdown, a graph for Graphviz, an image, a page to explore, or the data.",
)
@click.option("--output-file", metavar="FILE", help="Write the picture there, whole or not at all.")
@update_mode_option
@config_options
@quiet_option
@progress_option
def graph(**options: Any) -> int:
    """Draw the channels of one package: every entry, every edge, what is wrong, and who goes where.

    PATH is whatever validate-graph reads. A package is chosen with -p unless there is only one.

    \b
    $ everpath graph catalog/ -p searchkeeper -c stable
    $ everpath graph catalog/ -p searchkeeper -o html --output-file searchkeeper.html
    $ everpath graph catalog/ -p searchkeeper -o mermaid >> "$GITHUB_STEP_SUMMARY"
    $ everpath graph catalog/ -p searchkeeper -o dot | dot -Tpdf > searchkeeper.pdf
    $ everpath graph catalog/ -p searchkeeper -o svg --installed 0.1.0 > road.svg

    \b
    Exit codes:
      0  drawn, whatever is wrong with it      3  input, or part of it, that cannot be read
      2  a wrong command line, or a name that nothing is called
    """
    return _graph(_Request(**options))


def _graph(request: _Request) -> int:
    config = load(request.config_file, wanted=not request.no_config)
    inputs = Inputs([request.path] if request.path else (), config, request.default_update_mode)
    with ProgressLine(sys.stderr, wanted=not (request.no_progress or request.quiet)) as progress:
        catalogs = list(inputs.catalogs(progress))
    inputs.verify_names([request.package] if request.package else (), request.channels)
    catalog, package = _chosen(inputs, catalogs, request.package)
    shown = _scenes(request, config, inputs, catalog, package)
    write_output(_drawn(request, shown), request.output_file, machine=request.output != "text")
    return _remarked(request, shown, inputs.unread)


def _chosen(inputs: Inputs, catalogs: Sequence[Catalog], wanted: str | None) -> tuple[Catalog, Package]:
    """The one package to draw."""
    found = [(c, p) for c in catalogs for p in c.packages if wanted in (None, p.name)]
    if len(found) == 1:
        return found[0]
    names = sorted({package.name for _, package in found})
    if not names:
        raise inputs.no_package_error()
    some = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    said = f"a picture shows one package, and there are {len(found):,}: {some}"
    raise UsageError(said, hint=f"-p NAME; {inputs.list_command('packages')} lists them")


def _scenes(
    request: _Request, config: Config, inputs: Inputs, catalog: Catalog, package: Package
) -> tuple[ChannelDrawing, ...]:
    today = datetime.now().astimezone().date()
    selection = Selection(packages=frozenset((package.name,)), channels=frozenset(request.channels))
    report = lint(catalog, selection, waivers=config.waivers, today=today)
    whole = PackageGraph(package)
    graphs = [g for g in whole.channels if not request.channels or g.name in request.channels]
    if not graphs:
        said = f"{package.name} has no channel to draw"
        raise not_found_error(
            said, f"{inputs.list_command('bundles', package.name)} shows what it has", inputs.unread
        )
    graphs.sort(key=lambda g: (g.name != package.default_channel, g.name))
    found = [_sighted(inputs, finding) for finding in report.findings if finding.package == package.name]
    return channel_drawings(graphs, found, _installed(whole, request))


def _sighted(inputs: Inputs, finding: Finding) -> LocatedFinding:
    location = inputs.locate(finding.place)
    return LocatedFinding(finding, location.file, location.line, location.column)


def _installed(package: PackageGraph, request: _Request) -> list[InstalledVersion]:
    """What names and versions stand for; the first of several that have one version."""
    if not all(text.strip() for text in request.installed):
        raise UsageError("--installed is empty", hint="a name or a version, as in --installed 1.2.3")
    chosen = {package.name: [ClusterCatalog("catalog", 0, package)]}
    warn = None if request.quiet else print_message
    found = (find_installed(text, chosen, warn=warn) for text in request.installed)
    return [each[package.name][0] for each in found]


def _drawn(request: _Request, shown: Sequence[ChannelDrawing]) -> Iterator[str]:
    if request.output == "text":
        from everpath.reporters import tree_text  # noqa: PLC0415 - a picture in one format costs one module

        colour = request.output_file is None and wants_colour(sys.stdout, os.environ)
        return tree_text.render(shown, colour=colour)
    view = import_module(f"everpath.reporters.{_VIEWS[request.output]}")
    chunks: Iterator[str] = view.render(shown)
    return chunks


def _remarked(request: _Request, shown: Sequence[ChannelDrawing], unread: int) -> int:
    """What the reader of a picture should know, on standard error."""
    if request.output == "mermaid":
        from everpath.reporters.mermaid import github_limit_exceeded  # noqa: PLC0415

        for scene in shown:
            if (much := github_limit_exceeded(scene)) is not None:
                _warn(f"the flowchart of {scene.diagram.channel} has {much}: use -o html or -o svg")
    if unread:
        warn_unread(unread)
    if request.output_file is not None and not request.quiet:
        click.echo(f"{count(len(shown), 'channel')} drawn, written to {request.output_file}.", err=True)
    return ExitCode.UNREADABLE if unread else ExitCode.CLEAN


def _warn(text: str) -> None:
    click.echo(f"warning: {printable(text)}", err=True)
