"""Parse YAML bundles without their large values (see `partial_document`), without libyaml.

The large values are cut out of the text. The remaining pieces, which repeat from version to version, are
parsed once each and cached.
"""

from __future__ import annotations

__all__ = ["PartialYamlParser"]

import re
from typing import Any, Final

from everpath.loaders.fbc.partial_document import (
    CACHE_SIZE,
    METADATA_TYPE_LINE,
    PartialDocument,
    metadata_span,
)
from everpath.parsing import yaml_subset
from everpath.parsing.yaml_scalars import SPECIAL_WORDS

_OBJECT: Final = b"- type: olm.bundle.object\n"
_DATA: Final = re.compile(
    rb"^( *)- type: olm\.bundle\.object\n\1  value:\n\1    data: [A-Za-z0-9+/]+=*\n", re.MULTILINE
)

# Splits a document at the keys in column 0, and the list below a key at its dashes, by their indentation.
_KEYS: Final = re.compile(rb"\n(?=[^ \n-])")
_LIST: Final = re.compile(rb"([A-Za-z]+):\n(?=(  |)- )")
_ITEMS: Final = {b"": re.compile(rb"\n(?=[^ \n])"), b"  ": re.compile(rb"\n(?=  [^ \n])")}

# `key: value` on one line, where the value is certainly a string: alone, and in the items that differ from
# bundle to bundle, such as images, entries and versions.
_WORD: Final = rb"([A-Za-z][\w./@+-]*(?::[\w./@+-]+)*)"
_PAIR: Final = re.compile(rb"([A-Za-z]+): %b" % _WORD)
_PAIRS: Final = re.compile(rb"( *)- ([A-Za-z]+): %b\n\1  ([A-Za-z]+): (?:%b|\"\"|'')" % (_WORD, _WORD))
_IDENTITY_TYPE: Final = b"- type: olm.package\n"
_IDENTITY_VALUE: Final = re.compile(
    rb"( *)  value:\n\1    packageName: %b\n\1    version: (\d+\.\d+\.\d[\w.+-]*)(?:\n(?=\1- )|\Z)" % _WORD
)


class _Unsupported(Exception):
    """A layout that this parser does not know."""


class PartialYamlParser:
    """Parses YAML documents partially. Caches values of equal pieces: callers must not change them."""

    def __init__(self) -> None:
        self._items: dict[bytes, Any] = {}
        self._lists: dict[bytes, list[Any]] = {}

    def parse(self, text: bytes, metadata: tuple[int, int] | None = None) -> PartialDocument | None:
        """Return a document without its large values; None if it must be parsed completely.

        Everything else is as `yaml_parser.parse` returns it. `yaml_parser.check` checks the large values.
        `metadata` is the span of that value, if it is known.
        """
        if not _has_plain_line_breaks(text):
            return None
        try:
            small = _cut_large_values(text, metadata)
            document = self._document(small.removeprefix(b"---\n").rstrip(b"\n"))
        except _Unsupported:
            return None
        return PartialDocument(document, is_complete=len(small) == len(text))

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
        if (found := _PAIR.fullmatch(piece)) is not None and (text := found[2].decode()) not in SPECIAL_WORDS:
            return found[1].decode(), text
        if (found := _LIST.match(piece)) is None:
            return _only_pair(yaml_subset.parse_simple_yaml(piece))
        key, indent, items = found[1].decode(), found[2], piece[found.end() :]
        return key, self._properties(items, indent) if key == "properties" else self._list(items, indent)

    def _properties(self, text: bytes, indent: bytes) -> list[Any]:
        """Parse properties. All but olm.package repeat from version to version and are cached together."""
        start = text.find(indent + _IDENTITY_TYPE)
        found = _IDENTITY_VALUE.match(text, start + len(indent + _IDENTITY_TYPE)) if start >= 0 else None
        if found is None or found[1] != indent or (start > 0 and text[start - 1] != 0x0A):
            return self._cached_list(text, indent)
        package, version = found[2].decode(), found[3].decode()
        if package in SPECIAL_WORDS:
            raise _Unsupported
        identity = {"type": "olm.package", "value": {"packageName": package, "version": version}}
        before, after = text[: max(0, start - 1)], text[found.end() :]
        return [*self._cached_list(before, indent), identity, *self._cached_list(after, indent)]

    def _cached_list(self, text: bytes, indent: bytes) -> list[Any]:
        known = self._lists.get(text)
        if known is None:
            known = self._list(text, indent) if text else []
            if len(self._lists) < CACHE_SIZE:
                self._lists[text] = known
        return known

    def _list(self, text: bytes, indent: bytes) -> list[Any]:
        return [_two_strings(item) or self._item(item) for item in _ITEMS[indent].split(text)]

    def _item(self, piece: bytes) -> Any:
        """Parse one item of a list."""
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


def _cut_large_values(text: bytes, metadata: tuple[int, int] | None) -> bytes:
    """Return the text with `{}` in place of one metadata value and of all objects.

    A quoted scalar may continue at any indentation. One that starts in the removed text must end in the text
    that is parsed, where a quote that opens no scalar on its own line is unsupported. So only one metadata
    value is removed, and only objects without a quote.
    """
    if metadata is None and (type_line := text.find(METADATA_TYPE_LINE)) >= 0:
        metadata = metadata_span(text, type_line)
        if metadata is None:
            raise _Unsupported
    if metadata is not None:
        text = text[: metadata[0]] + b" {}" + text[metadata[1] :]
    return _DATA.sub(rb"\1- type: olm.bundle.object\n\1  value: {}\n", text) if _OBJECT in text else text


def _two_strings(piece: bytes) -> dict[str, str] | None:
    """Parse `- image: a` above `  name: b`. A shortcut for `yaml_subset`."""
    found = _PAIRS.fullmatch(piece)
    if found is None:
        return None
    key, value, other_key, other_value = found.group(2, 3, 4, 5)
    pairs = {key.decode(): value.decode(), other_key.decode(): (other_value or b"").decode()}
    if len(pairs) == 1 or not SPECIAL_WORDS.keys().isdisjoint(
        (*pairs, value.decode(), (other_value or b"-").decode())
    ):
        return None
    return pairs


def _only_pair(value: Any) -> tuple[str, Any]:
    if not isinstance(value, dict) or len(value) != 1:
        raise _Unsupported
    return next(iter(value.items()))
