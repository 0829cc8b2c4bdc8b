"""Cuts a stream into documents where opm cuts it, a few megabytes in memory at a time.

opm (through Kubernetes' decoder) splits YAML by lines, before any parser sees it: a line that starts
with `---` ends a document, may carry a comment and nothing else, and stays in the document if nothing
stands before it. JSON objects follow one another with any white space between them.
"""

from __future__ import annotations

__all__ = [
    "Chunk",
    "Document",
    "Flaw",
    "is_json",
    "json_documents",
    "json_starts",
    "small_text",
    "yaml_documents",
]

import os
import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final, Literal, NamedTuple

from everpath.loaders.fbc.metadata_value import MARKER, metadata_value
from everpath.loaders.sources import MAX_DOCUMENT, MEBIBYTE

_BLOCK: Final = 4 * MEBIBYTE

# Files up to this size are read whole: nearly all there are, and less than what every run keeps for the next
# who asks for memory (`everpath.cli`).
_WHOLE: Final = 6 * MEBIBYTE
_SNIFFED: Final = 4096

# One object ends and another starts on a later line. This never happens inside of valid JSON, where a
# comma parts neighbours and no string holds a line break.
_BETWEEN: Final = re.compile(rb"\}[ \t\r]*\n\s*(?=\{)")

# The same as nearly everybody writes it, found at twice the speed.
_USUALLY_BETWEEN: Final = re.compile(rb"\}\n(?=\{)")


class Document(NamedTuple):
    """The bytes of one document and where they start in the file.

    `metadata` is the stretch of an `olm.csv.metadata` value, where it was passed over. A document
    `may_be_cut` short unnoticed if the end of the file ends it, and nothing behind that stretch shows that
    it is whole.
    """

    offset: int
    text: bytes
    may_be_cut: bool = False
    metadata: tuple[int, int] | None = None


class Chunk(NamedTuple):
    """Objects of a JSON stream that share a line, nearly always one, where the reader has them in memory."""

    offset: int
    view: memoryview

    @property
    def text(self) -> bytes:
        """A copy, which whoever can read the view need not make."""
        return bytes(self.view)


class Flaw(NamedTuple):
    """A stretch of a file that yields no document; `kind` is the name of the rule that reports it."""

    kind: Literal["bad-separator", "unreadable-document"]
    offset: int
    message: str


def is_json(stream: BinaryIO) -> bool:
    """Whether opm tries JSON first: a brace is the first thing in the first 4096 bytes."""
    stream.seek(0)
    return stream.read(_SNIFFED).lstrip().startswith(b"{")


def yaml_documents(stream: BinaryIO, start: int = 0) -> Iterator[Document | Flaw]:
    """The YAML documents of a seekable stream from an offset on, and what stands in their way."""
    window = _Window(stream, start)
    while (line := window.next_separator()) is not None:
        yield from window.flaws()
        flaw = _flaw(window, line)
        if line.start > window.begin:
            yield window.document(line.start)
        if line.start > window.begin or flaw is not None:
            window.begin = line.end
        if flaw is not None:
            yield flaw
        window.search = line.end
    yield from window.rest()


def _flaw(window: _Window, line: _Line) -> Flaw | None:
    text = window.text[line.start + 3 : line.end].strip()
    if not text or text.startswith(b"#"):
        return None
    shown = text[:40].decode("utf-8", "replace")
    at = window.base + window.text.index(text, line.start + 3)
    return Flaw("bad-separator", at, f"{shown!r} after --- on a line that parts documents")


def json_documents(stream: BinaryIO) -> Iterator[Chunk | Flaw]:
    """The JSON objects of a seekable stream; those that share a line come as one chunk."""
    window = _Window(stream, 0)
    while (gap := window.next_gap()) is not None:
        yield from window.flaws()
        if gap > window.begin:
            yield window.chunk(gap)
        window.begin = window.search = gap
    for item in window.rest():
        yield item if isinstance(item, Flaw) else Chunk(item.offset, memoryview(item.text))


def json_starts(text: bytes, sizes: Sequence[int]) -> list[int] | None:
    """Where the objects of a text that is valid JSON start, given how many bytes each has at least.

    None if two of them share a line. What parts lines is never inside of an object, so that the first of it
    behind a part of an object parts that one, or a later one on its line, from the next. Where that is found
    as often as there are objects to part, it is every one of them.
    """
    return _starts(text, sizes, _USUALLY_BETWEEN) or _starts(text, sizes, _BETWEEN)


def _starts(text: bytes, sizes: Sequence[int], between: re.Pattern[bytes]) -> list[int] | None:
    starts = [0]
    for size in sizes[:-1]:
        found = between.search(text, starts[-1] + size)
        if found is None:
            return None
        starts.append(found.end())
    return starts


