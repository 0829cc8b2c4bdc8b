"""`everpath bundle nest` and `everpath bundle flatten`, as in operator-courier."""

from __future__ import annotations

__all__ = ["flatten", "nest"]

from collections.abc import Callable

import click

from everpath.app import convert_manifests
from everpath.app.convert_manifests import ConvertedManifests
from everpath.cli.diagnostics import print_opm_error, print_warning
from everpath.cli.options.folders import dry_run_option, force_option, quiet_option, write_files
from everpath.errors import ExitCode
from everpath.loaders.sources import Sources
from everpath.model import OpmError


@click.command("nest", short_help="Convert flat package manifests to a folder for each version.")
@click.argument("source", metavar="FLAT")
@click.argument("out", metavar="OUT")
@dry_run_option
@force_option
@quiet_option
def nest(source: str, out: str, dry_run: bool, force: bool, quiet: bool) -> int:
    """Convert a flat folder of package manifests to a folder for each version.

    Each CSV is written to the folder of its version, with the CRDs that it owns. CRDs that no CSV owns, and
    other manifests, are written to every folder, as a registry that reads the flat folder does. The package
    file stays in OUT. YAML and JSON files are copied unchanged, all or none; others are ignored.

    \b
    $ everpath bundle nest flat/ new/
    add     new/1.0.0/op.v1.0.0.clusterserviceversion.yaml
    add     new/1.0.0/things.crd.yaml
    add     new/op.package.yaml
    3 files written.

    \b
    $ everpath bundle nest flat/ new/ --dry-run

    \b
    Exit codes:
      0  written              2  invalid options, or a folder that is not empty
      1  invalid manifests    3  input that cannot be read
    """
    return _print_conversion(
        lambda: convert_manifests.nest(source, out, force=force), dry_run=dry_run, quiet=quiet
    )


@click.command("flatten", short_help="Convert package manifests to one flat folder.")
@click.argument("source", metavar="NESTED")
@click.argument("out", metavar="OUT")
@dry_run_option
@force_option
@quiet_option
def flatten(source: str, out: str, dry_run: bool, force: bool, quiet: bool) -> int:
    """Convert package manifests with a folder for each version to one flat folder.

    Each CSV is written to a file with its name. Of each CRD, and of each other object, only the one beside
    the CSV of the highest version is written. Files are copied unchanged, all or none.

    \b
    $ everpath bundle flatten nested/ new/
    add     new/op.package.yaml
    add     new/op.v1.0.0.clusterserviceversion.yaml
    add     new/op.v1.1.0.clusterserviceversion.yaml
    add     new/things.crd.yaml
    4 files written.

    \b
    $ everpath bundle flatten nested/ new/ --dry-run

    \b
    Exit codes:
      0  written              2  invalid options, or a folder that is not empty
      1  invalid manifests    3  input that cannot be read
    """
    return _print_conversion(
        lambda: convert_manifests.flatten(source, out, force=force), dry_run=dry_run, quiet=quiet
    )


def _print_conversion(convert: Callable[[], ConvertedManifests], *, dry_run: bool, quiet: bool) -> int:
    """Convert, write the files, and list them."""
    sources = Sources()
    try:
        converted = convert()
    except OpmError as error:
        print_opm_error(error, sources)
        return ExitCode.FINDINGS
    for warning in () if quiet else converted.warnings:
        print_warning(warning, sources)
    write_files(converted.folder, converted.files, dry_run=dry_run, quiet=quiet)
    return ExitCode.CLEAN
