"""`everpath validate-graph`: the invariant, for everyone on any version."""

from __future__ import annotations

__all__ = ["validate_graph"]

import gc
import os
import sys
import time
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any, NamedTuple

import click

from everpath.cli import completers
from everpath.cli.config import FAIL_ON, POLICIES, SEVERITIES, Config, load
from everpath.cli.github import MOST_ROWS, append_step_summary, workspace
from everpath.cli.inputs import Inputs
from everpath.cli.judging import judgements
from everpath.cli.options import (
    channel_option,
    comma_list,
    config_options,
    package_option,
    progress_option,
    update_mode_option,
)
from everpath.cli.terminal import ProgressLine, wants_colour
from everpath.cli.writing import write
from everpath.errors import ExitCode, UsageError
from everpath.outputs import FORMATS, MACHINE_FORMATS, TALLY_FORMATS, view
from everpath.outputs.outcome import Outcome
from everpath.rules.check import Report, Selection, concluded
from everpath.rules.findings import Severity
from everpath.rules.registry import all_rules, find_rules


class Request(NamedTuple):
    """The command line as it was given; None and empty mean that the configuration decides."""

    paths: tuple[str, ...]
    packages: tuple[str, ...]
    channels: tuple[str, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    fail_on: str | None
    policy: str | None
    output: str | None
    output_file: str | None
    show: str | None
    config_file: str | None
    no_config: bool
    statistics: bool
    thorough: bool
    default_update_mode: str | None
    quiet: bool
    verbose: bool
    no_progress: bool
    jobs: int | None


@click.command("validate-graph", short_help="Is this catalog safe for everyone on any version of it?")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@package_option
@channel_option
@click.option(
    "--select",
    metavar="RULES",
    multiple=True,
    callback=comma_list,
    shell_complete=completers.rules,
    help="Ask only these rules: ids, beginnings of ids (EP2) or names.",
)
@click.option(
    "--ignore",
    metavar="RULES",
    multiple=True,
    callback=comma_list,
    shell_complete=completers.rules,
    help="Do not ask these rules.",
)
@click.option(
    "--fail-on", type=click.Choice(FAIL_ON), help="Exit with 1 from this severity on.  [default: error]"
)
@click.option("--policy", type=click.Choice(POLICIES), help="Whose users to think of.  [default: both]")
@click.option(
    "-o",
    "--output",
    type=click.Choice(FORMATS),
    help="How to report.  [default: text; github under GitHub Actions]",
)
@click.option("--output-file", metavar="FILE", help="Write the report there, whole or not at all.")
@click.option(
    "--show",
    type=click.Choice(SEVERITIES),
    help="List findings of this severity and above; json, sarif and junit list all.  [default: warning]",
)
@click.option("--statistics", is_flag=True, help="Count findings by rule and list none.")
@click.option("--thorough", is_flag=True, help="Parse every byte, also where a glance would do.")
@update_mode_option
@config_options
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Judge with this many processes.  [default: one a processor, at most 4, if there is much to read]",
)
@click.option("-q", "--quiet", is_flag=True, help="Print findings and nothing else.")
@click.option(
    "-v", "--verbose", is_flag=True, help="Say on standard error what is read and how long it takes."
)
@progress_option
def validate_graph(**options: Any) -> int:
    """Is this catalog safe for everyone who runs any version of it?

    A PATH is a file-based catalog (a folder, a file, or - for standard input), a bundle folder, an
    operators repository or a package-manifest folder. Several are judged one by one. Without one:
    the configured paths, or catalog/, or the current folder.

    \b
    $ everpath validate-graph catalog/ --select fork
    package op, channel stable: 1 error

    \b
    error[EP203 fork]: op.v1: op.v2 and op.v3 both replace it
      --> catalog/op.yaml:14:3
       |
    14 | - name: op.v1
       |   ^^^^^^^^^^^
       = because: op.v3 replaces op.v1
                  op.v2 replaces op.v1
       = fix: add op.v2 to the skips of op.v3

    \b
    1 error in 2 packages, 3 channels and 12 entries.

    \b
    $ everpath validate-graph operators/ -o concise --fail-on warning
    $ opm render quay.io/me/catalog:latest | everpath validate-graph - -p me
    $ everpath validate-graph catalog/ -o sarif --output-file everpath.sarif

    \b
    Exit codes:
      0  no finding at or above --fail-on     3  input, or part of it, that cannot be read
      1  some finding at or above --fail-on   4  a registry that does not answer
      2  a wrong command line or configuration
    """
    return _validate(Request(**options))


