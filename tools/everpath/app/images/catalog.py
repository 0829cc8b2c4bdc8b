"""Build the image of a file-based catalog."""

from __future__ import annotations

__all__ = ["build_catalog_image", "catalog_image_spec"]

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from everpath.app.images.build import (
    BuildRejected,
    BuiltImage,
    ImageBuildOptions,
    image_labels,
    output_location,
    output_platforms,
    source_date_epoch,
)
from everpath.app.inputs.inputs import unreadable_part_count
from everpath.errors import UsageError
from everpath.loaders.bundle.detect import is_bundle_folder, is_package_manifest, is_repository
from everpath.loaders.bundle.folder_reader import folder_name
from everpath.loaders.catalog_loader import load
from everpath.loaders.sources import STANDARD_INPUT
from everpath.model import Catalog, OpmError
from everpath.oci.build import ImageSpec
from everpath.oci.build_context import CONFIGS_FOLDER, catalog_members, members_on_base
from everpath.oci.labels import CONFIGS_LABEL, DATABASE_LABEL
from everpath.oci.transports import open_image, parse_location
from everpath.rules.findings import Severity
from everpath.rules.lint import Selection, lint
from everpath.rules.opm_errors import opm_errors

if TYPE_CHECKING:
    from everpath.oci.registry import RegistryOptions

#: Rules about documents that opm cannot load or serve, whatever else is in the catalog.
_DOCUMENT_RULES: Final = frozenset(f"EP{number:03}" for number in (1, 3, 4, 5, 6, 7, 9, 11, 12))

# The command with which OLM serves an extracted catalog. With --cache-dir, opm starts only if that folder has
# a writable cache of exactly these files (docs/decisions.md).
_ENTRYPOINT: Final = ("/bin/opm",)
_CMD: Final = ("serve", f"/{CONFIGS_FOLDER}")


def build_catalog_image(
    path: str,
    options: ImageBuildOptions,
    *,
    base: str | None = None,
    registry: RegistryOptions | None = None,
) -> BuiltImage:
    """Build the image of a catalog in memory. On a base image with opm it serves itself.

    `registry` is for a base in a registry. Raises BuildRejected if opm would reject the catalog, UsageError,
    UnreadableInput and Unreachable.
    """
    location = output_location(options, path, "catalog" if Path(path).is_file() else folder_name(path))
    spec = catalog_image_spec(path, replace(options, platforms=output_platforms(options, location)))
    if base is not None:
        spec = replace(
            spec,
            members=members_on_base(spec.members),
            labels={DATABASE_LABEL: None, **spec.labels},
            base=open_image(parse_location(base), registry),
            entrypoint=_ENTRYPOINT,
            cmd=_CMD,
        )
    return BuiltImage(spec, location)


def catalog_image_spec(path: str, options: ImageBuildOptions) -> ImageSpec:
    """Return the spec of a catalog's image, which contains the catalog and nothing else."""
    epoch = source_date_epoch()
    _require_catalog(path)
    labels = image_labels({CONFIGS_LABEL: f"/{CONFIGS_FOLDER}"}, options)
    if not options.no_check:
        loaded = load(path)
        errors = list(_catalog_errors(loaded.catalog))
        if errors:
            is_unreadable = bool(unreadable_part_count(loaded.catalog))
            raise BuildRejected(
                "opm would reject the catalog", errors, loaded.sources, is_unreadable=is_unreadable
            )
    return ImageSpec(
        catalog_members(path),
        labels,
        options.annotations,
        options.platforms,
        options.compression,
        epoch,
        "everpath catalog build",
    )


def _require_catalog(path: str) -> None:
    """Raise UsageError for a path that is something else than a file-based catalog."""
    if path == STANDARD_INPUT:
        raise UsageError(
            "an image cannot be built from standard input", hint="write the catalog to a file first"
        )
    if not Path(path).is_dir():
        return
    if is_bundle_folder(path):
        raise UsageError(f"{path} is a bundle, not a catalog", hint=f"everpath bundle build {path}")
    if is_repository(path) or is_package_manifest(path):
        hint = f"everpath migrate {path} converts it to a catalog"
        raise UsageError(f"{path} has bundles or package manifests, not a catalog", hint=hint)


def _catalog_errors(catalog: Catalog) -> Iterator[OpmError]:
    """Yield the errors for which opm rejects a catalog: those of documents first, then of each package."""
    documents = Catalog(catalog.name, problems=catalog.problems)
    for finding in lint(documents, Selection(rules=_DOCUMENT_RULES)).findings:
        if finding.severity is Severity.ERROR:
            yield OpmError(finding.message, finding.place, finding.fix)
    for package in catalog.packages:
        for error in opm_errors(package):
            channel = f", channel {error.channel}" if error.channel else ""
            fix = error.fix or "`everpath validate-graph` lists the affected versions and the fixes"
            yield OpmError(f"package {package.name}{channel}: {error.message}", error.place, fix)
