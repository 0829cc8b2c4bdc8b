"""`everpath migrate`: convert package manifests to bundles, and either to a file-based catalog."""

from __future__ import annotations

__all__ = ["migrate"]

import shlex
import sys

import click

from everpath.app.config.config import Config
from everpath.app.inputs.image_inputs import pull_if_image
from everpath.app.inputs.inputs import Inputs
from everpath.app.migrate import migrate_packages, require_bundles
from everpath.app.output_folder import require_free_folder
from everpath.cli.diagnostics import print_opm_error, print_warning
from everpath.cli.options.common import package_option, progress_option, update_mode_option
from everpath.cli.options.folders import dry_run_option, force_option, quiet_option, write_files
from everpath.cli.output import write_output
from everpath.cli.terminal import ProgressLine
from everpath.errors import ExitCode
from everpath.loaders.fbc.catalog_writer import OUTPUT_FORMATS


@click.command("migrate", short_help="Convert package manifests or bundles to a catalog.")
@click.argument("source", metavar="SOURCE")
@click.argument("out", metavar="OUT")
@package_option
@click.option(
    "--format",
    "suffix",
    type=click.Choice(OUTPUT_FORMATS),
    default="yaml",
    show_default=True,
    help="The format of the catalog.",
)
@click.option(
    "--image-ref-template",
    metavar="TEXT",
    default="",
    help="The image of each bundle: {{.Package}}, {{.Name}} and {{.Version}} are replaced.",
)
@update_mode_option
@click.option("--skip-refused", is_flag=True, help="Omit packages that opm would reject.")
@dry_run_option
@force_option
@quiet_option
@progress_option
def migrate(  # noqa: PLR0913 - a parameter for each option
    *,
    source: str,
    out: str,
    packages: tuple[str, ...],
    suffix: str,
    image_ref_template: str,
    default_update_mode: str | None,
    skip_refused: bool,
    dry_run: bool,
    force: bool,
    quiet: bool,
    no_progress: bool,
) -> int:
    """Convert package manifests to bundles, and package manifests or bundles to a file-based catalog.

    SOURCE is a folder of package manifests, an operators repository, the folder of one of its packages, or of
    one bundle. The catalog has the same upgrade paths as SOURCE. Bundles stay where they are; those of
    package manifests are written to OUT/bundles. Without --image-ref-template, the catalog contains the
    manifests of the bundles.

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
      0  written                   2  invalid options, or a folder that is not empty
      1  input that opm rejects    3  input that cannot be read
    """
    source = pull_if_image(source)
    target = require_free_folder(source, out, force=force)
    require_bundles(source)
    inputs = Inputs((source,), Config(), default_update_mode, thorough=True)
    with ProgressLine(sys.stderr, wanted=not (no_progress or quiet)) as progress:
        result = migrate_packages(
            inputs, packages, image_template=image_ref_template, suffix=suffix, progress=progress
        )
    for error in result.errors:
        print_opm_error(error, inputs.sources)
    if result.errors and not (skip_refused and result.packages):
        return ExitCode.FINDINGS
    if not quiet:
        for warning in (warning for package in result.packages for warning in package.warnings):
            print_warning(warning, inputs.sources)
    write_files(target, result.files, dry_run=dry_run, quiet=quiet)
    if not (dry_run or quiet):
        # Only the catalog: together with the bundles, every bundle would be declared twice.
        catalog = shlex.quote(str(target / "catalog"))
        write_output([f"next: everpath validate-graph {catalog}\n"], None, machine=False)
    return ExitCode.CLEAN
