"""Operators repositories: ROOT/operators/PACKAGE/VERSION/…, as OperatorHub.io and OpenShift have them.

A path may be ROOT, its operators folder or one package folder. `ci.yaml` of a package chooses how its edges
are computed (`update_graph`). OperatorHub has 337 MB: CSVs are scanned without a parser where possible
(`csv_summary`), CRDs are not read, and summaries are cached (`package_index`).
"""

from __future__ import annotations

__all__ = ["load_repository"]

import os
from collections.abc import Iterable, Iterator
from typing import Final

from everpath.errors import UnreadableInput
from everpath.file_cache import FileCache
from everpath.loaders.bundle.bundle_model import Places, add_packages, add_problems, build_bundle
from everpath.loaders.bundle.bundle_summary import summarize_bundle, unreadable_problem
from everpath.loaders.bundle.detect import (
    find_layouts,
    find_package_folders,
    is_package_file_name,
)
from everpath.loaders.bundle.field_reader import FieldReader, repeated_key_problems
from everpath.loaders.bundle.folder_reader import FolderReader, folder_name, join
from everpath.loaders.bundle.package_index import PackageIndex
from everpath.loaders.bundle.summaries import BundleSummary, FileProblem, PackageSummary
from everpath.loaders.bundle.update_graph import MODES, parse_update_mode
from everpath.loaders.packagemanifest.package_file import (
    add_package_manifests,
    summarize_package_manifests,
)
from everpath.loaders.partition import WHOLE, Partition
from everpath.model import ProblemKind, UpdateMode
from everpath.model.builder import CatalogBuilder
from everpath.model.progress import Progress
from everpath.parsing import yaml_outline
from everpath.parsing.first_document import ParseError, first_document
from everpath.parsing.yaml_outline import UnsupportedLayout

_CI_FILES: Final = ("ci.yaml", "ci.yml")
_MODE_KEY: Final = "updateGraph"


def load_repository(  # noqa: PLR0913 - all but two are options of the user
    path: str,
    builder: CatalogBuilder,
    *,
    cache: FileCache | None = None,
    default_mode: UpdateMode = UpdateMode.SEMVER,
    thorough: bool = False,
    progress: Progress | None = None,
    partition: Partition = WHOLE,
) -> None:
    """Load every package of a repository. Raises `UnreadableInput` if the folder cannot be listed.

    `default_mode` applies to packages whose ci.yaml chooses none: semver-mode in OperatorHub's workflow,
    replaces-mode in operator-pipelines. `thorough` parses all of every CSV and ignores the cache.
    Memory: the model and the summary of every bundle, never a whole file.
    """
    folder, found = find_package_folders(FolderReader(path))
    root, names = join(path, folder), partition.select(found, folder=str)
    index = PackageIndex(None if thorough else cache, root, partition)
    for done, name in enumerate(names):
        if progress is not None:
            progress(done, len(names), name)
        summary = index.find(name)
        if summary is None:
            started_ns = index.now_ns
            reader = FolderReader(join(root, name), thorough)
            summary = _summarize_package(reader)
            index.add(name, summary, reader, started_ns)
        _add_package(builder, summary, Places(join(root, name)), name or folder_name(root), default_mode)
    if names:
        index.save()


def _summarize_package(reader: FolderReader) -> PackageSummary:
    """Summarize a package folder. Folders in it that are not bundles are ignored."""
    problems: list[FileProblem] = []
    try:
        listing = reader.list_folder("")
    except UnreadableInput as error:
        return PackageSummary(problems=(unreadable_problem("", error),))
    bundles = tuple(_summarize_bundles(reader, listing.folders, problems))
    has_flat_bundles = all(bundle.csv_file.rpartition(os.sep)[0] == bundle.folder for bundle in bundles)
    if has_flat_bundles and any(map(is_package_file_name, listing.files)):
        return summarize_package_manifests(reader)
    mode = next((_read_mode(reader, name, problems) for name in _CI_FILES if name in listing.files), None)
    return PackageSummary(bundles, mode=mode, problems=tuple(problems))


def _summarize_bundles(
    reader: FolderReader, folders: Iterable[str], problems: list[FileProblem]
) -> Iterator[BundleSummary]:
    for folder in folders:
        try:
            layouts = find_layouts(reader, folder)
            bundle = summarize_bundle(reader, folder, layouts, problems) if layouts else None
        except UnreadableInput as error:
            problems.append(unreadable_problem(folder, error))
            continue
        if bundle is not None:
            yield bundle


def _read_mode(reader: FolderReader, file: str, problems: list[FileProblem]) -> str | None:
    """Return `updateGraph` of a ci.yaml: scanned in the usual layout, else parsed."""
    try:
        data = reader.read(file)
        found = yaml_outline.sections(data).get(_MODE_KEY)
        if found is None or found.keys:
            raise UnsupportedLayout
        return yaml_outline.scalar(found.value)
    except UnsupportedLayout:
        return _parse_mode(data, file, problems)
    except UnreadableInput as error:
        problems.append(unreadable_problem(file, error))
        return None


def _parse_mode(data: bytes, file: str, problems: list[FileProblem]) -> str | None:
    fields = FieldReader()
    try:
        document = first_document(data)
    except ParseError as error:
        problems.append(unreadable_problem(file, error))
        return None
    if not isinstance(document.value, dict):
        return None
    mode = fields.text(document.value, _MODE_KEY)
    problems.extend(
        problem.at(file)
        for problem in (*repeated_key_problems(document.duplicate_keys, ((),)), *fields.problems)
    )
    return mode


def _add_package(
    builder: CatalogBuilder, summary: PackageSummary, places: Places, name: str, default_mode: UpdateMode
) -> None:
    if summary.manifests:
        add_package_manifests(builder, summary, places, name)
        return
    add_problems(builder, places, summary.problems, name)
    mode = parse_update_mode(summary.mode, default_mode) if summary.mode else default_mode
    if summary.mode and summary.mode not in MODES:
        message = f"updateGraph {summary.mode!r} is not a mode; {mode.value} is used"
        others = ", ".join(sorted(set(MODES) - {mode.value}))
        fix = f"write {_MODE_KEY}: {mode.value} (other modes: {others})"
        problem = FileProblem(
            ProblemKind.UNKNOWN_UPDATE_MODE, message, file=_CI_FILES[0], pointer=(_MODE_KEY,), fix=fix
        )
        add_problems(builder, places, [problem], name)
    add_packages(builder, [build_bundle(bundle, name, places, builder) for bundle in summary.bundles], mode)
