"""One document out of the middle of a catalog, as opm holds it."""

from __future__ import annotations

__all__ = ["parsed"]

from io import BytesIO
from typing import Any

from everpath.loaders.fbc.documents import Document as Piece
from everpath.loaders.fbc.documents import yaml_documents
from everpath.model import Place
from everpath.opm_render.blobs import CatalogDocument, decode_blob
from everpath.opm_render.bundles import Blob
from everpath.opm_render.refusals import Refusal
from everpath.parsing import json_text, yaml11
from everpath.parsing.parsed import TextProblem


def parsed(text: bytes, place: Place, *, is_json: bool) -> Blob:
    """The first document of a text. Raises ValueError where opm would have refused it."""
    try:
        return decode_blob(CatalogDocument(place, _value(text, is_json=is_json)))
    except (TextProblem, Refusal) as problem:
        raise ValueError(f"{place.file}: {problem}") from problem


def _value(text: bytes, *, is_json: bool) -> Any:
    if is_json:
        try:
            return json_text.parse_at(json_text.characters(text), 0)[0].value
        except json_text.JsonProblem:
            # A file that is YAML though it starts with a brace.
            pass
    first = next(piece for piece in yaml_documents(BytesIO(text)) if isinstance(piece, Piece))
    return yaml11.parse(first.text if first.text.endswith(b"\n") else first.text + b"\n").value
