"""Detects what a folder contains: a bundle, a repository of packages, or package manifests.

It runs for every folder, file-based catalogs included. File names decide where possible, and no parser is
imported before it is needed.
"""

from __future__ import annotations

__all__ = [
    "MANIFEST_SUFFIXES",
    "BundleLayout",
    "find_layouts",
    "find_package_folders",
    "is_bundle_folder",
    "is_csv_name",
    "is_package_document",
    "is_package_file",
    "is_package_file_name",
    "is_package_manifest",
    "is_repository",
]

import re
from codecs import BOM_UTF8
from itertools import islice
from typing import Any, Final, NamedTuple

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.folder_reader import FolderReader, Listing, join

#: The suffixes of manifest files.
MANIFEST_SUFFIXES: Final = (".yaml", ".yml", ".json")

_PACKAGE_KEY: Final = re.compile(rb"""^["']?packageName["']?\s*:""", re.MULTILINE)

# Package files have a few lines.
_LARGEST: Final = 1 << 16

# The number of files and folders that are opened for detection. A catalog may have 20,000.
_SNIFFED_FILES: Final = 50
_SNIFFED_FOLDERS: Final = 20


class BundleLayout(NamedTuple):
    """Where the files of one bundle are. `metadata` is None if there is no metadata folder."""

    manifests: str
    files: tuple[str, ...]
    metadata: str | None

    @property
    def is_bundle(self) -> bool:
        return self.metadata is not None or any(map(is_csv_name, self.files))

    @property
    def is_shared(self) -> bool:
        """Whether manifests and metadata are in one folder, which opm does not support."""
        return self.metadata == self.manifests


def is_bundle_folder(path: str) -> bool:
    """Whether a folder is a bundle: it has manifests, and a CSV among them or a metadata folder."""
    try:
        return any(layout.is_bundle for layout in find_layouts(FolderReader(path), ""))
    except UnreadableInput:
        return False


def is_csv_name(name: str) -> bool:
    """Whether a file has the usual name of a CSV. Only its content is decisive."""
    return "clusterserviceversion" in name.lower()


def find_layouts(reader: FolderReader, folder: str) -> list[BundleLayout]:
    """Return the bundles in a folder, first the one that opm reads."""
    listing = reader.list_folder(folder)
    outer = _metadata(folder, listing)
    found = [_layout(reader, folder, outer)] if "manifests" in listing.folders else []
    if "bundle" in listing.folders:
        inner = join(folder, "bundle")
        below = reader.list_folder(inner)
        if "manifests" in below.folders:
            found.append(_layout(reader, inner, _metadata(inner, below) or outer))
    if not found and any(map(is_csv_name, listing.files)):
        found.append(BundleLayout(folder, listing.files, outer or folder))
    return found


def _layout(reader: FolderReader, folder: str, metadata: str | None) -> BundleLayout:
    manifests = join(folder, "manifests")
    return BundleLayout(manifests, reader.list_folder(manifests).files, metadata)


def _metadata(folder: str, listing: Listing) -> str | None:
    return join(folder, "metadata") if "metadata" in listing.folders else None


def is_repository(path: str) -> bool:
    """Whether a folder is a package folder, or it or its operators folder contains package folders."""
    reader = FolderReader(path)
    return _is_package_folder(reader, "") or any(_has_package_folders(reader, f) for f in ("operators", ""))


def find_package_folders(reader: FolderReader) -> tuple[str, tuple[str, ...]]:
    """Return the folder of a repository's packages and their names; a single package has the name ""."""
    listing = reader.list_folder("")
    if "operators" in listing.folders and _has_package_folders(reader, "operators"):
        return "operators", reader.list_folder("operators").folders
    return "", ("",) if _is_package_folder(reader, "") else listing.folders


def _has_package_folders(reader: FolderReader, folder: str) -> bool:
    """Whether one of its first subfolders is a package folder."""
    try:
        names = reader.list_folder(folder).folders
    except UnreadableInput:
        return False
    return any(_is_package_folder(reader, join(folder, name)) for name in islice(names, _SNIFFED_FOLDERS))


def _is_package_folder(reader: FolderReader, folder: str) -> bool:
    """Whether one of its first subfolders is a bundle, or it contains a package file."""
    try:
        listing = reader.list_folder(folder)
        if any(map(is_package_file_name, listing.files)):
            return True
        names = islice(listing.folders, _SNIFFED_FOLDERS)
        layouts = [layout for name in names for layout in find_layouts(reader, join(folder, name))]
    except UnreadableInput:
        return False
    return any(layout.is_bundle for layout in layouts)


def is_package_manifest(path: str) -> bool:
    """Whether a folder contains a package file, by name or by the content of its first files."""
    reader = FolderReader(path)
    try:
        files = reader.list_folder("").files
    except UnreadableInput:
        return False
    if any(map(is_package_file_name, files)):
        return True
    texts = (name for name in files if name.endswith(MANIFEST_SUFFIXES))
    return any(is_package_file(reader, name) for name in islice(texts, _SNIFFED_FILES))


def is_package_file_name(name: str) -> bool:
    """Whether a file has the usual name of a package file."""
    return name.endswith(tuple(f".package{ending}" for ending in MANIFEST_SUFFIXES))


def is_package_file(reader: FolderReader, file: str) -> bool:
    """Whether the content of a file is that of a package file."""
    try:
        data = reader.read(file, _LARGEST)
    except UnreadableInput:
        return False
    # In a catalog the key is nested, and nothing is parsed.
    text = data.removeprefix(BOM_UTF8)
    is_json = text.lstrip()[:1] == b"{"
    if is_json and (b"packageName" not in text or b"schema" in text):
        return False
    if not is_json and not _PACKAGE_KEY.search(text):
        return False
    from everpath.parsing.first_document import ParseError, first_document  # noqa: PLC0415

    try:
        return is_package_document(first_document(data).value)
    except ParseError:
        return False


def is_package_document(document: Any) -> bool:
    """Whether a document is that of a package file, not of a file-based catalog."""
    return isinstance(document, dict) and "packageName" in document and "schema" not in document
