"""Tar archives whose bytes depend only on names, contents and modes of the files.

Python's `tarfile` may write other bytes in its next version, so it is not used. Headers are POSIX ustar,
with a pax header only for fields that do not fit. Folders come before their contents, members are sorted by
the bytes of their names, and everything belongs to root.
"""

from __future__ import annotations

__all__ = ["END_OF_ARCHIVE", "MAX_MTIME", "TarMember", "file_chunks", "folder_chunks", "tar_chunks"]

import os
import stat
import struct
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final, NamedTuple

from everpath.errors import UnreadableInput
from everpath.loaders.sources import unreadable_input

_BLOCK: Final = 512
_CHUNK_SIZE: Final = 1 << 18
_WHITEOUT: Final = ".wh."
# Eleven octal digits: what the fields for size and time of a ustar header can hold.
_MAX_OCTAL: Final = 0o77777777777

#: The latest modification time of a ustar header, in the year 2242.
MAX_MTIME: Final = _MAX_OCTAL
END_OF_ARCHIVE: Final = bytes(2 * _BLOCK)


class TarMember(NamedTuple):
    """A file or folder. `source` is the path of a file, its content, or None for a folder."""

    name: str
    source: str | bytes | None
    mode: int = 0o644

    @property
    def is_file(self) -> bool:
        """False for folders and for whiteouts, which delete files of lower layers."""
        return self.source is not None and not self.name.rpartition("/")[2].startswith(_WHITEOUT)


def tar_chunks(members: Iterable[TarMember], *, mtime: int = 0) -> Iterator[bytes]:
    """Yield a tar archive of members and their parent folders.

    Of several members with one name the last counts. Raises UnreadableInput for a file that cannot be read.
    """
    by_name = {member.name.rstrip("/"): member for member in members}
    for name in list(by_name):
        while (name := name.rpartition("/")[0]) and name not in by_name:
            by_name[name] = TarMember(name, None, 0o755)
    for name in sorted(by_name, key=lambda name: [_encode_name(part) for part in name.split("/")]):
        member = by_name[name]
        if member.source is None:
            yield from folder_chunks(member.name, member.mode, mtime)
        elif isinstance(member.source, bytes):
            yield from file_chunks(member.name, len(member.source), [member.source], member.mode, mtime)
        else:
            yield from _disk_file_chunks(member, member.source, mtime)
    yield END_OF_ARCHIVE


def folder_chunks(name: str, mode: int = 0o755, mtime: int = 0) -> Iterator[bytes]:
    """Yield the archive member for a folder."""
    yield _headers(f"{name.rstrip('/')}/", mode, 0, mtime)


def file_chunks(
    name: str, size: int, content: Iterable[bytes], mode: int = 0o644, mtime: int = 0
) -> Iterator[bytes]:
    """Yield the archive member for a file. `content` must have exactly `size` bytes."""
    yield _headers(name, mode, size, mtime)
    yield from content
    yield bytes(-size % _BLOCK)


def _disk_file_chunks(member: TarMember, path: str, mtime: int) -> Iterator[bytes]:
    try:
        with _open_regular_file(path) as stream:
            size = os.fstat(stream.fileno()).st_size
            yield from file_chunks(member.name, size, _read_exactly(stream, size, path), member.mode, mtime)
    except OSError as error:
        raise unreadable_input(path, error) from error


def _open_regular_file(path: str) -> BinaryIO:
    # Without O_NONBLOCK, opening a named pipe waits for a writer.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnreadableInput(f"{path} is not a regular file", hint="leave it out of the folder", file=path)
    return open(descriptor, "rb", buffering=0)  # noqa: PTH123 - a descriptor has no path


def _read_exactly(stream: BinaryIO, size: int, path: str) -> Iterator[bytes]:
    """Yield the content of a file; the header, which is already written, states its size."""
    remaining = size
    while remaining and (chunk := stream.read(min(remaining, _CHUNK_SIZE))):
        remaining -= len(chunk)
        yield chunk
    if remaining or stream.read(1):
        raise UnreadableInput(f"{path} changed while it was read", hint="try again", file=path)


def _encode_name(name: str) -> bytes:
    """Return the bytes of a file name on disk; its text in Python depends on the locale."""
    try:
        encoded = os.fsencode(name)
        encoded.decode()
        return encoded
    except UnicodeError as error:
        raise UnreadableInput(
            f"the file name {name!r} is not UTF-8, which images require", hint="rename the file", file=name
        ) from error


def _headers(name: str, mode: int, size: int, mtime: int) -> bytes:
    """Return the ustar header, after a pax header if a field does not fit. Folders end in a slash."""
    encoded = _encode_name(name)
    records = b""
    if size > _MAX_OCTAL:
        records += _pax_record(b"size", str(size).encode())
    split = _split_name(encoded) if encoded.isascii() else None
    if split is None:
        records += _pax_record(b"path", encoded)
    prefix, short = split or (b"", encoded.decode().encode("ascii", "replace")[:100])
    kind = b"5" if name.endswith("/") else b"0"
    header = _ustar_header(prefix, short, mode, size if size <= _MAX_OCTAL else 0, mtime, kind)
    if not records:
        return header
    pax_header = _ustar_header(b"", b"PaxHeaders/member", 0o644, len(records), mtime, b"x")
    return pax_header + records + bytes(-len(records) % _BLOCK) + header


def _pax_record(key: bytes, value: bytes) -> bytes:
    """Return `LENGTH key=value\\n`, where the length includes its own digits."""
    rest = len(key) + len(value) + 3
    length = rest + len(str(rest))
    length = rest + len(str(length))
    return b"%d %s=%s\n" % (length, key, value)


def _split_name(name: bytes) -> tuple[bytes, bytes] | None:
    """Split a name into prefix and name of a ustar header; None if it does not fit."""
    if len(name) <= 100:
        return b"", name
    cut = name.find(b"/", len(name) - 101, len(name) - 1)
    return (name[:cut], name[cut + 1 :]) if 0 < cut <= 155 else None


def _ustar_header(prefix: bytes, name: bytes, mode: int, size: int, mtime: int, kind: bytes) -> bytes:
    fields = struct.pack(
        "100s8s8s8s12s12s8sc100s6s2s32s32s8s8s155s12x",
        name,
        b"%07o" % mode,
        b"%07o" % 0,  # uid
        b"%07o" % 0,  # gid
        b"%011o" % size,
        b"%011o" % mtime,
        b" " * 8,  # the checksum is computed with blanks in its place
        kind,
        b"",  # link name
        b"ustar\0",
        b"00",
        b"",  # user name
        b"",  # group name
        b"%07o" % 0,  # device numbers
        b"%07o" % 0,
        prefix,
    )
    return fields[:148] + b"%06o\0 " % sum(fields) + fields[156:]
