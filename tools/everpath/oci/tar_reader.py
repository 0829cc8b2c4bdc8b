"""Reader of untrusted tar archives with bounded memory, from a stream or from a file.

Python's `tarfile` follows extended headers by recursion, trusts their sizes, and expands maps of sparse
files. A few kilobytes of gzip could exhaust memory and time that way.
"""

from __future__ import annotations

__all__ = ["ChunkSource", "InvalidTar", "TarEntry", "TarFile", "TarReader", "reject_pipe"]

import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final, Literal, NamedTuple, Protocol

from everpath.errors import UnreadableInput
from everpath.loaders.sources import unreadable_input

EntryKind = Literal["file", "folder", "symlink", "hardlink", "other"]

_BLOCK: Final = 512
_CHUNK_SIZE: Final = 1 << 20
_MAX_EXTENDED_HEADER_SIZE: Final = 1 << 20
# A member needs at most four: two GNU long names and two pax headers.
_MAX_EXTENDED_HEADERS: Final = 16
_MAX_FILE_MEMBERS: Final = 65536
_OCTAL: Final = re.compile(rb"[0-7]*")
_PAX_LENGTH: Final = re.compile(rb"([0-9]{1,7}) ")
_KINDS: Final[Mapping[bytes, EntryKind]] = {
    b"0": "file",
    b"\0": "file",
    b"7": "file",
    b"1": "hardlink",
    b"2": "symlink",
    b"5": "folder",
}
# Links, devices, folders and pipes have no content, even if their header states a size.
_WITHOUT_CONTENT: Final = frozenset(b"123456")
_GNU_SPARSE: Final = b"S"
_EXTENDED_HEADERS: Final = frozenset({b"x", b"X", b"g", b"L", b"K"})


class InvalidTar(Exception):
    """The data is not a tar archive, or is truncated."""


class TarEntry(NamedTuple):
    """A member of an archive. `offset` and `size` locate its content in the archive."""

    name: str
    kind: EntryKind
    size: int
    link: str
    mode: int
    offset: int


class TarSource(Protocol):
    """The bytes of an archive."""

    def read(self, count: int, /) -> bytes:
        """Read `count` bytes, fewer only at the end."""

    def skip(self, count: int, /) -> None:
        """Skip `count` bytes. Raises InvalidTar if there are fewer."""


class ChunkSource:
    """A `TarSource` of an iterable of chunks."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._chunk = b""
        self._position = 0

    def read(self, count: int, /) -> bytes:
        data = self._chunk[self._position : self._position + count]
        self._position += len(data)
        while len(data) < count and (chunk := next(self._chunks, None)) is not None:
            self._chunk, self._position = chunk, min(len(chunk), count - len(data))
            data += chunk[: self._position]
        return data

    def skip(self, count: int, /) -> None:
        while count > 0 and (skipped := len(self.read(min(count, _CHUNK_SIZE)))):
            count -= skipped
        if count > 0:
            raise InvalidTar("it ends in the middle of a file")

    def drain(self) -> None:
        """Consume what follows the archive, so that the digest of the whole blob is checked."""
        for _ in self._chunks:
            pass


class TarReader:
    """Iterates once over the members of an archive. Raises InvalidTar."""

    def __init__(self, source: TarSource) -> None:
        self._source = source
        self._position = 0
        self._remaining = 0
        self._padding = 0

    def __iter__(self) -> Iterator[TarEntry]:
        while (entry := self._next_entry()) is not None:
            self._remaining, self._padding = entry.size, -entry.size % _BLOCK
            yield entry

    def content(self) -> Iterator[bytes]:
        """Yield the content of the current member. Raises InvalidTar."""
        while self._remaining:
            chunk = self._read(min(self._remaining, _CHUNK_SIZE))
            self._remaining -= len(chunk)
            yield chunk

    def _next_entry(self) -> TarEntry | None:
        unread = self._remaining + self._padding
        self._source.skip(unread)
        self._position += unread
        extended: dict[str, str] = {}
        for _ in range(_MAX_EXTENDED_HEADERS):
            header = self._read_header()
            if header is None:
                return None
            kind = header[156:157]
            if kind not in _EXTENDED_HEADERS:
                return self._parse_entry(header, extended)
            extended |= self._read_extended_header(kind, _parse_number(header[124:136]))
        raise InvalidTar(f"{_MAX_EXTENDED_HEADERS} extended headers precede one file")

    def _read_header(self) -> bytes | None:
        """Return the next header; None at the end, which some archives do not mark."""
        header = self._source.read(_BLOCK)
        self._position += len(header)
        if not header and self._position:
            return None
        if len(header) < _BLOCK:
            raise InvalidTar("it ends in the middle of a header" if header else "it is empty")
        if not any(header):
            return None
        # The checksum counts its own field as blanks; old archives sum up signed bytes.
        body = header[:148] + header[156:]
        unsigned = sum(body) + 8 * ord(" ")
        signed = unsigned - 256 * sum(byte > 127 for byte in body)
        if _parse_number(header[148:156]) not in (unsigned, signed):
            raise InvalidTar("a header is damaged")
        return header

    def _read_extended_header(self, kind: bytes, size: int) -> Mapping[str, str]:
        """Return the fields of an extended header. Global ones are ignored, as container runtimes do."""
        if size > _MAX_EXTENDED_HEADER_SIZE:
            raise InvalidTar(f"a header claims {size:,} bytes")
        data = self._read(size)
        self._read(-size % _BLOCK)
        if kind in (b"L", b"K"):
            return {"path" if kind == b"L" else "linkpath": _parse_text(data)}
        return {} if kind == b"g" else dict(_parse_pax_records(data))

    def _parse_entry(self, header: bytes, extended: Mapping[str, str]) -> TarEntry:
        flag = header[156:157]
        kind = _KINDS.get(flag, "other")
        prefix = _parse_text(header[345:500]) if header[257:263] == b"ustar\0" else ""
        short_name = f"{prefix}/{_parse_text(header[:100])}" if prefix else _parse_text(header[:100])
        name = extended.get("GNU.sparse.name") or extended.get("path") or short_name
        if any(key.startswith("GNU.sparse.") for key in extended):
            kind = "other"
        elif kind == "file" and name.endswith("/"):
            kind = "folder"
        if flag == _GNU_SPARSE:
            # Old GNU archives continue the map of a sparse file in blocks before its content.
            has_more = header[482]
            while has_more:
                has_more = self._read(_BLOCK)[504]
        size = 0 if header[156] in _WITHOUT_CONTENT else _parse_size(header, extended)
        link = extended.get("linkpath") or _parse_text(header[157:257])
        return TarEntry(name, kind, size, link, _parse_number(header[100:108]), self._position)

    def _read(self, count: int) -> bytes:
        data = self._source.read(count)
        self._position += len(data)
        if len(data) < count:
            raise InvalidTar("it ends in the middle of a file")
        return data


def _parse_number(field: bytes) -> int:
    """Parse octal digits, or the binary form of large numbers. Raises InvalidTar."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.partition(b"\0")[0].strip()
    if _OCTAL.fullmatch(digits) is None:
        raise InvalidTar("a header contains an invalid number")
    return int(digits or b"0", 8)


