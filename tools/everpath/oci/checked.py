"""Blobs that are checked as they are read: whoever reads one to its end has the bytes its digest names."""

from __future__ import annotations

__all__ = ["checked_pieces", "copy_blob"]

import hashlib
from collections.abc import Iterator
from typing import BinaryIO, Final

from everpath.errors import UnreadableInput
from everpath.oci.descriptors import Content, Descriptor

_PIECE: Final = 1 << 20


def checked_pieces(content: Content, descriptor: Descriptor) -> Iterator[bytes]:
    """The bytes of a blob, piece by piece, never more than its size.

    Raises UnreadableInput at the end if they are others than its digest says: until then, trust none of them.
    """
    hashed = hashlib.sha256()
    left = descriptor.size
    with content.open(descriptor) as stream:
        while piece := stream.read(min(_PIECE, left + 1)):
            left -= len(piece)
            if left < 0:
                raise _damaged(descriptor, f"it has more than {descriptor.size:,} bytes")
            hashed.update(piece)
            yield piece
    if left:
        raise _damaged(descriptor, f"{left:,} of its {descriptor.size:,} bytes are missing")
    if f"sha256:{hashed.hexdigest()}" != descriptor.digest:
        raise _damaged(descriptor, f"its bytes hash to sha256:{hashed.hexdigest()}")


def copy_blob(content: Content, descriptor: Descriptor, target: BinaryIO) -> None:
    """Write a blob to a file, which is worth nothing if this raises UnreadableInput."""
    target.writelines(checked_pieces(content, descriptor))


def _damaged(descriptor: Descriptor, reason: str) -> UnreadableInput:
    return UnreadableInput(
        f"the blob {descriptor.digest} is damaged: {reason}", hint="build or pull the image again"
    )
