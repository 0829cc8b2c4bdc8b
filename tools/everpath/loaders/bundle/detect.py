"""What a folder is: a bundle, a repository of packages, or package manifests. By names, if they suffice.

Asked about every folder, catalogs included, so it brings no parser along.
"""

from __future__ import annotations

__all__ = [
    "YAML",
    "Layout",
    "find_layouts",
    "has_package_folders",
    "is_bundle_folder",
    "is_csv_name",
    "is_package_document",
    "is_package_file",
    "is_package_file_name",
    "is_package_folder",
    "is_package_manifest",
    "is_repository",
]

import re
from codecs import BOM_UTF8
from itertools import islice
from typing import Any, Final, NamedTuple

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.folder_reader import FolderReader, Listing, join

#: What manifests end in.
YAML: Final = (".yaml", ".yml", ".json")

_PACKAGE_KEY: Final = re.compile(rb"""^["']?packageName["']?\s*:""", re.MULTILINE)

# A package file is a few lines.
_LARGEST: Final = 1 << 16

# How many files, and how many folders, are opened to tell what a folder is: a catalog may have twenty
# thousand.
_SNIFFED_FILES: Final = 50
_SNIFFED_FOLDERS: Final = 20


class Layout(NamedTuple):
    """Where the files of one bundle are. `metadata` is None when they are nowhere."""

    manifests: str
    files: tuple[str, ...]
    metadata: str | None

    @property
    def is_bundle(self) -> bool:
        return self.metadata is not None or any(map(is_csv_name, self.files))


def is_bundle_folder(path: str) -> bool:
    """Whether a folder is one bundle: manifests with a CSV among them, or with metadata beside them."""
    try:
        return any(layout.is_bundle for layout in find_layouts(FolderReader(path), ""))
    except UnreadableInput:
        return False


def is_csv_name(name: str) -> bool:
    """Whether a file is called as CSVs are; what it holds decides."""
    return "clusterserviceversion" in name.lower()


def find_layouts(reader: FolderReader, folder: str) -> list[Layout]:
    """The bundles in a folder, first the one opm would read. None: the folder is something else."""
    listing = reader.list_folder(folder)
    outer = _metadata(folder, listing)
    found = [_layout(reader, folder, outer)] if "manifests" in listing.folders else []
    if "bundle" in listing.folders:
        inner = join(folder, "bundle")
        below = reader.list_folder(inner)
        if "manifests" in below.folders:
            found.append(_layout(reader, inner, _metadata(inner, below) or outer))
    if not found and any(map(is_csv_name, listing.files)):
        found.append(Layout(folder, listing.files, outer or folder))
    return found


def _layout(reader: FolderReader, folder: str, metadata: str | None) -> Layout:
    manifests = join(folder, "manifests")
    return Layout(manifests, reader.list_folder(manifests).files, metadata)


def _metadata(folder: str, listing: Listing) -> str | None:
    return join(folder, "metadata") if "metadata" in listing.folders else None


def is_repository(path: str) -> bool:
    """Whether a folder is a package of bundles, holds such packages, or has an operators folder that does."""
    reader = FolderReader(path)
    return is_package_folder(reader, "") or any(has_package_folders(reader, f) for f in ("operators", ""))


def has_package_folders(reader: FolderReader, folder: str) -> bool:
    """Whether some of the first folders in it are packages."""
    try:
        names = reader.list_folder(folder).folders
    except UnreadableInput:
        return False
    return any(is_package_folder(reader, join(folder, name)) for name in islice(names, _SNIFFED_FOLDERS))


def is_package_folder(reader: FolderReader, folder: str) -> bool:
    """Whether some folder in it is a bundle, or a package file stands among folders that hold CSVs."""
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
    """Whether a package file stands in a folder: by its name, else by its content among the first files."""
    reader = FolderReader(path)
    try:
        files = reader.list_folder("").files
    except UnreadableInput:
        return False
    if any(map(is_package_file_name, files)):
        return True
    texts = (name for name in files if name.endswith(YAML))
    return any(is_package_file(reader, name) for name in islice(texts, _SNIFFED_FILES))


def is_package_file_name(name: str) -> bool:
    """Whether a file is called as package files are."""
    return name.endswith(tuple(f".package{ending}" for ending in YAML))


def is_package_file(reader: FolderReader, file: str) -> bool:
    """Whether a file says what a package file says."""
    try:
        data = reader.read(file, _LARGEST)
    except UnreadableInput:
        return False
    return _may_be_package(data) and _parses_as_package(data)


def _may_be_package(data: bytes) -> bool:
    """Whether parsing is worth it. Not for a catalog, where the key stands deep in every bundle."""
    data = data.removeprefix(BOM_UTF8)
    if data.lstrip()[:1] == b"{":
        return b"packageName" in data and b"schema" not in data
    return _PACKAGE_KEY.search(data) is not None


def _parses_as_package(data: bytes) -> bool:
    from everpath.parsing.first_document import ParseError, first_document  # noqa: PLC0415

    try:
        return is_package_document(first_document(data).value)
    except ParseError:
        return False


def is_package_document(document: Any) -> bool:
    """Whether a document is a package file's and no catalog's."""
    return isinstance(document, dict) and "packageName" in document and "schema" not in document
