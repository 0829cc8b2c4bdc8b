"""A catalog as catalogd keeps it: one JSON document a line, and where those of a query stand.

catalogd reads every document into a map and writes it out again, so the text has sorted keys, Go's numbers
and escapes, and none of the author's spaces. It asks nothing else of them: not even a schema.
"""

from __future__ import annotations

__all__ = ["Content", "Meta", "compressed", "meta_of"]

import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from everpath.opm_render.blobs import CatalogDocument, meta_fields
from everpath.opm_render.go_json import json_text, sort_keys
from everpath.opm_render.refusals import Refusal, check_depth

# zlib's own number for "with the header and the checksum of gzip".
_GZIP: Final = 16 + zlib.MAX_WBITS

#: From where to where in the text a line reaches.
_Section: TypeAlias = tuple[int, int]


class Meta(NamedTuple):
    """A document, by what it may be asked for, and its line. A field it lacks is empty."""

    schema: str
    package: str
    name: str
    line: bytes


def meta_of(document: CatalogDocument) -> Meta:
    """What catalogd makes of a document. Raises `Refusal` for what it would not store."""
    body = document.body
    if not isinstance(body, dict):
        message = "a document of a catalog is a mapping"
        raise Refusal(message, document.place, "write schema, name and the rest as keys")
    check_depth(body, document.place)
    fields = meta_fields(document)
    text = json_text(sort_keys(body), floats=True) + "\n"
    schema, package, name = (fields.get(key, "") for key in ("schema", "package", "name"))
    return Meta(schema, package, name, text.encode())


class Content:
    """What is served of one catalog. It never changes: another catalog is another Content.

    Cost: the text once, some numbers a document, and the compressed text from when it is first asked for.
    """

    def __init__(self, metas: Iterable[Meta], modified: int) -> None:
        """`modified` is when it came into being, in seconds since the epoch: what clients compare with."""
        self.modified = modified
        self._by_schema: dict[str, set[_Section]] = {}
        self._by_package: dict[str, set[_Section]] = {}
        self._by_name: dict[str, set[_Section]] = {}
        self.text = b"".join(self._lines(metas))

    def _lines(self, metas: Iterable[Meta]) -> Iterator[bytes]:
        end = 0
        for meta in metas:
            start, end = end, end + len(meta.line)
            for index, key in (
                (self._by_schema, meta.schema),
                (self._by_package, meta.package),
                (self._by_name, meta.name),
            ):
                if key:
                    index.setdefault(key, set()).add((start, end))
            yield meta.line

    @cached_property
    def compressed(self) -> bytes:
        """The whole text as gzip has it."""
        return compressed(self.text)

    def select(self, schema: str = "", package: str = "", name: str = "") -> bytes:
        """The lines of the documents that fit all that is given, in the order of the catalog.

        Nothing given is the whole catalog. Else a document without a schema fits nothing, not even its own
        name: catalogd finds its documents by schema first. Cost: the lines found.
        """
        if not (schema or package or name):
            return self.text
        found = _of(self._by_schema, schema) if schema else set[_Section]().union(*self._by_schema.values())
        if package:
            found = found & _of(self._by_package, package)
        if name:
            found = found & _of(self._by_name, name)
        return b"".join(self.text[start:end] for start, end in sorted(found))


def _of(index: Mapping[str, set[_Section]], key: str) -> set[_Section]:
    return index.get(key, set())


def compressed(text: bytes) -> bytes:
    """The same bytes from the same text: gzip's time stays zero."""
    packer = zlib.compressobj(wbits=_GZIP)
    return packer.compress(text) + packer.flush()
