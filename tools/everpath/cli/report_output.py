"""Write the report of a command that lints: format, destination, step summary and exit code."""

from __future__ import annotations

__all__ = ["ReportOptions", "build_lint_report", "output_format", "write_report"]

import os
import sys
import time
from collections.abc import Callable
from typing import Final, Protocol

from everpath.app.config import Config
from everpath.cli.github_actions import MAX_SUMMARY_ROWS, append_step_summary, workspace
from everpath.cli.output import print_message, write_output
from everpath.cli.terminal import wants_colour
from everpath.errors import ExitCode, UsageError
from everpath.loaders.location import SourcePosition
from everpath.model import Place
from everpath.reporters import MACHINE_FORMATS, STATISTICS_FORMATS, reporter
from everpath.reporters.formatting import printable
from everpath.reporters.lint_report import LintReport, Workspace
from everpath.rules.findings import Finding, Severity
from everpath.rules.lint import Report
from everpath.rules.registry import rules_for_subjects

#: Formats with file names relative to the root of the repository.
_REPOSITORY_FORMATS: Final = ("github", "sarif")


class ReportOptions(Protocol):
    """The options of `report_options`; None means that the configuration decides."""

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


def output_format(options: ReportOptions, config: Config) -> str:
    """Return the name of the reporter. Raises UsageError for --statistics in an unsupported format."""
    chosen = options.output or config.output
    if options.statistics:
        if chosen is not None and chosen not in STATISTICS_FORMATS:
            hint = f"use -o {' or -o '.join(STATISTICS_FORMATS)}"
            raise UsageError(f"--statistics cannot be written as {chosen}", hint=hint)
        return chosen or "text"
    return chosen or ("github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text")


def build_lint_report(
    options: ReportOptions,
    config: Config,
    report: Report,
    locate: Callable[[Place], SourcePosition],
    subjects: frozenset[str],
    command: str,
) -> LintReport:
    """Return the report with everything that a reporter needs."""
    fail_on = options.fail_on or config.fail_on or "error"
    output = output_format(options, config)
    is_text = output == "text" and options.output_file is None
    return LintReport(
        report=_with_related_lines(report, locate),
        locate=locate,
        rules={rule.id: rule for rule in rules_for_subjects(subjects)},
        show=Severity[(options.show or config.show or "warning").upper()],
        fail_on=None if fail_on == "never" else Severity[fail_on.upper()],
        workspace=workspace() if output in _REPOSITORY_FORMATS else Workspace(),
        colour=is_text and wants_colour(sys.stdout, os.environ),
        brief=options.quiet,
        command=command,
    )


def _with_related_lines(report: Report, locate: Callable[[Place], SourcePosition]) -> Report:
    """Add the line to the first reason of findings that are related to a second file."""

    def with_line(finding: Finding) -> Finding:
        line = locate(finding.related).line if finding.related is not None else 0
        first, *more = finding.because or ("",)
        return finding._replace(because=(f"{first}:{line}", *more)) if line else finding

    if all(finding.related is None for finding in report.findings):
        return report
    return report._replace(findings=tuple(map(with_line, report.findings)))


def write_report(
    options: ReportOptions, config: Config, report: LintReport, output: str, started: float
) -> ExitCode:
    """Write the report and messages, and return the exit code. `started` is when the run started."""
    if options.statistics:
        from everpath.reporters import statistics  # noqa: PLC0415 - one reporter is enough

        chunks = statistics.render(report, output)
    else:
        chunks = reporter(output)(report)
    write_output(chunks, options.output_file, machine=output in MACHINE_FORMATS)
    if output == "github":
        from everpath.reporters.markdown import render_table  # noqa: PLC0415 - only for the step summary

        append_step_summary(render_table(report, MAX_SUMMARY_ROWS))
    if options.verbose:
        number, noun = report.sizes[-1]
        plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
        print_message(f"configuration: {printable(config.file or 'none')}")
        print_message(f"linted {number:,} {plural} in {time.perf_counter() - started:.2f} s")
    if options.output_file is not None and not options.quiet:
        print_message(f"{report.summary} Written to {printable(options.output_file)}.")
    # Unreadable input takes precedence over findings: what is in it is unknown.
    if report.report.unreadable:
        return ExitCode.UNREADABLE
    return ExitCode.FINDINGS if any(map(report.fails, report.report.findings)) else ExitCode.CLEAN
