"""A catalog as catalogd stores it: one JSON document a line, and the lines of each query.

catalogd decodes every document into a map and encodes it again, so a line has sorted keys, Go's numbers and
escapes, and no whitespace. catalogd validates nothing else; a document needs no schema.
"""

from __future__ import annotations

__all__ = ["CatalogContent", "Meta", "gzip_compress", "meta_from_document"]

import zlib
from collections.abc import Iterable
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from everpath.model import OpmError
from everpath.opm_render.blobs import CatalogDocument, meta_fields
from everpath.opm_render.go_json import json_text, sort_keys
from everpath.opm_render.nesting import check_depth

# zlib's value for a gzip header and trailer.
_GZIP_WBITS: Final = 16 + zlib.MAX_WBITS

#: Start and end of a line in the text.
_LineRange: TypeAlias = tuple[int, int]


class Meta(NamedTuple):
    """A document: the fields of queries, empty if absent, and its line."""

    schema: str
    package: str
    name: str
    line: bytes


def meta_from_document(document: CatalogDocument) -> Meta:
    """Encode a document as catalogd does. Raises `OpmError` if catalogd would not store it."""
    body = document.body
    if not isinstance(body, dict):
        message = "a document of a catalog is a mapping"
        raise OpmError(message, document.place, "write schema, name and the other fields as keys")
    check_depth(body, document.place)
    fields = meta_fields(document)
    line = json_text(sort_keys(body), floats=True) + "\n"
    schema, package, name = (fields.get(key, "") for key in ("schema", "package", "name"))
    return Meta(schema, package, name, line.encode())


class CatalogContent:
    """The content of one catalog. It does not change.

    Memory: the text, a few numbers a document, and the compressed text after its first use.
    """

    def __init__(self, metas: Iterable[Meta], modified: int) -> None:
        """`modified` is the time of `Last-Modified` in seconds since the epoch."""
        self.modified = modified
        self._by_schema: dict[str, set[_LineRange]] = {}
        self._by_package: dict[str, set[_LineRange]] = {}
        self._by_name: dict[str, set[_LineRange]] = {}
        lines = []
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
            lines.append(meta.line)
        self.text = b"".join(lines)

    @cached_property
    def gzip_text(self) -> bytes:
        """The whole text, compressed with gzip."""
        return gzip_compress(self.text)

    def select(self, schema: str = "", package: str = "", name: str = "") -> bytes:
        """Return the lines of the documents that match all given fields, in the order of the catalog.

        Without a field it returns the whole catalog. With one, a document without a schema never matches, as
        in catalogd. Cost: linear in the lines returned.
        """
        if not (schema or package or name):
            return self.text
        if schema:
            found = self._by_schema.get(schema, set())
        else:
            found = set[_LineRange]().union(*self._by_schema.values())
        if package:
            found = found & self._by_package.get(package, set())
        if name:
            found = found & self._by_name.get(name, set())
        return b"".join(self.text[start:end] for start, end in sorted(found))


def gzip_compress(text: bytes) -> bytes:
    """Compress with gzip, without a timestamp: the same text gives the same bytes."""
    compressor = zlib.compressobj(wbits=_GZIP_WBITS)
    return compressor.compress(text) + compressor.flush()
