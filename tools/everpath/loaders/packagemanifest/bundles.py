"""Package manifests as the bundles they amount to: the package file says what annotations.yaml would."""

from __future__ import annotations

__all__ = ["LintPackage", "convert_to_bundle", "load_package_for_lint"]

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


class LintPackage(NamedTuple):
    """The catalog that package manifests amount to, and its bundles and package files one by one."""

    catalog: Catalog
    parts: tuple[ValidationInput, ...]


def _annotations(package: Package, channels: Iterable[Channel]) -> dict[str, str]:
    """What a bundle in some channels of a package says of itself."""
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
    """A CSV and the manifests that belong to it. In no channel, it is taken to be in all: others tell."""
    channels = [channel for channel in package.channels if csv.name in channel.by_name]
    manifests = sorted((csv, *others), key=lambda manifest: Path(manifest.place.file).name)
    return Contents(
        folder.root,
        Place(str(Path(csv.place.file).parent)),
        tuple(manifests),
        _annotations(package, channels or package.channels),
        package.declarations[0].place,
    )


def load_package_for_lint(path: str) -> LintPackage:
    """All that rules look at in a folder of package manifests.

    Raises `UnreadableInput` where it cannot be listed, or where no package file makes it one.
    """
    folder = load_package_folder(path, is_lenient=True)
    broken = (p for p in folder.problems if is_package_file_name(p.place.file))
    if not folder.package_files and (problem := next(broken, None)):
        raise unreadable_file(problem)
    if not folder.package_files:
        raise UnreadableInput(
            f"no file of {path} is a package file",
            hint="add PACKAGE.package.yaml: packageName, and channels with name and currentCSV",
            file=path,
        )
    builder = CatalogBuilder()
    load_package_manifests(folder.root, builder, thorough=True)
    catalog = builder.build(folder.root)
    told = {problem.place.file for problem in catalog.problems}
    left = tuple(problem for problem in folder.problems if problem.place.file not in told)
    parts = (
        ValidationInput(Catalog(folder.root, problems=left)),
        *(ValidationInput(Catalog(folder.root), package_manifest=file) for file in folder.package_files),
        *(ValidationInput(Catalog(folder.root), BundleFolder(found)) for found in _bundles(folder, catalog)),
    )
    return LintPackage(catalog, parts)


def _bundles(folder: PackageFolder, catalog: Catalog) -> Iterator[Contents]:
    """Every CSV once, for the package that has it."""
    packages = {bundle.place.file: package for package in catalog.packages for bundle in package.bundles}
    for _, csv, manifests in csvs_with_manifests(folder):
        package = packages.get(csv.place.file)
        if package is not None:
            yield convert_to_bundle(folder, package, csv, manifests)
