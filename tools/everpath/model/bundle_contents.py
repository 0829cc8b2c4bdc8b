"""The complete contents of bundle folders and package manifests, valid or not.

`model.Bundle` has only what the upgrade graph needs of a bundle.
"""

from __future__ import annotations

__all__ = [
    "CRD",
    "CSV",
    "PACKAGE_ANNOTATION",
    "BundleFolder",
    "BundleSize",
    "Contents",
    "Manifest",
    "PackageManifest",
    "ValidationInput",
]

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from everpath.manifest_access import as_string, mapping, string_at, text
from everpath.model import Catalog, Place, Problem, Property

CSV: Final = "ClusterServiceVersion"
CRD: Final = "CustomResourceDefinition"
PACKAGE_ANNOTATION: Final = "operators.operatorframework.io.bundle.package.v1"


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


class BundleSize(NamedTuple):
    """Bytes of all files of a bundle: as they are, and compressed and in base64, as OLM v0 stores them."""

    uncompressed: int
    compressed: int


@dataclass(frozen=True, slots=True)
class BundleFolder:
    """A bundle folder as validators see it: its contents, what surrounds them, and options of the user.

    `stray_files` are paths in manifests/ that are not manifests: folders, which end in a slash, and hidden
    files. `missing_folders` are those of manifests and metadata that do not exist. `kube_version` is the
    Kubernetes version that the bundle is checked for. `categories` replace the default list of categories.
    `labels` is the place and the content of the file with the labels of the image.
    """

    contents: Contents
    stray_files: tuple[str, ...] = ()
    missing_folders: tuple[str, ...] = ()
    size: BundleSize | None = None
    kube_version: str = ""
    categories: frozenset[str] | None = None
    labels: tuple[Place, str] | None = None
    csv: Manifest | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "csv", self.contents.csv)

    @property
    def package(self) -> str | None:
        """The package that the annotations name."""
        return as_string((self.contents.annotations or {}).get(PACKAGE_ANNOTATION)) or None

    @property
    def name(self) -> str | None:
        """The name of the bundle, which is that of its CSV."""
        return string_at(self.csv.body, "metadata", "name") or None if self.csv else None


class PackageManifest(NamedTuple):
    """A file NAME.package.yaml of the package manifest format: the channels of a package and their heads."""

    place: Place
    body: Mapping[str, Any]

    @property
    def package(self) -> str | None:
        return string_at(self.body, "packageName") or None


class ValidationInput(NamedTuple):
    """One input of `bundle validate`: a bundle folder with the catalog of its bundle, or a package manifest.

    The catalog also has the problems found while loading.
    """

    catalog: Catalog
    folder: BundleFolder | None = None
    package_manifest: PackageManifest | None = None
