"""What a bundle's folder holds, whole, as plain data: its manifests and its metadata.

`model.Bundle` is what upgrades need of a bundle; this is what installing it needs. Like the model it holds
what was written, right or wrong, and judges nothing.
"""

from __future__ import annotations

__all__ = ["CRD", "CSV", "Contents", "Manifest"]

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from everpath.manifest_access import mapping, text
from everpath.model import Place, Problem, Property

CSV: Final = "ClusterServiceVersion"
CRD: Final = "CustomResourceDefinition"


class Manifest(NamedTuple):
    """The first document of a file, which is a mapping with a kind; pointers of its place go into `body`."""

    place: Place
    body: Mapping[str, Any]

    @property
    def api_version(self) -> str:
        return text(self.body, "apiVersion")

    @property
    def kind(self) -> str:
        return text(self.body, "kind")

    @property
    def name(self) -> str:
        return text(self._metadata, "name")

    @property
    def annotations(self) -> Mapping[str, Any]:
        return mapping(self._metadata, "annotations")

    @property
    def spec(self) -> Mapping[str, Any]:
        """Empty where there is none, or something that is none."""
        return mapping(self.body, "spec")

    @property
    def _metadata(self) -> Mapping[str, Any]:
        return mapping(self.body, "metadata")


@dataclass(frozen=True, slots=True)
class Contents:
    """A bundle's folder. Files come by name, places name them as the user named the folder.

    `annotations` are all those of the file opm takes them from, None where it finds no such file. Problems
    are what a reader could not make sense of: such a file is not among the manifests. `valueless` are the
    places of dependencies and properties that have no value at all, which is not the same as null.
    """

    folder: str
    place: Place
    manifests: tuple[Manifest, ...] = ()
    annotations: Mapping[str, Any] | None = None
    annotations_place: Place | None = None
    dependencies: tuple[Property, ...] = ()
    properties: tuple[Property, ...] = ()
    problems: tuple[Problem, ...] = field(default=(), repr=False)
    valueless: frozenset[Place] = frozenset()

    @property
    def csv(self) -> Manifest | None:
        """The ClusterServiceVersion that counts: the first by file name."""
        return next(iter(self.of_kind(CSV)), None)

    @property
    def crds(self) -> tuple[Manifest, ...]:
        return self.of_kind(CRD)

    @property
    def objects(self) -> tuple[Manifest, ...]:
        """The manifests without the CSVs that opm ignores."""
        csv = self.csv
        return tuple(m for m in self.manifests if m.kind != CSV or m is csv)

    def of_kind(self, kind: str) -> tuple[Manifest, ...]:
        return tuple(m for m in self.manifests if m.kind == kind)

    def annotation(self, key: str) -> str:
        """One of the annotations, empty where it is not written or not a string."""
        return text(self.annotations or {}, key)
