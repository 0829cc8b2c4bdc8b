"""`everpath catalog render`: render bundles, catalogs and templates."""

from __future__ import annotations

__all__ = ["render"]

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from everpath.app.render_catalog import MIGRATION, CatalogRenderer
from everpath.cli.diagnostics import print_refusal, print_warning
from everpath.cli.output import write_output
from everpath.errors import ExitCode, UsageError
from everpath.loaders.bundle.detect import is_bundle_folder
from everpath.loaders.fbc.catalog_writer import OUTPUT_FORMATS, catalog_text
from everpath.loaders.sources import STANDARD_INPUT
from everpath.model import OpmError
from everpath.opm_render.bundles import Blob
from everpath.reporters.formatting import count

#: In every document of a catalog, and in every template.
_SCHEMA: Final = b"schema"


@click.command("render", short_help="Render bundles, catalogs and templates.")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option(
    "--format",
    "-o",
    "--output",
    "output",
    type=click.Choice(OUTPUT_FORMATS),
    default="yaml",
    show_default=True,
    help="The format of the catalog; -o as in opm.",
)
@click.option(
    "--migrate-level",
    type=click.Choice(["none", MIGRATION]),
    default="none",
    show_default=True,
    help="The migration of opm to apply to every bundle that has an image.",
)
@click.option(
    "--image-ref-template",
    metavar="TEXT",
    default="",
    help="The image of bundles in folders: {{.Package}}, {{.Name}} and {{.Version}} are replaced.",
)
@click.option(
    "--bundle",
    "bundles",
    metavar="IMAGE=FOLDER",
    multiple=True,
    help="The folder of an image that a template names; may be repeated.",
)
@click.option(
    "--from",
    "catalogs",
    metavar="CATALOG",
    multiple=True,
    help="A catalog with bundles whose images a template names; may be repeated.",
)
@click.option(
    "--pull",
    is_flag=True,
    help="Pull images of a template that neither --bundle nor --from provides.",
)
@click.option("--output-file", metavar="FILE", help="Write the catalog to this file atomically.")
def render(  # noqa: PLR0913 - a parameter for each option
    *,
    paths: tuple[str, ...],
    output: str,
    migrate_level: str,
    image_ref_template: str,
    bundles: tuple[str, ...],
    catalogs: tuple[str, ...],
    pull: bool,
    output_file: str | None,
) -> int:
    """Render bundles, catalogs and templates to a catalog, with the same bytes as opm.

    PATH is a bundle's folder, a file-based catalog (folder, file, - for standard input), an image of either,
    or a template of opm: olm.template.basic, olm.semver, olm.template.substitutes. The images that a template
    names come from --bundle or --from, or are pulled with --pull. A bundle is rendered to an olm.bundle
    document only: package and channels come from a template, or from `everpath generate`.

    \b
    $ everpath catalog render bundles/searchkeeper/0.3.1
    $ everpath catalog render bundles/searchkeeper/* --image-ref-template 'r.example/op:v{{.Version}}'
    $ everpath catalog render template.yaml --from catalog/ --output-file catalog.yaml
    $ everpath catalog render quay.io/me/searchkeeper-bundle:v0.3.1

    \b
    Exit codes:
      0  written                   3  input that cannot be read
      1  input that opm rejects    4  a registry does not respond
      2  invalid options
    """
    if (*paths, *catalogs).count(STANDARD_INPUT) > 1:
        raise UsageError("standard input can be read only once", hint="give - a single time")
    if not paths:
        raise UsageError("nothing to render", hint="name a bundle's folder, a catalog or a template")
    renderer = CatalogRenderer(
        bundles=dict(map(_parse_mapping, bundles)),
        catalogs=catalogs,
        image_template=image_ref_template,
        migrate=migrate_level == MIGRATION,
        pull=pull,
        on_warning=lambda warning: print_warning(*warning, renderer.sources),
    )
    blobs: list[Blob] = []
    has_errors = False
    for path in _without_other_files(paths):
        try:
            blobs += renderer.render(path.rstrip(os.sep) or path)
        except OpmError as error:
            print_refusal(error, renderer.sources)
            has_errors = True
    if has_errors:
        return ExitCode.FINDINGS
    write_output(catalog_text(blobs, output), output_file, machine=True)
    if output_file is not None:
        click.echo(f"{count(len(blobs), 'document')} written to {output_file}.", err=True)
    return ExitCode.CLEAN


def _without_other_files(paths: Sequence[str]) -> Iterator[str]:
    """Yield the paths without files that a shell pattern such as `bundles/acme/*` adds: ci.yaml, OWNERS."""
    parents = {Path(path).parent for path in paths if Path(path).is_dir() and is_bundle_folder(path)}
    for path in paths:
        file = Path(path)
        if file.parent in parents and file.is_file() and _SCHEMA not in file.read_bytes():
            click.echo(f"note: {path} is ignored: no bundle, catalog or template", err=True)
        else:
            yield path


def _parse_mapping(text: str) -> tuple[str, str]:
    image, equals, folder = text.rpartition("=")
    if not equals or not image or not folder:
        raise UsageError(f"--bundle {text!r} is not IMAGE=FOLDER", hint="write --bundle IMAGE=FOLDER")
    return image, folder
