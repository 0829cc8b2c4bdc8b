"""What commands that report findings have in common: which rules they ask, and what becomes of a report."""

from __future__ import annotations

__all__ = [
    "Wishes",
    "outcome_of",
    "output_format",
    "selected",
    "tell_report",
    "today",
]

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from typing import Protocol

from everpath.app.config import Config
from everpath.cli.github import MOST_ROWS, append_step_summary, workspace
from everpath.cli.saying import say
from everpath.cli.terminal import wants_colour
from everpath.cli.writing import write
from everpath.errors import ExitCode, UsageError
from everpath.loaders.location import SourcePosition
from everpath.model import Place
from everpath.reporters import MACHINE_FORMATS, STATISTICS_FORMATS, reporter
from everpath.reporters.formatting import printable
from everpath.reporters.lint_report import LintReport
from everpath.rules.findings import Finding, Severity
from everpath.rules.lint import Report
from everpath.rules.registry import find_rules, rules_for_subjects


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
    about = {rule.id for rule in rules_for_subjects(subjects)}
    named = find_rules(asked or configured)
    if asked and not named & about:
        hint = "`everpath rules` says of each what it is asked of, and so by which command"
        raise UsageError(f"--select {','.join(asked)} names no rule that is asked here", hint=hint)
    return named & about


def output_format(wishes: Wishes, config: Config) -> str:
    """The name of the view."""
    chosen = wishes.output or config.output
    if wishes.statistics:
        if chosen is not None and chosen not in STATISTICS_FORMATS:
            hint = f"use -o {' or -o '.join(STATISTICS_FORMATS)}"
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
    locate: Callable[[Place], SourcePosition],
    subjects: frozenset[str],
    command: str,
) -> LintReport:
    """The run, ready to be told."""
    fail_on = wishes.fail_on or config.fail_on or "error"
    is_plain = output_format(wishes, config) == "text" and wishes.output_file is None
    return LintReport(
        report=_with_lines(report, locate),
        locate=locate,
        rules={rule.id: rule for rule in rules_for_subjects(subjects)},
        show=Severity[(wishes.show or config.show or "warning").upper()],
        fail_on=None if fail_on == "never" else Severity[fail_on.upper()],
        workspace=workspace(),
        colour=is_plain and wants_colour(sys.stdout, os.environ),
        brief=wishes.quiet,
        command=command,
    )


def _with_lines(report: Report, locate: Callable[[Place], SourcePosition]) -> Report:
    """The report, in which a sentence that ends with another file has the line there, too."""
    if all(finding.related is None for finding in report.findings):
        return report
    return report._replace(findings=tuple(_with_line(finding, locate) for finding in report.findings))


def _with_line(finding: Finding, locate: Callable[[Place], SourcePosition]) -> Finding:
    line = locate(finding.related).line if finding.related is not None else 0
    first, *more = finding.because or ("",)
    return finding._replace(because=(f"{first}:{line}", *more)) if line else finding


def tell_report(wishes: Wishes, config: Config, outcome: LintReport, output: str, began: float) -> ExitCode:
    """Write the report where it is wanted, and what is told beside it; `began` is when the run did."""
    write(_chunks(wishes, outcome, output), wishes.output_file, machine=output in MACHINE_FORMATS)
    _tell(wishes, outcome, config, output, time.perf_counter() - began)
    return _exit_code(outcome)


def _chunks(wishes: Wishes, outcome: LintReport, output: str) -> Iterator[str]:
    """The report's text, piece by piece."""
    if wishes.statistics:
        from everpath.reporters import statistics as tally  # noqa: PLC0415

        return tally.render(outcome, output)
    return reporter(output)(outcome)


def _tell(wishes: Wishes, outcome: LintReport, config: Config, output: str, seconds: float) -> None:
    """What goes elsewhere than into the report: GitHub's summary page, and standard error."""
    if output == "github":
        from everpath.reporters.markdown import render_table  # noqa: PLC0415

        append_step_summary(render_table(outcome, MOST_ROWS))
    if wishes.verbose:
        number, noun = outcome.sizes[-1]
        plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
        say(f"configuration: {printable(config.file or 'none')}")
        say(f"looked at {number:,} {plural} in {seconds:.2f} s")
    if wishes.output_file is not None and not wishes.quiet:
        say(f"{outcome.summary} Written to {printable(wishes.output_file)}.")


def _exit_code(outcome: LintReport) -> ExitCode:
    """Unread input weighs more than findings: nobody knows what is in it."""
    if outcome.report.unreadable:
        return ExitCode.UNREADABLE
    return ExitCode.FINDINGS if any(map(outcome.fails, outcome.report.findings)) else ExitCode.CLEAN
