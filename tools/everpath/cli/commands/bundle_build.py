"""`everpath bundle build`: the image of a bundle, without a container engine."""

from __future__ import annotations

__all__ = ["build", "recipe_of"]

import os
from collections.abc import Iterator, Sequence
from typing import Any, Final

import click

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
from everpath.errors import ExitCode, UnreadableInput
from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.loaders.bundle.bundle_folder import ValidationTarget, load_bundle_for_validation
from everpath.loaders.sources import Sources
from everpath.model import OpmError, Place
from everpath.model.bundle_contents import Contents
from everpath.oci.build import ImageSpec
from everpath.oci.build_context import BundleMembers, bundle_members
from everpath.oci.descriptors import Platform
from everpath.opm_render.bundles import render_bundle
from everpath.rules.lint import BUNDLE_SUBJECTS, Selection, lint_bundle

# Annotations that are missing, of another media type, or point to folders that the image does not have.
_LABELS: Final = frozenset({"EP603", "EP604", "EP605"})
# A version that is none, and what else opm refuses a catalog for that has the bundle.
_RULES: Final = _LABELS | {f"EP{number}" for number in range(401, 409)}

_UNREADABLE: Final = "unreadable-document"


@click.command("build", short_help="The image of a bundle, without a container engine.")
@click.argument("folder", metavar="DIR")
@build_options
def build(folder: str, **options: Any) -> int:
    """Build the image of a bundle: the same bytes from the same files, on any machine.

    DIR holds manifests/ and metadata/. The image has them, and tests/ where there is one; its labels are the
    annotations of metadata/annotations.yaml. No daemon, no Dockerfile and no root is needed.

    \b
    $ everpath bundle build bundles/searchkeeper/0.3.1
    $ everpath bundle build bundles/searchkeeper/0.3.1 -o oci:out --tag v0.3.1
    $ everpath bundle build bundles/searchkeeper/0.3.1 --dry-run --print-digest

    \b
    Exit codes:
      0  built                   2  a wrong command line, or a file that cannot be written
      1  what OLM would refuse   3  input, or part of it, that cannot be read
    """
    return _build(folder.rstrip(os.sep) or folder, Request(**options))


def _build(folder: str, request: Request) -> int:
    contents = load_bundle_contents(folder)
    where = place(request, folder, contents.csv.name if contents.csv else "")
    recipe = _recipe(folder, contents, request, platforms(request, where))
    if not isinstance(recipe, ImageSpec):
        return recipe
    write(request, recipe, where)
    return ExitCode.CLEAN


def recipe_of(folder: str, request: Request) -> ImageSpec | ExitCode:
    """What the image of a bundle is made of; an exit code where OLM would refuse it, which has been told.

    Raises UsageError and UnreadableInput.
    """
    return _recipe(folder, load_bundle_contents(folder), request, ())


def _recipe(
    folder: str, contents: Contents, request: Request, wanted: Sequence[Platform]
) -> ImageSpec | ExitCode:
    epoch = created(os.environ)
    sources = Sources()
    refusals = [] if request.no_check else list(_refusals(folder, contents))
    if tell_refusals(refusals, sources, "OLM could not use the bundle"):
        is_broken = any(problem.kind == _UNREADABLE for problem in contents.problems)
        return ExitCode.UNREADABLE if is_broken else ExitCode.FINDINGS
    labels = _labels(contents, folder)
    files = bundle_members(folder)
    _require_inside(contents, files)
    for stray in files.left_out:
        print_warning(f"{stray} is left out: OLM does not read it", Place(""), None, sources)
    return ImageSpec(
        files.members,
        {**labels, **pairs("--label", request.labels, labels)},
        pairs("--annotation", request.annotations),
        wanted,
        request.compression,
        epoch,
        "everpath bundle build",
    )


def _refusals(folder: str, contents: Contents) -> Iterator[OpmError]:
    """What keeps opm from rendering the bundle, or all of it, and OLM from finding its way in the image.

    Cost: every manifest is parsed.
    """
    for problem in contents.problems:
        if problem.kind in (_UNREADABLE, "several-csvs"):
            yield OpmError(problem.message, problem.place, problem.fix)
    try:
        render_bundle(contents)
    except OpmError as refusal:
        yield refusal
    selection = Selection(rules=_RULES, subjects=BUNDLE_SUBJECTS)
    for finding in lint_bundle(load_bundle_for_validation(folder, ValidationTarget()), selection).findings:
        yield OpmError(finding.message, finding.place, finding.fix)


def _require_inside(contents: Contents, files: BundleMembers) -> None:
    """Whatever the bundle was judged by, and labelled with, must go in: without it, it is another bundle.

    opm's reader tries every file of metadata/, also a hidden draft or a backup that is none of it.
    """
    held = {member.source for member in files.members}
    read = [manifest.place for manifest in contents.manifests]
    read += (each.place for each in (*contents.dependencies, *contents.properties))
    for file in (at.file for at in (contents.annotations_place, *read) if at is not None):
        if file not in held:
            raise UnreadableInput(
                f"{file} would not be in the image, and the bundle is nothing without it",
                hint="is it a draft or a backup? give it its name back, such as metadata/annotations.yaml",
                file=file,
            )


def _labels(contents: Contents, folder: str) -> dict[str, str]:
    """All annotations, which are texts once they were checked."""
    if contents.annotations is None:
        message = f"no file of {folder} says which package and channels the bundle belongs to"
        raise UnreadableInput(message, hint="write metadata/annotations.yaml", file=folder)
    return {key: value for key, value in contents.annotations.items() if isinstance(value, str)}
