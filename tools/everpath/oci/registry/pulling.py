"""Fetching an image into a layout folder or an archive: all of it or nothing."""

from __future__ import annotations

__all__ = ["heard", "pull"]

import io
from typing import TYPE_CHECKING, BinaryIO, cast

from everpath.oci.descriptors import Content, Descriptor, Image
from everpath.oci.layouts import write_layout
from everpath.oci.references import Reference
from everpath.oci.registry.options import Options
from everpath.oci.registry.progress import Hear, Step, unheard
from everpath.oci.registry.pull import resolve

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


def pull(reference: Reference, folder: str, options: Options, hear: Hear = unheard) -> Descriptor:
    """Put an image into a layout folder, under its tag. Returns what the reference stood for.

    Raises Unreachable, UnreadableInput for what is not what it should be, and UsageError where the folder
    cannot be written; it is then as it was.
    """
    image = resolve(reference, options)
    write_layout(heard(image, hear), folder, reference.tag)
    return image.root


def heard(image: Image, hear: Hear) -> Image:
    """The same image, telling how much of it was read."""
    return Image(image.root, _Heard(image.content, hear))


class _Heard:
    def __init__(self, content: Content, hear: Hear) -> None:
        self._content = content
        self._hear = hear

    def open(self, descriptor: Descriptor) -> BinaryIO:
        if descriptor.is_index or descriptor.is_manifest:
            return self._content.open(descriptor)
        told = _Told(self._content.open(descriptor), descriptor, self._hear)
        return cast(BinaryIO, io.BufferedReader(told, 1 << 16))


class _Told(io.RawIOBase):
    """A blob's bytes, with a word at each piece and one after the last."""

    def __init__(self, stream: BinaryIO, blob: Descriptor, hear: Hear) -> None:
        self._stream = stream
        self._blob = blob
        self._hear = hear
        self._done = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        data = self._stream.read(len(view))
        view[: len(data)] = data
        self._done += len(data)
        if data:
            outcome: Step = Step("blob", self._blob.digest, self._blob.size, "receiving", self._done)
            self._hear(outcome._replace(outcome="received") if self._done == self._blob.size else outcome)
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()
