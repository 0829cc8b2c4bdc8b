"""`everpath bundle verify`: package manifests, judged by every rule that can be asked of them."""

from __future__ import annotations

__all__ = ["verify"]

import sys
import time
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import click

from everpath.app.config import Config, load
from everpath.app.inputs import Inputs
from everpath.app.lint import select_rules, today
from everpath.cli.options import comma_list
from everpath.cli.report_options import report_options
from everpath.cli.report_output import build_lint_report, output_format, write_report
from everpath.cli.terminal import ProgressLine
from everpath.loaders.packagemanifest.bundles import load_package_for_lint
from everpath.rules.bundle.validators import find_validators
from everpath.rules.lint import (
    BUNDLE_SUBJECTS,
    CATALOG_SUBJECTS,
    LintResult,
    Selection,
    build_report,
    lint_bundle,
    lint_catalog,
)
from everpath.rules.registry import find_rules

_SUBJECTS: Final = CATALOG_SUBJECTS | BUNDLE_SUBJECTS
_PACKAGE_FILES: Final = "packagemanifest"
# About folders and annotations that package manifests do not have: the package file says it all.
_OF_BUNDLES: Final = ("bundle-layout", "required-annotation", "media-type", "annotation-folders")


class Request(NamedTuple):
    """The command line as it was given; None and empty mean that the configuration decides."""

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


@click.command("verify", short_help="Are these package manifests fit to be served?")
@click.argument("paths", nargs=-1, metavar="[DIR]...")
@click.option(
    "--select-optional",
    metavar="VALIDATORS",
    multiple=True,
    callback=comma_list,
    help="Ask optional validators, too: operatorhub/v2, good-practices, … or all.",
)
@report_options
def verify(**options: Any) -> int:
    """Are these package manifests fit to be served?

    DIR is a folder of package manifests, flat or with a folder for each version; without one, the current
    folder. Asks of the package file, of every CSV with what belongs to it, and of the upgrades between them
    what `bundle validate` and `validate-graph` ask of bundles and catalogs.

    \b
    $ everpath bundle verify m/ -o concise --select EP692
    m/op.package.yaml:3:3: EP692 error package-file-channels: op: the channel 'stable' has no currentCSV
    1 error in 1 package and 1 bundle.

    \b
    $ everpath bundle verify manifests/ --select-optional operatorhub
    $ everpath bundle verify manifests/ -o json --output-file findings.json

    \b
    Exit codes:
      0  no finding at or above --fail-on     2  a wrong command line or configuration
      1  some finding at or above --fail-on   3  input, or part of it, that cannot be read
    """
    return _verify(Request(**options))


def _verify(request: Request) -> int:
    began = time.perf_counter()
    config = load(request.config_file, wanted=not request.no_config)
    selection = _selection(request, config)
    output = output_format(request, config)
    paths = request.paths or (".",)
    with ProgressLine(sys.stderr, wanted=not (request.no_progress or request.quiet)) as progress:
        judged: list[LintResult] = []
        for number, path in enumerate(paths):
            progress(number, len(paths), path)
            judged += _judgements(path, selection)
    report = build_report(judged, selection, waivers=config.waivers, today=today())
    locate = Inputs(paths, config).locate
    outcome = build_lint_report(request, config, report, locate, _SUBJECTS, "bundle verify")
    return write_report(request, config, outcome, output, began)


def _selection(request: Request, config: Config) -> Selection:
    return Selection(
        rules=select_rules(request.select, config.select, _SUBJECTS),
        ignored=find_rules(request.ignore or config.ignore) | find_rules(_OF_BUNDLES),
        subjects=_SUBJECTS,
        validators=find_validators((*(request.select_optional or config.select_optional), _PACKAGE_FILES)),
    )


def _judgements(path: str, selection: Selection) -> Iterator[LintResult]:
    """On the upgrades, and on the manifests. The packages are the same, and counted once."""
    found = load_package_for_lint(path)
    yield lint_catalog(found.catalog, selection)
    for part in found.parts:
        yield lint_bundle(part, selection)._replace(bundle_packages=frozenset())
