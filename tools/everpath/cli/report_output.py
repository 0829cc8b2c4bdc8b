"""Write the report of a command that lints: format, destination, step summary and exit code."""

from __future__ import annotations

__all__ = ["build_lint_report", "output_format", "write_report"]

import os
import sys
import time
from collections.abc import Callable
from typing import Final

from everpath.app.config.config import Config
from everpath.cli.github_actions import MAX_SUMMARY_ROWS, append_step_summary, workspace
from everpath.cli.options.report import ReportOptions
from everpath.cli.output import print_message, write_output
from everpath.cli.terminal import wants_colour
from everpath.errors import ExitCode, UsageError
from everpath.model import Place, SourcePosition
from everpath.reporters import MACHINE_FORMATS, STATISTICS_FORMATS, reporter
from everpath.reporters.formatting import printable
from everpath.reporters.lint.lint_report import LintReport, Workspace
from everpath.rules.findings import Severity
from everpath.rules.lint import Report
from everpath.rules.registry import rules_for_subjects
from everpath.wording import count

#: Formats with file names relative to the root of the repository.
_REPOSITORY_FORMATS: Final = ("github", "sarif")


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
    """Return the report with everything that a reporter needs, such as the positions of what it shows."""
    fail_on = options.fail_on or config.fail_on or "error"
    show = Severity[(options.show or config.show or "warning").upper()]
    output = output_format(options, config)
    is_text = output == "text" and options.output_file is None
    if not options.statistics:
        report = report.with_positions(locate, min(Severity) if output in MACHINE_FORMATS else show)
    return LintReport(
        report=report,
        rules={rule.id: rule for rule in rules_for_subjects(subjects)},
        show=show,
        fail_on=None if fail_on == "never" else Severity[fail_on.upper()],
        workspace=workspace() if output in _REPOSITORY_FORMATS else Workspace(),
        colour=is_text and wants_colour(sys.stdout, os.environ),
        brief=options.quiet,
        command=command,
    )


def write_report(
    options: ReportOptions, config: Config, report: LintReport, output: str, started: float
) -> ExitCode:
    """Write the report and messages, and return the exit code. `started` is when the run started."""
    if options.statistics:
        from everpath.reporters.lint import statistics  # noqa: PLC0415 - one reporter is enough

        chunks = statistics.render(report, output)
    else:
        chunks = reporter(output)(report)
    write_output(chunks, options.output_file, machine=output in MACHINE_FORMATS)
    if output == "github":
        from everpath.reporters.lint.markdown import render_table  # noqa: PLC0415 - only for the step summary

        append_step_summary(render_table(report, MAX_SUMMARY_ROWS))
    if options.verbose:
        number, noun = report.sizes[-1]
        print_message(f"configuration: {printable(config.file or 'none')}")
        print_message(f"linted {count(number, noun)} in {time.perf_counter() - started:.2f} s")
    if options.output_file is not None and not options.quiet:
        print_message(f"{report.summary} Written to {printable(options.output_file)}.")
    # Unreadable input takes precedence over findings: what is in it is unknown.
    if report.report.unreadable:
        return ExitCode.UNREADABLE
    return ExitCode.FINDINGS if report.report.failing(report.fail_on).findings else ExitCode.CLEAN
