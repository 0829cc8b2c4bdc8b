"""Finds what bundles define, in the folders that hold them: the CRDs beside each ClusterServiceVersion."""

from __future__ import annotations

__all__ = ["bundle_crds_loader"]

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from everpath.crd_upgrade_safety import BundleCrds
from everpath.crd_upgrade_safety.crd import CustomResourceDefinition, parse_crd
from everpath.errors import UnreadableInput
from everpath.loaders.bundle.detect import YAML
from everpath.loaders.bundle.folder_reader import FolderReader
from everpath.loaders.catalog_loader import load
from everpath.model import Package, Place
from everpath.model.bundle_contents import CRD, Manifest
from everpath.parsing.first_document import ParseError, first_document


def bundle_crds_loader(paths: Sequence[str]) -> Callable[[Package], BundleCrds]:
    """What the bundles of a package define, by their names, as far as the paths have their folders.

    Raises `UnreadableInput` where a path holds no bundle, or a definition cannot be read: what is not
    compared must not look safe. Cost: CSVs are glanced at once, a package's CRDs are parsed when it is asked
    for.
    """
    folders = {name: folder for path in paths for name, folder in _folders(path)}

    @cache
    def defined(folder: str) -> tuple[CustomResourceDefinition, ...]:
        return tuple(map(parse_crd, _crds(folder)))

    def of(package: Package) -> BundleCrds:
        names = (bundle.name for bundle in package.bundles)
        found = ((name, folders.get((package.name, name))) for name in names)
        return {name: defined(folder) for name, folder in found if folder is not None}

    return of


def _folders(path: str) -> Iterator[tuple[tuple[str, str], str]]:
    """The folder of manifests of each bundle below a path, by package and name."""
    catalog = load(path).catalog
    bundles = [bundle for package in catalog.packages for bundle in package.bundles if bundle.csv is not None]
    if not bundles:
        hint = (
            "name the folder that `everpath bundle validate` takes: it holds manifests/, or folders that do"
        )
        raise UnreadableInput(f"there is no bundle in {path}", hint=hint, file=path)
    for bundle in bundles:
        yield (bundle.package, bundle.name), str(Path(bundle.place.file).parent)


def _crds(folder: str) -> Iterator[Manifest]:
    reader = FolderReader(folder)
    for name in reader.list_folder("").files:
        data = reader.read(name) if name.endswith(YAML) else b""
        if CRD.encode() in data:
            file = str(Path(folder, name))
            body = _document(data, file)
            if isinstance(body, dict) and body.get("kind") == CRD:
                yield Manifest(Place(file), body)


def _document(data: bytes, file: str) -> object:
    try:
        return first_document(data).value
    except ParseError as broken:
        line = data.count(b"\n", 0, broken.offset) + 1
        raise UnreadableInput(f"{file}:{line}: not YAML: {broken.message}", file=file) from broken
