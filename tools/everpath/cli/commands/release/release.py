"""`everpath release`: cut a release or withdraw one."""

from __future__ import annotations

__all__ = ["release"]

import os
import sys
from typing import Any

import click

from everpath.app.config.config import load
from everpath.app.project.release import cut_release
from everpath.cli.failing_findings import write_failing_findings
from everpath.cli.file_changes import change_lines, release_json
from everpath.cli.options.common import comma_list, config_options
from everpath.cli.options.project import file_option, output_option, pin_option, report_wait
from everpath.cli.output import print_warnings, write_output
from everpath.cli.release_report import release_lines, source_diff
from everpath.cli.terminal import wants_colour
from everpath.errors import ExitCode, UsageError
from everpath.releases.release_plan import ReleaseRequest
from everpath.wording import count


@click.command("release", short_help="Cut a release, or withdraw one.")
@click.argument("version")
@click.option(
    "-c",
    "--channel",
    "channels",
    metavar="NAME",
    multiple=True,
    callback=comma_list,
    help="Add the release to this channel, even if it is released already; may be repeated.  "
    "[default: the channels of the previous release]",
)
@click.option("--zstream", is_flag=True, help="Replace every lower release of the same X.Y.")
@click.option(
    "--replaces", metavar="VERSION", help="The version it replaces.  [default: the head of the channel]"
)
@click.option(
    "--skips",
    metavar="VERSION",
    multiple=True,
    callback=comma_list,
    help="A version it skips; may be repeated.",
)
@click.option("--range", "skip_range", metavar="RANGE", help="The skipRange, such as '>=1.2.0 <1.2.3'.")
@click.option(
    "--withdraw",
    metavar="VERSION",
    multiple=True,
    callback=comma_list,
    help="Withdraw a release: no cluster should install it any more; may be repeated.",
)
@click.option("--reason", metavar="TEXT", help="Why it is withdrawn; shown to users who have it installed.")
@click.option("--min-kube-version", metavar="VERSION", help="The lowest Kubernetes version it runs on.")
@pin_option
@file_option
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@output_option
@config_options
@click.option("-v", "--verbose", is_flag=True, help="List every file with --dry-run.")
@click.option("-q", "--quiet", is_flag=True, help="Show no graphs, only problems and the files written.")
def release(  # noqa: PLR0913 - a parameter for each option
    *,
    file: str | None,
    pin: str | None,
    dry_run: bool,
    output: str,
    config_file: str | None,
    no_config: bool,
    verbose: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Cut a release: edit releases.yaml, write bundle and catalog, show the graph before and after.

    The edit keeps every comment and the order of the file. The new catalog is compared with the old one for
    every version that may be installed, under OLM v0 and v1. Nothing is written if a version would be
    stranded, or if bundle validate or validate-graph would report an error. Bundles of earlier releases are
    frozen: releases.yaml gets their digests, and they never change.

    \b
    $ everpath release 0.4.0                    # replaces the head, in the channels of the last release
    $ everpath release 0.3.2 --zstream          # replaces all of 0.3, published or not
    $ everpath release 0.3.1 --withdraw 0.3.0 --reason 'loses shards when a pool shrinks'
    $ everpath release 0.4.0 --replaces 0.2.2 --skips 0.3.0,0.3.1
    $ everpath release 0.5.0 --channel candidate --dry-run
    $ everpath release 0.5.0 --channel stable   # is in candidate already: add it to stable

    \b
    Exit codes:
      0  written                          2  a wrong command line or releases.yaml, a full disk
      1  a version would be stranded, or  3  input that cannot be read
         a file would have an error
    """
    request = ReleaseRequest(**options, pins=pin)
    _validate(request)
    config = load(config_file, wanted=not no_config)
    result = cut_release(file, request, config, dry_run=dry_run, on_wait=report_wait)
    if output == "json":
        print_warnings(result.warnings)
        write_output(release_json(request.version, result), None, machine=True)
        return ExitCode.FINDINGS if result.state == "refused" else ExitCode.CLEAN
    lines = release_lines(
        result,
        colour=wants_colour(sys.stdout, os.environ),
        quiet=quiet,
        expect_new_paths=request.zstream or bool(request.withdraw),
    )
    write_output(lines, None, machine=False)
    if result.blockers:
        click.echo(f"error: {' and '.join(result.blockers)}; nothing was written", err=True)
        return ExitCode.FINDINGS
    if result.findings:
        write_failing_findings(result.findings)
        return ExitCode.FINDINGS
    print_warnings(result.warnings)
    if result.state == "planned":
        others = [change for change in result.changes if change.path != result.edit.path]
        files = change_lines(others, result.new, every_file=verbose)
        diff = ["\n", *source_diff(result), "\n"]
        write_output([*diff, *files, "Nothing was written: --dry-run.\n"], None, machine=False)
        return ExitCode.CLEAN
    written = count(len(result.changes), "file")
    click.echo(f"{result.new.releases_file.package} {request.version}: {written} written.", err=True)
    return ExitCode.CLEAN


def _validate(request: ReleaseRequest) -> None:
    """Raise UsageError for options that are empty, as an unset variable of a script is, or that conflict."""
    for option, value in (
        ("--replaces", request.replaces),
        ("--range", request.skip_range),
        ("--reason", request.reason),
        ("--min-kube-version", request.min_kube_version),
    ):
        if value is not None and not value.strip():
            raise UsageError(f"{option} is empty", hint="omit it, or give a value")
    if request.zstream and (request.replaces or request.skips or request.skip_range):
        raise UsageError(
            "--zstream computes replaces, skips and skipRange",
            hint="omit --replaces, --skips and --range, or --zstream",
        )
    if request.reason is not None and not request.withdraw:
        raise UsageError("--reason is for a withdrawn release", hint="name it: --withdraw VERSION")
