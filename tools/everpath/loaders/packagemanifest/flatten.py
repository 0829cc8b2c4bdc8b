"""Converts package manifests between a flat folder and a folder for each version.

Files are copied unchanged. The versions of the CSVs decide which file is newest, not the names of folders.
"""

from __future__ import annotations

__all__ = ["FileMoves", "flatten_manifests", "nest_manifests"]

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count
from os import sep
from pathlib import Path
from typing import NamedTuple

from everpath.loaders.bundle.folder_reader import join
from everpath.loaders.file_warning import FileWarning
from everpath.loaders.packagemanifest.package_folder import PackageFolder
from everpath.loaders.packagemanifest.package_versions import (
    PackageVersion,
    is_crd,
    owned_crds,
    package_versions,
)
from everpath.manifest_access import string_at
from everpath.model import Place
from everpath.model.bundle_contents import CSV, Manifest


class FileMoves(NamedTuple):
    """The file to copy for each path in the new folder, and warnings."""

    files: dict[str, Place]
    warnings: tuple[FileWarning, ...] = ()


def nest_manifests(folder: PackageFolder) -> FileMoves:
    """Put each version into its own folder, with its CSV and the CRDs that it owns. Raises `OpmError`.

    A folder has the name of the version, or of the CSV if several CSVs have that version.
    """
    package_file = folder.package_file.place
    files = {_file_name(package_file): package_file}
    versions = package_versions(folder)
    counted = Counter(str(version.version).casefold() for version in versions)
    warnings: list[FileWarning] = []
    for version in versions:
        name = str(version.version)
        target = name if counted[name.casefold()] == 1 else version.csv.name
        for manifest in (version.csv, *version.manifests):
            files[join(target, _file_name(manifest.place))] = manifest.place
        warnings += _missing_crds(version)
    return FileMoves(dict(sorted(files.items())), (*warnings, *_unowned_crds(folder, versions)))


def _missing_crds(release: PackageVersion) -> Iterator[FileWarning]:
    there = {manifest.name for manifest in release.manifests if is_crd(manifest)}
    for name, _ in owned_crds(release.csv):
        if name not in there:
            yield FileWarning(
                f"{release.csv.name} owns the CRD {name}, but no file defines it", release.csv.place
            )


def _unowned_crds(folder: PackageFolder, found: Sequence[PackageVersion]) -> Iterator[FileWarning]:
    """Yield a warning for each CRD of a flat folder that no CSV owns."""
    claimed = {name for release in found for name, _ in owned_crds(release.csv)}
    shared = Counter(release.folder for release in found)
    for path, manifests in folder.folders.items():
        for crd in filter(is_crd, manifests):
            if shared[path] > 1 and crd.name not in claimed:
                yield FileWarning(f"no CSV owns the CRD {crd.name}: every version gets a copy", crd.place)


def flatten_manifests(folder: PackageFolder) -> FileMoves:
    """Put all CSVs into one folder, with the newest version of every other object. Raises `OpmError`."""
    package_file = folder.package_file.place
    found = package_versions(folder)
    wanted = [(_file_name(package_file), "", package_file)]
    for release in found:
        name = f"{release.csv.name}.{CSV.lower()}{_ending(release.csv)}"
        wanted.append((name, name, release.csv.place))
    for manifest in _newest_objects(found):
        name = f"{manifest.name or 'unnamed'}.{manifest.kind.lower()}"
        name = re.sub(r"[^\w.-]", "_", name.lstrip(".")) + _ending(manifest)
        wanted.append((_file_name(manifest.place), name, manifest.place))
    return FileMoves(
        dict(sorted(_unique_names(wanted))),
        (*_skipped_files(folder, found), *_objects_of_some_versions(found)),
    )


def _newest_objects(found: Iterable[PackageVersion]) -> list[Manifest]:
    """Return each object as in the highest version that contains it. Versions are sorted, lowest first."""
    newest: dict[tuple[str, ...], Manifest] = {}
    for release in found:
        # Reversed, because the first of two files of an object takes precedence.
        for manifest in reversed(release.manifests):
            newest[_identity(manifest)] = manifest
    return list(newest.values())


def _identity(manifest: Manifest) -> tuple[str, ...]:
    """The identity of an object, without the API version, which may change."""
    if not manifest.name:
        return (manifest.place.file,)
    group = manifest.api_version.rpartition("/")[0]
    return group, manifest.kind, string_at(manifest.body, "metadata", "namespace"), manifest.name


def _file_name(place: Place) -> str:
    return Path(place.file).name


def _ending(manifest: Manifest) -> str:
    return f".{manifest.place.file.rpartition('.')[2]}"


def _unique_names(wanted: Sequence[tuple[str, str, Place]]) -> Iterator[tuple[str, Place]]:
    """Yield a unique name for each file: its own, else that of its object, else with a number.

    Names are compared without case, as on some file systems.
    """
    counted = Counter(name.casefold() for name, _, _ in wanted)
    taken = {name.casefold() for name, own, _ in wanted if not own or counted[name.casefold()] == 1}
    for name, own, place in wanted:
        if not own or counted[name.casefold()] == 1:
            yield name, place
            continue
        stem, _, ending = own.rpartition(".")
        names = chain([own], (f"{stem}-{number}.{ending}" for number in count(2)))
        free = next(name for name in names if name.casefold() not in taken)
        taken.add(free.casefold())
        yield free, place


def _skipped_files(folder: PackageFolder, found: Iterable[PackageVersion]) -> Iterator[FileWarning]:
    with_csv = {release.folder for release in found}
    for path, manifests in folder.folders.items():
        for manifest in manifests if path not in with_csv else ():
            where = f"the folder {path}{sep}" if path else "the top folder"
            yield FileWarning(f"not copied: {where} has no CSV", manifest.place)


def _objects_of_some_versions(found: Sequence[PackageVersion]) -> Iterator[FileWarning]:
    """Yield a warning for each object, except CRDs, that only some versions contain."""
    holders = Counter(_identity(m) for release in found for m in release.manifests if not is_crd(m))
    for manifest in _newest_objects(found):
        if 0 < holders[_identity(manifest)] < len(found):
            message = f"only some versions contain this {manifest.kind}: in a flat folder, all do"
            yield FileWarning(message, manifest.place)
