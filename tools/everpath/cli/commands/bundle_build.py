"""`everpath bundle build`: build the image of a bundle, without a container engine."""

from __future__ import annotations

__all__ = ["build", "recipe_of"]

import os
from collections.abc import Sequence
from typing import Any

import click

from everpath.app.bundle_image import bundle_errors, bundle_labels, is_unreadable, load_bundle_members
from everpath.cli.diagnostics import print_warning
from everpath.cli.image_build_options import (
    Request,
    build_options,
    created,
    pairs,
    place,
    platforms,
    tell_refusals,
    write,
)
from everpath.errors import ExitCode
from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.loaders.sources import Sources
from everpath.model import Place
from everpath.model.bundle_contents import Contents
from everpath.oci.build import ImageSpec
from everpath.oci.descriptors import Platform


@click.command("build", short_help="Build the image of a bundle, without a container engine.")
@click.argument("folder", metavar="DIR")
@build_options
def build(folder: str, **options: Any) -> int:
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
    return _build(folder.rstrip(os.sep) or folder, Request(**options))


def _build(folder: str, request: Request) -> int:
    contents = load_bundle_contents(folder)
    location = place(request, folder, contents.csv.name if contents.csv else "")
    spec = _image_spec(folder, contents, request, platforms(request, location))
    if not isinstance(spec, ImageSpec):
        return spec
    write(request, spec, location)
    return ExitCode.CLEAN


def recipe_of(folder: str, request: Request) -> ImageSpec | ExitCode:
    """Return the spec of a bundle's image; an exit code if OLM could not use it, after printing the errors.

    Raises UsageError and UnreadableInput.
    """
    return _image_spec(folder, load_bundle_contents(folder), request, ())


def _image_spec(
    folder: str, contents: Contents, request: Request, wanted: Sequence[Platform]
) -> ImageSpec | ExitCode:
    epoch = created(os.environ)
    sources = Sources()
    errors = [] if request.no_check else list(bundle_errors(folder, contents))
    if tell_refusals(errors, sources, "OLM could not use the bundle"):
        return ExitCode.UNREADABLE if is_unreadable(contents) else ExitCode.FINDINGS
    labels = bundle_labels(folder, contents)
    files = load_bundle_members(folder, contents)
    for file in files.left_out:
        print_warning(f"{file} is not in the image: OLM does not read it", Place(""), None, sources)
    return ImageSpec(
        files.members,
        {**labels, **pairs("--label", request.labels, labels)},
        pairs("--annotation", request.annotations),
        wanted,
        request.compression,
        epoch,
        "everpath bundle build",
    )
