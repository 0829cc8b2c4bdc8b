"""`everpath catalog render`: render bundles, catalogs and templates."""

from __future__ import annotations

__all__ = ["render"]


import click

from everpath.app.render_catalog import MIGRATION, CatalogRenderer
from everpath.cli.diagnostics import print_opm_error, print_warning
from everpath.cli.output import write_output
from everpath.errors import ExitCode, UsageError
from everpath.loaders.fbc.catalog_writer import OUTPUT_FORMATS, catalog_text
from everpath.wording import count


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
    renderer = CatalogRenderer(
        bundles=dict(map(_parse_mapping, bundles)),
        catalogs=catalogs,
        image_template=image_ref_template,
        migrate=migrate_level == MIGRATION,
        pull=pull,
        on_warning=lambda warning: print_warning(warning, renderer.sources),
    )
    rendered = renderer.render_all(paths)
    for path in rendered.ignored:
        click.echo(f"note: {path} is ignored: no bundle, catalog or template", err=True)
    for error in rendered.errors:
        print_opm_error(error, renderer.sources)
    if rendered.errors:
        return ExitCode.FINDINGS
    write_output(catalog_text(rendered.blobs, output), output_file, machine=True)
    if output_file is not None:
        click.echo(f"{count(len(rendered.blobs), 'document')} written to {output_file}.", err=True)
    return ExitCode.CLEAN


def _parse_mapping(text: str) -> tuple[str, str]:
    image, equals, folder = text.rpartition("=")
    if not equals or not image or not folder:
        raise UsageError(f"--bundle {text!r} is not IMAGE=FOLDER", hint="write --bundle IMAGE=FOLDER")
    return image, folder
