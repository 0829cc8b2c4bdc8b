"""Migrates package manifests or bundles to a file-based catalog with the same edges.

The channels are copied entry by entry from the loaded model, including names of absent bundles. Package
manifests are converted to bundles.
"""

from __future__ import annotations

__all__ = ["CI_FILE", "MigratedPackage", "Migration"]

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from everpath.graph import PackageGraph
from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.loaders.fbc.bundle_objects import is_base64
from everpath.loaders.fbc.catalog_writer import catalog_text
from everpath.loaders.file_warning import FileWarning
from everpath.loaders.packagemanifest.bundles import convert_to_bundle
from everpath.loaders.packagemanifest.package_folder import PackageFolder, load_package_folder
from everpath.loaders.packagemanifest.package_versions import (
    PackageVersion,
    is_safe_file_name,
    package_versions,
)
from everpath.manifest_access import string_at, value_at
from everpath.model import Bundle, OpmError, Package, UpdateMode
from everpath.model.bundle_contents import Contents
from everpath.opm_render import Blob, render_bundle
from everpath.opm_render.blobs import channel_blob
from everpath.opm_render.bundles import expand_image_template
from everpath.opm_render.csv_metadata import migrate_to_csv_metadata
from everpath.parsing.yaml_writer import yaml_text

_ANNOTATIONS: Final = "metadata/annotations.yaml"

#: The ci.yaml of the new bundles: their edges are those of the CSVs.
CI_FILE: Final = ("ci.yaml", f"updateGraph: {UpdateMode.REPLACES.value}\n".encode())


class MigratedPackage(NamedTuple):
    """The files of one package by path in the new folder, and warnings."""

    files: dict[str, bytes]
    warnings: tuple[FileWarning, ...]


class _MigratedBundle(NamedTuple):
    """The contents of a bundle, and its new files; none if it was a bundle already."""

    contents: Contents
    files: Mapping[str, bytes]


class Migration:
    """Migrates the packages of one folder. `image` is a template of the bundle images.

    `validate` returns why opm rejects the blobs of a catalog, or None; the reason becomes a warning.
    """

    def __init__(
        self,
        source: str,
        image: str = "",
        suffix: str = "yaml",
        validate: Callable[[Sequence[Blob]], str | None] | None = None,
    ) -> None:
        self._source = source.rstrip(os.sep) or source
        self._image = image
        self._suffix = suffix
        self._validate = validate
        self._folders: dict[str, PackageFolder] = {}

    def migrate_package(self, package: Package) -> MigratedPackage:
        """Return the files of one package. Raises `OpmError` if it is invalid, and `UnreadableInput`.

        Cost: every manifest is parsed. Without images, the catalog contains all manifests.
        """
        _require_valid(package)
        reachable = {entry.name for channel in package.channels for entry in channel.entries}
        bundles = [bundle for bundle in package.bundles if bundle.name in reachable]
        files: dict[str, bytes] = {}
        blobs: list[Blob] = []
        contents: dict[str, Contents] = {}
        for bundle, folder in self._bundles(package, bundles):
            files |= folder.files
            contents[bundle.name] = folder.contents
            blobs.append(self._blob(bundle, folder.contents))
        if files:
            files[f"bundles/{package.name}/{CI_FILE[0]}"] = CI_FILE[1]
        documents = [_package_blob(package, contents), *map(channel_blob, package.channels), *blobs]
        catalog = "".join(catalog_text(documents, self._suffix)).encode()
        files[f"catalog/{package.name}/catalog.{self._suffix}"] = catalog
        warnings = [
            FileWarning(f"not migrated: {bundle.name} is in no channel of {package.name}", bundle.place)
            for bundle in package.bundles
            if bundle.name not in reachable
        ]
        if self._validate is not None and (reason := self._validate(documents)) is not None:
            message = f"opm validate rejects the catalog of {package.name}: {reason}"
            warnings.append(FileWarning(message, package.place))
        return MigratedPackage(files, tuple(warnings))

    def _blob(self, bundle: Bundle, contents: Contents) -> Blob:
        image = expand_image_template(contents, self._image) if self._image else ""
        rendered = render_bundle(contents, image)
        if (found := rendered.blob.get("name")) != bundle.name:
            message = f"opm uses {found} as the CSV of this bundle, not {bundle.name}"
            raise OpmError(message, bundle.place, "keep one CSV in the folder")
        return migrate_to_csv_metadata(rendered).blob

    def _bundles(self, package: Package, bundles: list[Bundle]) -> Iterator[tuple[Bundle, _MigratedBundle]]:
        declaration = package.declarations[0].place
        if declaration.dialect != "fbc":
            # The bundles declare the package, not a package file.
            yield from (
                (bundle, _MigratedBundle(load_bundle_contents(self._folder_of(bundle)), {}))
                for bundle in bundles
            )
            return
        # The package file may be in a subfolder.
        files = [declaration.file, *(bundle.place.file for bundle in bundles)]
        path = os.path.commonpath([Path(name).parent for name in files])
        if path not in self._folders:
            self._folders = {path: load_package_folder(path)}
        folder = self._folders[path]
        found = {version.csv.name: version for version in package_versions(folder)}
        versions = [str(found[bundle.name].version) for bundle in bundles]
        counted = Counter(version.casefold() for version in versions)
        for bundle, version in zip(bundles, versions, strict=True):
            name = version if counted[version.casefold()] == 1 else bundle.name
            yield bundle, _bundle(package, folder, found[bundle.name], name)

    def _folder_of(self, bundle: Bundle) -> str:
        """The folder of a bundle as its loader detected it, or the source itself."""
        name = bundle.csv.folder if bundle.csv else None
        if name is None:
            return self._source
        above = Path(bundle.place.file).parents
        return str(next(folder for folder in above if folder.name == name))


