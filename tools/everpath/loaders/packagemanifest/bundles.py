"""Converts package manifests to bundles: the package file supplies the annotations."""

from __future__ import annotations

__all__ = ["PackageValidationInput", "convert_to_bundle", "load_package_for_validation"]

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.annotations import CHANNELS, DEFAULT_CHANNEL, PACKAGE
from everpath.loaders.bundle.detect import is_package_file_name
from everpath.loaders.packagemanifest.package_file import load_package_manifests
from everpath.loaders.packagemanifest.package_folder import (
    PackageFolder,
    load_package_folder,
    unreadable_file,
)
from everpath.loaders.packagemanifest.package_versions import csvs_with_manifests
from everpath.model import Catalog, Channel, Package, Place
from everpath.model.builder import CatalogBuilder
from everpath.model.bundle_contents import BundleFolder, Contents, Manifest, ValidationInput

_PREFIX: Final = "operators.operatorframework.io.bundle."


class PackageValidationInput(NamedTuple):
    """The catalog of package manifests, and its bundles and package files one by one."""

    catalog: Catalog
    inputs: tuple[ValidationInput, ...]


def _annotations(package: Package, channels: Iterable[Channel]) -> dict[str, str]:
    """The annotations of a bundle."""
    default = {DEFAULT_CHANNEL: package.default_channel} if package.default_channel else {}
    return {
        f"{_PREFIX}mediatype.v1": "registry+v1",
        f"{_PREFIX}manifests.v1": "manifests/",
        f"{_PREFIX}metadata.v1": "metadata/",
        PACKAGE: package.name,
        CHANNELS: ",".join(channel.name for channel in channels),
        **default,
    }


def convert_to_bundle(
    folder: PackageFolder, package: Package, csv: Manifest, others: Sequence[Manifest]
) -> Contents:
    """Convert a CSV and its manifests to a bundle. A CSV in no channel gets all channels."""
    channels = [channel for channel in package.channels if csv.name in channel.by_name]
    manifests = sorted((csv, *others), key=lambda manifest: Path(manifest.place.file).name)
    return Contents(
        folder.root,
        Place(str(Path(csv.place.file).parent)),
        tuple(manifests),
        _annotations(package, channels or package.channels),
        package.declarations[0].place,
    )


def load_package_for_validation(path: str) -> PackageValidationInput:
    """Load a folder of package manifests with everything that rules check.

    Raises `UnreadableInput` if the folder cannot be listed or contains no package file.
    """
    folder = load_package_folder(path, is_lenient=True)
    broken = (p for p in folder.problems if is_package_file_name(p.place.file))
    if not folder.package_files and (problem := next(broken, None)):
        raise unreadable_file(problem)
    if not folder.package_files:
        raise UnreadableInput(
            f"{path} contains no package file",
            hint="add PACKAGE.package.yaml with packageName, and channels with name and currentCSV",
            file=path,
        )
    builder = CatalogBuilder()
    load_package_manifests(folder.root, builder, thorough=True)
    catalog = builder.build(folder.root)
    reported = {problem.place.file for problem in catalog.problems}
    others = tuple(problem for problem in folder.problems if problem.place.file not in reported)
    inputs = (
        ValidationInput(Catalog(folder.root, problems=others)),
        *(ValidationInput(Catalog(folder.root), package_manifest=file) for file in folder.package_files),
        *(ValidationInput(Catalog(folder.root), BundleFolder(found)) for found in _bundles(folder, catalog)),
    )
    return PackageValidationInput(catalog, inputs)


def _bundles(folder: PackageFolder, catalog: Catalog) -> Iterator[Contents]:
    """Yield the bundle of every CSV that a package contains."""
    packages = {bundle.place.file: package for package in catalog.packages for bundle in package.bundles}
    for _, csv, manifests in csvs_with_manifests(folder):
        package = packages.get(csv.place.file)
        if package is not None:
            yield convert_to_bundle(folder, package, csv, manifests)
