"""Converts package manifests to bundles, and package manifests or bundles to a file-based catalog."""

from __future__ import annotations

__all__ = ["MigrationResult", "migrate_packages", "require_bundles"]

import errno
import os
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from everpath.app.inputs.inputs import Inputs, PackageNames, unreadable_parts
from everpath.app.opm_validate import rejection_reason
from everpath.errors import UsageError
from everpath.loaders.bundle.detect import is_bundle_folder, is_package_manifest, is_repository
from everpath.loaders.packagemanifest.migration import MigratedPackage, Migration
from everpath.loaders.packagemanifest.package_folder import unreadable_file
from everpath.loaders.sources import unreadable_input
from everpath.model import OpmError
from everpath.model.progress import Progress


class MigrationResult(NamedTuple):
    """The packages that were migrated, and the errors of those that opm would reject."""

    packages: list[MigratedPackage]
    errors: list[OpmError]

    @property
    def files(self) -> dict[str, bytes]:
        """The files to write, by their paths below the output folder."""
        return {name: content for package in self.packages for name, content in package.files.items()}


def require_bundles(source: str) -> None:
    """Raise UnreadableInput or UsageError for a path without package manifests or bundles."""
    if not Path(source).exists():
        missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        raise unreadable_input(source, missing, "package manifests and bundles are folders")
    if not (is_package_manifest(source) or is_bundle_folder(source) or is_repository(source)):
        raise UsageError(
            f"{source} has no package manifests and no bundles",
            hint="give a folder with a package file, or an operators repository; "
            "for a catalog use everpath catalog render",
        )


def migrate_packages(
    inputs: Inputs,
    names: Collection[str] = (),
    *,
    image_template: str = "",
    suffix: str = "yaml",
    progress: Progress | None = None,
) -> MigrationResult:
    """Migrate the packages of the first input, all or those with these names, without writing.

    Raises UnreadableInput if a file of a package cannot be read.
    """
    [source] = inputs.paths
    catalog = inputs.load(source, progress)
    inputs.add_names(PackageNames.of(catalog))
    inputs.verify_names(names, ())
    for problem in unreadable_parts(catalog):
        if not names or problem.package in names:
            raise unreadable_file(problem)
    packages = [package for package in catalog.packages if not names or package.name in names]
    result = MigrationResult([], [])
    migration = Migration(source, image_template, suffix, rejection_reason)
    for number, package in enumerate(packages):
        if progress is not None:
            progress(number, len(packages), package.name)
        try:
            result.packages.append(migration.migrate_package(package))
        except OpmError as error:
            result.errors.append(error)
    return result
