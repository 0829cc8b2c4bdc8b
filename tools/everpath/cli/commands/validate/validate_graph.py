"""`everpath validate-graph`: lint the upgrade graphs of catalogs."""

from __future__ import annotations

__all__ = ["validate_graph"]

import sys
import time
from typing import Final

import click

from everpath.app.config.config import load, select_rules, single_resolver, today
from everpath.app.inputs.inputs import Inputs
from everpath.app.lint import lint_inputs
from everpath.cli.options.common import channel_option, olm_option, package_option, update_mode_option
from everpath.cli.options.report import ReportOptions, report_options
from everpath.cli.report_output import build_lint_report, output_format, write_report
from everpath.cli.terminal import ProgressLine
from everpath.rules.lint import CATALOG_SUBJECTS, Selection
from everpath.rules.registry import find_rules

_MAX_JOBS: Final = 64


@click.command("validate-graph", short_help="Check the upgrade graph of a catalog.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@package_option
@channel_option
@olm_option
@click.option("--thorough", is_flag=True, help="Parse every document completely; slower.")
@click.option(
    "--bundles",
    metavar="DIR",
    multiple=True,
    help="Folder of the bundles: also check the CRDs of each upgrade; may be repeated.",
)
@update_mode_option
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, _MAX_JOBS),
    metavar="N",
    help="Number of processes.  [default: one, for large inputs one per processor and at most 4]",
)
@report_options
def validate_graph(  # noqa: PLR0913 - a parameter for each option
    *,
    paths: tuple[str, ...],
    packages: tuple[str, ...],
    channels: tuple[str, ...],
    olm: str | None,
    thorough: bool,
    bundles: tuple[str, ...],
    default_update_mode: str | None,
    jobs: int | None,
    reporting: ReportOptions,
) -> int:
    """Check the upgrade graph of a catalog.

    A PATH is a file-based catalog (a folder, a file, or - for standard input), a bundle folder, an
    operators repository, a package-manifest folder, or an image of a catalog or a bundle
    (quay.io/me/catalog:v1, oci:FOLDER, oci-archive:FILE). Several PATHs are checked one by one.
    Default: the paths of the configuration, or catalog/, or the current folder.

    \b
    $ everpath validate-graph catalog/ --select fork
    package op, channel stable: 1 error

    \b
    error[EP203 fork]: op.v2 and op.v3 both replace op.v1
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
    $ everpath validate-graph catalog/ --bundles bundles/
    $ opm render quay.io/me/catalog:latest | everpath validate-graph - -p me
    $ everpath validate-graph catalog/ -o sarif --output-file everpath.sarif

    \b
    Exit codes:
      0  no finding at or above --fail-on       3  input that cannot be read, or only in part
      1  a finding at or above --fail-on        4  a registry does not respond
      2  invalid options or configuration
    """
    started = time.perf_counter()
    config = load(reporting.config_file, wanted=not reporting.no_config)
    subjects = CATALOG_SUBJECTS | {"upgrade"} if bundles else CATALOG_SUBJECTS
    selection = Selection(
        rules=select_rules(reporting.select, config.select, subjects),
        ignored=find_rules(reporting.ignore or config.ignore),
        packages=frozenset(packages or config.packages),
        channels=frozenset(channels or config.channels),
        resolver=single_resolver(olm or config.olm),
        subjects=subjects,
    )
    inputs = Inputs(paths, config, default_update_mode, thorough)
    output = output_format(reporting, config)
    with ProgressLine(sys.stderr, wanted=not (reporting.no_progress or reporting.quiet)) as progress:
        report = lint_inputs(
            inputs,
            selection,
            waivers=config.waivers,
            today=today(),
            jobs=jobs,
            progress=progress,
            bundles=bundles,
        )
    lint_report = build_lint_report(reporting, config, report, inputs.locate, subjects, "validate-graph")
    exit_code = write_report(reporting, config, lint_report, output, started)
    inputs.raise_failed()
    return exit_code
