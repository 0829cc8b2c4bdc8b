"""`everpath bundle verify`: check package manifests."""

from __future__ import annotations

__all__ = ["verify"]

import sys
import time

import click

from everpath.app.config.config import load, select_rules, today
from everpath.app.inputs.inputs import Inputs
from everpath.app.lint_bundles import PACKAGE_MANIFEST_SUBJECTS, lint_package_manifests
from everpath.cli.options.common import comma_list
from everpath.cli.options.report import ReportOptions, report_options
from everpath.cli.report_output import build_lint_report, output_format, write_report
from everpath.cli.terminal import ProgressLine
from everpath.rules.bundle.validators import find_validators
from everpath.rules.lint import Selection
from everpath.rules.registry import find_rules


@click.command("verify", short_help="Check package manifests.")
@click.argument("paths", nargs=-1, metavar="[DIR]...")
@click.option(
    "--select-optional",
    metavar="VALIDATORS",
    multiple=True,
    callback=comma_list,
    help="Run optional validators too: operatorhub/v2, good-practices, … or all.",
)
@report_options
def verify(paths: tuple[str, ...], select_optional: tuple[str, ...], reporting: ReportOptions) -> int:
    """Check package manifests: the package file, every CSV with its objects, and the upgrades between them.

    DIR is a folder of package manifests, flat or with a folder for each version. Default: the current folder.
    The rules are those of `bundle validate` and `validate-graph`.

    \b
    $ everpath bundle verify m/ -o concise --select EP692
    m/op.package.yaml:3:3: EP692 error package-file-channels: op: the channel 'stable' has no bundles: ...
    1 error in 1 package and 1 bundle.

    \b
    $ everpath bundle verify manifests/ --select-optional operatorhub
    $ everpath bundle verify manifests/ -o json --output-file findings.json

    \b
    Exit codes:
      0  no finding at or above --fail-on     2  invalid options or configuration
      1  a finding at or above --fail-on      3  input that cannot be read, or only in part
    """
    started = time.perf_counter()
    config = load(reporting.config_file, wanted=not reporting.no_config)
    selection = Selection(
        rules=select_rules(reporting.select, config.select, PACKAGE_MANIFEST_SUBJECTS),
        ignored=find_rules(reporting.ignore or config.ignore),
        subjects=PACKAGE_MANIFEST_SUBJECTS,
        validators=find_validators(select_optional or config.select_optional),
    )
    output = output_format(reporting, config)
    folders = paths or (".",)
    with ProgressLine(sys.stderr, wanted=not (reporting.no_progress or reporting.quiet)) as progress:
        report = lint_package_manifests(
            folders, selection, waivers=config.waivers, today=today(), progress=progress
        )
    locate = Inputs(folders, config).locate
    subjects = PACKAGE_MANIFEST_SUBJECTS
    lint_report = build_lint_report(reporting, config, report, locate, subjects, "bundle verify")
    return write_report(reporting, config, lint_report, output, started)
