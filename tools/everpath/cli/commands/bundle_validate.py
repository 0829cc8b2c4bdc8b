"""`everpath bundle validate`: every check of opm and operator-framework/api, with a place and a remedy."""

from __future__ import annotations

__all__ = ["validate"]

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from everpath.app import worker_processes
from everpath.app.config import Config, load
from everpath.app.image_inputs import local_path
from everpath.app.inputs import Inputs
from everpath.app.lint import select_rules, today
from everpath.app.released_bundles import advise_next_release
from everpath.cli.options import comma_list, package_option
from everpath.cli.report_options import report_options
from everpath.cli.report_output import build_lint_report, output_format, write_report
from everpath.cli.terminal import ProgressLine
from everpath.errors import UnreadableInput, UsageError
from everpath.loaders.bundle.bundle_folder import (
    BundleFolders,
    ValidationTarget,
    find_bundle_folders,
    load_bundle_for_validation,
    load_package_file,
)
from everpath.loaders.catalog_loader import Progress
from everpath.loaders.partition import Partition
from everpath.model import Place
from everpath.model.bundle_contents import ValidationInput
from everpath.rules.bundle.validators import find_validators
from everpath.rules.lint import BUNDLE_SUBJECTS, LintResult, Selection, build_report, lint_bundle
from everpath.rules.registry import find_rules
from everpath.versions import VersionError, parse_tolerant

# Fewer bundles are read sooner than a process is started.
_MANY: Final = 30
_CATEGORIES: Final = "OPERATOR_BUNDLE_CATEGORIES"


