"""Lines and columns, found again for the few places a finding names.

Readers keep a byte offset and a pointer (`model.Place`) and nothing else; here that document alone is
looked at once more, and its values are given their lines. Columns count characters, as editors do.
"""

from __future__ import annotations

__all__ = ["Location", "locate"]

import re
from array import array
from functools import cached_property, lru_cache
from json import JSONDecodeError, JSONDecoder
from typing import Final

from everpath.formats.location import Location
from everpath.formats.sources import MAX_DOCUMENT, MEBIBYTE, Sources
from everpath.formats.text.descent import descend_json, descend_yaml
from everpath.formats.text.parsed import Pointer, byte_offset
from everpath.formats.text.spans import Span, Spans, json_spans, yaml_spans
from everpath.model import Place

# Nearly all places are at most this deep (entries, 3, skips, 0): one index serves a whole document.
_DEPTH: Final = 4

# From how many places in a document on an index of it pays.
_PAYS_FROM: Final = 6

# A finding shows its line; a minified catalog is one line of megabytes, which nobody wants to see.
_LONGEST_LINE: Final = 2000

# Files up to this size are held while findings about them are placed.
_SMALL_FILE: Final = 4 * MEBIBYTE

_BLOCK: Final = 1 << 16
_SEPARATOR: Final = re.compile(rb"\n---")
_LEADING: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t\r]*(?:#[^\n]*)?\n|---[^\n]*\n)*[ \t]*(?=[^\s#])")

# In a catalog a separator behind a comment ends the document, which then has nothing but comments.
_LEADING_IN_CATALOG: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:---[^\n]*\n)?(?:[ \t\r]*(?:#[^\n]*)?\n)*(?!---)[ \t]*(?=[^\s#])"
)


def locate(place: Place, sources: Sources) -> Location:
    """Where the value at a place is written, or its nearest parent if it is absent.

    Cost: the lines on the way to it; from the sixth place of a document on a dictionary. Raises
    `UnreadableInput` when the file is gone.
    """
    file = _file(sources, place.file)
    span = _document(sources, place.file, place.offset).span(place.pointer) if place.pointer else None
    if span is None:
        leading = _LEADING_IN_CATALOG if place.dialect == "fbc" else _LEADING
        return file.location(*_first_word(file, place.offset, leading))
    return file.location(place.offset + span[0], place.offset + span[1])


def _first_word(file: _File, offset: int, leading: re.Pattern[bytes]) -> Span:
    """The first word of a document, behind separators and comments; an offset amid a line as it is."""
    start = offset
    if file.start_of_line(offset) == offset and (found := leading.match(file.read(offset, _BLOCK))):
        start = offset + found.end()
    return start, file.end_of_line(start)


class _Document:
    """One document, and the bytes its values take."""

    def __init__(self, text: bytes, *, is_json: bool) -> None:
        self._text = text
        self._is_json = is_json
        self._asked = 0

    def span(self, pointer: Pointer) -> Span | None:
        """The bytes of a value, or of its nearest parent; None if that is the document."""
        self._asked += 1
        span = self._descend(pointer) if self._asked < _PAYS_FROM else None
        return span or self._look_up(pointer)

    def _descend(self, pointer: Pointer) -> Span | None:
        if not self._is_json:
            return descend_yaml(self._text, pointer)
        return self._in_bytes(descend_json(self._text.decode("utf-8", "surrogateescape"), pointer))

    def _look_up(self, pointer: Pointer) -> Span | None:
        spans = self._spans if len(pointer) <= _DEPTH else self._index(len(pointer))
        nearest = spans.nearest(pointer)
        return self._in_bytes(nearest[1]) if nearest and nearest[0] else None

    @cached_property
    def _spans(self) -> Spans:
        return self._index(_DEPTH)

    def _index(self, depth: int) -> Spans:
        if self._is_json:
            return json_spans(self._text.decode("utf-8", "surrogateescape"), depth)
        return yaml_spans(self._text, depth)

    def _in_bytes(self, span: Span | None) -> Span | None:
        return span and (byte_offset(self._text, span[0]), byte_offset(self._text, span[1]))


@lru_cache(maxsize=4)
def _document(sources: Sources, file: str, offset: int) -> _Document:
    """The document at an offset; reads no more of the file than it must."""
    size = 4 * _BLOCK
    while True:
        content = _file(sources, file).read(offset, size)
        is_all = len(content) < size or size >= MAX_DOCUMENT
        if (json := _json_text(content)) is not None:
            return _Document(json, is_json=True)
        separator = _SEPARATOR.search(content, 1)
        if separator is not None or is_all:
            return _Document(content[: separator.start() + 1] if separator else content, is_json=False)
        size *= 4


def _json_text(content: bytes) -> bytes | None:
    """The JSON value at the start of a text, if there is one and it ends there."""
    if not content.lstrip().startswith(b"{"):
        return None
    text = content.decode("utf-8", "surrogateescape")
    try:
        end = JSONDecoder().raw_decode(text, len(text) - len(text.lstrip()))[1]
    except (JSONDecodeError, RecursionError):
        return None
    return text[:end].encode("utf-8", "surrogateescape")


class _File:
    """The lines of one file: newlines counted once, a block at a time."""

    def __init__(self, sources: Sources, file: str) -> None:
        self._sources = sources
        self._file = file
        self._before = array("Q", [0])
        content = b""
        with sources.open(file) as stream:
            while block := stream.read(_BLOCK):
                self._before.append(self._before[-1] + block.count(b"\n"))
                content = content + block if len(content) < _SMALL_FILE else content
        self._content = content if len(content) < _SMALL_FILE else None

    def read(self, offset: int, size: int) -> bytes:
        if self._content is not None:
            return self._content[offset : offset + size]
        with self._sources.open(self._file) as stream:
            stream.seek(offset)
            return stream.read(size)

    def location(self, start: int, end: int) -> Location:
        line_start, line_end = self.start_of_line(start), self.end_of_line(start)
        raw = self.read(line_start, line_end - line_start).rstrip(b"\r")
        column = _characters(raw, start - line_start) + 1
        stop = _characters(raw, end - line_start) + 1
        text = raw.decode("utf-8", "replace").removeprefix("\ufeff")
        shown = text if len(text) <= _LONGEST_LINE else ""
        return Location(self._file, self._number(start), column, max(stop, column + 1), shown)

    def start_of_line(self, offset: int) -> int:
        """Cost: one block, unless the line is longer than that."""
        end = offset
        while end > 0:
            begin = max(0, end - _BLOCK)
            found = self.read(begin, end - begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            end = begin
        return 0

    def end_of_line(self, offset: int) -> int:
        while block := self.read(offset, _BLOCK):
            if (found := block.find(b"\n")) >= 0:
                return offset + found
            offset += len(block)
        return offset

    def _number(self, offset: int) -> int:
        block = min(offset // _BLOCK, len(self._before) - 1)
        rest = self.read(block * _BLOCK, offset - block * _BLOCK)
        return self._before[block] + rest.count(b"\n") + 1


def _characters(raw: bytes, size: int) -> int:
    return len(raw[: max(0, size)].decode("utf-8", "replace").removeprefix("\ufeff"))


_file = lru_cache(maxsize=8)(_File)