def _require_valid(package: Package) -> None:
    """Raise `OpmError`, with a place, for a package that opm rejects."""
    place = package.place
    if not package.name:
        raise OpmError("the package has no name", place, "add packageName")
    if not is_safe_file_name(package.name):
        message = f"{package.name!r} is not a valid package name"
        raise OpmError(message, place, "use letters, digits and dashes")
    if not package.channels:
        raise OpmError(f"{package.name} has no channels", place, "add a channel")
    if package.default_channel not in {channel.name for channel in package.channels}:
        names = ", ".join(channel.name for channel in package.channels)
        reason = f"{package.default_channel} does not exist" if package.default_channel else "it is not set"
        raise OpmError(f"{package.name} has no default channel: {reason}", place, f"choose one of {names}")
    seen: dict[str, Bundle] = {}
    for bundle in package.bundles:
        if (other := seen.setdefault(bundle.name, bundle)) is not bundle:
            message = f"a second CSV with the name {bundle.name}: the first is {other.place.file}"
            raise OpmError(message, bundle.place.at("name"), "keep one of them, or rename it")
    for channel in package.channels:
        for entry in channel.entries:
            if entry.name not in seen:
                message = (
                    f"no file contains {entry.name or 'a CSV without a name'} of the channel {channel.name}"
                )
                raise OpmError(message, entry.place, "add the CSV, or choose an existing one")


def _bundle(package: Package, folder: PackageFolder, version: PackageVersion, name: str) -> _MigratedBundle:
    """Convert a version of package manifests to a bundle."""
    target = f"bundles/{package.name}/{name}"
    contents = convert_to_bundle(folder, package, version.csv, version.manifests)
    places = [manifest.place for manifest in contents.manifests]
    files = {f"{target}/manifests/{Path(place.file).name}": folder.read(place) for place in places}
    files[f"{target}/{_ANNOTATIONS}"] = yaml_text({"annotations": contents.annotations}).encode()
    return _MigratedBundle(contents, files)


def _package_blob(package: Package, contents: Mapping[str, Contents]) -> Blob:
    """Return the olm.package, with description and icon of the default channel's head, as opm does."""
    blob: Blob = {"schema": "olm.package", "name": package.name, "defaultChannel": package.default_channel}
    channel = next(c for c in PackageGraph(package).channels if c.name == package.default_channel)
    csv = contents[channel.head].csv if channel.head is not None else None
    if csv is None:
        return blob
    icon = value_at(csv.body, "spec", "icon", 0)
    data, kind = string_at(icon, "base64data"), string_at(icon, "mediatype")
    if data and kind and is_base64(data):
        blob["icon"] = {"base64data": "".join(data.splitlines()), "mediatype": kind}
    if description := string_at(csv.body, "spec", "description"):
        blob["description"] = description
    return blob
