"""Layers: files as a tar archive whose bytes depend on nothing but the files.

The archive is written here and not by `tarfile`, whose bytes are Python's to change: POSIX ustar headers, a
pax header only where a name does not fit one, folders before what is in them, names in the order of their
bytes, everything root's. The gzip header has no time, no name and no operating system.
"""

from __future__ import annotations

__all__ = [
    "COMPRESSIONS",
    "LATEST",
    "Compression",
    "Layer",
    "Member",
    "file_pieces",
    "folder_pieces",
    "layer_of",
    "tar_end",
    "tar_pieces",
]

import hashlib
import os
import stat
import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final, Literal, NamedTuple

from everpath.errors import UnreadableInput
from everpath.loaders.sources import unreadable

Compression = Literal["gzip", "none"]
COMPRESSIONS: Final[tuple[Compression, ...]] = ("gzip", "none")

_MEDIA_TYPES: Final = {
    "gzip": "application/vnd.oci.image.layer.v1.tar+gzip",
    "none": "application/vnd.oci.image.layer.v1.tar",
}

#: The last second that a ustar header can name, in the year 2242.
LATEST: Final = 0o77777777777

_BLOCK: Final = 512
_PIECE: Final = 1 << 18
# Levels make other bytes: to change this changes every digest.
_LEVEL: Final = 6
_UNKNOWN_SYSTEM: Final = 255


class Member(NamedTuple):
    """A file or folder of a layer. The source is a file's path, or its content, or None for a folder."""

    name: str
    source: str | bytes | None
    mode: int = 0o644

    @property
    def is_mark(self) -> bool:
        """Whether it is none of the files that whoever starts the image sees: a folder, or a whiteout."""
        return self.source is None or self.name.rpartition("/")[2].startswith(".wh.")


class Layer(NamedTuple):
    """A layer as it is kept: its bytes, what they are, and the digest of the archive inside."""

    media_type: str
    data: bytes
    diff_id: str


def layer_of(members: Iterable[Member], *, mtime: int = 0, compression: Compression = "gzip") -> Layer:
    """The layer of some files, and of the folders they are in. Raises UnreadableInput.

    Cost: each file is read once, hashed and compressed on the way; what is held is the result.
    """
    hashed = hashlib.sha256()
    packed = _Gzip() if compression == "gzip" else _Plain()
    for piece in _even(tar_pieces(members, mtime=mtime)):
        hashed.update(piece)
        packed.add(piece)
    return Layer(_MEDIA_TYPES[compression], packed.finish(), f"sha256:{hashed.hexdigest()}")


def tar_pieces(members: Iterable[Member], *, mtime: int = 0) -> Iterator[bytes]:
    """A tar archive, piece by piece. Of several members of one name the last counts."""
    for member in _with_folders(members):
        if member.source is None:
            yield from folder_pieces(member.name, member.mode, mtime)
        elif isinstance(member.source, bytes):
            yield from file_pieces(member.name, len(member.source), [member.source], member.mode, mtime)
        else:
            yield from _read(member, member.source, mtime)
    yield tar_end()


def folder_pieces(name: str, mode: int = 0o755, mtime: int = 0) -> Iterator[bytes]:
    """A folder in a tar archive."""
    yield _headers(f"{name.rstrip('/')}/", mode, 0, mtime)


def file_pieces(
    name: str, size: int, pieces: Iterable[bytes], mode: int = 0o644, mtime: int = 0
) -> Iterator[bytes]:
    """A file in a tar archive, whose pieces have to be as many bytes as was said."""
    yield _headers(name, mode, size, mtime)
    yield from pieces
    yield bytes(-size % _BLOCK)


def tar_end() -> bytes:
    """What an archive ends with."""
    return bytes(2 * _BLOCK)


def _with_folders(members: Iterable[Member]) -> list[Member]:
    """All members, and a folder for each part of a name that has none, parents first."""
    found = {member.name.rstrip("/"): member for member in members}
    for name in list(found):
        while (name := name.rpartition("/")[0]) and name not in found:
            found[name] = Member(name, None, 0o755)
    return [found[name] for name in sorted(found, key=_parts)]


def _parts(name: str) -> list[bytes]:
    return [_encoded(part) for part in name.split("/")]


def _encoded(name: str) -> bytes:
    """The bytes that a file is called by on disk: the text they are to Python is the locale's to choose."""
    try:
        encoded = os.fsencode(name)
        encoded.decode()
        return encoded
    except UnicodeError as error:
        raise UnreadableInput(
            f"the name of {name!r} is not UTF-8: no registry could say what it is called",
            hint="rename the file",
            file=name,
        ) from error


