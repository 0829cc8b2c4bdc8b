"""Parse YAML bundles without their large values (see `partial_document`), without libyaml.

The large values are cut out of the text. The remaining pieces, which repeat from version to version, are
parsed once each and cached.
"""

from __future__ import annotations

__all__ = ["PartialYamlParser"]

import re
from typing import Any, Final

from everpath.loaders.fbc.partial_document import CACHE_SIZE, PartialDocument
from everpath.parsing import yaml_subset
from everpath.parsing.yaml_scalars import SPECIAL_WORDS

_METADATA_TYPE_LINE: Final = b"- type: olm.csv.metadata\n"

_VALUE_KEY: Final = b"  value:"

# By the indentation of the dash: the end of the last line that is indented further than the key of the value.
_VALUE_END: Final = {
    b"": re.compile(rb"\n(?!   |\n)"),
    b"  ": re.compile(rb"\n(?!     |\n)"),
}

_OBJECT: Final = b"- type: olm.bundle.object\n"
_DATA: Final = re.compile(
    rb"^( *)- type: olm\.bundle\.object\n\1  value:\n\1    data: [A-Za-z0-9+/]+=*\n", re.MULTILINE
)

# Splits a document at the keys in column 0, and the list below a key at its dashes, by their indentation.
_KEYS: Final = re.compile(rb"\n(?=[^ \n-])")
_LIST: Final = re.compile(rb"([A-Za-z]+):\n(?=(  |)- )")
_ITEMS: Final = {b"": re.compile(rb"\n(?=[^ \n])"), b"  ": re.compile(rb"\n(?=  [^ \n])")}


class _Unsupported(Exception):
    """A layout that this parser does not know."""


class PartialYamlParser:
    """Parses YAML documents partially. Caches values of equal pieces: callers must not change them."""

    def __init__(self) -> None:
        self._items: dict[bytes, Any] = {}

    def parse(self, text: bytes) -> PartialDocument | None:
        """Return a document without its large values; None if it must be parsed completely.

        Everything else is as `yaml_parser.parse` returns it. `yaml_parser.check` checks the large values.
        """
        if not _has_plain_line_breaks(text):
            return None
        try:
            metadata = _metadata_span(text)
            small = _cut_large_values(text, metadata)
            document = self._document(small.removeprefix(b"---\n").rstrip(b"\n"))
        except _Unsupported:
            return None
        ends_unread = metadata is None or not text[metadata[1] :].strip()
        return PartialDocument(document, is_complete=len(small) == len(text), ends_unread=ends_unread)

    def _document(self, text: bytes) -> dict[str, Any]:
        if text.startswith(b" "):
            raise _Unsupported
        document: dict[str, Any] = {}
        for piece in _KEYS.split(text):
            key, value = self._pair(piece)
            if key in document or key in SPECIAL_WORDS:
                raise _Unsupported
            document[key] = value
        return document

    def _pair(self, piece: bytes) -> tuple[str, Any]:
        """Parse a key in column 0 and its value. Items of a list repeat, so each is parsed by itself."""
        found = _LIST.match(piece)
        if found is not None:
            items = _ITEMS[found[2]].split(piece[found.end() :])
            return found[1].decode(), [self._item(item) for item in items]
        pair = yaml_subset.parse_simple_yaml(piece)
        if not isinstance(pair, dict) or len(pair) != 1:
            raise _Unsupported
        return next(iter(pair.items()))

    def _item(self, piece: bytes) -> Any:
        value = self._items.get(piece)
        if value is None:
            items = yaml_subset.parse_simple_yaml(piece)
            if not isinstance(items, list) or len(items) != 1:
                raise _Unsupported
            value = items[0]
            if len(self._items) < CACHE_SIZE:
                self._items[piece] = value
        return value


def _has_plain_line_breaks(text: bytes) -> bool:
    """Return whether the text is UTF-8 and libyaml ends lines only at newlines."""
    if b"\r" in text or b"\0" in text:
        return False
    if text.isascii():
        return True
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not any(mark in decoded for mark in "\x85\u2028\u2029\ufeff")


def _metadata_span(text: bytes) -> tuple[int, int] | None:
    """Return start and end of the value of the first `olm.csv.metadata` property; None if there is none.

    All lines of the span are blank or indented further. Raises `_Unsupported` for another layout than opm's.
    """
    type_line = text.find(_METADATA_TYPE_LINE)
    if type_line < 0:
        return None
    indent = text[text.rfind(b"\n", 0, type_line) + 1 : type_line]
    value_end = _VALUE_END.get(indent)
    key = type_line + len(_METADATA_TYPE_LINE)
    if value_end is None or not text.startswith(indent + _VALUE_KEY + b"\n", key):
        raise _Unsupported
    start = key + len(indent) + len(_VALUE_KEY)
    end = value_end.search(text, start)
    return start, end.start() if end else len(text)


def _cut_large_values(text: bytes, metadata: tuple[int, int] | None) -> bytes:
    """Return the text with `{}` in place of one metadata value and of all objects.

    A quoted scalar may continue at any indentation. One that starts in the removed text must end in the text
    that is parsed, where a quote that opens no scalar on its own line is unsupported. So only one metadata
    value is removed, and only objects without a quote.
    """
    if metadata is not None:
        text = text[: metadata[0]] + b" {}" + text[metadata[1] :]
    return _DATA.sub(rb"\1- type: olm.bundle.object\n\1  value: {}\n", text) if _OBJECT in text else text
