"""Tar archives of strangers, header by header: what they hold, in no more memory than one name takes.

The standard library follows extended headers by recursion, believes whatever length they claim, and lays out
maps of sparse files before anybody can refuse them: a few kilobytes of gzip could take all memory and time.
"""

from __future__ import annotations

__all__ = ["NotTar", "Pieces", "TarEntry", "TarReader"]

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple, Protocol

Kind = Literal["file", "folder", "symlink", "hardlink", "other"]

_BLOCK: Final = 512
_PIECE: Final = 1 << 20
# A header of names and attributes; and how many may stand before one member: two long names, two of pax.
_LONGEST_HEADER: Final = 1 << 20
_MOST_HEADERS: Final = 16
_OCTAL: Final = re.compile(rb"[0-7]*")
_LENGTH: Final = re.compile(rb"([0-9]{1,7}) ")
_KINDS: Final[Mapping[bytes, Kind]] = {
    b"0": "file",
    b"\0": "file",
    b"7": "file",
    b"1": "hardlink",
    b"2": "symlink",
    b"5": "folder",
}
# What has no content, whatever its size says: links, devices, folders and pipes.
_BARE: Final = frozenset(b"123456")
_SPARSE: Final = b"S"
_EXTENDED: Final = frozenset({b"x", b"X", b"g", b"L", b"K"})


class NotTar(Exception):
    """Bytes that are no tar archive, or no whole one."""


class TarEntry(NamedTuple):
    """One member. `offset` is where its content starts, `size` how long that is in the archive."""

    name: str
    kind: Kind
    size: int
    link: str
    mode: int
    offset: int


class Source(Protocol):
    """Where an archive comes from."""

    def read(self, count: int, /) -> bytes:
        """So many bytes, fewer only at the end."""

    def skip(self, count: int, /) -> None:
        """Go on behind so many bytes."""


class Pieces:
    """A source of bytes that come in pieces of their own."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._held = b""
        self._at = 0

    def read(self, count: int, /) -> bytes:
        found = self._held[self._at : self._at + count]
        self._at += len(found)
        while len(found) < count and (piece := next(self._pieces, None)) is not None:
            self._held, self._at = piece, min(len(piece), count - len(found))
            found += piece[: self._at]
        return found

    def skip(self, count: int, /) -> None:
        while count > 0 and (passed := len(self.read(min(count, _PIECE)))):
            count -= passed
        if count > 0:
            raise NotTar("it ends in the middle of a file")

    def drain(self) -> None:
        """Read what is behind the archive: only a whole blob can be told from a damaged one."""
        for _ in self._pieces:
            pass


class TarReader:
    """The members of an archive, once and in their order. Iterating raises NotTar."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._position = 0
        self._left = 0
        self._padding = 0

    def __iter__(self) -> Iterator[TarEntry]:
        while (entry := self._next()) is not None:
            self._left, self._padding = entry.size, -entry.size % _BLOCK
            yield entry

    def content(self) -> Iterator[bytes]:
        """The bytes of the member that came last. Raises NotTar."""
        while self._left:
            piece = self._read(min(self._left, _PIECE))
            self._left -= len(piece)
            yield piece

    def _next(self) -> TarEntry | None:
        rest = self._left + self._padding
        self._source.skip(rest)
        self._position += rest
        told: dict[str, str] = {}
        for _ in range(_MOST_HEADERS):
            header = self._header()
            if header is None:
                return None
            kind = header[156:157]
            if kind not in _EXTENDED:
                return self._entry(header, told)
            told |= self._extended(kind, _number(header[124:136]))
        raise NotTar(f"{_MOST_HEADERS} extended headers stand before one file")

    def _header(self) -> bytes | None:
        """The next one; None at the end, which some archives do not mark."""
        header = self._source.read(_BLOCK)
        self._position += len(header)
        if not header and self._position:
            return None
        if len(header) < _BLOCK:
            raise NotTar("it ends in the middle of a header" if header else "it is empty")
        if not any(header):
            return None
        _require_sum(header)
        return header

    def _extended(self, kind: bytes, size: int) -> Mapping[str, str]:
        """What an extended header says of the next member. One for all members is ignored, as runtimes do."""
        if size > _LONGEST_HEADER:
            raise NotTar(f"a header claims {size:,} bytes")
        data = self._read(size)
        self._read(-size % _BLOCK)
        if kind in (b"L", b"K"):
            return {"path" if kind == b"L" else "linkpath": _text(data)}
        return {} if kind == b"g" else dict(_records(data))

    def _entry(self, header: bytes, told: Mapping[str, str]) -> TarEntry:
        kind = _KINDS.get(header[156:157], "other")
        name = told.get("GNU.sparse.name") or told.get("path") or _name(header)
        if any(key.startswith("GNU.sparse.") for key in told):
            kind = "other"
        elif kind == "file" and name.endswith("/"):
            kind = "folder"
        if header[156:157] == _SPARSE:
            self._pass_map(header[482])
        size = 0 if header[156] in _BARE else _size(header, told)
        link = told.get("linkpath") or _text(header[157:257])
        return TarEntry(name, kind, size, link, _number(header[100:108]), self._position)

    def _pass_map(self, goes_on: int) -> None:
        """The rest of where a sparse file has bytes, as old GNU archives have it before them."""
        while goes_on:
            goes_on = self._read(_BLOCK)[504]

    def _read(self, count: int) -> bytes:
        data = self._source.read(count)
        self._position += len(data)
        if len(data) < count:
            raise NotTar("it ends in the middle of a file")
        return data


def _require_sum(header: bytes) -> None:
    """Raises NotTar unless the header's bytes, its own sum as blanks, add up, signed or not."""
    body = header[:148] + header[156:]
    total = sum(body) + 8 * ord(" ")
    signed = total - 256 * sum(byte > 127 for byte in body)
    if _number(header[148:156]) not in (total, signed):
        raise NotTar("a header is damaged")


def _number(field: bytes) -> int:
    """Octal digits, or the bytes of a large number. Raises NotTar."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.partition(b"\0")[0].strip()
    if _OCTAL.fullmatch(digits) is None:
        raise NotTar("a header has a number that is none")
    return int(digits or b"0", 8)


def _size(header: bytes, told: Mapping[str, str]) -> int:
    stated = told.get("size", "")
    if not stated:
        return _number(header[124:136])
    if len(stated) > 20 or not (stated.isascii() and stated.isdigit()):
        raise NotTar(f"a file has {stated[:40]!r} bytes")
    return int(stated)


def _name(header: bytes) -> str:
    prefix = _text(header[345:500]) if header[257:263] == b"ustar\0" else ""
    name = _text(header[:100])
    return f"{prefix}/{name}" if prefix else name


def _text(data: bytes) -> str:
    """Up to a NUL; bytes that are no UTF-8 are kept as Python keeps those of file names."""
    return data.partition(b"\0")[0].decode(errors="surrogateescape")


def _records(data: bytes) -> Iterator[tuple[str, str]]:
    """`LENGTH KEY=VALUE` and a line end, one behind the other. Raises NotTar."""
    at = 0
    while at < len(data) and data[at]:
        match = _LENGTH.match(data, at)
        end = at + int(match[1]) if match else at
        if match is None or not match.end() < end <= len(data) or data[end - 1 : end] != b"\n":
            raise NotTar("an extended header is damaged")
        key, _, value = data[match.end() : end - 1].partition(b"=")
        yield key.decode(errors="surrogateescape"), value.decode(errors="surrogateescape")
        at = end
