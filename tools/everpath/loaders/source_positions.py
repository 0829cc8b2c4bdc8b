"""Find the line and column of a place: this is where a finding gets its line number.

Loaders store a byte offset and a pointer (`model.Place`). `locate` reads that document again, finds the value
(`parsing.positions`), and counts lines. Columns count characters, as editors do.
"""

from __future__ import annotations

__all__ = ["SourcePosition", "format_position", "locate"]

import re
from codecs import BOM_UTF8
from functools import cached_property, lru_cache
from typing import Final

from everpath.errors import UnreadableInput
from everpath.loaders.sources import MAX_DOCUMENT, MEBIBYTE, Sources
from everpath.model import Place, SourcePosition
from everpath.parsing.positions import PositionedDocument, Span
from everpath.parsing.text_offsets import OffsetMap

# A finding shows its line, unless it is longer: a minified catalog is one line of megabytes.
_LONGEST_LINE: Final = 2000

# The start of a file is cached up to this size; of a larger file, the part that was read last.
_SMALL_FILE: Final = 4 * MEBIBYTE
_READ_AHEAD: Final = MEBIBYTE // 2

_BLOCK: Final = 1 << 16
_SEPARATOR: Final = re.compile(rb"\n---")
_LEADING: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t\r]*(?:#[^\n]*)?\n|---[^\n]*\n)*[ \t]*(?=[^\s#])")

# In a catalog, a separator after a comment ends the document, which then has only comments.
_LEADING_IN_CATALOG: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:---[^\n]*\n)?(?:[ \t\r]*(?:#[^\n]*)?\n)*(?!---)[ \t]*(?=[^\s#])"
)


def locate(place: Place, sources: Sources) -> SourcePosition:
    """Return the line number and columns of the value (or key) at a place.

    If it is absent, those of its nearest parent are returned. Raises `UnreadableInput` if the file cannot be
    read again.
    """
    file = _file(sources, place.file)
    document = _document(sources, place.file, place.offset) if place.pointer else None
    span = document.span(place.pointer) if document else None
    if span is None:
        leading = _LEADING_IN_CATALOG if place.dialect == "fbc" else _LEADING
        return file.position(*_first_word(file, place.offset, leading))
    if document and place.on_key:
        span = document.key_before(span[0], str(place.pointer[-1])) or span
    return file.position(place.offset + span[0], place.offset + span[1])


def format_position(place: Place, sources: Sources) -> str:
    """Return `file:line` of a place, without the line if the place is a folder or cannot be read."""
    try:
        location = locate(place, sources)
    except UnreadableInput:
        return place.file
    return f"{location.file}:{location.line}" if location.line else location.file


def _first_word(file: _File, offset: int, leading: re.Pattern[bytes]) -> Span:
    """Return the first word of a document, after separators and comments. An offset inside a line stays."""
    start = offset
    if file.start_of_line(offset) == offset and (found := leading.match(file.read(offset, _BLOCK))):
        start = offset + found.end()
    return start, file.end_of_line(start)


@lru_cache(maxsize=4)
def _document(sources: Sources, file: str, offset: int) -> PositionedDocument:
    """Read the document at an offset, in growing blocks."""
    size = 4 * _BLOCK
    while True:
        content = _file(sources, file).read(offset, size)
        is_all = len(content) < size or size >= MAX_DOCUMENT
        if (json := PositionedDocument.from_json(content)) is not None:
            return json
        separator = _SEPARATOR.search(content, 1)
        if separator is not None or is_all:
            return PositionedDocument(content[: separator.start() + 1] if separator else content)
        size *= 4


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
            end = offset + size + _READ_AHEAD
            self._kept_from = 0 if end <= _SMALL_FILE else max(0, offset - _BLOCK)
            with self._sources.stream(self._file) as stream:
                stream.seek(self._kept_from)
                self._kept = stream.read(end - self._kept_from)
            self._is_end_kept = self._kept_from + len(self._kept) < end
            start = offset - self._kept_from
        return self._kept[start : start + size]

    def position(self, start: int, end: int) -> SourcePosition:
        """Return the position of a span of bytes. Caches the line: a minified document is one line."""
        line = self._line
        if line is None or not line.start <= start <= line.end:
            first, last = self.start_of_line(start), self.end_of_line(start)
            line = self._line = _Line(self.read(first, last - first), first, self._line_number(start))
        column, stop = line.column(start), line.column(end)
        return SourcePosition(self._file, line.number, column, max(stop, column + 1), line.displayed_text)

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

    def _line_number(self, offset: int) -> int:
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
    def displayed_text(self) -> str:
        """The text of the line; empty if it is too long to be shown."""
        is_long = self._offsets.characters(len(self._raw)) > _LONGEST_LINE
        return "" if is_long else self._raw.removeprefix(BOM_UTF8).decode("utf-8", "replace")

    def column(self, offset: int) -> int:
        """Return the column of a byte of the file, from 1. A byte order mark has no column."""
        return self._offsets.characters(offset - self.start) + 1


_file = lru_cache(maxsize=8)(_File)
