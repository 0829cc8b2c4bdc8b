"""Progress of transfers, blob by blob."""

from __future__ import annotations

__all__ = ["ProgressCallback", "TransferProgress", "TransferState", "ignore_progress", "with_progress"]

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple, cast

from everpath.oci.descriptors import BlobSource, Descriptor, Image

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

TransferState = Literal["sending", "sent", "exists", "mounted", "receiving", "received"]


class TransferProgress(NamedTuple):
    """State of the transfer of one blob or manifest, with the bytes transferred so far."""

    kind: Literal["blob", "manifest"]
    digest: str
    size: int
    state: TransferState
    transferred: int = 0


ProgressCallback = Callable[[TransferProgress], None]


def ignore_progress(_progress: TransferProgress) -> None:
    pass


def with_progress(image: Image, report: ProgressCallback) -> Image:
    """Return an image that reports how much of its blobs was read."""
    return Image(image.root, _ReportingBlobs(image.blobs, report))


class _ReportingBlobs:
    def __init__(self, blobs: BlobSource, report: ProgressCallback) -> None:
        self._blobs = blobs
        self._report = report

    def open(self, descriptor: Descriptor) -> BinaryIO:
        if descriptor.is_index or descriptor.is_manifest:
            return self._blobs.open(descriptor)
        stream = _ReportingStream(self._blobs.open(descriptor), descriptor, self._report)
        return cast(BinaryIO, io.BufferedReader(stream, 1 << 16))


class _ReportingStream(io.RawIOBase):
    """A stream that reports after each chunk."""

    def __init__(self, stream: BinaryIO, blob: Descriptor, report: ProgressCallback) -> None:
        self._stream = stream
        self._blob = blob
        self._report = report
        self._transferred = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        data = self._stream.read(len(view))
        view[: len(data)] = data
        self._transferred += len(data)
        if data:
            state: TransferState = "received" if self._transferred == self._blob.size else "receiving"
            self._report(
                TransferProgress("blob", self._blob.digest, self._blob.size, state, self._transferred)
            )
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()
