"""Blobs: reading with verification of size and digest, and a source of blobs in memory."""

from __future__ import annotations

__all__ = ["MAX_MANIFEST_SIZE", "MemoryBlobs", "copy_blob", "digest_of", "read_blob", "verified_chunks"]

import hashlib
import io
from collections.abc import Iterator
from typing import BinaryIO, Final

from everpath.errors import UnreadableInput
from everpath.oci.descriptors import BlobSource, Descriptor, Platform

#: The largest manifest that registries accept.
MAX_MANIFEST_SIZE: Final = 4 << 20
_CHUNK_SIZE: Final = 1 << 20


class MemoryBlobs:
    """A `BlobSource` in memory. Blobs that were not added to it are read from `fallback`."""

    def __init__(self, fallback: BlobSource | None = None) -> None:
        self._data: dict[str, bytes] = {}
        self._fallback = fallback

    def add(self, media_type: str, data: bytes, platform: Platform | None = None) -> Descriptor:
        """Store a blob by its digest and return its descriptor."""
        digest = digest_of(data)
        self._data[digest] = data
        return Descriptor(media_type, digest, len(data), platform)

    def open(self, descriptor: Descriptor) -> BinaryIO:
        if descriptor.digest in self._data:
            return io.BytesIO(self._data[descriptor.digest])
        if self._fallback is None:
            raise UnreadableInput(f"{descriptor.digest} is not part of the image")
        return self._fallback.open(descriptor)


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def read_blob(blobs: BlobSource, descriptor: Descriptor, *, max_size: int = MAX_MANIFEST_SIZE) -> bytes:
    """Read a small blob, such as a manifest or a config. Raises UnreadableInput if it is damaged."""
    if descriptor.size > max_size:
        raise UnreadableInput(f"{descriptor.digest} has {descriptor.size} bytes: too long for a manifest")
    with blobs.open(descriptor) as stream:
        data = stream.read(max_size + 1)
    if len(data) != descriptor.size or digest_of(data) != descriptor.digest:
        raise UnreadableInput(
            f"{descriptor.digest} is damaged: {len(data)} bytes with the digest {digest_of(data)}",
            hint="build or pull the image again",
        )
    return data


def verified_chunks(blobs: BlobSource, descriptor: Descriptor) -> Iterator[bytes]:
    """Yield a blob in chunks. Raises UnreadableInput if its size or digest is wrong.

    The digest is known only after the last chunk: do not use the data before the iterator is exhausted.
    """
    sha256 = hashlib.sha256()
    remaining = descriptor.size
    with blobs.open(descriptor) as stream:
        while chunk := stream.read(min(_CHUNK_SIZE, remaining + 1)):
            remaining -= len(chunk)
            if remaining < 0:
                raise _damaged_blob_error(descriptor, f"it has more than {descriptor.size:,} bytes")
            sha256.update(chunk)
            yield chunk
    if remaining:
        raise _damaged_blob_error(descriptor, f"{remaining:,} of its {descriptor.size:,} bytes are missing")
    if f"sha256:{sha256.hexdigest()}" != descriptor.digest:
        raise _damaged_blob_error(descriptor, f"its digest is sha256:{sha256.hexdigest()}")


def copy_blob(blobs: BlobSource, descriptor: Descriptor, target: BinaryIO) -> None:
    """Copy a blob to a file. Raises UnreadableInput if it is damaged; delete the file then."""
    target.writelines(verified_chunks(blobs, descriptor))


def _damaged_blob_error(descriptor: Descriptor, reason: str) -> UnreadableInput:
    return UnreadableInput(
        f"the blob {descriptor.digest} is damaged: {reason}", hint="build or pull the image again"
    )
