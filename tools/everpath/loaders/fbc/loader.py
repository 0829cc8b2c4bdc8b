"""Load file-based catalogs from folders, files or a stream, in YAML or JSON.

opm stops at the first error and names no file. This loader reports each error as a `Problem` with its place
and continues after it.
"""

from __future__ import annotations

__all__ = ["load_fbc"]

import os
from collections.abc import Sequence
from typing import Final

from everpath.errors import UnreadableInput
from everpath.loaders.fbc.catalog_files import CatalogFile, UnreadableFile, catalog_files
from everpath.loaders.fbc.fields import ProblemCollector
from everpath.loaders.fbc.file_loader import FileLoader, FileResult
from everpath.loaders.fbc.schemas import SchemaDecoder
from everpath.loaders.partition import WHOLE, Partition
from everpath.loaders.sources import MEBIBYTE, STANDARD_INPUT, Sources, display_name, unreadable_input
from everpath.model import Place, Problem, ProblemKind
from everpath.model.builder import CatalogBuilder
from everpath.model.progress import Progress

# Up to this size, libyaml checks the syntax of the values that the loader skips: 50 ms. In larger catalogs
# only the last document of a file is checked, if it may be truncated.
_CHECKED_SIZE: Final = 4 * MEBIBYTE

# Up to this size, those values are parsed and linted too, at a similar cost.
_PARSED_SIZE: Final = MEBIBYTE

_NO_CATALOG_HINT: Final = (
    "give the folder or file that opm renders, an operators repository (operators/PACKAGE/VERSION/), "
    "or a bundle's folder"
)

_CATALOG_SUFFIXES: Final = frozenset((".yaml", ".yml", ".json"))


def load_fbc(
    path: str | Sequence[str],
    builder: CatalogBuilder,
    sources: Sources,
    progress: Progress | None = None,
    *,
    thorough: bool = False,
    partition: Partition = WHOLE,
) -> None:
    """Load the catalogs at one or more paths into a builder; `-` is standard input.

    `thorough` also parses values that the graph does not need. Of folders only the files of the partition are
    loaded. Raises `UnreadableInput` if a path cannot be read or contains no document.
    """
    loader = FileLoader(SchemaDecoder(builder, thorough=thorough), sources, thorough=thorough)
    for each in [path] if isinstance(path, str) else path:
        if each != STANDARD_INPUT and os.path.isdir(each):
            has_content = _load_folder(each, loader, builder, progress, partition)
        else:
            has_content = _load_file(each, loader, builder)
        if not has_content and partition is WHOLE:
            raise UnreadableInput(
                f"{display_name(each)} contains no catalog", hint=_NO_CATALOG_HINT, file=each
            )


def _load_file(path: str, loader: FileLoader, builder: CatalogBuilder) -> bool:
    """Load a file that the user named. Return whether it has any content."""
    try:
        _set_depth(loader, loader.sources.size(path))
        result = loader.load(path)
    except OSError as error:
        raise unreadable_input(path, error) from error
    builder.add_problems(result.collector.problems)
    return bool(result.documents or result.collector.problems)


def _set_depth(loader: FileLoader, size: int) -> None:
    """Check or parse skipped values too, if the catalog is so small that it takes no noticeable time."""
    loader.check_all = size <= _CHECKED_SIZE
    loader.parse_all = size <= _PARSED_SIZE


def _load_folder(
    path: str, loader: FileLoader, builder: CatalogBuilder, progress: Progress | None, partition: Partition
) -> bool:
    """Load the files of a partition of a folder. Return whether they have any content."""
    files = catalog_files(path, loader.sources)
    _set_depth(loader, sum(map(_size, files)))
    files = partition.select(files, folder=lambda file: file.path.rpartition(os.sep)[0], weight=_size)
    has_content = False
    for done, file in enumerate(files):
        if progress is not None:
            progress(done, len(files), file.path)
        result = _load_folder_file(file, loader)
        builder.add_problems(result.collector.problems)
        has_content = has_content or bool(result.documents or result.collector.problems)
    return has_content


def _size(file: CatalogFile | UnreadableFile) -> int:
    return file.size if isinstance(file, CatalogFile) else 0


def _load_folder_file(file: CatalogFile | UnreadableFile, loader: FileLoader) -> FileResult:
    """Load one file of a folder. A file that does not belong there has a single problem."""
    result = FileResult(file.path, ProblemCollector(loader.sources))
    if isinstance(file, UnreadableFile):
        _report_unreadable(result, file.reason, is_forbidden=file.is_forbidden)
        return result
    try:
        result = loader.load(file.path)
    except UnreadableInput as error:
        result.collector.add(ProblemKind.UNREADABLE_DOCUMENT, Place(file.path), error.message, error.hint)
    except OSError as error:
        is_forbidden = isinstance(error, PermissionError)
        _report_unreadable(result, error.strerror or str(error), is_forbidden=is_forbidden)
    else:
        suffix = os.path.splitext(file.path)[1].lower()
        is_foreign = result.manifests > 0 or suffix not in _CATALOG_SUFFIXES
        if result.collector.problems and not result.with_schema and is_foreign:
            result.collector.problems[:] = [_not_a_catalog_file(result)]
    return result


def _report_unreadable(result: FileResult, reason: str, *, is_forbidden: bool) -> None:
    # opm opens every folder, also one that .indexignore lists.
    fix = (
        "give the user who runs everpath, and opm, permission to read it"
        if is_forbidden
        else f"add it to .indexignore, or remove it from the folder: {os.path.basename(result.file)}"
    )
    message = f"opm cannot read {result.file}: {reason}"
    result.collector.add(ProblemKind.UNREADABLE_DOCUMENT, Place(result.file), message, fix)


def _not_a_catalog_file(result: FileResult) -> Problem:
    name = os.path.basename(result.file)
    reason = result.collector.problems[0].message
    return Problem(
        ProblemKind.NOT_A_CATALOG_FILE,
        Place(result.file),
        f"{name} is not part of a catalog: {reason}",
        f"add it to .indexignore, or remove it from the folder: {name}",
    )
