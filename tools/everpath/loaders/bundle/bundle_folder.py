"""Finds the folders of bundles below a path, and reads one whole, for rules that look at all of it."""

from __future__ import annotations

__all__ = ["BundleFolders", "LintTarget", "find_bundle_folders", "load_folder_for_lint", "load_package_file"]

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.loaders.bundle.bundle_model import Places, add_notes, add_packages, build_bundle
from everpath.loaders.bundle.bundle_summary import annotated_package, summarize_bundle
from everpath.loaders.bundle.detect import (
    find_layouts,
    has_package_folders,
    is_package_file_name,
    is_package_folder,
)
from everpath.loaders.bundle.folder_reader import FolderReader, folder_name, join
from everpath.loaders.bundle.summaries import Note
from everpath.model import Catalog, Place, Problem, UpdateMode
from everpath.model.builder import CatalogBuilder
from everpath.model.bundle_contents import BundleFolder, BundleSize, PackageManifest, ValidationInput
from everpath.parsing.first_document import ParseError, first_document

# base64 adds a third, and gzip never more than a few bytes: below this size of all files together nothing
# needs to be compressed to know that it is small.
_SMALL: Final = 600_000
_PER_FILE: Final = 64

#: What may be given where bundles are read.
_BUNDLES: Final = "a bundle is a folder; so are a package's bundles and an operators repository"


class BundleFolders(NamedTuple):
    """The folders of bundles below a path, each with the name of its package's folder, and package files."""

    folders: tuple[tuple[str, str], ...]
    package_files: tuple[str, ...] = ()


class LintTarget(NamedTuple):
    """What the user says of the cluster and the catalog that bundles are for."""

    kube_version: str = ""
    categories: frozenset[str] | None = None
    labels: tuple[Place, str] | None = None


def find_bundle_folders(path: str) -> BundleFolders:
    """The bundles below a path: a bundle's folder, a package's, a repository's. Raises `UnreadableInput`.

    A package goes by the name of its folder, that of a single bundle by its annotations.
    Cost: the folders are listed.
    """
    path = path.rstrip(os.sep) or path
    reader = FolderReader(path, expected=_BUNDLES)
    listing = reader.list_folder("")
    if layouts := find_layouts(reader, ""):
        name = annotated_package(reader, layouts[0]) or folder_name(path)
        return BundleFolders(((name, path),), _package_files(path, listing.files))
    root = "operators" if "operators" in listing.folders and has_package_folders(reader, "operators") else ""
    names = ("",) if not root and is_package_folder(reader, "") else reader.list_folder(root).folders
    found = [_package(reader, join(root, name)) for name in names]
    folders = tuple(chain.from_iterable(package.folders for package in found))
    files = tuple(chain.from_iterable(package.package_files for package in found))
    if not folders and not files:
        hint = "give a folder with manifests/ and metadata/, or one that holds such folders"
        raise UnreadableInput(f"there is no bundle in {path}", hint=hint, file=path)
    return BundleFolders(folders, files)


def _package(reader: FolderReader, name: str) -> BundleFolders:
    """The bundles of one package's folder. What cannot be listed is a bundle that cannot be read."""
    package = name.rpartition(os.sep)[2] or folder_name(reader.root)
    try:
        listing = reader.list_folder(name)
        folders = [folder for folder in listing.folders if _holds_bundle(reader, join(name, folder))]
    except UnreadableInput:
        return BundleFolders(((package, join(reader.root, name)),))
    paths = tuple((package, join(reader.root, join(name, folder))) for folder in folders)
    return BundleFolders(paths, _package_files(join(reader.root, name), listing.files))


def _holds_bundle(reader: FolderReader, folder: str) -> bool:
    try:
        listing = reader.list_folder(folder)
        return "metadata" in listing.folders or bool(find_layouts(reader, folder))
    except UnreadableInput:
        return True


def _package_files(folder: str, files: Iterable[str]) -> tuple[str, ...]:
    return tuple(join(folder, file) for file in files if is_package_file_name(file))


def load_folder_for_lint(path: str, surroundings: LintTarget) -> ValidationInput:
    """One bundle's folder, whole. What cannot be read is a problem, never an exception."""
    try:
        contents = load_bundle_contents(path)
        reader = FolderReader(path)
        catalog = _catalog(reader, contents.problems)
        missing_folders = tuple(
            n for n in ("manifests", "metadata") if n not in reader.list_folder("").folders
        )
        stray_files = () if "manifests" in missing_folders else tuple(_strays(reader))
        folder = BundleFolder(contents, stray_files, missing_folders, _weight(reader), *surroundings)
    except UnreadableInput as error:
        problem = Problem("unreadable-document", Place(path), error.message, error.hint)
        return ValidationInput(Catalog(path, problems=(problem,)))
    return ValidationInput(catalog, folder)


def _catalog(reader: FolderReader, problems: tuple[Problem, ...]) -> Catalog:
    """The catalog of one bundle: what rules about bundles look at, and what readers could not make sense of.

    Both readers meet the same faults; what the whole reading says of a file counts.
    """
    notes: list[Note] = []
    builder, files = CatalogBuilder(), Places(reader.root)
    facts = summarize_bundle(reader, "", find_layouts(reader, ""), notes)
    known = {problem.kind for problem in problems} | _TOLD
    package = facts.annotations.package if facts else None
    name = facts.csv.name if facts else None
    add_notes(builder, files, [n for n in notes if n.kind not in known], package or "", name)
    builder.add_problems(problems)
    if facts is not None:
        add_packages(
            builder, [build_bundle(facts, package or "", files, builder)], UpdateMode.REPLACES, alone=True
        )
    return builder.build(reader.root)


# Said of a whole folder by `read_contents`.
_TOLD: Final = frozenset({"no-csv", "several-csvs", "no-annotations", "unreadable-document"})


def _strays(reader: FolderReader) -> Iterator[str]:
    """Folders and hidden files among the manifests; folders end in a slash."""
    listing = reader.list_folder("manifests", hidden=True)
    at = join(reader.root, "manifests")
    yield from (f"{join(at, name)}/" for name in listing.folders)
    yield from (join(at, name) for name in listing.files if name.startswith("."))


def _weight(reader: FolderReader) -> BundleSize:
    """What the files take up as OLM counts it. Cost: large folders are read and compressed."""
    sizes = dict(_sizes(reader, ""))
    plain = sum(sizes.values())
    if plain < _SMALL:
        return BundleSize(plain, (plain + _PER_FILE * len(sizes)) * 4 // 3)
    from gzip import compress  # noqa: PLC0415 - few bundles are that large

    packed = (len(compress(reader.read(file), 9)) for file in sizes)
    return BundleSize(plain, sum((size + 2) // 3 * 4 for size in packed))


def _sizes(reader: FolderReader, folder: str) -> Iterator[tuple[str, int]]:
    listing = reader.list_folder(folder, hidden=True)
    for name in listing.files:
        file = join(folder, name)
        yield file, os.stat(join(reader.root, file)).st_size  # noqa: PTH116
    for name in listing.folders:
        yield from _sizes(reader, join(folder, name))


def load_package_file(path: str) -> ValidationInput:
    """One package file; a problem where it cannot be read."""
    folder, name = os.path.split(path)
    place = Place(path)
    try:
        document = first_document(FolderReader(folder or ".").read(name)).value
    except (UnreadableInput, ParseError) as error:
        problem = Problem("unreadable-document", place, f"cannot be read: {error.message}")
        return ValidationInput(Catalog(path, problems=(problem,)))
    body = document if isinstance(document, dict) else {}
    return ValidationInput(Catalog(path), package_manifest=PackageManifest(place, body))
