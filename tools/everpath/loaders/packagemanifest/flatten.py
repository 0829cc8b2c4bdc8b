"""Package manifests moved: from a flat folder into a folder a version, and back.

Files are copied as they are. Neither way depends on the order in which folders or files are listed: what is
newest, the versions of the CSVs say.
"""

from __future__ import annotations

__all__ = ["FileMoves", "Remark", "flatten_manifests", "nest_manifests"]

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from os import sep
from pathlib import Path
from typing import NamedTuple

from everpath.loaders.bundle.folder_reader import join
from everpath.loaders.packagemanifest.package_folder import PackageFolder
from everpath.loaders.packagemanifest.package_versions import Release, is_crd, owned, releases
from everpath.manifest_access import string_at
from everpath.model import Place
from everpath.model.bundle_contents import CSV, Manifest


class Remark(NamedTuple):
    """Something the user should know, and the file it is about."""

    message: str
    place: Place


class FileMoves(NamedTuple):
    """Where each file goes: new paths from the new folder, and of what file each is a copy."""

    files: dict[str, Place]
    remarks: tuple[Remark, ...] = ()


def nest_manifests(folder: PackageFolder) -> FileMoves:
    """A folder for each version with its CSV and the CRDs that it owns, and the package file on top.

    A folder is called as its version, or as its CSV where two have one version. Raises `OpmError`.
    """
    package_file = folder.package_file.place
    files = {_file_name(package_file): package_file}
    found = releases(folder)
    counted = Counter(str(release.version).casefold() for release in found)
    remarks: list[Remark] = []
    for release in found:
        version = str(release.version)
        into = version if counted[version.casefold()] == 1 else release.csv.name
        for manifest in (release.csv, *release.manifests):
            files[join(into, _file_name(manifest.place))] = manifest.place
        remarks += _missing(release)
    return FileMoves(dict(sorted(files.items())), (*remarks, *_unowned(folder, found)))


def _missing(release: Release) -> Iterator[Remark]:
    there = {manifest.name for manifest in release.manifests if is_crd(manifest)}
    for name, _ in owned(release.csv):
        if name not in there:
            yield Remark(f"{release.csv.name} owns {name}, and no file defines it", release.csv.place)


def _unowned(folder: PackageFolder, found: Sequence[Release]) -> Iterator[Remark]:
    """CRDs of a flat folder that no CSV owns."""
    claimed = {name for release in found for name, _ in owned(release.csv)}
    shared = Counter(release.folder for release in found)
    for path, manifests in folder.folders.items():
        for crd in filter(is_crd, manifests):
            if shared[path] > 1 and crd.name not in claimed:
                yield Remark(f"no CSV owns {crd.name}: it goes with every version", crd.place)


def flatten_manifests(folder: PackageFolder) -> FileMoves:
    """All CSVs in one folder, each under its own name, with the newest of every other object.

    Newest is what the CSV of the highest version ships, whatever the folders are called. Raises `OpmError`.
    """
    package_file = folder.package_file.place
    found = releases(folder)
    kept = _newest(found)
    wanted = [(_file_name(package_file), "", package_file)]
    wanted += ((name := _csv_file(release.csv), name, release.csv.place) for release in found)
    wanted += ((_file_name(m.place), _own_file(m), m.place) for m in kept)
    return FileMoves(dict(sorted(_named(wanted))), (*_left_out(folder, found), *_spread(found)))


def _newest(found: Iterable[Release]) -> list[Manifest]:
    """Of each object the one that the newest release ships. Releases come oldest first.

    In a folder with several CSVs each file belongs to the newest of them that ships it.
    """
    kept: dict[tuple[str, ...], Manifest] = {}
    for release in found:
        # Backwards: of two files for one object the first counts.
        for manifest in reversed(release.manifests):
            kept[_identity(manifest)] = manifest
    return list(kept.values())


def _identity(manifest: Manifest) -> tuple[str, ...]:
    """What makes two manifests the same object. The version of the API does not: CRDs have changed theirs."""
    if not manifest.name:
        return (manifest.place.file,)
    group = manifest.api_version.rpartition("/")[0]
    return group, manifest.kind, string_at(manifest.body, "metadata", "namespace"), manifest.name


def _file_name(place: Place) -> str:
    return Path(place.file).name


def _csv_file(csv: Manifest) -> str:
    return f"{csv.name}.{CSV.lower()}{_ending(csv)}"


def _own_file(manifest: Manifest) -> str:
    name = f"{manifest.name or 'unnamed'}.{manifest.kind.lower()}"
    return re.sub(r"[^\w.-]", "_", name.lstrip(".")) + _ending(manifest)


def _ending(manifest: Manifest) -> str:
    return f".{manifest.place.file.rpartition('.')[2]}"


def _named(wanted: Sequence[tuple[str, str, Place]]) -> Iterator[tuple[str, Place]]:
    """Each file under the name it wants, else under its object's, else numbered: no two under one.

    Some file systems know no case.
    """
    counted = Counter(name.casefold() for name, _, _ in wanted)
    taken = {name.casefold() for name, own, _ in wanted if not own or counted[name.casefold()] == 1}
    for name, own, place in wanted:
        if not own or counted[name.casefold()] == 1:
            yield name, place
            continue
        free = next(n for n in _numbered(own) if n.casefold() not in taken)
        taken.add(free.casefold())
        yield free, place


def _numbered(name: str) -> Iterator[str]:
    stem, _, ending = name.rpartition(".")
    yield name
    number = 2
    while True:
        yield f"{stem}-{number}.{ending}"
        number += 1


def _left_out(folder: PackageFolder, found: Iterable[Release]) -> Iterator[Remark]:
    with_csv = {release.folder for release in found}
    for path, manifests in folder.folders.items():
        for manifest in manifests if path not in with_csv else ():
            where = f"the folder {path}{sep}" if path else "the outermost folder"
            yield Remark(f"left out: {where} has no CSV that could ship it", manifest.place)


def _spread(found: Sequence[Release]) -> Iterator[Remark]:
    """Objects other than CRDs that some releases do not have: in a flat folder all of them do."""
    holders = Counter(_identity(m) for release in found for m in release.manifests if not is_crd(m))
    for manifest in _newest(found):
        if 0 < holders[_identity(manifest)] < len(found):
            message = f"not every version has this {manifest.kind}: in a flat folder each will"
            yield Remark(message, manifest.place)
