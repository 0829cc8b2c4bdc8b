"""`everpath bundle nest` and `everpath bundle flatten`: operator-courier's verbs, decided by versions."""

from __future__ import annotations

__all__ = ["flatten", "nest"]

from collections.abc import Callable

import click

from everpath.app.output_folder import require_free_folder
from everpath.cli.diagnostics import print_refusal, print_warning
from everpath.cli.folder_options import dry_run_option, force_option, quiet_option, write_files
from everpath.errors import ExitCode
from everpath.loaders.packagemanifest.flatten import FileMoves, flatten_manifests, nest_manifests
from everpath.loaders.packagemanifest.package_folder import PackageFolder, load_package_folder
from everpath.loaders.sources import Sources
from everpath.model import OpmError


@click.command("nest", short_help="A flat folder of package manifests as one folder a version.")
@click.argument("source", metavar="FLAT")
@click.argument("out", metavar="OUT")
@dry_run_option
@force_option
@quiet_option
def nest(source: str, out: str, dry_run: bool, force: bool, quiet: bool) -> int:
    """Write a flat folder of package manifests as one folder a version.

    Each CSV goes into the folder of its version, together with the CRDs that it owns; CRDs that nobody owns
    and other manifests go into every folder, as a registry that reads the flat one has it. The package file
    stays on top. Files are copied as they are, all or none; only YAML and JSON files are looked at.

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
      0  written                       2  a wrong command line, a folder that is not empty
      1  manifests that make no sense  3  input that cannot be read
    """
    return _moved(nest_manifests, source, out, dry_run=dry_run, force=force, quiet=quiet)


@click.command("flatten", short_help="Folders of versions as one flat folder.")
@click.argument("source", metavar="NESTED")
@click.argument("out", metavar="OUT")
@dry_run_option
@force_option
@quiet_option
def flatten(source: str, out: str, dry_run: bool, force: bool, quiet: bool) -> int:
    """Write package manifests in folders of versions as one flat folder.

    Each CSV gets a file named after it. Of each CRD, and of each other object, the newest stays: the one
    beside the CSV of the highest version, whatever the folders are called. Files are copied as they are, all
    or none.

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
      0  written                       2  a wrong command line, a folder that is not empty
      1  manifests that make no sense  3  input that cannot be read
    """
    return _moved(flatten_manifests, source, out, dry_run=dry_run, force=force, quiet=quiet)


def _moved(
    move: Callable[[PackageFolder], FileMoves],
    source: str,
    out: str,
    *,
    dry_run: bool,
    force: bool,
    quiet: bool,
) -> int:
    sources = Sources()
    target = require_free_folder(source, out, force=force)
    folder = load_package_folder(source)
    try:
        moves = move(folder)
    except OpmError as refusal:
        print_refusal(refusal, sources)
        return ExitCode.FINDINGS
    for remark in () if quiet else moves.remarks:
        print_warning(remark.message, remark.place, None, sources)
    files = {name: folder.content(place) for name, place in moves.files.items()}
    write_files(target, files, dry_run=dry_run, quiet=quiet)
    return ExitCode.CLEAN
