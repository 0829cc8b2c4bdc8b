"""The findings for which `generate` and `release` write nothing, as text or JSON."""

from __future__ import annotations

__all__ = ["problem_objects", "write_problems"]

from collections.abc import Iterator
from typing import NamedTuple

import click

from everpath.app.check import Problems
from everpath.app.config import Config
from everpath.cli.reporting import outcome_of
from everpath.cli.writing import write
from everpath.reporters import document, view
from everpath.reporters.outcome import Outcome
from everpath.rules.findings import Severity
from everpath.rules.lint import FOLDERS, GRAPH


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
    render = view("text")
    write((line for outcome in _outcomes(problems, config) for line in render(outcome)), None, machine=False)
    click.echo("error: nothing was written, because the files would have the errors above", err=True)


def problem_objects(problems: Problems | None, config: Config) -> Iterator[str]:
    """Yield each finding as a JSON object."""
    for outcome in _outcomes(problems, config) if problems else ():
        yield from document.findings(outcome)


def _outcomes(problems: Problems, config: Config) -> Iterator[Outcome]:
    for report, subjects in ((problems.bundles, FOLDERS), (problems.catalogs, GRAPH | {"upgrade"})):
        outcome = outcome_of(_ReportOptions(), config, report, problems.locate, subjects, "generate")
        yield outcome._replace(show=min(Severity))
