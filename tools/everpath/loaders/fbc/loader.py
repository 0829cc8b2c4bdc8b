"""File-based catalogs: a folder, a file or a stream, YAML or JSON, read as opm would, but to the end.

opm stops at the first thing it dislikes and names no file. Here each such thing is a `Problem` with its
place, and the reading goes on behind it.
"""

from __future__ import annotations

__all__ = ["Progress", "read_fbc"]

import os
from collections.abc import Callable, Sequence
from typing import BinaryIO, Final

from everpath.errors import UnreadableInput
from everpath.loaders.fbc.catalog_files import Found, Unusable, catalog_files
from everpath.loaders.fbc.fields import Report
from everpath.loaders.fbc.file_loader import FileReader, Outcome
from everpath.loaders.fbc.schemas import CatalogDocuments
from everpath.loaders.partition import WHOLE, Share
from everpath.loaders.sources import MEBIBYTE, STANDARD_INPUT, Sources, named, unreadable
from everpath.model import Place, Problem
from everpath.model.builder import CatalogBuilder

Progress = Callable[[int, int, str], None]

# Up to this size all of a catalog is put before libyaml, also what nobody reads: it costs a twentieth of a
# second. Of larger ones only the last document of a file is, if it may have been cut short.
_CHECKED_WHOLE: Final = 4 * MEBIBYTE

# Up to this size it is also parsed and judged, at a similar cost.
_PARSED_WHOLE: Final = MEBIBYTE

_WANTED: Final = (
    "give the folder or file that opm renders, an operators repository (operators/PACKAGE/VERSION/), "
    "or a bundle's folder"
)

_USUAL_SUFFIXES: Final = frozenset((".yaml", ".yml", ".json"))


def read_fbc(  # noqa: PLR0913 - each is a choice of the user's
    path: str | Sequence[str],
    builder: CatalogBuilder,
    sources: Sources,
    progress: Progress | None = None,
    *,
    thorough: bool = False,
    stream: BinaryIO | None = None,
    share: Share = WHOLE,
) -> None:
    """Read catalogs into an builder; `-` is `stream`. `thorough` parses what the graph does not need, too.

    Of folders only the files of a share are read. Raises `UnreadableInput` when a path cannot be read at
    all, or holds no document.
    """
    documents = CatalogDocuments(builder, thorough=thorough)
    reader = FileReader(documents, sources, thorough=thorough)
    for one in [path] if isinstance(path, str) else path:
        if one == STANDARD_INPUT and stream is not None:
            sources.keep_stream(one, stream)
        if one != STANDARD_INPUT and os.path.isdir(one):
            found = _read_folder(one, reader, builder, progress, share)
        else:
            found = _read_file(one, reader, builder)
        if not found and share is WHOLE:
            raise UnreadableInput(f"{named(one)} holds no catalog", hint=_WANTED, file=one)


def _read_file(path: str, reader: FileReader, builder: CatalogBuilder) -> bool:
    """A file the user named. True if there was anything in it."""
    try:
        _look_closer(reader, reader.sources.size(path))
        outcome = reader.read(path)
    except OSError as error:
        raise unreadable(path, error) from error
    builder.add_problems(outcome.report.problems)
    return bool(outcome.documents or outcome.report.problems)


def _look_closer(reader: FileReader, size: int) -> None:
    """At small catalogs, where a close look costs nobody time."""
    reader.check_all = size <= _CHECKED_WHOLE
    reader.parse_all = size <= _PARSED_WHOLE


def _read_folder(
    path: str, reader: FileReader, builder: CatalogBuilder, progress: Progress | None, share: Share
) -> bool:
    """All files below a folder that are of a share. True if there was anything in them."""
    files = catalog_files(path, reader.sources)
    _look_closer(reader, sum(map(_size, files)))
    files = share.of(files, folder=_folder, weight=_size)
    found = False
    for done, file in enumerate(files):
        if progress is not None:
            progress(done, len(files), file.path)
        outcome = _outcome(file, reader)
        builder.add_problems(outcome.report.problems)
        found = found or bool(outcome.documents or outcome.report.problems)
    return found


def _folder(file: Found | Unusable) -> str:
    return file.path.rpartition(os.sep)[0]


def _size(file: Found | Unusable) -> int:
    return file.size if isinstance(file, Found) else 0


def _outcome(file: Found | Unusable, reader: FileReader) -> Outcome:
    """What came of one file of a folder; one that does not belong there is a single problem."""
    outcome = Outcome(file.path, Report(reader.sources))
    if isinstance(file, Unusable):
        outcome.report.add(*_cannot_read(file.path, file.reason, is_forbidden=file.is_forbidden))
        return outcome
    try:
        outcome = reader.read(file.path)
    except UnreadableInput as error:
        outcome.report.add("unreadable-document", Place(file.path), error.message, error.hint)
    except OSError as error:
        is_forbidden = isinstance(error, PermissionError)
        outcome.report.add(*_cannot_read(file.path, error.strerror or str(error), is_forbidden=is_forbidden))
    else:
        if outcome.report.problems and not outcome.described and _is_foreign(outcome):
            outcome.report.problems[:] = [_not_a_catalog_file(outcome)]
    return outcome


def _cannot_read(path: str, reason: str, *, is_forbidden: bool) -> tuple[str, Place, str, str]:
    # opm looks into every folder, also into one that .indexignore names.
    fix = (
        "give the user who runs everpath, and opm, the right to read it"
        if is_forbidden
        else f"name it in .indexignore, or take it out of the folder: {os.path.basename(path)}"
    )
    return "unreadable-document", Place(path), f"opm cannot read {path}: {reason}", fix


def _is_foreign(outcome: Outcome) -> bool:
    """Whether a file without one document of a catalog was never meant to be part of it."""
    return outcome.manifests > 0 or os.path.splitext(outcome.file)[1].lower() not in _USUAL_SUFFIXES


def _not_a_catalog_file(outcome: Outcome) -> Problem:
    name = os.path.basename(outcome.file)
    reason = outcome.report.problems[0].message
    return Problem(
        "not-a-catalog-file",
        Place(outcome.file),
        f"{name} is no part of a catalog: {reason}",
        f"name it in .indexignore, or take it out of the folder: {name}",
    )
