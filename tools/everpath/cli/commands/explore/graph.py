"""`everpath graph`: draw the channels of a package."""

from __future__ import annotations

__all__ = ["graph"]

from importlib import import_module
from typing import Final

import click

from everpath.app.draw_graph import draw_graph
from everpath.cli.options.common import (
    InputOptions,
    OutputOptions,
    channel_option,
    comma_list,
    input_options,
    one_package_option,
    output_options,
    quiet_option,
)
from everpath.cli.output import print_message, print_notes, print_warnings, warn_unread
from everpath.errors import ExitCode
from everpath.reporters.formatting import printable
from everpath.wording import count

_REPORTERS: Final = {
    "text": "tree_text",
    "mermaid": "mermaid",
    "dot": "dot",
    "svg": "svg",
    "html": "graph_page",
    "json": "graph_json",
}


@click.command("graph", short_help="Draw the channels of a package.")
@click.argument("path", required=False)
@one_package_option
@channel_option
@click.option(
    "--installed",
    metavar="NAME|VERSION",
    multiple=True,
    callback=comma_list,
    help="Highlight the upgrade path of this installed version; may be repeated.",
)
@output_options(*_REPORTERS)
@quiet_option
@input_options
def graph(  # noqa: PLR0913 - a parameter for each option
    *,
    path: str | None,
    package: str | None,
    channels: tuple[str, ...],
    installed: tuple[str, ...],
    output: OutputOptions,
    quiet: bool,
    loading: InputOptions,
) -> int:
    """Draw the channels of one package: entries, edges, findings and upgrade paths.

    PATH is anything that validate-graph reads. -p selects the package if there are several. Formats: a
    tree (text), a flowchart for Markdown (mermaid), a graph for Graphviz (dot), an image (svg), an
    interactive page (html), and the data (json).

    \b
    $ everpath graph catalog/ -p searchkeeper -c stable
    $ everpath graph catalog/ -p searchkeeper -o html --output-file searchkeeper.html
    $ everpath graph catalog/ -p searchkeeper -o mermaid >> "$GITHUB_STEP_SUMMARY"
    $ everpath graph catalog/ -p searchkeeper -o dot | dot -Tpdf > searchkeeper.pdf
    $ everpath graph catalog/ -p searchkeeper -o svg --installed 0.1.0 > path.svg

    \b
    Exit codes:
      0  drawn, with or without findings      3  input that cannot be read, or only in part
      2  invalid options, or an unknown name
    """
    inputs = loading.inputs([path] if path else ())
    with output.progress_line(quiet=quiet) as progress:
        drawing = draw_graph(inputs, package, channels=channels, installed=installed, progress=progress)
    if not quiet:
        print_notes(drawing.notes)
    reporter = import_module(f"everpath.reporters.graph.{_REPORTERS[output.format]}")
    options = {"colour": output.colour} if output.format == "text" else {}
    output.write(reporter.render(drawing.channels, **options))
    if output.format == "mermaid":
        from everpath.reporters.graph.mermaid import github_limit_exceeded  # noqa: PLC0415 - only for this format

        for channel in drawing.channels:
            if (size := github_limit_exceeded(channel)) is not None:
                name = channel.diagram.channel
                print_warnings([f"the flowchart of {name} has {size}: use -o html or -o svg"])
    warn_unread(inputs.unread)
    if output.file is not None and not quiet:
        channel_count = count(len(drawing.channels), "channel")
        print_message(f"{channel_count} drawn, written to {printable(output.file)}.")
    return ExitCode.UNREADABLE if inputs.unread else ExitCode.CLEAN
