"""`everpath bundle validate`: the checks of opm and operator-framework/api, and more."""

from __future__ import annotations

__all__ = ["validate"]

import os
import sys
import time
from typing import Final

import click

from everpath.app.config.config import load, select_rules, today
from everpath.app.inputs.inputs import Inputs
from everpath.app.lint_bundles import find_all_bundles, lint_bundles, validation_target
from everpath.cli.options.common import comma_list, package_option
from everpath.cli.options.report import ReportOptions, report_options
from everpath.cli.report_output import build_lint_report, output_format, write_report
from everpath.cli.terminal import ProgressLine
from everpath.rules.bundle.validators import find_validators
from everpath.rules.lint import BUNDLE_SUBJECTS, Selection
from everpath.rules.registry import find_rules

_CATEGORIES_VARIABLE: Final = "OPERATOR_BUNDLE_CATEGORIES"


@click.command("validate", short_help="Check bundles for OLM and OperatorHub.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@package_option
@click.option(
    "--select-optional",
    metavar="VALIDATORS",
    multiple=True,
    callback=comma_list,
    help="Run optional validators too: operatorhub/v2, good-practices, … or all.",
)
@click.option(
    "--kube-version",
    metavar="VERSION",
    help="The Kubernetes version: APIs that it has removed are errors.",
)
@click.option(
    "--categories",
    metavar="FILE",
    help="JSON file of the catalog's categories.  [default: those of OperatorHub]",
)
@click.option(
    "--labels", metavar="FILE", help="The Dockerfile that labels the image.  [default: annotations.yaml]"
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Number of processes.  [default: one, for many bundles one per processor and at most 4]",
)
@report_options
def validate(  # noqa: PLR0913 - a parameter for each option
    *,
    paths: tuple[str, ...],
    packages: tuple[str, ...],
    select_optional: tuple[str, ...],
    kube_version: str | None,
    categories: str | None,
    labels: str | None,
    jobs: int | None,
    reporting: ReportOptions,
) -> int:
    """Check bundles with the rules of opm, operator-framework/api and everpath.

    A PATH is a bundle's folder, the folder of a package, or an operators repository. Default: bundles/, or
    the current folder.

    \b
    $ everpath bundle validate bundles/op/1.2.0
    package op: 1 error

    \b
    error[EP654 owned-crd-missing]: v1.2.0: opm rejects the bundle: the CSV owns Op ...
      --> bundles/op/1.2.0/manifests/op.clusterserviceversion.yaml:15:7
       |
    15 |     - name: ops.example.com
       |       ^^^^^^^^^^^^^^^^^^^^^
       = because: the bundle has no CRD of this kind
                  opm reports: owned CRD not found in bundle
       = fix: add the CRD to manifests/, or remove it from spec.customresourcedefinitions.owned

    \b
    1 error in 1 package and 1 bundle.

    \b
    $ everpath bundle validate operators/ --select-optional operatorhub,good-practices --statistics
    $ everpath bundle validate . --select-optional alpha-deprecated-apis --kube-version 1.29

    \b
    Exit codes:
      0  no finding at or above --fail-on     2  invalid options or configuration
      1  a finding at or above --fail-on      3  input that cannot be read, or only in part
    """
    started = time.perf_counter()
    config = load(reporting.config_file, wanted=not reporting.no_config)
    selection = Selection(
        rules=select_rules(reporting.select, config.select, BUNDLE_SUBJECTS),
        ignored=find_rules(reporting.ignore or config.ignore),
        packages=frozenset(packages or config.packages),
        subjects=BUNDLE_SUBJECTS,
        validators=find_validators(select_optional or config.select_optional),
    )
    target = validation_target(
        kube_version or config.kube_version or "",
        categories or os.environ.get(_CATEGORIES_VARIABLE),
        labels,
    )
    output = output_format(reporting, config)
    bundles = find_all_bundles(paths, selection.packages)
    with ProgressLine(sys.stderr, wanted=not (reporting.no_progress or reporting.quiet)) as progress:
        report = lint_bundles(
            bundles,
            target,
            selection,
            waivers=config.waivers,
            today=today(),
            jobs=jobs,
            progress=progress,
        )
    locate = Inputs(paths, config).locate
    lint_report = build_lint_report(reporting, config, report, locate, BUNDLE_SUBJECTS, "bundle validate")
    return write_report(reporting, config, lint_report, output, started)
