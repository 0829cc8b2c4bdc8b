"""Find the line and column of a place: this is where a finding gets its line number.

Loaders store a byte offset and a pointer (`model.Place`). `locate` reads that document again, finds the value
(`parsing.value_search`, or `parsing.value_index` for many values of one document), and counts lines. Columns
count characters, as editors do.
"""

from __future__ import annotations

__all__ = ["SourcePosition", "locate"]

import re
from functools import cached_property, lru_cache
from json import JSONDecodeError, JSONDecoder
from typing import TYPE_CHECKING, Final

from everpath.loaders.location import SourcePosition
from everpath.loaders.sources import MAX_DOCUMENT, MEBIBYTE, Sources
from everpath.model import Place
from everpath.parsing.json_descent import find_in_json
from everpath.parsing.parse_result import Pointer
from everpath.parsing.text_offsets import OffsetMap

if TYPE_CHECKING:
    from everpath.parsing.value_index import Span, ValueIndex

# Nearly all places are at most this deep (entries, 3, skips, 0).
_DEPTH: Final = 4

# From this number of places in a document on, an index is faster than searches.
_INDEX_FROM: Final = 6

# A finding shows its line, unless it is longer: a minified catalog is one line of megabytes.
_LONGEST_LINE: Final = 2000

# The start of a file is cached up to this size; of a larger file, the part that was read last.
_SMALL_FILE: Final = 4 * MEBIBYTE
_READ_AHEAD: Final = MEBIBYTE // 2

_BLOCK: Final = 1 << 16
_MARK: Final = b"\xef\xbb\xbf"

# How far before its value a key is searched for; a colon, white space and a comment may be between them.
_NEAR: Final = 1 << 12

