"""One catalog as it was at one moment, ready to be served; nothing about it ever changes.

A server holds one of them and puts another in its place when the catalog changes on disk: whoever is in the
middle of a stream keeps the one it began with.
"""

from __future__ import annotations

__all__ = ["Refused", "Snapshot", "take"]

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path, PurePath
from typing import Any, Final

import msgspec

from everpath.errors import UnreadableInput
from everpath.loaders.bundle import shape
from everpath.loaders.fbc.documents import is_json
from everpath.loaders.fbc.tree import Found, catalog_files
from everpath.loaders.sources import STANDARD_INPUT, Sources
from everpath.model import Place
from everpath.server.catalog.file_watch import stamps
from everpath.server.catalog.shelf import Shelf
from everpath.server.catalog.temporary_files import Spool
from everpath.server.errors import Refused
from everpath.server.index.cache import KeptIndexes
from everpath.server.index.model import Index, PackageOf, Where
from everpath.server.index.queries import Answers

# Up to this size all of a catalog is parsed before it is served: that takes a tenth of a second.
_SMALL: Final = 1 << 20


class Snapshot:
    """A catalog that opm would serve. Whoever asks for a document gets what stood there when it was taken."""

    def __init__(
        self,
        path: str,
        index: Index,
        spool: Spool,
        kept: KeptIndexes | None,
        again: Callable[[], Snapshot],
        seen: bytes,
    ) -> None:
        self.path = path
        self.index = index
        #: Takes the catalog at the same path as it is then. Raises as `take` does.
        self.again = again
        #: How the files on disk looked before the first of them was read.
        self.stamps = seen
        self._spool = spool
        self._kept = kept
        self._shelf = Shelf()
        self._package = lru_cache(maxsize=64)(self.document)
        self.answers = Answers(index, self.manifests)

    @property
    def is_checked(self) -> bool:
        """Whether somebody has looked at every byte of it."""
        return self.index.is_checked

    def checked(self) -> None:
        """Somebody has, and found nothing: let it be known at the next start."""
        self.index = msgspec.structs.replace(self.index, is_checked=True)
        if self._kept is not None:
            self._kept.save(self.path, self.digest, self.index)

    @property
    def digest(self) -> str:
        """Of all that it was made of: another one for another catalog."""
        return self._spool.digest

    @property
    def sources(self) -> Sources:
        """The files it was made of, as they were."""
        return self._spool

    @property
    def files(self) -> tuple[str, ...]:
        """The names of those that hold its documents, in the order opm comes by them."""
        return tuple(file for file in self._spool.files if PurePath(file).name != ".indexignore")

    def document(self, where: Where) -> dict[str, Any]:
        """A document as opm holds it. Raises ValueError where it cannot: see `take`."""
        from everpath.server.catalog.parsing import parsed  # noqa: PLC0415 - whoever only lists bundles parses none

        text = self._spool.part(where.file, where.start, where.end)
        return parsed(text, Place(where.file, where.start), is_json=self._is_json(where.file))

    def manifests(self, package: PackageOf, name: str) -> tuple[str, tuple[str, ...]]:
        """The manifests of a bundle: its CSV, and all of them. Raises ValueError.

        Cost: its document is parsed, the first time.
        """

        def make() -> tuple[str, tuple[str, ...]]:
            from everpath.server.catalog.manifests import manifests_of  # noqa: PLC0415 - as above

            return manifests_of(self.document(package.bundles[name]), self._package(package.where))

        return self._shelf.get((package.name, name), make)

    def _is_json(self, file: str) -> bool:
        with self._spool.open(file) as stream:
            return is_json(stream)


def take(path: str, environment: Mapping[str, str] = os.environ, *, thorough: bool = False) -> Snapshot:
    """The catalog at a path, as it is. `thorough` looks into everything in it, as opm does.

    Raises `UnreadableInput` where there is none, and `Refused` where opm would not serve it. Cost: a fifth of
    opm's, and far less when the same catalog was taken before (`kept`); if `thorough`, all of it is parsed.
    """
    # Before anything is read: whatever changes from here on is a change.
    seen = stamps(path)
    spool = Spool()
    kept = KeptIndexes.of(environment) if not thorough else None
    inputs = _filled(path, spool)
    digest = spool.digest
    index = kept.load(path, digest) if kept else None
    if index is None:
        from everpath.server.index.admission import admitted  # noqa: PLC0415 - who remembers need not judge again

        # What can be read only once is not left to a closer look.
        is_thorough = thorough or path == STANDARD_INPUT or spool.length <= _SMALL
        index = admitted(path, inputs, spool, thorough=is_thorough)
        # What was written by ourselves needs none.
        index = msgspec.structs.replace(index, is_checked=is_thorough or inputs != path)
        # Of a folder that grew meanwhile the digest is not known yet.
        if kept is not None and spool.digest == digest:
            kept.save(path, digest, index)
    again = partial(take, path, environment, thorough=thorough)
    return Snapshot(path, index, spool, kept, again, seen)


def _filled(path: str, spool: Spool) -> str | list[str]:
    """Put a catalog into a spool; what to read of it then."""
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise UnreadableInput("standard input is closed", hint="give a folder or a file")
        spool.keep_stream(path, sys.stdin.buffer)
    elif not Path(path).is_dir():
        spool.open(path).close()
    elif shape.is_package_manifest(path) or shape.is_bundle_folder(path) or shape.is_repository(path):
        return list(_migrated(path, spool))
    else:
        for file in catalog_files(path, spool):
            if isinstance(file, Found):
                spool.open(file.path).close()
    return path


def _migrated(path: str, spool: Spool) -> Iterator[str]:
    """Bundles and package manifests as the catalog that `everpath migrate` makes of them."""
    from everpath.loaders.packagemanifest.migration import Migration  # noqa: PLC0415 - most catalogs are catalogs
    from everpath.loaders.reading import read  # noqa: PLC0415
    from everpath.opm_render.refusals import Refusal as Unrendered  # noqa: PLC0415

    migration = Migration(path, suffix="json")
    for package in read(path, thorough=True).catalog.packages:
        try:
            files = migration.package(package).files
        except Unrendered as refusal:
            raise Refused(
                f"{package.name} cannot be served: {refusal.message}", hint=refusal.fix
            ) from refusal
        name = f"catalog/{package.name}/catalog.json"
        spool.keep(name, files[name])
        yield name
