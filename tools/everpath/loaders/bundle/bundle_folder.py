"""Finds the bundle folders below a path, and loads one: as a catalog, or with all files for validation."""

from __future__ import annotations

__all__ = [
    "BundleFolders",
    "ValidationTarget",
    "find_bundle_folders",
    "load_bundle_folder",
    "load_bundle_for_validation",
    "load_package_file",
]

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.loaders.bundle.bundle_model import Places, add_packages, add_problems, build_bundle
from everpath.loaders.bundle.bundle_summary import (
    read_annotated_package,
    summarize_bundle,
    unreadable_problem,
    with_apis,
)
from everpath.loaders.bundle.detect import (
    find_layouts,
    find_package_folders,
    is_package_file_name,
)
from everpath.loaders.bundle.folder_reader import FolderReader, folder_name, join
from everpath.loaders.bundle.summaries import FileProblem
from everpath.model import Catalog, Place, Problem, ProblemKind, UpdateMode
from everpath.model.builder import CatalogBuilder
from everpath.model.bundle_contents import BundleFolder, BundleSize, PackageManifest, ValidationInput
from everpath.parsing.first_document import ParseError, first_document

# Below this total size no file is compressed to compute the size in a ConfigMap: base64 adds a third, and
# gzip at most a few bytes.
_SMALL_BUNDLE: Final = 600_000
_GZIP_OVERHEAD: Final = 64

_EXPECTED: Final = "choose a bundle folder, a package folder or an operators repository"


class BundleFolders(NamedTuple):
    """Bundle folders, each after the name of its package folder, and package files."""

    folders: tuple[tuple[str, str], ...]
    package_files: tuple[str, ...] = ()


class ValidationTarget(NamedTuple):
    """The cluster and the catalog that bundles are validated for."""

    kube_version: str = ""
    categories: frozenset[str] | None = None
    labels: tuple[Place, str] | None = None


def find_bundle_folders(path: str) -> BundleFolders:
    """Find the bundles of a bundle folder, a package folder or a repository. Raises `UnreadableInput`.

    The package of a single bundle is named by its annotations, others by their folder.
    """
    path = path.rstrip(os.sep) or path
    reader = FolderReader(path, expected=_EXPECTED)
    listing = reader.list_folder("")
    if layouts := find_layouts(reader, ""):
        name = read_annotated_package(reader, layouts[0]) or folder_name(path)
        return BundleFolders(((name, path),), _package_files(path, listing.files))
    root, names = find_package_folders(reader)
    found = [_find_in_package(reader, join(root, name)) for name in names]
    folders = tuple(chain.from_iterable(package.folders for package in found))
    files = tuple(chain.from_iterable(package.package_files for package in found))
    if not folders and not files:
        hint = "choose a folder with manifests/ and metadata/, or one that contains such folders"
        raise UnreadableInput(f"there is no bundle in {path}", hint=hint, file=path)
    return BundleFolders(folders, files)


def _find_in_package(reader: FolderReader, name: str) -> BundleFolders:
    """Find the bundles of a package folder. A folder that cannot be listed counts as an unreadable bundle."""
    package = name.rpartition(os.sep)[2] or folder_name(reader.root)
    try:
        listing = reader.list_folder(name)
        folders = [folder for folder in listing.folders if _may_be_bundle(reader, join(name, folder))]
    except UnreadableInput:
        return BundleFolders(((package, join(reader.root, name)),))
    paths = tuple((package, join(reader.root, join(name, folder))) for folder in folders)
    return BundleFolders(paths, _package_files(join(reader.root, name), listing.files))


def _may_be_bundle(reader: FolderReader, folder: str) -> bool:
    try:
        listing = reader.list_folder(folder)
        return "metadata" in listing.folders or bool(find_layouts(reader, folder))
    except UnreadableInput:
        return True


def _package_files(folder: str, files: Iterable[str]) -> tuple[str, ...]:
    return tuple(join(folder, file) for file in files if is_package_file_name(file))


