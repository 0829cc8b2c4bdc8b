"""The findings for which `generate` and `release` write nothing, as text or JSON."""

from __future__ import annotations

__all__ = ["problem_objects", "write_problems"]

from collections.abc import Iterator
from typing import NamedTuple

import click

from everpath.app.check import Problems
from everpath.app.config import Config
from everpath.cli.output import write_output
from everpath.cli.report_output import build_lint_report
from everpath.reporters import json_report, reporter
from everpath.reporters.lint_report import LintReport
from everpath.rules.findings import Severity
from everpath.rules.lint import BUNDLE_SUBJECTS, CATALOG_SUBJECTS


class _ReportOptions(NamedTuple):
    """The options of a report that consists of findings only."""

    fail_on: str | None = None
    output: str = "text"
    output_file: str | None = None
    show: str | None = None
    statistics: bool = False
    quiet: bool = True
    verbose: bool = False


def write_problems(problems: Problems, config: Config) -> None:
    """Write the findings to standard output, as `bundle validate` does."""
    render = reporter("text")
    write_output(
        (line for lint_report in _lint_reports(problems, config) for line in render(lint_report)),
        None,
        machine=False,
    )
    click.echo("error: nothing was written, because the files would have the errors above", err=True)


def problem_objects(problems: Problems | None, config: Config) -> Iterator[str]:
    """Yield each finding as a JSON object."""
    for lint_report in _lint_reports(problems, config) if problems else ():
        yield from json_report.findings(lint_report)


def _lint_reports(problems: Problems, config: Config) -> Iterator[LintReport]:
    for report, subjects in (
        (problems.bundles, BUNDLE_SUBJECTS),
        (problems.catalogs, CATALOG_SUBJECTS | {"upgrade"}),
    ):
        lint_report = build_lint_report(
            _ReportOptions(), config, report, problems.locate, subjects, "generate"
        )
        yield lint_report._replace(show=min(Severity))
