"""Reads of a JSON bundle what the graph needs, and steps over the rest: `lazy_yaml` for the other format."""

from __future__ import annotations

__all__ = ["JsonSkeletons"]

import re
from typing import Any, Final

import msgspec

from everpath.formats.fbc.skeleton import REMEMBERED, Skeleton
from everpath.model import UNREAD

_BIG: Final = frozenset(("olm.csv.metadata", "olm.bundle.object"))

# Numbers that a float64 may not hold have at least this many digits.
_LONG_NUMBER: Final = re.compile(rb"\d{16}")


class _Property(msgspec.Struct, forbid_unknown_fields=True):
    type: str
    value: msgspec.Raw


class _Bundle(msgspec.Struct, forbid_unknown_fields=True):
    """Fields opm knows, all of the type it wants: what is different is not read here."""

    schema: str
    name: str
    package: str
    properties: list[_Property]
    image: str = ""
    relatedImages: list[dict[str, str]] = []  # noqa: N815 - as the key is spelled


_BUNDLE: Final = msgspec.json.Decoder(_Bundle)


class JsonSkeletons:
    """Skeletons of JSON bundles; remembers the values it has read, which nobody may change."""

    def __init__(self) -> None:
        self._known: dict[bytes, Any] = {}

    def read(self, text: bytes | memoryview) -> Skeleton | None:
        """The bundle with its big values `UNREAD`; None if it is no bundle, or must be parsed.

        Agrees with `json_text.parse`, except that a key given twice goes unnoticed.
        """
        try:
            bundle = _BUNDLE.decode(text)
            properties = [{"type": p.type, "value": self._value(p)} for p in bundle.properties]
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, OverflowError):
            return None
        value = {
            "schema": bundle.schema,
            "name": bundle.name,
            "package": bundle.package,
            "image": bundle.image,
            "properties": properties,
            "relatedImages": bundle.relatedImages,
        }
        return Skeleton(value, is_whole=False) if bundle.schema == "olm.bundle" else None

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