def load_bundle_folder(path: str, builder: CatalogBuilder, mode: UpdateMode = UpdateMode.REPLACES) -> None:
    """Load one bundle as a catalog, with all its APIs. Raises `UnreadableInput` if it cannot be listed.

    Its package is that of the annotations, else the CSV's name up to the version, else the folder's name.
    """
    reader = FolderReader(path, is_thorough=True)
    layouts = find_layouts(reader, "")
    if not layouts:
        raise UnreadableInput(f"{path} is not a bundle: it has no manifests folder", file=path)
    problems: list[FileProblem] = []
    try:
        summary = summarize_bundle(reader, "", layouts, problems, every_file=True)
        if summary is not None:
            summary = with_apis(reader, layouts[0], summary, problems)
    except UnreadableInput as error:
        problems.append(unreadable_problem("", error))
        summary = None
    places = Places(path)
    name = summary.csv.name if summary else None
    package = (
        read_annotated_package(reader, layouts[0]) or (name or "").partition(".v")[0] or folder_name(path)
    )
    add_problems(builder, places, problems, package, name)
    if summary is not None:
        add_packages(builder, [build_bundle(summary, package, places, builder)], mode, alone=True)


def load_bundle_for_validation(path: str, target: ValidationTarget) -> ValidationInput:
    """Load all files of a bundle folder. A folder that cannot be read is a problem of the catalog."""
    try:
        contents = load_bundle_contents(path)
        reader = FolderReader(path)
        catalog = _catalog(reader, contents.problems)
        missing_folders = tuple(
            n for n in ("manifests", "metadata") if n not in reader.list_folder("").folders
        )
        stray_files = () if "manifests" in missing_folders else tuple(_stray_files(reader))
        folder = BundleFolder(contents, stray_files, missing_folders, _bundle_size(reader), *target)
    except UnreadableInput as error:
        problem = Problem(ProblemKind.UNREADABLE_DOCUMENT, Place(path), error.message, error.hint)
        return ValidationInput(Catalog(path, problems=(problem,)))
    return ValidationInput(catalog, folder)


def _catalog(reader: FolderReader, problems: tuple[Problem, ...]) -> Catalog:
    """Build the catalog of one bundle with the problems of its contents.

    Where the summary has a problem of the same kind, that of the contents takes precedence.
    """
    found: list[FileProblem] = []
    builder, places = CatalogBuilder(), Places(reader.root)
    summary = summarize_bundle(reader, "", find_layouts(reader, ""), found)
    known = {problem.kind for problem in problems} | _CONTENT_PROBLEMS
    package = summary.annotations.package if summary else None
    name = summary.csv.name if summary else None
    others = [problem for problem in found if problem.kind not in known]
    add_problems(builder, places, others, package or "", name)
    builder.add_problems(problems)
    if summary is not None:
        bundle = build_bundle(summary, package or "", places, builder)
        add_packages(builder, [bundle], UpdateMode.REPLACES, alone=True)
    return builder.build(reader.root)


# The problems that `load_bundle_contents` reports.
_CONTENT_PROBLEMS: Final = frozenset(
    {
        ProblemKind.NO_CSV,
        ProblemKind.SEVERAL_CSVS,
        ProblemKind.NO_ANNOTATIONS,
        ProblemKind.UNREADABLE_DOCUMENT,
    }
)


def _stray_files(reader: FolderReader) -> Iterator[str]:
    """Yield subfolders (with a trailing slash) and hidden files of manifests/, which opm ignores."""
    listing = reader.list_folder("manifests", hidden=True)
    at = join(reader.root, "manifests")
    yield from (f"{join(at, name)}/" for name in listing.folders)
    yield from (join(at, name) for name in listing.files if name.startswith("."))


def _bundle_size(reader: FolderReader) -> BundleSize:
    """Return the size of the files, plain and as OLM stores them. Cost: large folders are compressed."""
    sizes = dict(_sizes(reader, ""))
    plain = sum(sizes.values())
    if plain < _SMALL_BUNDLE:
        return BundleSize(plain, (plain + _GZIP_OVERHEAD * len(sizes)) * 4 // 3)
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
    """Load a package file. A file that cannot be read is a problem of the catalog."""
    folder, name = os.path.split(path)
    place = Place(path)
    try:
        document = first_document(FolderReader(folder or ".").read(name)).value
    except (UnreadableInput, ParseError) as error:
        problem = Problem(ProblemKind.UNREADABLE_DOCUMENT, place, f"cannot be read: {error.message}")
        return ValidationInput(Catalog(path, problems=(problem,)))
    body = document if isinstance(document, dict) else {}
    return ValidationInput(Catalog(path), package_manifest=PackageManifest(place, body))
