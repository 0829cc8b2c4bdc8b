"""`everpath bundle verify`: check package manifests."""

from __future__ import annotations

__all__ = ["verify"]

import sys
import time
from typing import Any, Final, NamedTuple

import click

from everpath.app.config import load, select_rules, today
from everpath.app.inputs import Inputs
from everpath.app.lint_bundles import PACKAGE_MANIFEST_SUBJECTS, lint_package_manifests
from everpath.cli.options import comma_list
from everpath.cli.report_options import report_options
from everpath.cli.report_output import build_lint_report, output_format, write_report
from everpath.cli.terminal import ProgressLine
from everpath.rules.bundle.validators import find_validators
from everpath.rules.lint import Selection
from everpath.rules.registry import find_rules

_PACKAGE_FILE_VALIDATOR: Final = "packagemanifest"
# Rules about folders and annotations that package manifests do not have.
_BUNDLE_FORMAT_RULES: Final = ("bundle-layout", "required-annotation", "media-type", "annotation-folders")


class BundleVerifyOptions(NamedTuple):
    """The options of `bundle verify`; None and empty mean that the configuration decides."""

    paths: tuple[str, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    select_optional: tuple[str, ...]
    fail_on: str | None
    output: str | None
    output_file: str | None
    show: str | None
    config_file: str | None
    no_config: bool
    statistics: bool
    quiet: bool
    verbose: bool
    no_progress: bool


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
def verify(**options: Any) -> int:
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
    return _verify(BundleVerifyOptions(**options))


def _verify(options: BundleVerifyOptions) -> int:
    started = time.perf_counter()
    config = load(options.config_file, wanted=not options.no_config)
    optional = options.select_optional or config.select_optional
    selection = Selection(
        rules=select_rules(options.select, config.select, PACKAGE_MANIFEST_SUBJECTS),
        ignored=find_rules(options.ignore or config.ignore) | find_rules(_BUNDLE_FORMAT_RULES),
        subjects=PACKAGE_MANIFEST_SUBJECTS,
        validators=find_validators((*optional, _PACKAGE_FILE_VALIDATOR)),
    )
    output = output_format(options, config)
    paths = options.paths or (".",)
    with ProgressLine(sys.stderr, wanted=not (options.no_progress or options.quiet)) as progress:
        report = lint_package_manifests(
            paths, selection, waivers=config.waivers, today=today(), progress=progress
        )
    locate = Inputs(paths, config).locate
    subjects = PACKAGE_MANIFEST_SUBJECTS
    lint_report = build_lint_report(options, config, report, locate, subjects, "bundle verify")
    return write_report(options, config, lint_report, output, started)
