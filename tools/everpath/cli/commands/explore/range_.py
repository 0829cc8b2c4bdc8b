"""`everpath range`: explain version ranges."""

from __future__ import annotations

__all__ = ["range_"]

import click

from everpath.app.explain_range import explain_range
from everpath.cli import completion
from everpath.cli.options.common import InputOptions, OutputOptions, input_options, output_options
from everpath.cli.output import warn_unread
from everpath.errors import ExitCode
from everpath.ranges import RangeError
from everpath.reporters.range_explanation import FORMATS, render, render_error


@click.group("range", short_help="Explain what a version range matches.")
def range_() -> None:
    """Explain version ranges as OLM reads them: skipRange, versionRange, olm.constraint."""


@range_.command("explain")
@click.argument("range_text", metavar="RANGE")
@click.option("--in", "path", metavar="PATH", help="List the matching versions of this catalog.")
@click.option(
    "-p",
    "--package",
    "--package-name",
    "package",
    metavar="NAME",
    shell_complete=completion.packages,
    help="Package in the catalog; required if it has several.",
)
@click.option(
    "-c",
    "--channel",
    "channel",
    metavar="NAME",
    shell_complete=completion.channels,
    help="Only versions of this channel.",
)
@click.option(
    "--version",
    "versions",
    metavar="VERSION",
    multiple=True,
    help="Report whether the range matches this version; may be repeated.",
)
@output_options(*FORMATS)
@input_options
def explain_(  # noqa: PLR0913 - a parameter for each option
    *,
    range_text: str,
    path: str | None,
    package: str | None,
    channel: str | None,
    versions: tuple[str, ...],
    output: OutputOptions,
    loading: InputOptions,
) -> int:
    """Explain which versions a range matches, and how it treats pre-releases.

    \b
    $ everpath range explain '>=1.0.0 <1.2.3' --version 1.2.3-rc.1
    matches every version from 1.0.0 (included) to 1.2.3 (excluded)
    pre-releases of 1.0.0, such as 1.0.0-rc.1, are not matched; >=1.0.0-0 would include them
    pre-releases of 1.2.3, such as 1.2.3-rc.1, are matched; <1.2.3-0 would exclude them
    all other pre-releases within the range are matched
    1.2.3-rc.1: matches

    \b
    $ everpath range explain '<v1.2.3'
    <v1.2.3
     ^ a version starts with a digit, not with a v
    write '<1.2.3'

    \b
    $ everpath range explain '>=0.1.0 <0.3.0' --in catalog/ -p searchkeeper

    \b
    Exit codes:
      0  a valid range          2  invalid options
      1  an invalid range       3  a catalog that cannot be read, or only in part
    """
    inputs = loading.inputs([path]) if path else None
    try:
        with output.progress_line() as progress:
            report = explain_range(
                range_text, versions, inputs=inputs, package=package, channel=channel, progress=progress
            )
    except RangeError as error:
        output.write(render_error(error, output.format))
        return ExitCode.FINDINGS
    output.write(render(report, output.format))
    unread = inputs.unread if inputs is not None else 0
    warn_unread(unread)
    return ExitCode.UNREADABLE if unread else ExitCode.CLEAN
