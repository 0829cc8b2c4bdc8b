"""Split a stream into documents where opm splits it, with a few megabytes in memory at a time.

opm (Kubernetes' decoder) splits YAML by lines before it parses them. A line that starts with `---` ends a
document and may contain a comment, nothing else; at the start of a document it belongs to that document. JSON
objects follow one another with any white space between them.
"""

from __future__ import annotations

__all__ = [
    "JsonChunk",
    "RawDocument",
    "SplitError",
    "is_json",
    "json_object_starts",
    "read_small_file",
    "split_json",
    "split_yaml",
]

import os
import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final, NamedTuple

from everpath.loaders.sources import MAX_DOCUMENT, MEBIBYTE
from everpath.model import ProblemKind

_BLOCK: Final = 4 * MEBIBYTE

# Files up to this size are read at once. Nearly all files of catalogs are smaller.
_SMALL_FILE: Final = 6 * MEBIBYTE
_HEAD_SIZE: Final = 4096

# The end of an object and the start of the next on a later line. Inside valid JSON this never occurs: a comma
# separates values, and no string contains a line break.
_BOUNDARY: Final = re.compile(rb"\}[ \t\r]*\n\s*(?=\{)")

# The same as tools write it; the search is twice as fast.
_COMMON_BOUNDARY: Final = re.compile(rb"\}\n(?=\{)")


class RawDocument(NamedTuple):
    """The bytes of one document, their offset in the file, and whether the file ends with it."""

    offset: int
    text: bytes
    is_last: bool = False


class JsonChunk(NamedTuple):
    """The objects of a JSON stream that share a line, nearly always one."""

    offset: int
    view: memoryview

    @property
    def text(self) -> bytes:
        """A copy of the bytes."""
        return bytes(self.view)


class SplitError(NamedTuple):
    """Part of a file that is no document."""

    kind: ProblemKind
    offset: int
    message: str


def is_json(stream: BinaryIO) -> bool:
    """Return whether opm tries JSON first: the first 4096 bytes start with a brace, after white space."""
    stream.seek(0)
    return stream.read(_HEAD_SIZE).lstrip().startswith(b"{")


def split_yaml(stream: BinaryIO, start: int = 0) -> Iterator[RawDocument | SplitError]:
    """Yield the YAML documents of a seekable stream from an offset on, and the errors between them."""
    window = _Window(stream, start)
    while (line := window.next_separator()) is not None:
        yield from window.take_errors()
        error = _separator_error(window, line)
        if line.start > window.begin:
            yield window.document(line.start)
        if line.start > window.begin or error is not None:
            window.begin = line.end
        if error is not None:
            yield error
        window.search = line.end
    yield from window.rest()


def _separator_error(window: _Window, line: _Line) -> SplitError | None:
    text = window.text[line.start + 3 : line.end].strip()
    if not text or text.startswith(b"#"):
        return None
    shown = text[:40].decode("utf-8", "replace")
    offset = window.base + window.text.index(text, line.start + 3)
    return SplitError(
        ProblemKind.BAD_SEPARATOR, offset, f"{shown!r} after --- on a line that separates documents"
    )


def split_json(stream: BinaryIO) -> Iterator[JsonChunk | SplitError]:
    """Yield the JSON objects of a seekable stream; objects that share a line are one chunk."""
    window = _Window(stream, 0)
    while (start := window.next_object()) is not None:
        yield from window.take_errors()
        if start > window.begin:
            yield window.chunk(start)
        window.begin = window.search = start
    for item in window.rest():
        yield item if isinstance(item, SplitError) else JsonChunk(item.offset, memoryview(item.text))


def json_object_starts(text: bytes, sizes: Sequence[int]) -> list[int] | None:
    """Return where the objects of valid JSON start, given a lower bound of the size of each.

    None if two objects share a line. A boundary never occurs inside an object. So the first one after the
    known part of an object ends that object, or a later one on the same line. If there are as many boundaries
    as objects to separate, each of them separates two.
    """
    return _starts(text, sizes, _COMMON_BOUNDARY) or _starts(text, sizes, _BOUNDARY)


