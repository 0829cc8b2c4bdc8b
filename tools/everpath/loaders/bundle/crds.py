"""Loads the CRDs of bundles from their folders."""

from __future__ import annotations

__all__ = ["bundle_crds_loader"]

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from everpath.crd_upgrade_safety import BundleCrds
from everpath.crd_upgrade_safety.crd import CustomResourceDefinition, parse_crd
from everpath.errors import UnreadableInput
from everpath.loaders.bundle.detect import MANIFEST_SUFFIXES
from everpath.loaders.bundle.folder_reader import FolderReader
from everpath.loaders.catalog_loader import load
from everpath.model import Package, Place
from everpath.model.bundle_contents import CRD, Manifest
from everpath.parsing.first_document import ParseError, first_document


def bundle_crds_loader(paths: Sequence[str]) -> Callable[[Package], BundleCrds]:
    """Return a function that loads the CRDs of a package's bundles, by bundle name.

    Bundles whose folder is not below one of the paths are absent. Raises `UnreadableInput` if a path contains
    no bundle or a CRD cannot be read, because a CRD that is not compared must not appear safe. Cost: every
    CSV is scanned once; the CRDs of a package are parsed when the function is called.
    """
    folders = {name: folder for path in paths for name, folder in _load_manifest_folders(path)}

    @cache
    def load_folder(folder: str) -> tuple[CustomResourceDefinition, ...]:
        return tuple(map(parse_crd, _read_crds(folder)))

    def load(package: Package) -> BundleCrds:
        names = (bundle.name for bundle in package.bundles)
        found = ((name, folders.get((package.name, name))) for name in names)
        return {name: load_folder(folder) for name, folder in found if folder is not None}

    return load


def _load_manifest_folders(path: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the manifests folder of each bundle below a path, by package and bundle name."""
    catalog = load(path).catalog
    bundles = [bundle for package in catalog.packages for bundle in package.bundles if bundle.csv is not None]
    if not bundles:
        hint = "choose a bundle folder, a package folder or a repository, as for `everpath bundle validate`"
        raise UnreadableInput(f"there is no bundle in {path}", hint=hint, file=path)
    for bundle in bundles:
        yield (bundle.package, bundle.name), str(Path(bundle.place.file).parent)


def _read_crds(folder: str) -> Iterator[Manifest]:
    reader = FolderReader(folder)
    for name in reader.list_folder("").files:
        data = reader.read(name) if name.endswith(MANIFEST_SUFFIXES) else b""
        if CRD.encode() in data:
            file = str(Path(folder, name))
            try:
                body = first_document(data).value
            except ParseError as error:
                line = data.count(b"\n", 0, error.offset) + 1
                raise UnreadableInput(f"{file}:{line}: not YAML: {error.message}", file=file) from error
            if isinstance(body, dict) and body.get("kind") == CRD:
                yield Manifest(Place(file), body)
