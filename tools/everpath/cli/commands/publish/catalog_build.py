"""`everpath catalog build`: build the image of a catalog, without a container engine."""

from __future__ import annotations

__all__ = ["build"]

import os
from typing import TYPE_CHECKING

import click

from everpath.app.images.build import ImageBuildOptions
from everpath.app.images.catalog import build_catalog_image
from everpath.cli.options.image_build import build_options, print_build_errors, write_built_image
from everpath.cli.options.registry import registry_options
from everpath.errors import ExitCode

if TYPE_CHECKING:
    from everpath.oci.registry import RegistryOptions


@click.command("build", short_help="Build a catalog image without a container engine.")
@click.argument("path", metavar="DIR")
@click.option(
    "--base",
    metavar="IMAGE",
    help="Base image with /bin/opm: in a registry, or oci:…, oci-archive:…, docker-archive:….",
)
@build_options
@registry_options
def build(
    *,
    path: str,
    base: str | None,
    options: ImageBuildOptions,
    print_digest: bool,
    dry_run: bool,
    registry: RegistryOptions,
) -> int:
    """Build the image of a file-based catalog. The same files give the same bytes, on any machine.

    DIR is a folder or file that `opm serve` accepts; the image has it as /configs. Without --base the image
    contains only the catalog: OLM v1 reads that, and OLM v0 with grpcPodConfig.extractContent. With a base
    image that has opm, the image serves the catalog itself. No daemon, Dockerfile or root permission is
    needed.

    \b
    $ everpath catalog build catalog/
    $ everpath catalog build catalog/ -o oci:out --tag v1 --print-digest
    $ everpath catalog build catalog/ --base quay.io/operator-framework/opm:v1.73.0

    \b
    Exit codes:
      0  built                        2  invalid options, or a file that cannot be written
      1  a catalog that opm rejects   3  input that cannot be read, or only in part
                                      4  a registry does not respond
    """
    with print_build_errors():
        built = build_catalog_image(path.rstrip(os.sep) or path, options, base=base, registry=registry)
    write_built_image(built, print_digest=print_digest, dry_run=dry_run)
    return ExitCode.CLEAN
