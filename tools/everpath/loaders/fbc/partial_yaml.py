"""Reads of a YAML bundle what the graph needs, and steps over the rest.

Nine tenths of a rendered catalog are the values of `olm.csv.metadata` and `olm.bundle.object`, on which no
upgrade depends. From a document in the shape that writers of catalogs emit they are cut out unread; the
pieces that remain repeat from version to version, and are read once each. Whatever looks different is
declined, and the caller asks a parser.
"""

from __future__ import annotations

__all__ = ["YamlSkeletons"]

import re
from typing import Any, Final

from everpath.loaders.fbc.metadata_value import MARKER, metadata_value
from everpath.loaders.fbc.partial_document import REMEMBERED, Skeleton
from everpath.parsing import yaml_subset
from everpath.parsing.yaml_scalars import WORDS

_OBJECT: Final = b"- type: olm.bundle.object\n"
_DATA: Final = re.compile(
    rb"^( *)- type: olm\.bundle\.object\n\1  value:\n\1    data: [A-Za-z0-9+/]+=*\n", re.MULTILINE
)

# A key at column 0 with all that is below it, and the items of its list by where their dashes stand.
_KEYS: Final = re.compile(rb"\n(?=[^ \n-])")
_LIST: Final = re.compile(rb"([A-Za-z]+):\n(?=(  |)- )")
_ITEMS: Final = {b"": re.compile(rb"\n(?=[^ \n])"), b"  ": re.compile(rb"\n(?=  [^ \n])")}

# `key: value` on one line, where the value can be nothing but a string; alone, and in the items of which
# every bundle has its own: an image, an entry, a version.
_WORD: Final = rb"([A-Za-z][\w./@+-]*(?::[\w./@+-]+)*)"
_PAIR: Final = re.compile(rb"([A-Za-z]+): %b" % _WORD)
_PAIRS: Final = re.compile(rb"( *)- ([A-Za-z]+): %b\n\1  ([A-Za-z]+): (?:%b|\"\"|'')" % (_WORD, _WORD))
_IDENTITY_TYPE: Final = b"- type: olm.package\n"
_IDENTITY_VALUE: Final = re.compile(
    rb"( *)  value:\n\1    packageName: %b\n\1    version: (\d+\.\d+\.\d[\w.+-]*)(?:\n(?=\1- )|\Z)" % _WORD
)


class _Declined(Exception):
    """A piece that is not of the shape known here."""


class YamlSkeletons:
    """Skeletons of YAML documents; remembers the pieces it has read.

    The values of equal pieces are one object: nobody may change them.
    """

    def __init__(self) -> None:
        self._items: dict[bytes, Any] = {}
        self._lists: dict[bytes, list[Any]] = {}

    def read(self, text: bytes, metadata: tuple[int, int] | None = None) -> Skeleton | None:
        """The document without its big values, or None if it must be parsed.

        Agrees with `yaml11.parse` on all the rest. Whether the big values are YAML is for `yaml11.check`
        to say. `metadata` is where that value lies, if it is known. Cost: what is left without them.
        """
        if not _has_usual_lines(text):
            return None
        try:
            small = _cut(text, metadata)
            document = self._document(small.removeprefix(b"---\n").rstrip(b"\n"))
        except _Declined:
            return None
        return Skeleton(document, is_whole=len(small) == len(text))

    def _document(self, text: bytes) -> dict[str, Any]:
        if text.startswith(b" "):
            raise _Declined
        document: dict[str, Any] = {}
        for piece in _KEYS.split(text):
            key, value = self._pair(piece)
            if key in document or key in WORDS:
                raise _Declined
            document[key] = value
        return document

    def _pair(self, piece: bytes) -> tuple[str, Any]:
        if (found := _PAIR.fullmatch(piece)) is not None and (text := found[2].decode()) not in WORDS:
            return found[1].decode(), text
        if (found := _LIST.match(piece)) is None:
            return _only_pair(yaml_subset.read(piece))
        key, indent, items = found[1].decode(), found[2], piece[found.end() :]
        return key, self._properties(items, indent) if key == "properties" else self._list(items, indent)

    def _properties(self, text: bytes, indent: bytes) -> list[Any]:
        """All properties but one are those of the version before; they are read once, as a whole."""
        start = text.find(indent + _IDENTITY_TYPE)
        found = _IDENTITY_VALUE.match(text, start + len(indent + _IDENTITY_TYPE)) if start >= 0 else None
        if found is None or found[1] != indent or (start > 0 and text[start - 1] != 0x0A):
            return self._remembered(text, indent)
        package, version = found[2].decode(), found[3].decode()
        if package in WORDS:
            raise _Declined
        identity = {"type": "olm.package", "value": {"packageName": package, "version": version}}
        before, after = text[: max(0, start - 1)], text[found.end() :]
        return [*self._remembered(before, indent), identity, *self._remembered(after, indent)]

    def _remembered(self, text: bytes, indent: bytes) -> list[Any]:
        known = self._lists.get(text)
        if known is None:
            known = self._list(text, indent) if text else []
            if len(self._lists) < REMEMBERED:
                self._lists[text] = known
        return known

    def _list(self, text: bytes, indent: bytes) -> list[Any]:
        return [_two_strings(item) or self._item(item) for item in _ITEMS[indent].split(text)]

    def _item(self, piece: bytes) -> Any:
        """The value of one dash."""
        value = self._items.get(piece)
        if value is None:
            items = yaml_subset.read(piece)
            if not isinstance(items, list) or len(items) != 1:
                raise _Declined
            value = items[0]
            if len(self._items) < REMEMBERED:
                self._items[piece] = value
        return value


def _has_usual_lines(text: bytes) -> bool:
    """UTF-8 in which libyaml, too, sees a line end at each newline and nowhere else."""
    if b"\r" in text or b"\0" in text:
        return False
    if text.isascii():
        return True
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return not any(mark in decoded for mark in "\x85\u2028\u2029\ufeff")


def _cut(text: bytes, metadata: tuple[int, int] | None) -> bytes:
    """The text with `{}` for one metadata value and for all objects.

    Why this is safe though a quoted scalar may run on at any indentation: one that begins in what was cut
    must end in what is read, and there a quote that does not open a scalar on its own line is declined.
    Hence only one metadata value, and of objects only those that hold no quote.
    """
    if metadata is None and (marker := text.find(MARKER)) >= 0:
        metadata = metadata_value(text, marker)
        if metadata is None:
            raise _Declined
    if metadata is not None:
        text = text[: metadata[0]] + b" {}" + text[metadata[1] :]
    return _DATA.sub(rb"\1- type: olm.bundle.object\n\1  value: {}\n", text) if _OBJECT in text else text


def _two_strings(piece: bytes) -> dict[str, str] | None:
    """`- image: a` above `  name: b`: no more than `block.read` in a hurry."""
    found = _PAIRS.fullmatch(piece)
    if found is None:
        return None
    key, value, other_key, other_value = found.group(2, 3, 4, 5)
    pairs = {key.decode(): value.decode(), other_key.decode(): (other_value or b"").decode()}
    if len(pairs) == 1 or not WORDS.keys().isdisjoint(
        (*pairs, value.decode(), (other_value or b"-").decode())
    ):
        return None
    return pairs


def _only_pair(value: Any) -> tuple[str, Any]:
    if not isinstance(value, dict) or len(value) != 1:
        raise _Declined
    return next(iter(value.items()))
