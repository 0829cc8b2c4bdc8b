"""Reads of a JSON bundle what the graph needs, and steps over the rest: `lazy_yaml` for the other format."""

from __future__ import annotations

__all__ = ["JsonSkeletons"]

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from everpath.loaders.fbc.document_splitter import Chunk, json_starts
from everpath.loaders.fbc.partial_document import REMEMBERED, Skeleton
from everpath.model import UNREAD

_BIG: Final = frozenset(("olm.csv.metadata", "olm.bundle.object"))

# Of more objects than that all are small, and together they take more memory than time is saved.
_MOST_AT_ONCE: Final = 20_000

# Numbers that a float64 may not hold have at least this many digits.
_LONG_NUMBER: Final = re.compile(rb"\d{16}")


class _Property(msgspec.Struct, forbid_unknown_fields=True):
    type: str
    value: msgspec.Raw


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    """Fields opm knows, those of a bundle of the type it wants: what is different is not read here."""

    schema: str
    name: str | None = None
    package: str | None = None
    properties: list[_Property] | None = None
    image: str = ""
    relatedImages: list[dict[str, str]] = []  # noqa: N815 - as the key is spelled
    # What no bundle has.
    entries: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    defaultChannel: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET  # noqa: N815
    icon: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    description: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET

    @property
    def is_bundle(self) -> bool:
        """Whether it has the schema of a bundle, and nothing that a bundle has not."""
        others = (self.entries, self.defaultChannel, self.icon, self.description)
        return self.schema == "olm.bundle" and all(other is msgspec.UNSET for other in others)


_DOCUMENT: Final = msgspec.json.Decoder(_Document)
_DECLINED: Final = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, OverflowError)


class JsonSkeletons:
    """Skeletons of JSON bundles; remembers the values it has read, which nobody may change."""

    def __init__(self) -> None:
        self._known: dict[bytes, Any] = {}

    def read(self, text: bytes | memoryview) -> Skeleton | None:
        """The bundle with its big values `UNREAD`; None if it is no bundle, or must be parsed.

        Agrees with `json_text.parse`, except that a key given twice goes unnoticed.
        """
        try:
            return self._skeleton(_DOCUMENT.decode(text))
        except _DECLINED:
            return None

    def read_all(self, text: bytes) -> Iterator[tuple[Chunk, Skeleton | None]] | None:
        """The objects of a stream, each by itself, and the skeleton of each that has one.

        None unless there are some, not too many, all are of a catalog and no two share a line. Reads every
        byte once: where objects end is looked for only behind their properties.
        """
        try:
            documents = _DOCUMENT.decode_lines(text)
        except _DECLINED:
            return None
        if not 0 < len(documents) <= _MOST_AT_ONCE:
            return None
        starts = json_starts(text, list(map(_least_size, documents)))
        if starts is None:
            return None
        ends = (*starts[1:], len(text))
        chunks = (Chunk(start, memoryview(text)[start:end]) for start, end in zip(starts, ends, strict=True))
        return zip(chunks, map(self._skeleton, documents), strict=True)

    def _skeleton(self, document: _Document) -> Skeleton | None:
        name, package, stated = document.name, document.package, document.properties
        if not document.is_bundle or name is None or package is None or stated is None:
            return None
        try:
            properties = [{"type": p.type, "value": self._value(p)} for p in stated]
        except _DECLINED:
            return None
        value = {
            "schema": document.schema,
            "name": name,
            "package": package,
            "image": document.image,
            "properties": properties,
            "relatedImages": document.relatedImages,
        }
        return Skeleton(value, is_whole=False)

    def _value(self, written: _Property) -> Any:
        if written.type in _BIG:
            return UNREAD
        raw = bytes(written.value)
        value = self._known.get(raw)
        if value is None:
            if _LONG_NUMBER.search(raw):
                raise OverflowError
            value = msgspec.json.decode(raw)
            if len(self._known) < REMEMBERED:
                self._known[raw] = value
        return value


def _least_size(document: _Document) -> int:
    """How many bytes an object has at least: those of its properties' values, which are nearly all."""
    return sum(memoryview(stated.value).nbytes for stated in document.properties or ())
