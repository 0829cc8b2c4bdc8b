"""`everpath migrate`: package manifests to bundles, and either to a file-based catalog."""

from __future__ import annotations

__all__ = ["migrate"]

import errno
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from everpath.app.config import load
from everpath.app.image_inputs import local_path
from everpath.app.inputs import Inputs, PackageNames, unreadable_parts
from everpath.app.output_folder import require_free_folder
from everpath.cli.diagnostics import print_refusal, print_warning
from everpath.cli.folder_options import dry_run_option, force_option, quiet_option, write_files
from everpath.cli.options import package_option, progress_option, update_mode_option
from everpath.cli.output import write_output
from everpath.cli.terminal import ProgressLine
from everpath.errors import ExitCode, UsageError
from everpath.loaders.bundle.detect import is_bundle_folder, is_package_manifest, is_repository
from everpath.loaders.fbc.catalog_writer import OUTPUT_FORMATS
from everpath.loaders.packagemanifest.migration import MigratedPackage, Migration
from everpath.loaders.packagemanifest.package_folder import unreadable_file
from everpath.loaders.sources import unreadable_input as cannot_read
from everpath.model import OpmError, Package


class _Request(NamedTuple):
    """The command line."""

    source: str
    out: str
    packages: tuple[str, ...]
    suffix: str
    image_ref_template: str
    default_update_mode: str | None
    skip_refused: bool
    dry_run: bool
    force: bool
    quiet: bool
    no_progress: bool


@click.command("migrate", short_help="Package manifests or bundles as a file-based catalog.")
@click.argument("source", metavar="SOURCE")
@click.argument("out", metavar="OUT")
@package_option
@click.option(
    "--format",
    "suffix",
    type=click.Choice(OUTPUT_FORMATS),
    default="yaml",
    show_default=True,
    help="How to spell the catalog.",
)
@click.option(
    "--image-ref-template",
    metavar="TEXT",
    default="",
    help="The images of the bundles: {{.Package}}, {{.Name}} and {{.Version}} are filled in.",
)
@update_mode_option
@click.option("--skip-refused", is_flag=True, help="Leave out packages that opm would refuse, and go on.")
@dry_run_option
@force_option
@quiet_option
@progress_option
def migrate(**options: Any) -> int:
    """Write package manifests as bundles, and package manifests or bundles as a file-based catalog.

    SOURCE is a folder of package manifests, an operators repository, the folder of one of its packages, or of
    one bundle. The catalog has the upgrades that SOURCE has: each channel entry by entry, as a registry that
    reads SOURCE computes it. Bundles stay where they are; those made of package manifests go to OUT/bundles.
    Without --image-ref-template the catalog carries the manifests of the bundles itself.

    \b
    $ everpath migrate manifests/ new/
    add     new/bundles/op/1.0.0/manifests/op.v1.0.0.clusterserviceversion.yaml
    add     new/bundles/op/1.0.0/manifests/things.crd.yaml
    add     new/bundles/op/1.0.0/metadata/annotations.yaml
    add     new/bundles/op/ci.yaml
    add     new/catalog/op/catalog.yaml
    5 files written.
    next: everpath validate-graph new/catalog

    \b
    $ everpath migrate manifests/ new/ --image-ref-template 'quay.io/me/{{.Package}}-bundle:v{{.Version}}'
    $ everpath migrate operators/ new/ -p op --format json --dry-run

    \b
    Exit codes:
      0  written                 2  a wrong command line, a folder that is not empty
      1  what opm would refuse   3  input that cannot be read
    """
    return _migrate(_Request(**options))


def _migrate(request: _Request) -> int:
    request = request._replace(source=local_path(request.source))
    target = require_free_folder(request.source, request.out, force=request.force)
    _require_bundles(request.source)
    inputs = Inputs((request.source,), load(None, wanted=False), request.default_update_mode, thorough=True)
    with ProgressLine(sys.stderr, wanted=not (request.no_progress or request.quiet)) as progress:
        chosen = _chosen(request, inputs, progress)
        done, refused = _migrated(request, chosen, progress)
    for refusal in refused:
        print_refusal(refusal, inputs.sources)
    if refused and not (request.skip_refused and done):
        return ExitCode.FINDINGS
    for remark in (remark for one in done if not request.quiet for remark in one.remarks):
        print_warning(remark.message, remark.place, None, inputs.sources)
    files = {name: content for one in done for name, content in one.files.items()}
    write_files(target, files, dry_run=request.dry_run, quiet=request.quiet)
    if not (request.dry_run or request.quiet):
        # The bundles beside it are no input of validate-graph together with it.
        write_output(
            [f"next: everpath validate-graph {shlex.quote(str(target / 'catalog'))}\n"], None, machine=False
        )
    return ExitCode.CLEAN


def _require_bundles(source: str) -> None:
    if not Path(source).exists():
        absent = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        raise cannot_read(source, absent, "package manifests and bundles are folders")
    if not (is_package_manifest(source) or is_bundle_folder(source) or is_repository(source)):
        raise UsageError(
            f"{source} holds no package manifests and no bundles",
            hint="give a folder with a package file, or an operators repository; "
            "everpath catalog render writes a catalog again",
        )


def _chosen(request: _Request, inputs: Inputs, progress: ProgressLine) -> Sequence[Package]:
    """The packages to migrate. Raises `UnreadableInput` where some file of them cannot be read."""
    catalog = inputs.load(request.source, progress)
    inputs.add_names(PackageNames.of(catalog))
    inputs.verify_names(request.packages, ())
    chosen = [p for p in catalog.packages if not request.packages or p.name in request.packages]
    names = {package.name for package in chosen}
    for problem in unreadable_parts(catalog):
        if not request.packages or problem.package in names:
            raise unreadable_file(problem)
    return chosen


def _migrated(
    request: _Request, packages: Sequence[Package], progress: ProgressLine
) -> tuple[list[MigratedPackage], list[OpmError]]:
    migration = Migration(request.source, request.image_ref_template, request.suffix)
    done: list[MigratedPackage] = []
    refused: list[OpmError] = []
    for number, package in enumerate(packages):
        progress(number, len(packages), package.name)
        try:
            done.append(migration.package(package))
        except OpmError as refusal:
            refused.append(refusal)
    return done, refused