def _parse_size(header: bytes, extended: Mapping[str, str]) -> int:
    text = extended.get("size", "")
    if not text:
        return _parse_number(header[124:136])
    if len(text) > 20 or not (text.isascii() and text.isdigit()):
        raise InvalidTar(f"a file has the size {text[:40]!r}")
    return int(text)


def _parse_text(data: bytes) -> str:
    """Decode up to a NUL. Bytes that are not UTF-8 are escaped as Python does in file names."""
    return data.partition(b"\0")[0].decode(errors="surrogateescape")


def _parse_pax_records(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the fields of lines `LENGTH KEY=VALUE`. Raises InvalidTar."""
    position = 0
    while position < len(data) and data[position]:
        match = _PAX_LENGTH.match(data, position)
        end = position + int(match[1]) if match else position
        if match is None or not match.end() < end <= len(data) or data[end - 1 : end] != b"\n":
            raise InvalidTar("an extended header is damaged")
        key, _, value = data[match.end() : end - 1].partition(b"=")
        yield key.decode(errors="surrogateescape"), value.decode(errors="surrogateescape")
        position = end


class TarFile:
    """The regular files in an uncompressed tar archive on disk. Of several with one name the last counts.

    The headers are read once; the archive is opened again for each member that is read.
    """

    def __init__(self, path: str) -> None:
        """Read the headers. Raises UnreadableInput."""
        self.path = path
        self._spans: dict[str, tuple[int, int]] = {}
        reject_pipe(Path(path))
        try:
            with Path(path).open("rb") as stream:
                for number, entry in enumerate(TarReader(_FileSource(stream))):
                    if number >= _MAX_FILE_MEMBERS:
                        raise UnreadableInput(
                            f"{path} has more than {_MAX_FILE_MEMBERS:,} members", file=path
                        )
                    if entry.kind == "file":
                        self._spans[entry.name.removeprefix("./")] = (entry.offset, entry.size)
        except InvalidTar as error:
            raise UnreadableInput(
                f"{path} is not a tar archive: {error}",
                hint="archives of images are not compressed: if it is, decompress it with gunzip",
                file=path,
            ) from error
        except OSError as error:
            raise unreadable_input(path, error) from error

    def __contains__(self, name: str) -> bool:
        return name in self._spans

    def size(self, name: str) -> int:
        """Return the size of a member. Raises UnreadableInput if there is none of that name."""
        return self._span(name)[1]

    def open(self, name: str) -> BinaryIO:
        """Open a member. Raises UnreadableInput."""
        offset, size = self._span(name)
        try:
            stream = Path(self.path).open("rb")  # noqa: SIM115 - closed with the section
        except OSError as error:
            raise unreadable_input(self.path, error) from error
        stream.seek(offset)
        return io.BufferedReader(_FileSection(stream, size))

    def read(self, name: str, max_size: int) -> bytes:
        """Read a small member. Raises UnreadableInput."""
        if self.size(name) > max_size:
            raise UnreadableInput(f"{name} of {self.path} is too long", file=self.path)
        with self.open(name) as stream:
            return stream.read()

    def _span(self, name: str) -> tuple[int, int]:
        if name not in self._spans:
            raise UnreadableInput(
                f"{self.path} has no member {name}",
                hint="the archive is incomplete: export the image again",
                file=self.path,
            )
        return self._spans[name]


def reject_pipe(path: Path) -> None:
    """Raise UnreadableInput for a named pipe, which would be waited for forever."""
    if path.is_fifo():
        raise UnreadableInput(f"{path} is a pipe, not a file", hint="write it to a file", file=str(path))


class _FileSource:
    """A `TarSource` of a file, which skips by seeking."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._end = stream.seek(0, os.SEEK_END)
        stream.seek(0)

    def read(self, count: int, /) -> bytes:
        return self._stream.read(count)

    def skip(self, count: int, /) -> None:
        if self._stream.tell() + count > self._end:
            raise InvalidTar("it ends in the middle of a file")
        self._stream.seek(count, os.SEEK_CUR)


class _FileSection(io.RawIOBase):
    """The next `size` bytes of a file, which it closes."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._remaining = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(min(len(buffer), self._remaining))
        buffer[: len(data)] = data
        self._remaining -= len(data)
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()