def _validate(request: Request) -> int:
    # What a run makes it keeps to the end, and nothing of it is circular: looking for garbage finds none,
    # and costs a tenth of the time.
    gc.disable()
    began = time.perf_counter()
    config = load(request.config_file, wanted=not request.no_config)
    selection = _selection(request, config)
    inputs = Inputs(request.paths, config, request.default_update_mode, request.thorough)
    output = _output(request, config)
    with ProgressLine(sys.stderr, wanted=not (request.no_progress or request.quiet)) as progress:
        judged = judgements(inputs, selection, request.jobs, progress)
        report = concluded(judged, selection, waivers=config.waivers, today=_today())
    inputs.verify(selection.packages, selection.channels)
    outcome = _outcome(request, config, report, inputs, output)
    write(_chunks(request, outcome, output), request.output_file, machine=output in MACHINE_FORMATS)
    _tell(request, outcome, config, output, time.perf_counter() - began)
    return _exit_code(outcome)


def _selection(request: Request, config: Config) -> Selection:
    policy = request.policy or config.policy
    return Selection(
        rules=find_rules(request.select or config.select),
        ignored=find_rules(request.ignore or config.ignore),
        packages=frozenset(request.packages or config.packages),
        channels=frozenset(request.channels or config.channels),
        policy="v0" if policy == "v0" else "v1" if policy == "v1" else None,
    )


def _output(request: Request, config: Config) -> str:
    chosen = request.output or config.output
    if request.statistics:
        if chosen is not None and chosen not in TALLY_FORMATS:
            hint = f"use -o {' or -o '.join(TALLY_FORMATS)}"
            raise UsageError(f"--statistics cannot be written as {chosen}", hint=hint)
        return chosen or "text"
    return chosen or ("github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text")


def _today() -> date:
    return datetime.now().astimezone().date()


def _outcome(request: Request, config: Config, report: Report, inputs: Inputs, output: str) -> Outcome:
    fail_on = request.fail_on or config.fail_on or "error"
    return Outcome(
        report=report,
        locate=inputs.locate,
        rules={rule.id: rule for rule in all_rules()},
        show=Severity[(request.show or config.show or "warning").upper()],
        fail_on=None if fail_on == "never" else Severity[fail_on.upper()],
        workspace=workspace(),
        colour=output == "text" and request.output_file is None and wants_colour(sys.stdout, os.environ),
        brief=request.quiet,
    )


def _chunks(request: Request, outcome: Outcome, output: str) -> Iterator[str]:
    if request.statistics:
        from everpath.outputs import tally  # noqa: PLC0415

        return tally.render(outcome, output)
    return view(output)(outcome)


def _tell(request: Request, outcome: Outcome, config: Config, output: str, seconds: float) -> None:
    """What goes elsewhere than into the report: GitHub's summary page, and standard error."""
    if output == "github":
        from everpath.outputs.markdown import table  # noqa: PLC0415

        append_step_summary(table(outcome, MOST_ROWS))
    if request.verbose:
        click.echo(f"configuration: {config.file or 'none'}", err=True)
        click.echo(f"looked at {outcome.report.entries:,} entries in {seconds:.2f} s", err=True)
    if request.output_file is not None and not request.quiet:
        click.echo(f"{outcome.summary} Written to {request.output_file}.", err=True)


def _exit_code(outcome: Outcome) -> ExitCode:
    if outcome.report.unreadable:
        return ExitCode.UNREADABLE
    return ExitCode.FINDINGS if any(map(outcome.fails, outcome.report.findings)) else ExitCode.CLEAN
