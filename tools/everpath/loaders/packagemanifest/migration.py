"""From package manifests, or from bundles, to a file-based catalog with the same upgrades.

The graph is the one that readers see in the source (`loaders.bundle`): its channels are written down entry
by entry, names that lead nowhere included. Package manifests become bundles on the way.
"""

from __future__ import annotations

__all__ = ["CI_FILE", "MigratedPackage", "Migration"]

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from everpath.graph import PackageGraph
from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.loaders.fbc.acceptance import rejection_reason
from everpath.loaders.fbc.bundle_objects import is_base64
from everpath.loaders.fbc.catalog_writer import catalog_text
from everpath.loaders.packagemanifest.bundles import convert_to_bundle
from everpath.loaders.packagemanifest.flatten import Remark
from everpath.loaders.packagemanifest.package_folder import PackageFolder, load_package_folder
from everpath.loaders.packagemanifest.package_versions import Release, is_safe_file_name, releases
from everpath.manifest_access import string_at, value_at
from everpath.model import Bundle, OpmError, Package, UpdateMode
from everpath.model.bundle_contents import Contents, Manifest
from everpath.opm_render import Blob, render_bundle
from everpath.opm_render.blobs import channel_blob
from everpath.opm_render.bundles import expand_image_template
from everpath.opm_render.csv_metadata import migrate_to_csv_metadata
from everpath.parsing.yaml_writer import yaml_text

_ANNOTATIONS: Final = "metadata/annotations.yaml"

#: Says to whoever reads the bundles that their CSVs make the edges.
CI_FILE: Final = ("ci.yaml", f"updateGraph: {UpdateMode.REPLACES.value}\n".encode())


class MigratedPackage(NamedTuple):
    """The files of one package by their paths from the new folder, and what the user should know of them."""

    files: dict[str, bytes]
    remarks: tuple[Remark, ...]


class _Folder(NamedTuple):
    """A bundle as it will stand in its folder: what is in it, and the files, if they are not there yet."""

    contents: Contents
    files: Mapping[str, bytes]


class Migration:
    """Migrates the packages of one source, one after the other. `image` is a template for the images."""

    def __init__(self, source: str, image: str = "", suffix: str = "yaml") -> None:
        self._source = source.rstrip(os.sep) or source
        self._image = image
        self._suffix = suffix
        self._folders: dict[str, PackageFolder] = {}

    def package(self, package: Package) -> MigratedPackage:
        """The files of one package. Raises `OpmError` for what no catalog can hold, and `UnreadableInput`.

        Cost: every manifest is parsed and, without images to get them from, in the catalog.
        """
        _require_whole(package)
        served = {entry.name for channel in package.channels for entry in channel.entries}
        bundles = [bundle for bundle in package.bundles if bundle.name in served]
        files: dict[str, bytes] = {}
        blobs: list[Blob] = []
        contents: dict[str, Contents] = {}
        for bundle, folder in self._bundles(package, bundles):
            files |= folder.files
            contents[bundle.name] = folder.contents
            blobs.append(self._blob(bundle, folder.contents))
        if files:
            files[f"bundles/{package.name}/{CI_FILE[0]}"] = CI_FILE[1]
        documents = [_package(package, contents), *map(channel_blob, package.channels), *blobs]
        catalog = "".join(catalog_text(documents, self._suffix)).encode()
        files[f"catalog/{package.name}/catalog.{self._suffix}"] = catalog
        return MigratedPackage(files, (*_left_behind(package, served), *_unsound(package, documents)))

    def _blob(self, bundle: Bundle, contents: Contents) -> Blob:
        image = expand_image_template(contents, self._image) if self._image else ""
        rendered = render_bundle(contents, image)
        if (found := rendered.blob.get("name")) != bundle.name:
            message = f"opm takes {found} for the CSV of this bundle, and not {bundle.name}"
            raise OpmError(message, bundle.place, "keep one CSV in the folder")
        return migrate_to_csv_metadata(rendered).blob

    def _bundles(self, package: Package, bundles: list[Bundle]) -> Iterator[tuple[Bundle, _Folder]]:
        file = _package_file(package)
        if file is None:
            yield from (
                (bundle, _Folder(load_bundle_contents(self._folder_of(bundle)), {})) for bundle in bundles
            )
            return
        # A package file need not stand above the CSVs.
        files = [file, *(bundle.place.file for bundle in bundles)]
        folder = self._package_folder(os.path.commonpath([Path(name).parent for name in files]))
        found = {release.csv.name: release for release in releases(folder)}
        versions = [str(found[bundle.name].version) for bundle in bundles]
        counted = Counter(version.casefold() for version in versions)
        for bundle, version in zip(bundles, versions, strict=True):
            name = version if counted[version.casefold()] == 1 else bundle.name
            yield bundle, _bundle(package, folder, found[bundle.name], name)

    def _package_folder(self, path: str) -> PackageFolder:
        if path not in self._folders:
            self._folders = {path: load_package_folder(path)}
        return self._folders[path]

    def _folder_of(self, bundle: Bundle) -> str:
        """The folder of a bundle: that which its package's reader took for one, or the source itself."""
        name = bundle.csv.folder if bundle.csv else None
        if name is None:
            return self._source
        above = Path(bundle.place.file).parents
        return str(next(folder for folder in above if folder.name == name))


