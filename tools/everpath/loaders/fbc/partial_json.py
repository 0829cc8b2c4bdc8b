"""Parse JSON bundles without their large values (see `partial_document`), with msgspec.

msgspec skips a `Raw` value several times faster than a parser reads it.
"""

from __future__ import annotations

__all__ = ["PartialJsonParser"]

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from everpath.loaders.fbc.document_splitter import JsonChunk, json_object_starts
from everpath.loaders.fbc.partial_document import CACHE_SIZE, PartialDocument
from everpath.model import UNREAD

_LARGE: Final = frozenset(("olm.csv.metadata", "olm.bundle.object"))

# The objects of a file with more of them are all small: decoding them at once costs more memory than it saves
# time.
_MAX_OBJECTS: Final = 20_000

# A number that a float64 cannot represent has at least this many digits.
_LONG_NUMBER: Final = re.compile(rb"\d{16}")


class _Property(msgspec.Struct, forbid_unknown_fields=True):
    type: str
    value: msgspec.Raw


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    """The fields that opm knows, those of a bundle with their types. Decoding fails for other documents."""

    schema: str
    name: str | None = None
    package: str | None = None
    properties: list[_Property] | None = None
    image: str = ""
    relatedImages: list[dict[str, str]] = []  # noqa: N815 - as the key is spelled
    # No bundle has these fields.
    entries: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    defaultChannel: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET  # noqa: N815
    icon: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    description: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET

    @property
    def is_bundle(self) -> bool:
        """Whether it has the schema and only the fields of a bundle."""
        others = (self.entries, self.defaultChannel, self.icon, self.description)
        return self.schema == "olm.bundle" and all(other is msgspec.UNSET for other in others)


_DOCUMENT: Final = msgspec.json.Decoder(_Document)
_UNSUPPORTED: Final = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, OverflowError)


class PartialJsonParser:
    """Parses JSON bundles partially. Caches property values: callers must not change them."""

    def __init__(self) -> None:
        self._cache: dict[bytes, Any] = {}

    def parse(self, text: bytes | memoryview) -> PartialDocument | None:
        """Return a bundle with its large values `UNREAD`; None if it must be parsed completely.

        The result is that of `json_parser.parse`, without warnings about repeated keys.
        """
        try:
            return self._partial(_DOCUMENT.decode(text))
        except _UNSUPPORTED:
            return None

    def parse_all(self, text: bytes) -> Iterator[tuple[JsonChunk, PartialDocument | None]] | None:
        """Return the objects of a file, with the partial document of each bundle.

        None if there are none or too many, one is not of a catalog, or two share a line. Every byte is read
        once: the end of an object is searched for only after its properties.
        """
        try:
            documents = _DOCUMENT.decode_lines(text)
        except _UNSUPPORTED:
            return None
        if not 0 < len(documents) <= _MAX_OBJECTS:
            return None
        starts = json_object_starts(text, list(map(_minimum_size, documents)))
        if starts is None:
            return None
        ends = (*starts[1:], len(text))
        chunks = (
            JsonChunk(start, memoryview(text)[start:end]) for start, end in zip(starts, ends, strict=True)
        )
        return zip(chunks, map(self._partial, documents), strict=True)

    def _partial(self, document: _Document) -> PartialDocument | None:
        name, package, stated = document.name, document.package, document.properties
        if not document.is_bundle or name is None or package is None or stated is None:
            return None
        try:
            properties = [{"type": p.type, "value": self._value(p)} for p in stated]
        except _UNSUPPORTED:
            return None
        value = {
            "schema": document.schema,
            "name": name,
            "package": package,
            "image": document.image,
            "properties": properties,
            "relatedImages": document.relatedImages,
        }
        return PartialDocument(value, is_complete=False)

    def _value(self, written: _Property) -> Any:
        if written.type in _LARGE:
            return UNREAD
        raw = bytes(written.value)
        value = self._cache.get(raw)
        if value is None:
            if _LONG_NUMBER.search(raw):
                raise OverflowError
            value = msgspec.json.decode(raw)
            if len(self._cache) < CACHE_SIZE:
                self._cache[raw] = value
        return value


def _minimum_size(document: _Document) -> int:
    """Return a lower bound of an object's size: the bytes of its property values, which are nearly all."""
    return sum(memoryview(stated.value).nbytes for stated in document.properties or ())
