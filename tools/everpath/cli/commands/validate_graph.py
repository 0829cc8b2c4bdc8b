"""`everpath validate-graph`: lint the upgrade graphs of catalogs."""

from __future__ import annotations

__all__ = ["validate_graph"]

import sys
import time
from typing import Any, Final, NamedTuple

import click

from everpath.app.config import POLICIES, Config, load, select_rules, today
from everpath.app.inputs import Inputs
from everpath.app.lint import lint_inputs
from everpath.cli.options import channel_option, package_option, update_mode_option
from everpath.cli.report_options import report_options
from everpath.cli.report_output import build_lint_report, output_format, write_report
from everpath.cli.terminal import ProgressLine
from everpath.rules.lint import CATALOG_SUBJECTS, PackageCrds, Selection
from everpath.rules.registry import find_rules

_MAX_JOBS: Final = 64


class ValidateGraphOptions(NamedTuple):
    """The options of `everpath validate-graph`; None and empty mean that the configuration decides."""

    paths: tuple[str, ...]
    packages: tuple[str, ...]
    channels: tuple[str, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    fail_on: str | None
    policy: str | None
    output: str | None
    output_file: str | None
    show: str | None
    config_file: str | None
    no_config: bool
    statistics: bool
    thorough: bool
    bundles: tuple[str, ...]
    default_update_mode: str | None
    quiet: bool
    verbose: bool
    no_progress: bool
    jobs: int | None


@click.command("validate-graph", short_help="Check the upgrade graph of a catalog.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@package_option
@channel_option
@click.option(
    "--policy", type=click.Choice(POLICIES), help="Check upgrades under this OLM version.  [default: both]"
)
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
def validate_graph(**options: Any) -> int:
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
    return _validate_graph(ValidateGraphOptions(**options))


def _validate_graph(options: ValidateGraphOptions) -> int:
    started = time.perf_counter()
    config = load(options.config_file, wanted=not options.no_config)
    selection = _selection(options, config)
    inputs = Inputs(options.paths, config, options.default_update_mode, options.thorough)
    output = output_format(options, config)
    with ProgressLine(sys.stderr, wanted=not (options.no_progress or options.quiet)) as progress:
        report = lint_inputs(
            inputs,
            selection,
            waivers=config.waivers,
            today=today(),
            jobs=options.jobs,
            progress=progress,
            crds=_package_crds(options.bundles),
        )
    inputs.raise_failed(only_if_all=True)
    # A selected package may be in a part that could not be read; the report says so.
    if not report.unreadable and not inputs.failed:
        inputs.verify_names(selection.packages, selection.channels)
    lint_report = build_lint_report(
        options, config, report, inputs.locate, selection.subjects, "validate-graph"
    )
    exit_code = write_report(options, config, lint_report, output, started)
    inputs.raise_failed()
    return exit_code


def _selection(options: ValidateGraphOptions, config: Config) -> Selection:
    policy = options.policy or config.policy
    subjects = CATALOG_SUBJECTS | {"upgrade"} if options.bundles else CATALOG_SUBJECTS
    return Selection(
        rules=select_rules(options.select, config.select, subjects),
        ignored=find_rules(options.ignore or config.ignore),
        packages=frozenset(options.packages or config.packages),
        channels=frozenset(options.channels or config.channels),
        policy="v0" if policy == "v0" else "v1" if policy == "v1" else None,
        subjects=subjects,
    )


def _package_crds(folders: tuple[str, ...]) -> PackageCrds | None:
    if not folders:
        return None
    from everpath.loaders.bundle.crds import bundle_crds_loader  # noqa: PLC0415 - only for --bundles

    return bundle_crds_loader(folders)
