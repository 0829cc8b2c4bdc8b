"""`everpath bundle build`: build the image of a bundle, without a container engine."""

from __future__ import annotations

__all__ = ["build"]

import os

import click

from everpath.app.images.build import ImageBuildOptions
from everpath.app.images.bundle import build_bundle_image
from everpath.cli.options.image_build import build_options, print_build_errors, write_built_image
from everpath.cli.output import print_warnings
from everpath.errors import ExitCode


@click.command("build", short_help="Build the image of a bundle, without a container engine.")
@click.argument("folder", metavar="DIR")
@build_options
def build(folder: str, options: ImageBuildOptions, print_digest: bool, dry_run: bool) -> int:
    """Build the image of a bundle. The same files give the same bytes, on any machine.

    DIR contains manifests/ and metadata/. The image has these folders, and tests/ if it exists. Its labels
    are the annotations of metadata/annotations.yaml. No daemon, Dockerfile or root permission is needed.

    \b
    $ everpath bundle build bundles/searchkeeper/0.3.1
    $ everpath bundle build bundles/searchkeeper/0.3.1 -o oci:out --tag v0.3.1
    $ everpath bundle build bundles/searchkeeper/0.3.1 --dry-run --print-digest

    \b
    Exit codes:
      0  built                            2  invalid options, or a file that cannot be written
      1  a bundle that OLM cannot use     3  input that cannot be read, or only in part
    """
    with print_build_errors():
        built = build_bundle_image(
            folder.rstrip(os.sep) or folder,
            options,
            on_warning=lambda warning: print_warnings([warning]),
        )
    write_built_image(built, print_digest=print_digest, dry_run=dry_run)
    return ExitCode.CLEAN
