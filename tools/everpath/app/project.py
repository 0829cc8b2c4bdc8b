"""A source, where it lies, and the paths and documents that go with it."""

from __future__ import annotations

__all__ = ["SUFFIXES", "Project", "blobs_of", "line_of"]

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from everpath.app.drafts import Shelter
from everpath.errors import UnreadableInput
from everpath.loaders import source_positions
from everpath.loaders.fbc.blobs import load_blobs
from everpath.loaders.releases.pins import load_pins
from everpath.loaders.sources import Sources
from everpath.model import Place
from everpath.opm_render import Blob, Refusal
from everpath.releases.model import Release, ReleasesFile, Variant

#: How a catalog may be spelled.
SUFFIXES: Final = ("yaml", "json")


@dataclass(frozen=True)
class Project:
    """A source, where it lies, and the paths that follow from it.

    `given` are the documents of a catalog that the source was made from, in the stead of those on disk.
    `pinned` is a file of digests for this run, in the stead of the one that the source names.
    """

    file: Path
    source: ReleasesFile
    sources: Sources
    given: tuple[Blob, ...] | None = None
    pinned: str | None = None

    @property
    def folder(self) -> Path:
        """The folder of the source, which is that of the catalog."""
        return self.file.parent

    @property
    def shelter(self) -> Shelter:
        """Where files are written aside."""
        return Shelter.beside(self.folder)

    def beside(self, path: str) -> Path:
        """A path of the file, which counts from the file's folder."""
        return Path(os.path.normpath(self.folder / path))

    @cached_property
    def digests(self) -> Mapping[str, str] | None:
        """What images are pinned to; None if they are not. Raises ReleasesError, UnreadableInput."""
        file = self.pinned or (str(self.beside(self.source.pins)) if self.source.pins else None)
        return load_pins(file, self.sources) if file else None

    def image_of(self, release: Release) -> str:
        """The reference of a bundle's image, by digest where that is known: it is built after the bundle."""
        image = self.source.bundle_image(release)
        return (self.digests or {}).get(image, image)

    @property
    def bundles(self) -> Path:
        return self.beside(self.source.bundles or "../bundles") / self.source.package

    def bundle_folder(self, release: Release) -> Path:
        """BUNDLES/PACKAGE/VERSION; by name where two releases have one version."""
        is_alone = len(self.source.by_version[release.version]) == 1
        return self.bundles / (release.version if is_alone else self.source.csv_name(release))

    def catalog_folder(self, variant: Variant) -> Path:
        return self.folder / variant.name / self.source.package

    def catalog_file(self, variant: Variant, suffix: str | None = None) -> Path:
        """The catalog of a variant: in the spelling that is asked for, else the one it has, else YAML."""
        folder = self.catalog_folder(variant)
        found = (s for s in SUFFIXES if (folder / f"catalog.{s}").exists())
        return folder / f"catalog.{suffix or next(found, 'yaml')}"

    @cached_property
    def kept(self) -> tuple[Blob, ...]:
        """What the catalogs on disk hold; of several variants the first with a document of a name counts."""
        if self.given is not None:
            return self.given
        found: dict[tuple[str, str], Blob] = {}
        for variant in self.source.variants:
            file = self.catalog_file(variant)
            for blob in self._documents(file) if file.exists() else ():
                found.setdefault((str(blob.get("schema")), str(blob.get("name"))), blob)
        return tuple(found.values())

    @staticmethod
    def _documents(file: Path) -> list[Blob]:
        try:
            return blobs_of(str(file), Sources())
        except UnreadableInput as error:
            hint = "git restore it, or delete it and let everpath generate write it anew"
            raise UnreadableInput(error.message, hint=hint, file=str(file)) from error

    def line_of(self, release: Release, key: str) -> str:
        """`file:line` of a key of a release."""
        return line_of(release.place.at(key), self.sources)


def blobs_of(path: str, sources: Sources) -> list[Blob]:
    """The documents of a catalog as they are written. Raises UnreadableInput for what opm cannot read."""
    try:
        return load_blobs(path, sources)
    except Refusal as refusal:
        where = line_of(refusal.place, sources) or path
        raise UnreadableInput(f"{where}: {refusal.message}", hint=refusal.fix, file=path) from refusal


def line_of(place: Place, sources: Sources) -> str:
    """`file:line`, or what there is of it: a place may be a folder, or nowhere."""
    try:
        at = source_positions.locate(place, sources)
    except UnreadableInput:
        return place.file
    return f"{at.file}:{at.line}" if at.line else at.file
