"""Blobs held in memory, in front of those that are somewhere else."""

from __future__ import annotations

__all__ = ["Blobs"]

import io
from typing import BinaryIO

from everpath.errors import UnreadableInput
from everpath.oci.descriptors import Content, Descriptor, Platform, digest_of


class Blobs:
    """A `Content` of what was put into it; what is not there is asked for `behind` it."""

    def __init__(self, behind: Content | None = None) -> None:
        self._held: dict[str, bytes] = {}
        self._behind = behind

    def put(self, media_type: str, data: bytes, platform: Platform | None = None) -> Descriptor:
        """Keep some bytes, once however often they come. Returns what names them."""
        digest = digest_of(data)
        self._held[digest] = data
        return Descriptor(media_type, digest, len(data), platform)

    def open(self, descriptor: Descriptor) -> BinaryIO:
        if descriptor.digest in self._held:
            return io.BytesIO(self._held[descriptor.digest])
        if self._behind is None:
            raise UnreadableInput(f"{descriptor.digest} is not part of the image")
        return self._behind.open(descriptor)
