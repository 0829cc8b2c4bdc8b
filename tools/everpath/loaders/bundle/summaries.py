"""What is read from the files of bundles and packages, before it becomes the model.

Plain records without a path to their folder, so that the index cache can keep them: what a file says does
not depend on where, or under which settings, it is read.
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
    """Something to report. `file` is empty where the record that holds the note names the file."""

    kind: str
    message: str
    file: str = ""
    pointer: Pointer = ()
    offset: int = 0
    fix: str | None = None

    def at(self, file: str) -> Note:
        """The same note, about a file."""
        return replace(self, file=file)


class TypedValue(Struct, frozen=True, array_like=True):
    """An item of dependencies.yaml or properties.yaml."""

    type: str
    value: Any
    pointer: Pointer
    file: str = ""


class CsvSummary(Struct, frozen=True, array_like=True, gc=False):
    """What a ClusterServiceVersion says about upgrades.

    `properties` is JSON text, as the annotation holds it. Keys are joined (`join_keys`): thousands of CSVs
    have the same few lists of them, and one string is read and remembered faster than forty. A range under
    another key than its own is kept with the way to it, so that somebody can say whether it would do.
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
    """The keys of a mapping as one string."""
    return "\n".join(keys)


@lru_cache(maxsize=4096)
def split_keys(joined: str) -> tuple[str, ...]:
    """The keys again; a line break inside of a key, which no key of OLM's has, parts it."""
    return tuple(joined.split("\n")) if joined else ()


class AnnotationsSummary(Struct, frozen=True, array_like=True, gc=False):
    """What annotations.yaml says; `channels` is the list as written, with its commas."""

    package: str | None = None
    channels: str | None = None
    default_channel: str | None = None
    notes: tuple[Note, ...] = ()


class BundleSummary(Struct, frozen=True, array_like=True):
    """One bundle. Files are named from the folder of its package (or from its own, read alone)."""

    folder: str
    csv_file: str
    csv: CsvSummary
    annotations_file: str | None = None
    annotations: AnnotationsSummary = AnnotationsSummary()
    properties: tuple[TypedValue, ...] = ()
    dependencies: tuple[TypedValue, ...] = ()

    def notes(self) -> Iterator[Note]:
        """What is to be reported of its files, with their names."""
        for file, notes in ((self.csv_file, self.csv.notes), (self.annotations_file, self.annotations.notes)):
            for note in notes:
                yield note.at(file or "")


class PackageManifestSummary(Struct, frozen=True, array_like=True):
    """A package file of the format before bundles: channels as (name, currentCSV)."""

    file: str
    package: str
    channels: tuple[tuple[str, str], ...] = ()
    default_channel: str = ""


class PackageSummary(Struct, frozen=True, array_like=True):
    """One package folder of a repository. `mode` is `updateGraph` of ci.yaml as written."""

    bundles: tuple[BundleSummary, ...] = ()
    manifests: tuple[PackageManifestSummary, ...] = ()
    mode: str | None = None
    notes: tuple[Note, ...] = ()
