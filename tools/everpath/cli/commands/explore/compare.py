"""`everpath compare`: find the installed versions that lose their upgrade path in a new catalog."""

from __future__ import annotations

__all__ = ["compare"]

import os
import sys
from collections import Counter

import click

from everpath.app.compare import FAIL_ON, compare_input_sequence, compare_inputs, is_failure
from everpath.app.config.config import selected_resolvers
from everpath.cli.github_actions import MAX_SUMMARY_ROWS, append_step_summary, workspace
from everpath.cli.options.common import (
    InputOptions,
    channel_option,
    input_options,
    olm_option,
    output_file_option,
    package_option,
    progress_option,
)
from everpath.cli.output import print_message, print_warnings, write_output
from everpath.cli.terminal import ProgressLine, wants_colour
from everpath.comparison.catalogs import ComparisonScope
from everpath.errors import ExitCode, UsageError
from everpath.reporters.comparison.report import (
    COMPARISON_FORMATS,
    ComparisonReport,
    DisplayOptions,
    MatrixReport,
    reporter,
)
from everpath.reporters.formatting import printable
from everpath.rules.findings import Severity
from everpath.wording import count


@click.command("compare", short_help="Find installed versions that lose their upgrade path.")
@click.argument("paths", nargs=-1, metavar="OLD NEW")
@click.option(
    "--matrix",
    "is_matrix",
    is_flag=True,
    help="Compare each of several catalogs with the next: [NAME=]PATH [NAME=]PATH ...",
)
@package_option
@channel_option
@olm_option
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default=FAIL_ON[0],
    show_default=True,
    help="Exit with 1 if a version loses its upgrade path (stranded), also if a path changes "
    "(different-path), or never.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(COMPARISON_FORMATS),
    help="Output format.  [default: text; github under GitHub Actions]",
)
@output_file_option
@click.option("--all", "show_all", is_flag=True, help="Show notes, and all rows of a matrix; json has them.")
@click.option("-q", "--quiet", is_flag=True, help="Print the changes only.")
@progress_option
@input_options
def compare(  # noqa: PLR0913 - a parameter for each option
    *,
    paths: tuple[str, ...],
    is_matrix: bool,
    packages: tuple[str, ...],
    channels: tuple[str, ...],
    olm: str | None,
    fail_on: str,
    output: str | None,
    output_file: str | None,
    show_all: bool,
    quiet: bool,
    no_progress: bool,
    loading: InputOptions,
) -> int:
    """Find the installed versions that lose their upgrade path in a new catalog.

    Compares the upgrade path of every version that OLD has, in every channel, under OLM v0 and v1, with
    its path in NEW. Reports versions that no longer reach the head or take another path, the edit that
    causes it, and a fix. OLD and NEW are any inputs of validate-graph; one of them may be - for
    standard input. Waivers do not apply.

    \b
    $ everpath compare published/ catalog/ -p searchkeeper
    package searchkeeper, channel stable

    \b
    error[stranded]: Clusters on searchkeeper.v0.2.0 can no longer be upgraded to the head ...
      --> catalog/searchkeeper.yaml:13:3
       = before: searchkeeper.v0.2.0 → searchkeeper.v0.2.2 (head)
       = now: searchkeeper.v0.2.0 (no further update)
       = reason: nothing in the new channel replaces searchkeeper.v0.2.0, skips it or covers 0.2.0
       = caused by: searchkeeper.v0.2.2 no longer skips searchkeeper.v0.2.0
       = fix: add searchkeeper.v0.2.0 to the skips of searchkeeper.v0.2.2

    \b
    ...

    \b
    $ git worktree add /tmp/base main && everpath compare /tmp/base/catalog catalog
    $ opm render quay.io/me/catalog:latest | everpath compare - catalog/ -p me
    $ everpath compare --matrix 4.18=v4.18/ 4.19=v4.19/ 4.20=v4.20/

    \b
    Exit codes:
      0  no version loses its upgrade path     3  input that cannot be read, or only in part
      1  a version does (see --fail-on)        4  a registry does not respond
      2  invalid options or configuration
    """
    config = loading.load_config()
    catalogs = _parse_matrix(paths) if is_matrix else {}
    if not is_matrix and len(paths) != 2:
        more = "; --matrix takes more than two" if len(paths) > 2 else ""
        message = f"compare takes two catalogs, OLD and NEW, and got {len(paths)}{more}"
        raise UsageError(message, hint="everpath compare published/ catalog/")
    inputs = loading.inputs(tuple(catalogs.values()) or paths, config)
    scope = ComparisonScope(
        packages=frozenset(packages or config.packages),
        channels=frozenset(channels or config.channels),
        resolvers=selected_resolvers(olm or config.olm),
    )
    output = output or ("github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text")
    show = Severity.NOTE if show_all else Severity.WARNING
    lowest = Severity.NOTE if output == "json" else show
    with ProgressLine(sys.stderr, wanted=not (no_progress or quiet)) as progress:
        report = (
            compare_input_sequence(
                inputs,
                tuple(catalogs),
                scope,
                progress=progress,
                lowest=lowest,
                report_different_paths=fail_on == "different-path",
            )
            if is_matrix
            else compare_inputs(inputs, scope, progress=progress, lowest=lowest)
        )
    print_warnings(report.warnings)
    options = DisplayOptions(
        show=show,
        workspace=workspace(),
        colour=output == "text" and output_file is None and wants_colour(sys.stdout, os.environ),
        is_brief=quiet,
    )
    write_output(reporter(output)(report, options), output_file, machine=output == "json")
    if output == "github":
        from everpath.reporters.comparison.markdown import table  # noqa: PLC0415 - only for the step summary

        append_step_summary(table(report, options, MAX_SUMMARY_ROWS))
    if output_file is not None and not quiet:
        print_message(f"{report.summary} Written to {printable(output_file)}.")
    return _exit_code(report, fail_on)


def _parse_matrix(arguments: tuple[str, ...]) -> dict[str, str]:
    """Return the paths of `NAME=PATH ...` by name; a path without a name is its own name.

    An argument that exists as a path is a path. Raises UsageError for a single catalog, and if two have the
    same name.
    """
    if len(arguments) < 2:
        hint = "everpath compare --matrix 4.18=v4.18/ 4.19=v4.19/ 4.20=v4.20/"
        raise UsageError("--matrix takes two catalogs or more", hint=hint)
    catalogs: dict[str, str] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not (equals and name and path) or os.path.exists(argument):  # noqa: PTH110 - pathlib raises for some names
            name = path = argument
        if name in catalogs:
            hint = "name each: everpath compare --matrix 4.18=v4.18/ 4.19=v4.19/"
            raise UsageError(f"two catalogs are called {name}", hint=hint)
        catalogs[name] = path
    return catalogs


def _exit_code(report: ComparisonReport | MatrixReport, fail_on: str) -> ExitCode:
    """Return the exit code, and print a warning for each catalog with parts that could not be read."""
    for catalog, number in Counter(part.catalog for part in report.unread_parts).items():
        parts = f"{count(number, 'part')} of {catalog} could not be read"
        print_warnings([f"{parts}; everpath validate-graph and -o json list them"])
    if report.unread_parts:
        return ExitCode.UNREADABLE
    result = report.comparison if isinstance(report, ComparisonReport) else report.matrix
    return ExitCode.FINDINGS if is_failure(result, fail_on) else ExitCode.CLEAN