def _starts(text: bytes, sizes: Sequence[int], boundary: re.Pattern[bytes]) -> list[int] | None:
    starts = [0]
    for size in sizes[:-1]:
        found = boundary.search(text, starts[-1] + size)
        if found is None:
            return None
        starts.append(found.end())
    return starts


def read_small_file(stream: BinaryIO) -> bytes | None:
    """Return all bytes of a seekable stream, or None if it is large."""
    size = stream.seek(0, os.SEEK_END)
    if size > _SMALL_FILE:
        return None
    stream.seek(0)
    return stream.read(size)


class _Line(NamedTuple):
    """The line of a separator: its start, and the start of the next line."""

    start: int
    end: int


class _Window:
    """The part of a stream that is in memory: from the current document (`begin`) on."""

    def __init__(self, stream: BinaryIO, base: int) -> None:
        stream.seek(base)
        self._stream = stream
        self._is_end = False
        self._is_skipping = False
        self._errors: list[SplitError] = []
        self.base = base
        self.text = b""
        self.begin = 0
        self.search = 0
        self._boundary = _COMMON_BOUNDARY

    def document(self, end: int, *, is_last: bool = False) -> RawDocument:
        return RawDocument(self.base + self.begin, self.text[self.begin : end], is_last)

    def chunk(self, end: int) -> JsonChunk:
        return JsonChunk(self.base + self.begin, memoryview(self.text)[self.begin : end])

    def take_errors(self) -> Iterator[SplitError]:
        """Yield the errors since the last call."""
        errors, self._errors = self._errors, []
        yield from errors

    def rest(self) -> Iterator[RawDocument | SplitError]:
        """Yield the last document of the stream."""
        yield from self.take_errors()
        if self.begin < len(self.text) and not self._is_skipping:
            yield self.document(len(self.text), is_last=True)

    def next_separator(self) -> _Line | None:
        """Return the next line that starts with `---`; None at the end of the stream."""
        while True:
            start = self._find_separator()
            end = self.text.find(b"\n", start) if start >= 0 else -1
            if end >= 0:
                return self._end_skipping(_Line(start, end + 1))
            if self._is_end:
                return self._end_skipping(_Line(start, len(self.text))) if start >= 0 else None
            self._grow(overlap=len(self.text) - start if start >= 0 else 3)

    def next_object(self) -> int | None:
        """Return where the object after the one at `begin` starts; None if that is the last."""
        while True:
            found = self._boundary.search(self.text, self.search)
            if found is None and (found := _BOUNDARY.search(self.text, self.search)) is not None:
                self._boundary = _BOUNDARY
            if found is not None or self._is_end:
                return found and self._end_skipping(_Line(found.end(), found.end())).start
            self._grow(overlap=len(self.text) - len(self.text.rstrip()) + 1)

    def _find_separator(self) -> int:
        """Return the next line with `---` from `search` on, or -1."""
        is_line_start = self.search == 0 or self.text[self.search - 1] == 0x0A
        if is_line_start and self.text.startswith(b"---", self.search):
            return self.search
        found = self.text.find(b"\n---", self.search)
        return found + 1 if found >= 0 else -1

    def _end_skipping(self, line: _Line) -> _Line:
        """End a document that is too large: the next one starts at the separator."""
        if self._is_skipping:
            self._is_skipping = False
            self.begin = line.start
        return line

    def _grow(self, overlap: int) -> None:
        """Read the next block. The last `overlap` bytes may be the start of what is searched for."""
        if len(self.text) - self.begin > MAX_DOCUMENT and not self._is_skipping:
            message = f"the document is larger than {MAX_DOCUMENT // MEBIBYTE} MiB and is not read"
            self._errors.append(SplitError(ProblemKind.UNREADABLE_DOCUMENT, self.base + self.begin, message))
            self._is_skipping = True
        keep_from = max(self.begin, len(self.text) - overlap - 1) if self._is_skipping else self.begin
        block = self._stream.read(_BLOCK)
        self._is_end = len(block) < _BLOCK
        self.search = max(0, len(self.text) - overlap - keep_from)
        self.text = self.text[keep_from:] + block
        self.base += keep_from
        self.begin = 0
