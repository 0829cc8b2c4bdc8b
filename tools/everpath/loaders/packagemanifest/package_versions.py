"""The releases in a folder of package manifests: each ClusterServiceVersion with what belongs to it.

The first registries gave a CSV every file of its folder. In a flat folder that is too much: there, a CRD goes
with the CSVs that own it, and what nobody owns with all of them.
"""

from __future__ import annotations

__all__ = ["Release", "csvs_with_manifests", "is_crd", "is_safe_file_name", "owned", "releases"]

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from everpath.loaders.packagemanifest.package_folder import PackageFolder
from everpath.manifest_access import as_string, items_at, string_at
from everpath.model import OpmError, Place
from everpath.model.bundle_contents import CRD, CSV, Manifest
from everpath.versions import Key, Version, VersionError, parse_tolerant

# Builds of one version are told apart by their identifiers, numbers before words, as opm tells them apart.
_Order = tuple[Key, tuple[tuple[bool, int, str], ...], str]


class Release(NamedTuple):
    """A CSV, the folder it stands in, its version, and the other manifests of the release by file name."""

    csv: Manifest
    folder: str
    version: Version
    manifests: tuple[Manifest, ...]

    @property
    def order(self) -> _Order:
        """What releases are ordered by: the version, then the build, then the name."""
        build = tuple((not p.isdigit(), int(p) if p.isdigit() else 0, p) for p in self.version.build)
        return self.version.key, build, self.csv.name


def releases(folder: PackageFolder) -> list[Release]:
    """All of them, oldest first. Raises `OpmError` for a CSV without a name or version, or with another's."""
    found: dict[str, Release] = {}
    for path, csv, manifests in csvs_with_manifests(folder):
        if not csv.name:
            raise OpmError("the CSV has no name", csv.place.at("metadata"), "name it, like op.v1.2.0")
        if not is_safe_file_name(csv.name):
            message = f"{csv.name!r} is no name for a CSV, nor for a file"
            raise OpmError(message, csv.place.at("metadata", "name"), "name it, like op.v1.2.0")
        if (other := found.get(csv.name)) is not None:
            message = f"a second CSV called {csv.name}: the first is {folder.name_of(other.csv.place)}"
            raise OpmError(message, csv.place.at("metadata", "name"), "keep one of them, or rename it")
        _require_one_of_each(folder, csv, manifests)
        found[csv.name] = Release(csv, path, _version(csv), manifests)
    if not found:
        message = f"no file of {folder.root} is a ClusterServiceVersion"
        raise OpmError(message, Place(folder.root), "give the folder with the CSVs and the package file")
    return sorted(found.values(), key=lambda release: release.order)


def csvs_with_manifests(folder: PackageFolder) -> Iterator[tuple[str, Manifest, tuple[Manifest, ...]]]:
    """Every CSV below a folder: where it stands, and what belongs to it. Judges nothing."""
    for path, beside in folder.folders.items():
        yield from ((path, csv, manifests) for csv, manifests in _with_companions(beside))


def is_safe_file_name(name: str) -> bool:
    """Whether a file may be called so wherever it is put: no way leads out of its folder."""
    return name.isprintable() and not name.startswith(".") and not set(name) & set("/\\:")


def _version(csv: Manifest) -> Version:
    written = as_string(csv.spec.get("version"))
    try:
        return parse_tolerant(written)
    except VersionError as error:
        message = str(error) if written else "the CSV has no version"
        raise OpmError(message, csv.place.at("spec", "version"), "write spec.version, like 1.2.0") from error


def _with_companions(beside: Sequence[Manifest]) -> Iterator[tuple[Manifest, tuple[Manifest, ...]]]:
    """Each CSV of a folder with what belongs to it of all that stands beside it. O(CSVs · manifests)."""
    others = [manifest for manifest in beside if manifest.kind != CSV]
    csvs = [manifest for manifest in beside if manifest.kind == CSV]
    if len(csvs) == 1:
        yield csvs[0], tuple(others)
        return
    claimed = {name for csv in csvs for name, _ in owned(csv)}
    versions = {crd.place: _versions(crd) for crd in others if is_crd(crd)}
    defined = {(crd.name, version) for crd in others if is_crd(crd) for version in versions[crd.place]}
    for csv in csvs:
        mine = dict(owned(csv))
        yield csv, tuple(m for m in others if _is_mine(m, mine, claimed, versions.get(m.place), defined))


def _is_mine(
    manifest: Manifest,
    mine: Mapping[str, str],
    claimed: Set[str],
    versions: Set[str] | None,
    defined: Set[tuple[str, str]],
) -> bool:
    """Whether a manifest goes with a CSV that owns `mine`; of several files of a CRD, those with its version.

    `versions` are those of a CRD, `defined` the versions that there are at all, by name.
    """
    if versions is None:
        return True
    if manifest.name not in mine:
        return manifest.name not in claimed
    version = mine[manifest.name]
    return (manifest.name, version) not in defined or version in versions


def _require_one_of_each(folder: PackageFolder, csv: Manifest, manifests: Sequence[Manifest]) -> None:
    seen: dict[str, Manifest] = {}
    for crd in filter(is_crd, manifests):
        other = seen.setdefault(crd.name, crd)
        if other is not crd and folder.content(other.place) != folder.content(crd.place):
            message = f"{crd.name} is also in {folder.name_of(other.place)}, and {csv.name} cannot have both"
            raise OpmError(message, crd.place.at("metadata", "name"), "keep the newer of the two files")


def is_crd(manifest: Manifest) -> bool:
    return manifest.kind == CRD


def owned(csv: Manifest) -> Iterator[tuple[str, str]]:
    """The CRDs a CSV owns, each with the version it wants."""
    for _, item in items_at(csv.body, "spec", "customresourcedefinitions", "owned"):
        yield string_at(item, "name"), string_at(item, "version")


def _versions(crd: Manifest) -> set[str]:
    return {string_at(v, "name") for _, v in items_at(crd.body, "spec", "versions")} | {
        string_at(crd.body, "spec", "version")
    }
