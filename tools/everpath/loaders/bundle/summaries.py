"""Summaries of the files of bundles and packages, from which the model is built.

They contain what upgrades depend on, and neither absolute paths nor settings, so that they can be cached.
"""

from __future__ import annotations

__all__ = [
    "AnnotationsSummary",
    "BundleSummary",
    "CsvSummary",
    "Note",
    "PackageManifestSummary",
    "PackageSummary",
    "TypedValue",
    "join_keys",
    "split_keys",
]

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

Pointer = tuple[str | int, ...]


class Note(Struct, frozen=True, array_like=True, gc=False):
    """A problem to report. `file` is empty where the summary that contains the note has it."""

    kind: str
    message: str
    file: str = ""
    pointer: Pointer = ()
    offset: int = 0
    fix: str | None = None

    def at(self, file: str) -> Note:
        """The same note with a file."""
        return replace(self, file=file)


class TypedValue(Struct, frozen=True, array_like=True):
    """An item of dependencies.yaml or properties.yaml."""

    type: str
    value: Any
    pointer: Pointer
    file: str = ""


class CsvSummary(Struct, frozen=True, array_like=True, gc=False):
    """What a ClusterServiceVersion says about upgrades.

    `properties` is the JSON text of the annotation. Keys are joined to one string (`join_keys`), which
    decodes faster than a list: thousands of CSVs have the same keys. `misplaced_ranges` are the texts under
    keys that look like olm.skipRange, with their pointers.
    """

    name: str | None = None
    version: str | None = None
    replaces: str | None = None
    skips: tuple[str, ...] = ()
    skip_range: str | None = None
    substitutes_for: str | None = None
    properties: str | None = None
    release: str | None = None
    metadata_keys: str = ""
    annotation_keys: str = ""
    spec_keys: str = ""
    notes: tuple[Note, ...] = ()
    misplaced_ranges: tuple[tuple[Pointer, str], ...] = ()


def join_keys(keys: Iterable[str]) -> str:
    """Join the keys of a mapping to one string."""
    return "\n".join(keys)


@lru_cache(maxsize=4096)
def split_keys(joined: str) -> tuple[str, ...]:
    """Split joined keys. A key that contains a line break, which no key of OLM does, is split as well."""
    return tuple(joined.split("\n")) if joined else ()


class AnnotationsSummary(Struct, frozen=True, array_like=True, gc=False):
    """The annotations of a bundle; `channels` is the comma-separated list as written."""

    package: str | None = None
    channels: str | None = None
    default_channel: str | None = None
    notes: tuple[Note, ...] = ()


class BundleSummary(Struct, frozen=True, array_like=True):
    """One bundle. Paths are relative to the package folder, or to the bundle if it is loaded alone."""

    folder: str
    csv_file: str
    csv: CsvSummary
    annotations_file: str | None = None
    annotations: AnnotationsSummary = AnnotationsSummary()
    properties: tuple[TypedValue, ...] = ()
    dependencies: tuple[TypedValue, ...] = ()

    def notes(self) -> Iterator[Note]:
        """The problems of its files."""
        for file, notes in ((self.csv_file, self.csv.notes), (self.annotations_file, self.annotations.notes)):
            for note in notes:
                yield note.at(file or "")


class PackageManifestSummary(Struct, frozen=True, array_like=True):
    """A package file of the package manifest format: channels as (name, currentCSV)."""

    file: str
    package: str
    channels: tuple[tuple[str, str], ...] = ()
    default_channel: str = ""


class PackageSummary(Struct, frozen=True, array_like=True):
    """One package folder of a repository. `mode` is `updateGraph` of ci.yaml, as written."""

    bundles: tuple[BundleSummary, ...] = ()
    manifests: tuple[PackageManifestSummary, ...] = ()
    mode: str | None = None
    notes: tuple[Note, ...] = ()
