"""The documents of a catalog or template as they are written, for whoever writes them again."""

from __future__ import annotations

__all__ = ["carried_csv", "checked_blob", "documents_of", "read_blobs", "read_documents"]

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from everpath.errors import UnreadableInput
from everpath.loaders.fbc.bundle_objects import object_flaw
from everpath.loaders.fbc.catalog_files import Found, catalog_files
from everpath.loaders.fbc.fields import Report
from everpath.loaders.fbc.file_loader import FileReader
from everpath.loaders.sources import STANDARD_INPUT, Sources, named
from everpath.model import OpmError, Place
from everpath.opm_render.blobs import CatalogDocument, decode_blob
from everpath.opm_render.bundles import BUNDLE, BUNDLE_OBJECT, Blob, embedded_csv
from everpath.parsing.first_document import first_document

# What opm takes in silence.
_ACCEPTED: Final = ("duplicate-key", "lossy-number")


def read_documents(path: str, sources: Sources) -> list[CatalogDocument]:
    """Every document of a folder, a file or `-`, in the order opm comes by them.

    Raises `UnreadableInput` where there is nothing to read, and `OpmError` at the first thing opm cannot.
    """
    documents = documents_of(_files(path, sources), sources)
    if not documents:
        hint = "give the folder or file that opm renders"
        raise UnreadableInput(f"{named(path)} holds no catalog", hint=hint, file=path)
    return documents


def documents_of(files: Iterable[str], sources: Sources) -> list[CatalogDocument]:
    """Every document of some files, in their order. Raises `OpmError` at the first thing opm cannot read."""
    taker = _Taker()
    reader = FileReader(taker, sources, thorough=True)
    for file in files:
        outcome = reader.read(file)
        for problem in outcome.report.problems:
            if problem.kind not in _ACCEPTED:
                raise OpmError(problem.message, problem.place, problem.fix)
    return taker.documents


def read_blobs(path: str, sources: Sources) -> list[Blob]:
    """The blobs of a catalog. Raises as `read_documents` does."""
    return [checked_blob(document) for document in read_documents(path, sources)]


def checked_blob(document: CatalogDocument) -> Blob:
    """The blob of a document. Raises `OpmError`, also for a manifest in it that opm cannot read."""
    blob = decode_blob(document)
    for index, item in enumerate(blob.get("properties") or () if blob["schema"] == BUNDLE else ()):
        flaw = object_flaw(item["value"], thorough=True) if item["type"] == BUNDLE_OBJECT else None
        if flaw is not None:
            raise OpmError(flaw, document.place.at("properties", index, "value"), "put the manifest in again")
    return blob


def carried_csv(blob: Blob) -> Mapping[str, Any] | None:
    """The ClusterServiceVersion that a bundle carries among its manifests, in JSON or YAML."""
    return embedded_csv(blob, _manifest)


def _manifest(data: bytes) -> object:
    """A manifest; what starts with a brace is JSON to opm."""
    return json.loads(data) if data.lstrip().startswith(b"{") else first_document(data).value


def _files(path: str, sources: Sources) -> list[str]:
    if path == STANDARD_INPUT or not Path(path).is_dir():
        sources.size(path)
        return [path]
    found = []
    for file in catalog_files(path, sources):
        if not isinstance(file, Found):
            raise unreadable_part(file.path, file.reason)
        found.append(file.path)
    return found


def unreadable_part(path: str, reason: str) -> UnreadableInput:
    """What stands in a catalog's folder and cannot be read."""
    hint = f"name it in .indexignore, or take it out of the folder: {Path(path).name}"
    return UnreadableInput(f"cannot read {path}: {reason}", hint=hint, file=path)


class _Taker:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.documents: list[CatalogDocument] = []

    def add(self, document: dict[str, Any], place: Place, report: Report) -> bool:
        here = (p.place for p in report.problems if p.kind == "duplicate-key")
        repeated = tuple(found.pointer for found in here if found.offset == place.offset)
        self.documents.append(CatalogDocument(place, document, repeated))
        return True
