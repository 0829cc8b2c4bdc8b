"""What commands that report findings have in common: their options, and what becomes of a report."""

from __future__ import annotations

__all__ = [
    "Wishes",
    "outcome_of",
    "output_format",
    "report_options",
    "selected",
    "tell_report",
    "today",
]

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from typing import Any, Final, Protocol, TypeVar

import click

from everpath.cli import completers
from everpath.cli.config import FAIL_ON, SEVERITIES, Config
from everpath.cli.github import MOST_ROWS, append_step_summary, workspace
from everpath.cli.options import comma_list, config_options, progress_option
from everpath.cli.terminal import wants_colour
from everpath.cli.writing import write
from everpath.errors import ExitCode, UsageError
from everpath.formats.location import Location
from everpath.model import Place
from everpath.outputs import FORMATS, MACHINE_FORMATS, TALLY_FORMATS, view
from everpath.outputs.outcome import Outcome
from everpath.rules.check import Report
from everpath.rules.findings import Finding, Severity
from everpath.rules.registry import find_rules, rules_about

_select: Final = click.option(
    "--select",
    metavar="RULES",
    multiple=True,
    callback=comma_list,
    shell_complete=completers.rules,
    help="Ask only these rules: ids, beginnings of ids (EP2) or names.",
)
_ignore: Final = click.option(
    "--ignore",
    metavar="RULES",
    multiple=True,
    callback=comma_list,
    shell_complete=completers.rules,
    help="Do not ask these rules.",
)
_fail_on: Final = click.option(
    "--fail-on", type=click.Choice(FAIL_ON), help="Exit with 1 from this severity on.  [default: error]"
)
_output: Final = click.option(
    "-o",
    "--output",
    type=click.Choice(FORMATS),
    help="How to report.  [default: text; github under GitHub Actions]",
)
_output_file: Final = click.option(
    "--output-file", metavar="FILE", help="Write the report there, whole or not at all."
)
_show: Final = click.option(
    "--show",
    type=click.Choice(SEVERITIES),
    help="List findings of this severity and above; json, sarif and junit list all.  [default: warning]",
)
_statistics: Final = click.option("--statistics", is_flag=True, help="Count findings by rule and list none.")
_quiet: Final = click.option("-q", "--quiet", is_flag=True, help="Print findings and nothing else.")
_verbose: Final = click.option(
    "-v", "--verbose", is_flag=True, help="Say on standard error what is read and how long it takes."
)


#: In the order in which help lists them.
_OPTIONS: Final = (
    _select,
    _ignore,
    _fail_on,
    _output,
    _output_file,
    _show,
    _statistics,
    config_options,
    _quiet,
    _verbose,
    progress_option,
)

F = TypeVar("F", bound=Callable[..., Any])


def report_options(command: F) -> F:
    """The options of every command that reports findings."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class Wishes(Protocol):
    """What a command line says of the report; None means that the configuration decides."""

    @property
    def fail_on(self) -> str | None: ...
    @property
    def output(self) -> str | None: ...
    @property
    def output_file(self) -> str | None: ...
    @property
    def show(self) -> str | None: ...
    @property
    def statistics(self) -> bool: ...
    @property
    def quiet(self) -> bool: ...
    @property
    def verbose(self) -> bool: ...


def selected(asked: Sequence[str], configured: Sequence[str], subjects: frozenset[str]) -> frozenset[str]:
    """The rules to ask; empty for all there are about some subjects.

    Raises UsageError where nothing that was asked for is about them: it would find nothing, and say so. The
    configuration is for all commands, and one without a word on these subjects leaves them as they are.
    """
    about = {rule.id for rule in rules_about(subjects)}
    named = find_rules(asked or configured)
    if asked and not named & about:
        hint = "`everpath rules` says of each what it is asked of, and so by which command"
        raise UsageError(f"--select {','.join(asked)} names no rule that is asked here", hint=hint)
    return named & about


def output_format(wishes: Wishes, config: Config) -> str:
    """The name of the view."""
    chosen = wishes.output or config.output
    if wishes.statistics:
        if chosen is not None and chosen not in TALLY_FORMATS:
            hint = f"use -o {' or -o '.join(TALLY_FORMATS)}"
            raise UsageError(f"--statistics cannot be written as {chosen}", hint=hint)
        return chosen or "text"
    return chosen or ("github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text")


def today() -> date:
    """By which waivers expire."""
    return datetime.now().astimezone().date()


def outcome_of(
    wishes: Wishes,
    config: Config,
    report: Report,
    locate: Callable[[Place], Location],
    subjects: frozenset[str],
    command: str,
) -> Outcome:
    """The run, ready to be told."""
    fail_on = wishes.fail_on or config.fail_on or "error"
    is_plain = output_format(wishes, config) == "text" and wishes.output_file is None
    return Outcome(
        report=_with_lines(report, locate),
        locate=locate,
        rules={rule.id: rule for rule in rules_about(subjects)},
        show=Severity[(wishes.show or config.show or "warning").upper()],
        fail_on=None if fail_on == "never" else Severity[fail_on.upper()],
        workspace=workspace(),
        colour=is_plain and wants_colour(sys.stdout, os.environ),
        brief=wishes.quiet,
        command=command,
    )


def _with_lines(report: Report, locate: Callable[[Place], Location]) -> Report:
    """The report, in which a sentence that ends with another file has the line there, too."""
    if all(finding.other is None for finding in report.findings):
        return report
    return report._replace(findings=tuple(_with_line(finding, locate) for finding in report.findings))


def _with_line(finding: Finding, locate: Callable[[Place], Location]) -> Finding:
    line = locate(finding.other).line if finding.other is not None else 0
    first, *more = finding.because or ("",)
    return finding._replace(because=(f"{first}:{line}", *more)) if line else finding


def tell_report(wishes: Wishes, config: Config, outcome: Outcome, output: str, began: float) -> ExitCode:
    """Write the report where it is wanted, and what is told beside it; `began` is when the run did."""
    write(_chunks(wishes, outcome, output), wishes.output_file, machine=output in MACHINE_FORMATS)
    _tell(wishes, outcome, config, output, time.perf_counter() - began)
    return _exit_code(outcome)


def _chunks(wishes: Wishes, outcome: Outcome, output: str) -> Iterator[str]:
    """The report's text, piece by piece."""
    if wishes.statistics:
        from everpath.outputs import tally  # noqa: PLC0415

        return tally.render(outcome, output)
    return view(output)(outcome)


def _tell(wishes: Wishes, outcome: Outcome, config: Config, output: str, seconds: float) -> None:
    """What goes elsewhere than into the report: GitHub's summary page, and standard error."""
    if output == "github":
        from everpath.outputs.markdown import table  # noqa: PLC0415

        append_step_summary(table(outcome, MOST_ROWS))
    if wishes.verbose:
        number, noun = outcome.sizes[-1]
        plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
        click.echo(f"configuration: {config.file or 'none'}", err=True)
        click.echo(f"looked at {number:,} {plural} in {seconds:.2f} s", err=True)
    if wishes.output_file is not None and not wishes.quiet:
        click.echo(f"{outcome.summary} Written to {wishes.output_file}.", err=True)


def _exit_code(outcome: Outcome) -> ExitCode:
    """Unread input weighs more than findings: nobody knows what is in it."""
    if outcome.report.unreadable:
        return ExitCode.UNREADABLE
    return ExitCode.FINDINGS if any(map(outcome.fails, outcome.report.findings)) else ExitCode.CLEAN
