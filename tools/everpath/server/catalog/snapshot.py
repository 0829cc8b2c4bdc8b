"""A catalog at one point in time, ready to be served.

A snapshot does not change. On a reload the server replaces it with another one; calls in progress finish with
the snapshot they started with.
"""

from __future__ import annotations

__all__ = ["CatalogSnapshot", "CurrentSnapshot", "take_snapshot"]

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path, PurePath
from typing import Any, Final

import msgspec

from everpath.errors import UnreadableInput
from everpath.loaders.bundle import detect
from everpath.loaders.fbc.catalog_files import CatalogFile, catalog_files
from everpath.loaders.fbc.document_splitter import is_json
from everpath.loaders.sources import STANDARD_INPUT
from everpath.model import Place
from everpath.server.catalog.file_watch import file_state
from everpath.server.catalog.temporary_files import BundleManifests, CatalogCopy, ManifestCache
from everpath.server.errors import CatalogRejected
from everpath.server.index.cache import RegistryIndexCache
from everpath.server.index.model import DocumentRange, Index, IndexedPackage
from everpath.server.index.queries import RegistryQueries
from everpath.wording import count

# A catalog of up to this size is parsed completely before it is served: that takes a tenth of a second.
_FULLY_PARSED_SIZE: Final = 1 << 20


class CatalogSnapshot:
    """A catalog that opm would serve: a copy of its files, and its index."""

    def __init__(
        self,
        path: str,
        index: Index,
        copy: CatalogCopy,
        cache: RegistryIndexCache | None,
        retake: Callable[[], CatalogSnapshot],
        state: bytes,
    ) -> None:
        self.path = path
        self.index = index
        #: The copy of the files.
        self.sources = copy
        #: Takes a new snapshot of the same path. Raises as `take_snapshot` does.
        self.retake = retake
        #: The state of the files on disk before they were read.
        self.file_state = state
        self._cache = cache
        self._manifests = ManifestCache()
        self._package_document = lru_cache(maxsize=64)(self.document)
        self.queries = RegistryQueries(index, self.manifests)

    @property
    def is_fully_parsed(self) -> bool:
        """Whether every byte of the catalog was parsed."""
        return self.index.is_fully_parsed

    def mark_fully_parsed(self) -> None:
        """Record, in the cache too, that every byte was parsed and is valid."""
        self.index = msgspec.structs.replace(self.index, is_fully_parsed=True)
        if self._cache is not None:
            self._cache.save(self.path, self.sources.digest, self.index)

    @property
    def summary(self) -> str:
        """The number of packages and bundles, as in `1 package, 2 bundles`."""
        bundles = sum(len(package.bundles) for package in self.index.packages.values())
        return f"{count(len(self.index.packages), 'package')}, {count(bundles, 'bundle')}"

    @property
    def files(self) -> tuple[str, ...]:
        """The files that contain documents, in the order in which opm reads them."""
        return tuple(file for file in self.sources.files if PurePath(file).name != ".indexignore")

    def document(self, document: DocumentRange) -> dict[str, Any]:
        """Parse a document as opm does. Raises ValueError if it is invalid and was not parsed before."""
        from everpath.server.catalog.manifests import parse_document  # noqa: PLC0415 - ListBundles needs no parser

        text = self.sources.read_range(document.file, document.start, document.end)
        with self.sources.open(document.file) as stream:
            in_json = is_json(stream)
        return parse_document(text, Place(document.file, document.start), is_json=in_json)

    def manifests(self, package: IndexedPackage, name: str) -> BundleManifests:
        """Return the manifests of a bundle. Raises ValueError.

        Cost: the first call for a bundle parses its document.
        """

        def load() -> BundleManifests:
            from everpath.server.catalog.manifests import bundle_manifests  # noqa: PLC0415 - as above

            return bundle_manifests(
                self.document(package.bundles[name]), self._package_document(package.document)
            )

        return self._manifests.get((package.name, name), load)


class CurrentSnapshot:
    """The snapshot that is served now. A reload replaces it."""

    def __init__(self, snapshot: CatalogSnapshot) -> None:
        self.snapshot = snapshot


def take_snapshot(
    path: str, environment: Mapping[str, str] = os.environ, *, thorough: bool = False
) -> CatalogSnapshot:
    """Copy the catalog at a path and load or build its index. `thorough` parses every byte, as opm does.

    Raises `UnreadableInput`, and `CatalogRejected` for a catalog that opm would not serve. Cost: a fifth of
    opm's, and much less if the index is cached (not with `thorough`).
    """
    # Before any file is read, so that later changes are detected.
    state = file_state(path)
    copy = CatalogCopy()
    cache = RegistryIndexCache.from_environment(environment) if not thorough else None
    inputs = _copy_catalog(path, copy)
    digest = copy.digest
    index = cache.load(path, digest) if cache else None
    if index is None:
        from everpath.server.index.builder import load_index  # noqa: PLC0415 - slow, and not needed with a cache

        # Standard input cannot be read a second time by the background check.
        parse_fully = thorough or path == STANDARD_INPUT or copy.total_size <= _FULLY_PARSED_SIZE
        index = load_index(path, inputs, copy, thorough=parse_fully)
        # Documents that everpath has generated are valid.
        is_generated = inputs != path
        index = msgspec.structs.replace(index, is_fully_parsed=parse_fully or is_generated)
        # If loading has opened further files, the digest is not the one that `load` would look for.
        if cache is not None and copy.digest == digest:
            cache.save(path, digest, index)
    retake = partial(take_snapshot, path, environment, thorough=thorough)
    return CatalogSnapshot(path, index, copy, cache, retake, state)


def _copy_catalog(path: str, copy: CatalogCopy) -> str | list[str]:
    """Copy all files of a catalog, and return what to load from the copy."""
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise UnreadableInput("standard input is closed", hint="give a folder or a file")
        copy.add_stream(path, sys.stdin.buffer)
    elif not Path(path).is_dir():
        copy.open(path).close()
    elif detect.is_package_manifest(path) or detect.is_bundle_folder(path) or detect.is_repository(path):
        return list(_convert_bundles(path, copy))
    else:
        for file in catalog_files(path, copy):
            if isinstance(file, CatalogFile):
                copy.open(file.path).close()
    return path


def _convert_bundles(path: str, copy: CatalogCopy) -> Iterator[str]:
    """Convert bundles or package manifests to a catalog, as `everpath migrate` does; yield its files."""
    from everpath.loaders.catalog_loader import load  # noqa: PLC0415
    from everpath.loaders.packagemanifest.migration import Migration  # noqa: PLC0415 - rarely needed
    from everpath.model import OpmError  # noqa: PLC0415

    migration = Migration(path, suffix="json")
    for package in load(path, thorough=True).catalog.packages:
        try:
            files = migration.migrate_package(package).files
        except OpmError as error:
            raise CatalogRejected(
                f"package {package.name} cannot be served: {error.message}", hint=error.fix
            ) from error
        name = f"catalog/{package.name}/catalog.json"
        copy.keep(name, files[name])
        yield name