# A key at the end of a text, up to the start of its value.
_NAMED: Final = rb"(?<![^\s\"'{,])(%b)[\"']?\s*:\s*(?:#[^\n]*\s*)?\Z"
_SEPARATOR: Final = re.compile(rb"\n---")
_LEADING: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t\r]*(?:#[^\n]*)?\n|---[^\n]*\n)*[ \t]*(?=[^\s#])")

# In a catalog, a separator after a comment ends the document, which then has only comments.
_LEADING_IN_CATALOG: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:---[^\n]*\n)?(?:[ \t\r]*(?:#[^\n]*)?\n)*(?!---)[ \t]*(?=[^\s#])"
)


def locate(place: Place, sources: Sources) -> SourcePosition:
    """Return the position of the value (or key) at a place, or of its nearest parent if it is absent.

    Raises `UnreadableInput` if the file cannot be read again.
    """
    file = _file(sources, place.file)
    document = _document(sources, place.file, place.offset) if place.pointer else None
    span = document.span(place.pointer) if document else None
    if span is None:
        leading = _LEADING_IN_CATALOG if place.dialect == "fbc" else _LEADING
        return file.location(*_first_word(file, place.offset, leading))
    if document and place.on_key:
        span = document.key_before(span[0], str(place.pointer[-1])) or span
    return file.location(place.offset + span[0], place.offset + span[1])


def _first_word(file: _File, offset: int, leading: re.Pattern[bytes]) -> Span:
    """Return the first word of a document, after separators and comments. An offset inside a line stays."""
    start = offset
    if file.start_of_line(offset) == offset and (found := leading.match(file.read(offset, _BLOCK))):
        start = offset + found.end()
    return start, file.end_of_line(start)


class _Document:
    """One document, and the byte spans of its values."""

    def __init__(self, text: bytes, *, is_json: bool) -> None:
        self._text = text
        self._is_json = is_json
        self._lookups = 0
        self._depth = 0
        self._spans: ValueIndex | None = None

    def span(self, pointer: Pointer) -> Span | None:
        """Return the bytes of a value or of its nearest parent; None if that is the document."""
        self._lookups += 1
        span = self._descend(pointer) if self._lookups < _INDEX_FROM else None
        return span or self._look_up(pointer)

    def key_before(self, value: int, key: str) -> Span | None:
        """Return the bytes of the key before a value, without quotes."""
        near = max(0, value - _NEAR)
        found = re.compile(_NAMED % re.escape(key.encode())).search(self._text, near, value)
        return found.span(1) if found else None

    def _descend(self, pointer: Pointer) -> Span | None:
        if not self._is_json:
            from everpath.parsing.value_search import find_in_yaml  # noqa: PLC0415

            return find_in_yaml(self._text, pointer)
        return self._in_bytes(find_in_json(self._text.decode("utf-8", "surrogateescape"), pointer))

    def _look_up(self, pointer: Pointer) -> Span | None:
        if self._spans is None or len(pointer) > self._depth:
            # At least twice as deep, so that ever deeper places do not need a new index each.
            self._depth = max(_DEPTH, 2 * len(pointer) if self._spans else len(pointer))
            self._spans = self._index(self._depth)
        nearest = self._spans.nearest(pointer)
        return self._in_bytes(nearest[1]) if nearest and nearest[0] else None

    def _index(self, depth: int) -> ValueIndex:
        from everpath.parsing.value_index import index_json, index_yaml  # noqa: PLC0415

        if self._is_json:
            return index_json(self._text.decode("utf-8", "surrogateescape"), depth)
        return index_yaml(self._text, depth)

    def _in_bytes(self, span: Span | None) -> Span | None:
        mark, offsets = self._offsets
        return span and (mark + offsets.bytes(span[0]), mark + offsets.bytes(span[1]))

    @cached_property
    def _offsets(self) -> tuple[int, OffsetMap]:
        """The size of the byte order mark, and the offsets of the text after it."""
        mark = len(_MARK) if self._text.startswith(_MARK) else 0
        return mark, OffsetMap(self._text[mark:], "surrogateescape")


@lru_cache(maxsize=4)
def _document(sources: Sources, file: str, offset: int) -> _Document:
    """Read the document at an offset, in growing blocks."""
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
    """Return the JSON value at the start of a text, or None if it is not complete JSON."""
    if not content.lstrip().startswith(b"{"):
        return None
    text = content.decode("utf-8", "surrogateescape")
    try:
        end = JSONDecoder().raw_decode(text, len(text) - len(text.lstrip()))[1]
    except (JSONDecodeError, RecursionError):
        return None
    return text[:end].encode("utf-8", "surrogateescape")


class _File:
    """The line index of one file: newlines are counted once, block by block."""

    def __init__(self, sources: Sources, file: str) -> None:
        self._sources = sources
        self._file = file
        self._line: _Line | None = None
        self._before = [0]
        self._kept, self._kept_from, self._is_end_kept = b"", 0, False

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes of the file. Caches those around them: the next finding is probably near."""
        start = offset - self._kept_from
        if start < 0 or (start + size > len(self._kept) and not self._is_end_kept):
            self._keep(offset, offset + size + _READ_AHEAD)
            start = offset - self._kept_from
        return self._kept[start : start + size]

    def _keep(self, offset: int, end: int) -> None:
        self._kept_from = 0 if end <= _SMALL_FILE else max(0, offset - _BLOCK)
        with self._sources.stream(self._file) as stream:
            stream.seek(self._kept_from)
            self._kept = stream.read(end - self._kept_from)
        self._is_end_kept = self._kept_from + len(self._kept) < end

    def location(self, start: int, end: int) -> SourcePosition:
        line = self._line_at(start)
        column, stop = line.column(start), line.column(end)
        return SourcePosition(self._file, line.number, column, max(stop, column + 1), line.shown)

    def _line_at(self, offset: int) -> _Line:
        """Return the line of an offset. The last one is cached: a minified document is one line."""
        if self._line is None or not self._line.start <= offset <= self._line.end:
            start, end = self.start_of_line(offset), self.end_of_line(offset)
            self._line = _Line(self.read(start, end - start), start, self._number(offset))
        return self._line

    def start_of_line(self, offset: int) -> int:
        """Return the offset at which the line of an offset starts."""
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
        block, rest = divmod(offset, _BLOCK)
        for counted in range(len(self._before) - 1, block):
            self._before.append(self._before[-1] + self.read(counted * _BLOCK, _BLOCK).count(b"\n"))
        return self._before[block] + self.read(block * _BLOCK, rest).count(b"\n") + 1


class _Line:
    """One line of a file, with its number and offset."""

    def __init__(self, raw: bytes, start: int, number: int) -> None:
        self.start = start
        self.end = start + len(raw)
        self.number = number
        self._raw = raw.rstrip(b"\r")
        self._offsets = OffsetMap(self._raw, "replace")

    @cached_property
    def shown(self) -> str:
        """The text of the line; empty if it is too long to be shown."""
        is_long = self._offsets.characters(len(self._raw)) > _LONGEST_LINE + self._has_mark
        return "" if is_long else self._raw.decode("utf-8", "replace").removeprefix("\ufeff")

    @property
    def _has_mark(self) -> bool:
        return self._raw.startswith(_MARK)

    def column(self, offset: int) -> int:
        """Return the column of a byte of the file, from 1. A byte order mark has no column."""
        size = offset - self.start
        return self._offsets.characters(size) - (self._has_mark and size >= len(_MARK)) + 1


_file = lru_cache(maxsize=8)(_File)
