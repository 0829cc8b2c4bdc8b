"""Summaries of the files of bundles and packages, from which the model is built.

They contain what upgrades depend on, and neither absolute paths nor settings, so that they can be cached.
"""

from __future__ import annotations

__all__ = [
    "AnnotationsSummary",
    "BundleSummary",
    "CsvSummary",
    "FileProblem",
    "PackageManifestSummary",
    "PackageSummary",
    "PropertySummary",
    "join_keys",
    "split_keys",
]

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from everpath.manifest_access import Pointer
from everpath.model import ProblemKind


class FileProblem(Struct, frozen=True, array_like=True, gc=False):
    """A problem of a file, from which a `model.Problem` is made.

    `file` is empty if the summary that contains the problem names the file.
    """

    kind: ProblemKind
    message: str
    file: str = ""
    pointer: Pointer = ()
    offset: int = 0
    fix: str | None = None

    def at(self, file: str) -> FileProblem:
        """Return the same problem with a file."""
        return replace(self, file=file)


class PropertySummary(Struct, frozen=True, array_like=True):
    """A property or dependency of a bundle, as in properties.yaml and dependencies.yaml."""

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
    problems: tuple[FileProblem, ...] = ()
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
    problems: tuple[FileProblem, ...] = ()


class BundleSummary(Struct, frozen=True, array_like=True):
    """One bundle. Paths are relative to the package folder, or to the bundle if it is loaded alone."""

    folder: str
    csv_file: str
    csv: CsvSummary
    annotations_file: str | None = None
    annotations: AnnotationsSummary = AnnotationsSummary()
    properties: tuple[PropertySummary, ...] = ()
    dependencies: tuple[PropertySummary, ...] = ()

    def problems(self) -> Iterator[FileProblem]:
        """The problems of its files."""
        for file, problems in (
            (self.csv_file, self.csv.problems),
            (self.annotations_file, self.annotations.problems),
        ):
            for problem in problems:
                yield problem.at(file or "")


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
    problems: tuple[FileProblem, ...] = ()