def _package_file(package: Package) -> str | None:
    """The package file that declares it; None where bundles do."""
    place = package.declarations[0].place
    return place.file if place.dialect == "fbc" else None


def _require_whole(package: Package) -> None:
    """Raise `OpmError` for what opm would refuse in any case, with the place to mend it at."""
    place = package.place
    if not package.name:
        raise OpmError("the package has no name", place, "add packageName")
    if not is_safe_file_name(package.name):
        message = f"{package.name!r} is no name for a package, nor for a folder"
        raise OpmError(message, place, "write letters, digits and dashes")
    if not package.channels:
        raise OpmError(f"{package.name} has no channels", place, "add a channel")
    if package.default_channel not in {channel.name for channel in package.channels}:
        names = ", ".join(channel.name for channel in package.channels)
        named = (
            f"no channel is called {package.default_channel}" if package.default_channel else "none is named"
        )
        raise OpmError(f"{package.name} has no default channel: {named}", place, f"name one of {names}")
    seen: dict[str, Bundle] = {}
    for bundle in package.bundles:
        if (other := seen.setdefault(bundle.name, bundle)) is not bundle:
            message = f"a second CSV called {bundle.name}: the first is {other.place.file}"
            raise OpmError(message, bundle.place.at("name"), "keep one of them, or rename it")
    for channel in package.channels:
        for entry in channel.entries:
            if entry.name not in seen:
                message = (
                    f"the channel {channel.name} has {entry.name or 'a CSV without a name'}, which no file is"
                )
                raise OpmError(message, entry.place, "add the CSV, or name one that is there")


def _bundle(package: Package, folder: PackageFolder, release: Release, name: str) -> _Folder:
    """The bundle that a release becomes."""
    into = f"bundles/{package.name}/{name}"
    contents = convert_to_bundle(folder, package, release.csv, release.manifests)
    places = [manifest.place for manifest in contents.manifests]
    files = {f"{into}/manifests/{Path(place.file).name}": folder.content(place) for place in places}
    files[f"{into}/{_ANNOTATIONS}"] = yaml_text({"annotations": contents.annotations}).encode()
    return _Folder(contents, files)


def _package(package: Package, contents: Mapping[str, Contents]) -> Blob:
    """The package, with description and icon of the CSV at the head of its default channel, as opm has it."""
    blob: Blob = {"schema": "olm.package", "name": package.name, "defaultChannel": package.default_channel}
    channel = next(c for c in PackageGraph(package).channels if c.name == package.default_channel)
    csv = contents[channel.head].csv if channel.head is not None else None
    return blob | _described(csv) if csv is not None else blob


def _described(csv: Manifest) -> dict[str, Any]:
    found: dict[str, Any] = {}
    icon = value_at(csv.body, "spec", "icon", 0)
    data, kind = string_at(icon, "base64data"), string_at(icon, "mediatype")
    if data and kind and is_base64(data):
        found["icon"] = {"base64data": "".join(data.splitlines()), "mediatype": kind}
    if description := string_at(csv.body, "spec", "description"):
        found["description"] = description
    return found


def _unsound(package: Package, documents: Sequence[Blob]) -> Iterator[Remark]:
    """What opm refuses in the catalog as a whole: it was so before, and is kept."""
    if (reason := rejection_reason(documents)) is not None:
        yield Remark(f"opm validate will refuse the catalog of {package.name}: {reason}", package.place)


def _left_behind(package: Package, served: set[str]) -> Iterator[Remark]:
    for bundle in package.bundles:
        if bundle.name not in served:
            yield Remark(f"left out: no channel of {package.name} reaches {bundle.name}", bundle.place)