def _read(member: Member, path: str, mtime: int) -> Iterator[bytes]:
    """A file of the disk."""
    try:
        with _opened(path) as stream:
            size = os.fstat(stream.fileno()).st_size
            yield from file_pieces(member.name, size, _exactly(stream, size, path), member.mode, mtime)
    except OSError as error:
        raise unreadable(path, error) from error


def _exactly(stream: BinaryIO, size: int, path: str) -> Iterator[bytes]:
    """The bytes of a file, which has to stay as long as it was when it was opened."""
    left = size
    while left and (piece := stream.read(min(left, _PIECE))):
        left -= len(piece)
        yield piece
    if left or stream.read(1):
        raise UnreadableInput(f"{path} changed while it was read", hint="try again", file=path)


def _opened(path: str) -> BinaryIO:
    # A pipe or a device must not make us wait for what it will never send.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnreadableInput(f"{path} is not a regular file", hint="leave it out of the folder", file=path)
    return open(descriptor, "rb", buffering=0)  # noqa: PTH123 - a descriptor has no path


def _headers(name: str, mode: int, size: int, mtime: int) -> bytes:
    """The ustar header, behind a pax header where a field does not fit into it. Folders end in a slash."""
    encoded = _encoded(name)
    records = b""
    if size > LATEST:
        records += _record(b"size", str(size).encode())
    split = _split(encoded) if encoded.isascii() else None
    if split is None:
        records += _record(b"path", encoded)
    prefix, short = split or (b"", encoded.decode().encode("ascii", "replace")[:100])
    kind = b"5" if name.endswith("/") else b"0"
    header = _header(prefix, short, mode, size if size <= LATEST else 0, mtime, kind)
    if not records:
        return header
    extended = _header(b"", b"PaxHeaders/member", 0o644, len(records), mtime, b"x")
    return extended + records + bytes(-len(records) % _BLOCK) + header


def _record(key: bytes, value: bytes) -> bytes:
    """`LENGTH key=value\\n`, where the length counts its own digits."""
    rest = len(key) + len(value) + 3
    length = rest + len(str(rest))
    length = rest + len(str(length))
    return b"%d %s=%s\n" % (length, key, value)


def _split(name: bytes) -> tuple[bytes, bytes] | None:
    """A name as prefix and name of a ustar header; None if it does not fit."""
    if len(name) <= 100:
        return b"", name
    cut = name.find(b"/", len(name) - 101, len(name) - 1)
    return (name[:cut], name[cut + 1 :]) if 0 < cut <= 155 else None


def _header(prefix: bytes, name: bytes, mode: int, size: int, mtime: int, kind: bytes) -> bytes:
    fields = struct.pack(
        "100s8s8s8s12s12s8sc100s6s2s32s32s8s8s155s12x",
        name,
        b"%07o" % mode,
        b"%07o" % 0,
        b"%07o" % 0,
        b"%011o" % size,
        b"%011o" % mtime,
        b" " * 8,
        kind,
        b"",
        b"ustar\0",
        b"00",
        b"",
        b"",
        b"%07o" % 0,
        b"%07o" % 0,
        prefix,
    )
    return fields[:148] + b"%06o\0 " % sum(fields) + fields[156:]


def _even(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of one size, so that no compressor can tell how they were read."""
    held = bytearray()
    for piece in pieces:
        held += piece
        while len(held) >= _PIECE:
            yield bytes(held[:_PIECE])
            del held[:_PIECE]
    yield bytes(held)


class _Plain:
    """Bytes as they are."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def add(self, piece: bytes) -> None:
        self._pieces.append(piece)

    def finish(self) -> bytes:
        return b"".join(self._pieces)


class _Gzip:
    """Bytes compressed, every choice that gzip leaves open made once and for all."""

    def __init__(self) -> None:
        self._deflated = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, 8, zlib.Z_DEFAULT_STRATEGY)
        self._pieces = [b"\x1f\x8b\x08" + bytes(6) + bytes([_UNKNOWN_SYSTEM])]
        self._sum = 0
        self._size = 0

    def add(self, piece: bytes) -> None:
        self._sum = zlib.crc32(piece, self._sum)
        self._size += len(piece)
        self._pieces.append(self._deflated.compress(piece))

    def finish(self) -> bytes:
        end = struct.pack("<II", self._sum, self._size & 0xFFFFFFFF)
        return b"".join((*self._pieces, self._deflated.flush(), end))
