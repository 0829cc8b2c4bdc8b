"""The findings for which `generate` and `release` write nothing, as text or JSON."""

from __future__ import annotations

__all__ = ["failing_finding_objects", "write_failing_findings"]

import os
import sys
from collections.abc import Iterator
from itertools import chain

import click

from everpath.app.project.check import FailingFindings
from everpath.cli.output import write_output
from everpath.cli.terminal import wants_colour
from everpath.reporters import reporter
from everpath.reporters.lint import json_report
from everpath.reporters.lint.lint_report import LintReport
from everpath.rules.findings import Severity


def write_failing_findings(findings: FailingFindings) -> None:
    """Write the findings to standard output, as `bundle validate` does."""
    colour = wants_colour(sys.stdout, os.environ)
    render = reporter("text")
    reports = (
        LintReport(report, show=min(Severity), colour=colour, brief=True)
        for report in (findings.bundles, findings.catalogs)
    )
    write_output(chain.from_iterable(map(render, reports)), None, machine=False)
    click.echo("error: nothing was written, because the files would have the errors above", err=True)


def failing_finding_objects(findings: FailingFindings | None) -> Iterator[str]:
    """Yield each finding as a JSON object."""
    for report in (findings.bundles, findings.catalogs) if findings else ():
        yield from json_report.findings(report)
