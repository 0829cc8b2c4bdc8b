"""Load the documents of a catalog or template as opm's blobs, to render them again."""

from __future__ import annotations

__all__ = ["bundle_csv", "decode_checked_blob", "load_blobs", "load_documents", "load_files"]

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from everpath.errors import UnreadableInput
from everpath.loaders.fbc.bundle_objects import bundle_object_error
from everpath.loaders.fbc.catalog_files import CatalogFile, catalog_files
from everpath.loaders.fbc.fields import ProblemCollector
from everpath.loaders.fbc.file_loader import FileLoader
from everpath.loaders.sources import STANDARD_INPUT, Sources, display_name
from everpath.model import OpmError, Place, ProblemKind
from everpath.opm_render.blobs import CatalogDocument, decode_blob
from everpath.opm_render.bundles import BUNDLE, BUNDLE_OBJECT, Blob, embedded_csv
from everpath.parsing.first_document import first_document

# Problems that opm accepts silently.
_ACCEPTED: Final = (ProblemKind.DUPLICATE_KEY, ProblemKind.LOSSY_NUMBER)


def load_documents(path: str, sources: Sources) -> list[CatalogDocument]:
    """Load every document of a folder, a file or `-`, in opm's order.

    Raises `UnreadableInput` if there is nothing to read, and `OpmError` at the first text that opm rejects.
    """
    documents = load_files(_files(path, sources), sources)
    if not documents:
        hint = "give the folder or file that opm renders"
        raise UnreadableInput(f"{display_name(path)} contains no catalog", hint=hint, file=path)
    return documents


def load_files(files: Iterable[str], sources: Sources) -> list[CatalogDocument]:
    """Load every document of some files. Raises `OpmError` at the first text that opm rejects."""
    sink = _DocumentList()
    loader = FileLoader(sink, sources, thorough=True)
    for file in files:
        for problem in loader.load(file).collector.problems:
            if problem.kind not in _ACCEPTED:
                raise OpmError(problem.message, problem.place, problem.fix)
    return sink.documents


def load_blobs(path: str, sources: Sources) -> list[Blob]:
    """Load the blobs of a catalog. Raises as `load_documents` does."""
    return [decode_checked_blob(document) for document in load_documents(path, sources)]


def decode_checked_blob(document: CatalogDocument) -> Blob:
    """Return the blob of a document. Raises `OpmError`, also if opm cannot parse an embedded manifest."""
    blob = decode_blob(document)
    for index, item in enumerate(blob.get("properties") or () if blob["schema"] == BUNDLE else ()):
        is_object = item["type"] == BUNDLE_OBJECT
        error = bundle_object_error(item["value"], thorough=True) if is_object else None
        if error is not None:
            place = document.place.at("properties", index, "value")
            raise OpmError(error, place, "embed the manifest again")
    return blob


def bundle_csv(blob: Blob) -> Mapping[str, Any] | None:
    """Return the ClusterServiceVersion that a bundle embeds, in JSON or YAML; None if it has none."""
    # opm parses a manifest that starts with a brace as JSON.
    return embedded_csv(
        blob,
        lambda data: json.loads(data) if data.lstrip().startswith(b"{") else first_document(data).value,
    )


def _files(path: str, sources: Sources) -> list[str]:
    if path == STANDARD_INPUT or not Path(path).is_dir():
        sources.size(path)
        return [path]
    files = []
    for file in catalog_files(path, sources):
        if not isinstance(file, CatalogFile):
            hint = f"add it to .indexignore, or remove it from the folder: {Path(file.path).name}"
            raise UnreadableInput(f"cannot read {file.path}: {file.reason}", hint=hint, file=file.path)
        files.append(file.path)
    return files


class _DocumentList:
    """A sink that stores the documents."""

    def __init__(self) -> None:
        self.documents: list[CatalogDocument] = []

    def add(self, document: dict[str, Any], place: Place, collector: ProblemCollector) -> bool:
        duplicates = (p.place for p in collector.problems if p.kind == ProblemKind.DUPLICATE_KEY)
        repeated = tuple(each.pointer for each in duplicates if each.offset == place.offset)
        self.documents.append(CatalogDocument(place, document, repeated))
        return True