def small_text(stream: BinaryIO) -> bytes | None:
    """All of a seekable stream that is not large; None of one that is."""
    if stream.seek(0, os.SEEK_END) > _WHOLE:
        return None
    stream.seek(0)
    return stream.read(_WHOLE)


class _Line(NamedTuple):
    """A separator: where its line starts, and where the next one does."""

    start: int
    end: int


class _Window:
    """The part of a stream that is in memory: the document being cut and what was read after it."""

    def __init__(self, stream: BinaryIO, base: int) -> None:
        stream.seek(base)
        self._stream = stream
        self._is_end = False
        self._is_skipping = False
        self._flaws: list[Flaw] = []
        self.base = base
        self.text = b""
        self.begin = 0
        self.search = 0
        self._marker = -1
        self._metadata: tuple[int, int] | None = None
        self._gap = _USUALLY_BETWEEN

    def document(self, end: int, *, is_last: bool = False) -> Document:
        begin, metadata = self.begin, self._metadata
        may_be_cut = is_last and (metadata is None or not self.text[metadata[1] :].strip())
        self._metadata = None
        if metadata is not None:
            metadata = metadata[0] - begin, metadata[1] - begin
        return Document(self.base + begin, self.text[begin:end], may_be_cut, metadata)

    def chunk(self, end: int) -> Chunk:
        return Chunk(self.base + self.begin, memoryview(self.text)[self.begin : end])

    def flaws(self) -> Iterator[Flaw]:
        """What went wrong since the last time one asked."""
        flaws, self._flaws = self._flaws, []
        yield from flaws

    def rest(self) -> Iterator[Document | Flaw]:
        """What is left at the end of the stream."""
        yield from self.flaws()
        if self.begin < len(self.text) and not self._is_skipping:
            yield self.document(len(self.text), is_last=True)

    def next_separator(self) -> _Line | None:
        """The next line that starts with `---`; None at the end of the stream."""
        while True:
            start = self._separator()
            end = self.text.find(b"\n", start) if start >= 0 else -1
            if end >= 0:
                return self._found(_Line(start, end + 1))
            if self._is_end:
                return self._found(_Line(start, len(self.text))) if start >= 0 else None
            self._grow(overlap=len(self.text) - start if start >= 0 else 3)

    def next_gap(self) -> int | None:
        """Where the next object starts after the one at `begin`; None if that is the last."""
        while True:
            found = self._gap.search(self.text, self.search)
            if found is None and (found := _BETWEEN.search(self.text, self.search)) is not None:
                self._gap = _BETWEEN
            if found is not None or self._is_end:
                return found and self._found(_Line(found.end(), found.end())).start
            self._grow(overlap=len(self.text) - len(self.text.rstrip()) + 1)

    def _separator(self) -> int:
        """The next line with `---` from `search` on, or -1. Metadata is passed over: it has no such line."""
        if self.text.startswith(b"---", self.search) and self._is_line_start(self.search):
            return self.search
        while True:
            if self._marker < self.search:
                found = self.text.find(MARKER, self.search)
                self._marker = found if found >= 0 else len(self.text)
            found = self.text.find(b"\n---", self.search, self._marker)
            if found >= 0 or self._marker == len(self.text):
                return found + 1 if found >= 0 else -1
            value = metadata_value(self.text, self._marker)
            self.search = value[1] if value is not None else self._marker + 1
            self._metadata = self._metadata or value

    def _is_line_start(self, index: int) -> bool:
        return index == 0 or self.text[index - 1] == 0x0A

    def _found(self, line: _Line) -> _Line:
        """A document too large ends here: what follows is a document again."""
        if self._is_skipping:
            self._is_skipping = False
            self.begin = line.start
        return line

    def _grow(self, overlap: int) -> None:
        """Read on. `overlap` bytes at the end may belong to what is being looked for."""
        if len(self.text) - self.begin > MAX_DOCUMENT and not self._is_skipping:
            message = f"a document of more than {MAX_DOCUMENT // MEBIBYTE} MiB is not read"
            self._flaws.append(Flaw("unreadable-document", self.base + self.begin, message))
            self._is_skipping = True
        keep_from = max(self.begin, len(self.text) - overlap - 1) if self._is_skipping else self.begin
        block = self._stream.read(_BLOCK)
        self._is_end = len(block) < _BLOCK
        self.search = max(0, len(self.text) - overlap - keep_from)
        self.text = self.text[keep_from:] + block
        self.base += keep_from
        self.begin = 0
        self._marker = -1
        self._metadata = None
