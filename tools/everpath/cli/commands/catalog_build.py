"""`everpath catalog build`: the image of a catalog, without a container engine."""

from __future__ import annotations

__all__ = ["build", "recipe_of"]

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from everpath.app.inputs import unreadable_part_count
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
from everpath.cli.registry_options import RegistryOptions, registry_options
from everpath.errors import ExitCode, UsageError
from everpath.loaders.bundle.detect import is_bundle_folder, is_package_manifest, is_repository
from everpath.loaders.bundle.folder_reader import folder_name
from everpath.loaders.catalog_loader import LoadedCatalog, load
from everpath.loaders.sources import STANDARD_INPUT
from everpath.model import Catalog, OpmError
from everpath.oci.build import ImageSpec
from everpath.oci.build_context import CONFIGS_FOLDER, catalog_members, members_on_base
from everpath.oci.descriptors import Image, Platform
from everpath.oci.labels import CONFIGS_LABEL
from everpath.oci.transports import parse_location
from everpath.rules.findings import Severity
from everpath.rules.lint import Selection, lint
from everpath.rules.opm_errors import opm_errors

# What opm cannot load, or serve, whatever else is in the catalog: each rule's page has its words.
_DOCUMENTS: Final = frozenset(f"EP{number:03}" for number in (1, 3, 4, 5, 6, 7, 9, 11, 12))

_DATABASE_LABEL: Final = "operators.operatorframework.io.index.database.v1"

# What OLM itself starts where it extracts a catalog. With --cache-dir opm refuses to start unless the folder
# holds a cache of the very same files that this user may write to (docs/decisions.md).
_ENTRYPOINT: Final = ("/bin/opm",)
_CMD: Final = ("serve", f"/{CONFIGS_FOLDER}")


@click.command("build", short_help="Build a catalog image without a container engine.")
@click.argument("path", metavar="DIR")
@click.option(
    "--base",
    metavar="IMAGE",
    help="Build on this image, which has /bin/opm: oci:…, oci-archive:…, docker-archive:… or a registry's.",
)
@build_options
@registry_options
def build(path: str, base: str | None, **options: Any) -> int:
    """Build the image of a file-based catalog: the same bytes from the same files, on any machine.

    DIR is the folder (or file) that opm would serve; the image has it as /configs. Without --base it is data
    and nothing else, which OLM v1 reads, and OLM v0 with grpcPodConfig.extractContent. With one that holds
    opm it serves itself. No daemon, no Dockerfile and no root is needed.

    \b
    $ everpath catalog build catalog/
    $ everpath catalog build catalog/ -o oci:out --tag v1 --print-digest
    $ everpath catalog build catalog/ --base quay.io/operator-framework/opm:v1.73.0

    \b
    Exit codes:
      0  built                   2  a wrong command line, or a file that cannot be written
      1  what opm would refuse   3  input, or part of it, that cannot be read
                                 4  a registry that does not answer
    """
    registry = RegistryOptions.from_parameters(options)
    request = Request(**{name: options[name] for name in Request._fields})
    return _build(
        path.rstrip(os.sep) or path, request, lambda: _opened(base, registry) if base is not None else None
    )


def _opened(base: str, registry: RegistryOptions) -> Image:
    from everpath.oci.transports import open_image  # noqa: PLC0415 - few build on a base

    return open_image(parse_location(base), registry.client_options())


def _build(path: str, request: Request, base: Callable[[], Image | None]) -> int:
    where = place(request, path, "catalog" if Path(path).is_file() else folder_name(path))
    recipe = recipe_of(path, request, platforms(request, where))
    if not isinstance(recipe, ImageSpec):
        return recipe
    if (below := base()) is not None:
        recipe = _on(recipe, below)
    write(request, recipe, where)
    return ExitCode.CLEAN


def recipe_of(path: str, request: Request, wanted: Sequence[Platform] = ()) -> ImageSpec | ExitCode:
    """What the image of a catalog is made of; an exit code where opm would refuse it, which has been told.

    Raises UsageError and UnreadableInput.
    """
    epoch = created(os.environ)
    _require_catalog(path)
    fixed = {CONFIGS_LABEL: f"/{CONFIGS_FOLDER}"}
    labels = {**fixed, **pairs("--label", request.labels, fixed)}
    if not request.no_check:
        reading = load(path)
        if tell_refusals(list(_refusals(reading)), reading.sources, "opm would refuse the catalog"):
            return ExitCode.UNREADABLE if unreadable_part_count(reading.catalog) else ExitCode.FINDINGS
    return ImageSpec(
        catalog_members(path),
        labels,
        pairs("--annotation", request.annotations),
        wanted,
        request.compression,
        epoch,
        "everpath catalog build",
    )


def _on(recipe: ImageSpec, base: Image) -> ImageSpec:
    """The same on top of an image with opm, which then serves it."""
    labels = {_DATABASE_LABEL: None, **recipe.labels}
    members = members_on_base(recipe.members)
    return replace(recipe, members=members, labels=labels, base=base, entrypoint=_ENTRYPOINT, cmd=_CMD)


def _require_catalog(path: str) -> None:
    """Raise UsageError for the folders that are something else than a file-based catalog."""
    if path == STANDARD_INPUT:
        raise UsageError("an image is built of files, not of standard input", hint="write the catalog to one")
    if not Path(path).is_dir():
        return
    if is_bundle_folder(path):
        raise UsageError(f"{path} is a bundle, not a catalog", hint=f"everpath bundle build {path}")
    if is_repository(path) or is_package_manifest(path):
        hint = f"everpath migrate {path} makes a catalog of it"
        raise UsageError(f"{path} holds bundles or package manifests, not a catalog", hint=hint)


def _refusals(reading: LoadedCatalog) -> Iterator[OpmError]:
    """All that opm refuses the catalog for: documents first, then each package."""
    catalog = reading.catalog
    documents = lint(Catalog(catalog.name, problems=catalog.problems), Selection(rules=_DOCUMENTS)).findings
    for finding in documents:
        if finding.severity is Severity.ERROR:
            yield OpmError(finding.message, finding.place, finding.fix)
    for package in catalog.packages:
        for refusal in opm_errors(package):
            channel = f", channel {refusal.channel}" if refusal.channel else ""
            fix = refusal.fix or "`everpath validate-graph` says who is hurt, and what to change"
            yield OpmError(f"package {package.name}{channel}: {refusal.message}", refusal.place, fix)
