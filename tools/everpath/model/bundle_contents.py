"""The complete contents of a bundle folder: manifests and metadata, valid or not.

`model.Bundle` has only what the upgrade graph needs of a bundle.
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
    """The first document of a manifest file: a mapping with a kind. Pointers of `place` refer to `body`."""

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
        """The spec, or an empty mapping if it is missing or not a mapping."""
        return mapping(self.body, "spec")

    @property
    def _metadata(self) -> Mapping[str, Any]:
        return mapping(self.body, "metadata")


@dataclass(frozen=True, slots=True)
class Contents:
    """A bundle folder. Manifests are sorted by file name; places begin with the path that the user gave.

    `annotations` are those of the file from which opm takes them, None if there is no such file. A file that
    cannot be parsed is not in `manifests`, but has an item in `problems`. `valueless` has the places of
    dependencies and properties without the key `value`; `value: null` is a value.
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
        """The ClusterServiceVersion that opm uses: the first by file name."""
        return next(iter(self.of_kind(CSV)), None)

    @property
    def crds(self) -> tuple[Manifest, ...]:
        return self.of_kind(CRD)

    @property
    def objects(self) -> tuple[Manifest, ...]:
        """The manifests without further CSVs, which opm ignores."""
        csv = self.csv
        return tuple(m for m in self.manifests if m.kind != CSV or m is csv)

    def of_kind(self, kind: str) -> tuple[Manifest, ...]:
        return tuple(m for m in self.manifests if m.kind == kind)

    def annotation(self, key: str) -> str:
        """Return the value of an annotation, or an empty string if it is missing or not a string."""
        return text(self.annotations or {}, key)
