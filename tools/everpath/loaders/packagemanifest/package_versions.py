"""The versions in a folder of package manifests: each ClusterServiceVersion with its manifests.

operator-registry gives a CSV every file of its folder. In a folder with several CSVs, a CRD belongs to the
CSVs that own it, and other manifests belong to all of them.
"""

from __future__ import annotations

__all__ = [
    "PackageVersion",
    "csvs_with_manifests",
    "is_crd",
    "is_safe_file_name",
    "owned_crds",
    "package_versions",
]

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from everpath.loaders.packagemanifest.package_folder import PackageFolder
from everpath.manifest_access import as_string, items_at, string_at
from everpath.model import OpmError, Place
from everpath.model.bundle_contents import CRD, CSV, Manifest
from everpath.versions import Key, Version, VersionError, parse_tolerant

# opm orders builds of one version by their identifiers, numbers before words.
_Order = tuple[Key, tuple[tuple[bool, int, str], ...], str]


class PackageVersion(NamedTuple):
    """A CSV, its folder, its version, and its other manifests by file name."""

    csv: Manifest
    folder: str
    version: Version
    manifests: tuple[Manifest, ...]

    @property
    def order(self) -> _Order:
        """The sort key: version, build, CSV name."""
        build = tuple((not p.isdigit(), int(p) if p.isdigit() else 0, p) for p in self.version.build)
        return self.version.key, build, self.csv.name


def package_versions(folder: PackageFolder) -> list[PackageVersion]:
    """Return the versions, lowest first. Raises `OpmError` for an invalid or duplicate name or version."""
    found: dict[str, PackageVersion] = {}
    for path, csv, manifests in csvs_with_manifests(folder):
        if not csv.name:
            raise OpmError("the CSV has no name", csv.place.at("metadata"), "set a name such as op.v1.2.0")
        if not is_safe_file_name(csv.name):
            message = f"{csv.name!r} is not a valid name of a CSV"
            raise OpmError(message, csv.place.at("metadata", "name"), "set a name such as op.v1.2.0")
        if (other := found.get(csv.name)) is not None:
            message = (
                f"a second CSV with the name {csv.name}: the first is {folder.relative_path(other.csv.place)}"
            )
            raise OpmError(message, csv.place.at("metadata", "name"), "keep one of them, or rename it")
        _require_one_of_each(folder, csv, manifests)
        found[csv.name] = PackageVersion(csv, path, _parse_csv_version(csv), manifests)
    if not found:
        message = f"{folder.root} contains no ClusterServiceVersion"
        raise OpmError(message, Place(folder.root), "choose the folder of the CSVs and the package file")
    return sorted(found.values(), key=lambda release: release.order)


def csvs_with_manifests(folder: PackageFolder) -> Iterator[tuple[str, Manifest, tuple[Manifest, ...]]]:
    """Yield every CSV: its folder, the CSV and its manifests. Nothing is checked."""
    for path, beside in folder.folders.items():
        yield from ((path, csv, manifests) for csv, manifests in _with_manifests(beside))


def is_safe_file_name(name: str) -> bool:
    """Whether a name is safe as a file name: it cannot point out of its folder."""
    return name.isprintable() and not name.startswith(".") and not set(name) & set("/\\:")


def _parse_csv_version(csv: Manifest) -> Version:
    written = as_string(csv.spec.get("version"))
    try:
        return parse_tolerant(written)
    except VersionError as error:
        message = str(error) if written else "the CSV has no version"
        raise OpmError(message, csv.place.at("spec", "version"), "set spec.version, such as 1.2.0") from error


def _with_manifests(beside: Sequence[Manifest]) -> Iterator[tuple[Manifest, tuple[Manifest, ...]]]:
    """Yield each CSV of a folder with its manifests. Cost: O(CSVs · manifests)."""
    others = [manifest for manifest in beside if manifest.kind != CSV]
    csvs = [manifest for manifest in beside if manifest.kind == CSV]
    if len(csvs) == 1:
        yield csvs[0], tuple(others)
        return
    claimed = {name for csv in csvs for name, _ in owned_crds(csv)}
    versions = {
        crd.place: {
            string_at(crd.body, "spec", "version"),
            *(string_at(version, "name") for _, version in items_at(crd.body, "spec", "versions")),
        }
        for crd in others
        if is_crd(crd)
    }
    defined = {(crd.name, version) for crd in others if is_crd(crd) for version in versions[crd.place]}
    for csv in csvs:
        own = dict(owned_crds(csv))
        yield csv, tuple(m for m in others if _belongs_to(m, own, claimed, versions.get(m.place), defined))


def _belongs_to(
    manifest: Manifest,
    owned: Mapping[str, str],
    claimed: Set[str],
    versions: Set[str] | None,
    defined: Set[tuple[str, str]],
) -> bool:
    """Whether a manifest belongs to the CSV that owns the CRDs `owned`, by name with a version.

    `claimed` are the names of all owned CRDs. `versions` are those of a CRD, None for another manifest.
    `defined` are the names and versions in all files: of several files of a CRD, those with the owned version
    belong.
    """
    if versions is None:
        return True
    if manifest.name not in owned:
        return manifest.name not in claimed
    version = owned[manifest.name]
    return (manifest.name, version) not in defined or version in versions


def _require_one_of_each(folder: PackageFolder, csv: Manifest, manifests: Sequence[Manifest]) -> None:
    seen: dict[str, Manifest] = {}
    for crd in filter(is_crd, manifests):
        other = seen.setdefault(crd.name, crd)
        if other is not crd and folder.read(other.place) != folder.read(crd.place):
            where = folder.relative_path(other.place)
            message = f"{csv.name} would have the CRD {crd.name} twice: it is also in {where}"
            raise OpmError(message, crd.place.at("metadata", "name"), "keep the newer of the two files")


def is_crd(manifest: Manifest) -> bool:
    return manifest.kind == CRD


def owned_crds(csv: Manifest) -> Iterator[tuple[str, str]]:
    """Yield the names of the CRDs that a CSV owns, each with its version."""
    for _, item in items_at(csv.body, "spec", "customresourcedefinitions", "owned"):
        yield string_at(item, "name"), string_at(item, "version")
