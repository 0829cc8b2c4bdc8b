"""Layers: built from files with reproducible bytes, and decompressed with checks and a size limit."""

from __future__ import annotations

__all__ = [
    "COMPRESSIONS",
    "LAYER_GZIP_MEDIA_TYPE",
    "LAYER_MEDIA_TYPE",
    "Compression",
    "Layer",
    "SizeBudget",
    "build_layer",
    "decompress",
    "layer_tar_chunks",
]

import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from everpath.errors import UnreadableInput
from everpath.oci.blobs import verified_chunks
from everpath.oci.descriptors import BlobSource, Descriptor
from everpath.oci.tar_writer import TarMember, tar_chunks

Compression = Literal["gzip", "none"]
COMPRESSIONS: Final[tuple[Compression, ...]] = ("gzip", "none")

LAYER_MEDIA_TYPE: Final = "application/vnd.oci.image.layer.v1.tar"
LAYER_GZIP_MEDIA_TYPE: Final = "application/vnd.oci.image.layer.v1.tar+gzip"

# A change of either changes the digest of every image.
_COMPRESSED_CHUNK_SIZE: Final = 1 << 18
_GZIP_LEVEL: Final = 6

# Method deflate; no flags, time or extra flags; unknown operating system.
_GZIP_HEADER: Final = b"\x1f\x8b\x08" + bytes(6) + b"\xff"
_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS
_CHUNK_SIZE: Final = 1 << 20


class Layer(NamedTuple):
    """The bytes of a layer, their media type, and the digest of the uncompressed archive."""

    media_type: str
    data: bytes
    diff_id: str


class SizeBudget:
    """How many bytes an image may still unpack to: a few kilobytes of gzip can hold terabytes of zeros."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._remaining = limit

    def spend(self, size: int) -> None:
        """Deduct a size. Raises UnreadableInput when the budget is exceeded."""
        self._remaining -= size
        if self._remaining < 0:
            raise UnreadableInput(
                f"the image unpacks to more than {self._limit >> 20:,} MiB",
                hint="no catalog or bundle is that large: check the name of the image",
            )


def build_layer(members: Iterable[TarMember], *, mtime: int = 0, compression: Compression = "gzip") -> Layer:
    """Build a layer of files and their parent folders. Raises UnreadableInput.

    Each file is read once. The whole layer is held in memory.
    """
    sha256 = hashlib.sha256()
    # Chunks of one size, because the output of a compressor may depend on how its input is divided.
    chunks = _equal_chunks(tar_chunks(members, mtime=mtime))
    if compression == "none":
        plain = b"".join(chunks)
        sha256.update(plain)
        return Layer(LAYER_MEDIA_TYPE, plain, f"sha256:{sha256.hexdigest()}")
    deflate = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, 8, zlib.Z_DEFAULT_STRATEGY)
    output = [_GZIP_HEADER]
    crc = size = 0
    for chunk in chunks:
        sha256.update(chunk)
        crc = zlib.crc32(chunk, crc)
        size += len(chunk)
        output.append(deflate.compress(chunk))
    output += (deflate.flush(), struct.pack("<II", crc, size & 0xFFFFFFFF))
    return Layer(LAYER_GZIP_MEDIA_TYPE, b"".join(output), f"sha256:{sha256.hexdigest()}")


def _equal_chunks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    buffer = bytearray()
    for chunk in chunks:
        buffer += chunk
        while len(buffer) >= _COMPRESSED_CHUNK_SIZE:
            yield bytes(buffer[:_COMPRESSED_CHUNK_SIZE])
            del buffer[:_COMPRESSED_CHUNK_SIZE]
    yield bytes(buffer)


def layer_tar_chunks(
    blobs: BlobSource, descriptor: Descriptor, budget: SizeBudget, diff_id: str | None = None
) -> Iterator[bytes]:
    """Yield the uncompressed tar archive of a layer.

    Raises UnreadableInput, after the last chunk if the digest of the layer is wrong or the archive does not
    have the `diff_id` of the image's config: container engines refuse such an image.
    """
    sha256 = hashlib.sha256()
    for chunk in decompress(verified_chunks(blobs, descriptor), descriptor.digest):
        budget.spend(len(chunk))
        sha256.update(chunk)
        yield chunk
    if diff_id not in (None, f"sha256:{sha256.hexdigest()}"):
        raise UnreadableInput(
            f"the layer {descriptor.digest} does not have the diff_id of the image's config: {diff_id}",
            hint="build the image again: its config belongs to other layers",
        )


def decompress(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Yield the content of gzip, or the input if it is not compressed. `name` is for error messages.

    The first bytes decide, because media types are not always right. Raises UnreadableInput for zstd.
    """
    rest = iter(chunks)
    first = b""
    while len(first) < len(_ZSTD_MAGIC) and (more := next(rest, b"")):
        first += more
    if first.startswith(_ZSTD_MAGIC):
        hint = "convert it to gzip: skopeo copy --dest-compress-format gzip docker://IMAGE oci:FOLDER"
        raise UnreadableInput(f"the layer {name} is compressed with zstd, which is not supported", hint=hint)
    if first.startswith(_GZIP_MAGIC):
        yield from _gunzip(first, rest, name)
    else:
        yield first
        yield from rest


def _gunzip(first: bytes, rest: Iterator[bytes], name: str) -> Iterator[bytes]:
    """Yield the content of one or more gzip members, as pigz and stargz write them, in bounded chunks."""
    inflate = zlib.decompressobj(_GZIP_WINDOW)
    data = first
    try:
        while data or (data := next(rest, b"")):
            if inflate.eof:
                inflate = zlib.decompressobj(_GZIP_WINDOW)
            yield inflate.decompress(data, _CHUNK_SIZE)
            data = inflate.unused_data if inflate.eof else inflate.unconsumed_tail
        # The window may hold output after the last input.
        while not inflate.eof and (chunk := inflate.decompress(b"", _CHUNK_SIZE)):
            yield chunk
    except zlib.error as error:
        raise UnreadableInput(
            f"the layer {name} is not valid gzip: {error}", hint="pull the image again"
        ) from error
    if not inflate.eof:
        raise UnreadableInput(f"the layer {name} is truncated", hint="pull the image again")