class Request(NamedTuple):
    """The command line as it was given; None and empty mean that the configuration decides."""

    paths: tuple[str, ...]
    packages: tuple[str, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    select_optional: tuple[str, ...]
    kube_version: str | None
    categories: str | None
    labels: str | None
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
    jobs: int | None


@click.command("validate", short_help="Will OLM install this bundle, and OperatorHub take it?")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@package_option
@click.option(
    "--select-optional",
    metavar="VALIDATORS",
    multiple=True,
    callback=comma_list,
    help="Ask optional validators, too: operatorhub/v2, good-practices, … or all.",
)
@click.option(
    "--kube-version", metavar="VERSION", help="The Kubernetes it is for: APIs removed by then are errors."
)
@click.option(
    "--categories", metavar="FILE", help="The categories of your catalog, as JSON.  [default: OperatorHub's]"
)
@click.option(
    "--labels", metavar="FILE", help="The Dockerfile that labels the image.  [default: annotations.yaml]"
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Judge with this many processes.  [default: one a processor, at most 4, if there are many bundles]",
)
@report_options
def validate(**options: Any) -> int:
    """Will OLM install this bundle, and OperatorHub take it?

    Asks whatever opm alpha bundle validate and operator-framework/api ask, and what only we do. A PATH is a
    bundle's folder, a package's folder of such, or an operators repository. Without one: bundles/, or the
    current folder.

    \b
    $ everpath bundle validate bundles/op/1.2.0
    package op: 1 error

    \b
    error[EP654 owned-crd-missing]: op.v1.2.0: the CSV owns Op (example.com/v1), and no CRD defines it
      --> bundles/op/1.2.0/manifests/op.clusterserviceversion.yaml:15:7
       |
    15 |     - name: ops.example.com
       |       ^^^^^^^^^^^^^^^^^^^^^
       = because: the bundle has no CRD of this kind
                  opm says: owned CRD not found in bundle
       = fix: add the CRD to manifests/, or remove it from the owned ones

    \b
    1 error in 1 package and 1 bundle.

    \b
    $ everpath bundle validate operators/ --select-optional operatorhub,good-practices --statistics
    $ everpath bundle validate . --select-optional alpha-deprecated-apis --kube-version 1.29

    \b
    Exit codes:
      0  no finding at or above --fail-on     2  a wrong command line or configuration
      1  some finding at or above --fail-on   3  input, or part of it, that cannot be read
    """
    return _validate(Request(**options))


def _validate(request: Request) -> int:
    began = time.perf_counter()
    config = load(request.config_file, wanted=not request.no_config)
    selection = _selection(request, config)
    surroundings = _surroundings(request, config)
    output = output_format(request, config)
    found = _together([find_bundle_folders(local_path(path)) for path in request.paths or (_default_path(),)])
    _verify(selection.packages, found)
    with ProgressLine(sys.stderr, wanted=not (request.no_progress or request.quiet)) as progress:
        judged = list(_judgements(found, surroundings, selection, request.jobs, progress))
        report = build_report(judged, selection, waivers=config.waivers, today=today())
        report = advise_next_release(report, (path for _, path in found.folders))
    locate = Inputs(request.paths, config).locate
    outcome = build_lint_report(request, config, report, locate, BUNDLE_SUBJECTS, "bundle validate")
    return write_report(request, config, outcome, output, began)


def _default_path() -> str:
    return "bundles" if Path("bundles").is_dir() else "."


def _selection(request: Request, config: Config) -> Selection:
    return Selection(
        rules=select_rules(request.select, config.select, BUNDLE_SUBJECTS),
        ignored=find_rules(request.ignore or config.ignore),
        packages=frozenset(request.packages or config.packages),
        subjects=BUNDLE_SUBJECTS,
        validators=find_validators(request.select_optional or config.select_optional),
    )


def _surroundings(request: Request, config: Config) -> ValidationTarget:
    version = request.kube_version or config.kube_version or ""
    try:
        if version:
            parse_tolerant(version)
    except VersionError as error:
        raise UsageError(f"--kube-version {error}", hint="write it like 1.29.0") from error
    return ValidationTarget(version, _categories(request.categories), _labels(request.labels))


def _categories(file: str | None) -> frozenset[str] | None:
    """The categories a JSON file lists, as operator-framework/api takes them."""
    file = file or os.environ.get(_CATEGORIES)
    if not file:
        return None
    import json  # noqa: PLC0415

    try:
        listed = json.loads(_text(file))["categories"]
        return frozenset(map(str, listed))
    except (ValueError, LookupError, TypeError) as error:
        hint = 'write {"categories": ["Database", …]}'
        raise UnreadableInput(f"{file} lists no categories", hint=hint, file=file) from error


def _labels(file: str | None) -> tuple[Place, str] | None:
    return (Place(file), _text(file)) if file else None


def _text(file: str) -> str:
    try:
        # Not read_text, which would make one character of the two that end a line on Windows.
        return Path(file).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise UnreadableInput(f"cannot read {file}: {error.strerror or error}", file=file) from error


def _together(found: Sequence[BundleFolders]) -> BundleFolders:
    """What all paths hold: a package whose bundles are named one by one is one package. Each folder once."""
    folders = dict.fromkeys(folder for place in found for folder in place.folders)
    return BundleFolders(tuple(folders), tuple(file for place in found for file in place.package_files))


def _verify(packages: frozenset[str], found: BundleFolders) -> None:
    """Raise UsageError for a package that has no folder: a typo must not look like a clean bundle."""
    names = {name for name, _ in found.folders}
    for name in sorted(packages - names):
        near = get_close_matches(name, sorted(names), n=1)
        hint = f"did you mean {near[0]!r}?" if near else "packages go by the names of their folders here"
        raise UsageError(f"no package is called {name!r}", hint=hint)


def _judgements(
    found: BundleFolders,
    surroundings: ValidationTarget,
    selection: Selection,
    jobs: int | None,
    progress: Progress | None,
) -> Iterator[LintResult]:
    """Lint the selected bundles and package files; each process lints a partition of them."""
    chosen = [f for f in found.folders if selection.has_package(f[0])]
    is_worth_it = worker_processes.can_fork() and len(chosen) >= _MANY
    count = (
        jobs
        if jobs and worker_processes.can_fork()
        else worker_processes.usable_processors()
        if is_worth_it
        else 1
    )

    def part(number: int, partition: Partition | None = None) -> list[LintResult]:
        mine = (partition or Partition(number, count)).select(chosen, folder=lambda f: f[0])
        told = progress if number == 0 else None
        return [lint_bundle(folder, selection) for folder in _read(mine, surroundings, told)]

    for number, results in enumerate(worker_processes.run_in_processes(part, count)):
        yield from part(0, Partition(number, count)) if results is None else results
    if not selection.packages and found.package_files:
        yield from (lint_bundle(load_package_file(path), selection) for path in found.package_files)


def _read(
    folders: Sequence[tuple[str, str]],
    surroundings: ValidationTarget,
    progress: Callable[[int, int, str], None] | None,
) -> Iterator[ValidationInput]:
    for done, (package, path) in enumerate(folders):
        if progress is not None:
            progress(done, len(folders), package)
        yield load_bundle_for_validation(path, surroundings)
