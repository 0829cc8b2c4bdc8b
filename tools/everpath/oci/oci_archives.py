"""OCI archives: a layout folder in one tar file, the same bytes for the same image."""

from __future__ import annotations

__all__ = ["TarMembers", "open_archive", "write_archive"]

import io
import os
from pathlib import Path
from typing import BinaryIO, Final

from everpath.atomic_files import draft_file
from everpath.errors import UnreadableInput
from everpath.loaders.sources import unreadable
from everpath.oci.checked import checked_pieces
from everpath.oci.descriptors import Descriptor, Image, in_push_order, named_by
from everpath.oci.layers import file_pieces, folder_pieces, tar_end
from everpath.oci.layouts import LAYOUT, layout_index, pick, require_no_pipe
from everpath.oci.tar_reader import NotTar, TarReader

_BLOBS: Final = "blobs/sha256"
_LONGEST_INDEX: Final = 4 * 1024 * 1024
# What an image of all there is would need; more is an attack on memory.
_MOST_MEMBERS: Final = 65536


def write_archive(image: Image, path: str, tag: str | None = None) -> None:
    """Write an image to a file, whole or not at all. Raises UsageError where that cannot be done."""
    with draft_file(Path(path)) as stream:
        for folder in ("blobs", _BLOBS):
            stream.writelines(folder_pieces(folder))
        for descriptor in sorted(in_push_order(image), key=lambda each: each.digest):
            name = f"{_BLOBS}/{descriptor.digest.removeprefix('sha256:')}"
            pieces = checked_pieces(image.content, descriptor)
            stream.writelines(file_pieces(name, descriptor.size, pieces))
        for name, data in (("index.json", layout_index(image.root, tag)), ("oci-layout", LAYOUT)):
            stream.writelines(file_pieces(name, len(data), [data]))
        stream.write(tar_end())


def open_archive(path: str, tag: str | None = None) -> Image:
    """An image of an archive: that of a tag, else the only one there is. Raises UnreadableInput."""
    members = TarMembers(path)
    if "oci-layout" not in members:
        if "manifest.json" in members:
            hint = f"try docker-archive:{path}"
            raise UnreadableInput(f"{path} is a docker-archive, not an OCI archive", hint=hint, file=path)
        raise UnreadableInput(
            f"{path} is no archive of an image: it has no oci-layout",
            hint="export the image again",
            file=path,
        )
    named = named_by(members.read("index.json", _LONGEST_INDEX), f"index.json of {path}", is_index=True)
    return Image(pick(named, tag, path), _Archive(members))


class TarMembers:
    """The regular files of an uncompressed tar archive by name, of several of one name the last.

    Cost: one pass over the headers; a file is opened for each member that is read.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._spans: dict[str, tuple[int, int]] = {}
        require_no_pipe(Path(path))
        try:
            with Path(path).open("rb") as stream:
                for number, member in enumerate(TarReader(_Seekable(stream))):
                    if number >= _MOST_MEMBERS:
                        raise UnreadableInput(f"{path} has more than {_MOST_MEMBERS:,} members", file=path)
                    if member.kind == "file":
                        self._spans[member.name.removeprefix("./")] = (member.offset, member.size)
        except NotTar as error:
            raise UnreadableInput(f"{path} is no tar archive: {error}", hint=_HINT, file=path) from error
        except OSError as error:
            raise unreadable(path, error) from error

    def __contains__(self, name: str) -> bool:
        return name in self._spans

    def size(self, name: str) -> int:
        """How long a member is. Raises UnreadableInput where there is none of the name."""
        return self._span(name)[1]

    def open(self, name: str) -> BinaryIO:
        """The bytes of a member."""
        offset, size = self._span(name)
        try:
            stream = Path(self.path).open("rb")  # noqa: SIM115 - closed with what reads it
        except OSError as error:
            raise unreadable(self.path, error) from error
        stream.seek(offset)
        return io.BufferedReader(_Part(stream, size))

    def read(self, name: str, limit: int) -> bytes:
        """All of a short member."""
        if self.size(name) > limit:
            raise UnreadableInput(f"{name} of {self.path} is too long", file=self.path)
        with self.open(name) as stream:
            return stream.read()

    def _span(self, name: str) -> tuple[int, int]:
        if name not in self._spans:
            raise UnreadableInput(
                f"{self.path} has no member {name}",
                hint="it is not whole: export the image again",
                file=self.path,
            )
        return self._spans[name]


_HINT: Final = "an archive of an image is not compressed: gunzip it first if it is"


class _Seekable:
    """A file as the source of an archive: what is not read is passed over, up to the end that it has."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._end = stream.seek(0, os.SEEK_END)
        stream.seek(0)

    def read(self, count: int, /) -> bytes:
        return self._stream.read(count)

    def skip(self, count: int, /) -> None:
        if self._stream.tell() + count > self._end:
            raise NotTar("it ends in the middle of a file")
        self._stream.seek(count, os.SEEK_CUR)


class _Part(io.RawIOBase):
    """So many bytes of a file from where it stands; closes the file."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        piece = self._stream.read(min(len(buffer), self._left))
        buffer[: len(piece)] = piece
        self._left -= len(piece)
        return len(piece)

    def close(self) -> None:
        self._stream.close()
        super().close()


class _Archive:
    """The blobs of an OCI archive."""

    def __init__(self, members: TarMembers) -> None:
        self._members = members

    def open(self, descriptor: Descriptor) -> BinaryIO:
        return self._members.open(f"{_BLOBS}/{descriptor.digest.removeprefix('sha256:')}")
