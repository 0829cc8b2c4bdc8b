"""Layers as the tar archives inside them: checked while they are read, and never more than was allowed."""

from __future__ import annotations

__all__ = ["Allowance", "inflated", "layer_pieces"]

import hashlib
import zlib
from collections.abc import Iterable, Iterator
from typing import Final

from everpath.errors import UnreadableInput
from everpath.oci.checked import checked_pieces
from everpath.oci.descriptors import Content, Descriptor

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS
_PIECE: Final = 1 << 20
MEBIBYTE: Final = 1 << 20


class Allowance:
    """How many bytes may still come out: a few kilobytes can hold terabytes of zeros."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._left = most

    def spend(self, size: int) -> None:
        """Raises UnreadableInput when it is used up."""
        self._left -= size
        if self._left < 0:
            raise UnreadableInput(
                f"the image unpacks to more than {self._most // MEBIBYTE:,} MiB",
                hint="no catalog or bundle is that large: is it the image that was meant?",
            )


def layer_pieces(
    content: Content, descriptor: Descriptor, allowance: Allowance, diff_id: str | None = None
) -> Iterator[bytes]:
    """The tar archive of a layer. Raises UnreadableInput, at the end for bytes that are not its digest's.

    The first bytes tell how it is compressed: media types are not always right. `diff_id` is what the config
    says of the archive: a container engine that compares the two would refuse what is let through here.
    """
    hashed = hashlib.sha256()
    for piece in inflated(checked_pieces(content, descriptor), descriptor.digest):
        allowance.spend(len(piece))
        hashed.update(piece)
        yield piece
    if diff_id not in (None, f"sha256:{hashed.hexdigest()}"):
        raise UnreadableInput(
            f"the layer {descriptor.digest} holds another archive than the image's config says: {diff_id}",
            hint="build the image again: whoever made it put two images together",
        )


def inflated(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The bytes inside of gzip, or the same bytes where there is none."""
    held = iter(pieces)
    first = b""
    while len(first) < len(_ZSTD) and (more := next(held, b"")):
        first += more
    if first.startswith(_ZSTD):
        hint = "copy it with gzip: skopeo copy --dest-compress-format gzip docker://IMAGE oci:FOLDER"
        raise UnreadableInput(f"the layer {name} is compressed with zstd, which is not read here", hint=hint)
    if first.startswith(_GZIP):
        yield from _gunzipped(first, held, name)
    else:
        yield first
        yield from held


def _gunzipped(first: bytes, rest: Iterator[bytes], name: str) -> Iterator[bytes]:
    """One gzip member after the other, as pigz and stargz write them, in pieces of a bounded size."""
    inflater = zlib.decompressobj(_GZIP_WINDOW)
    data = first
    try:
        while data or (data := next(rest, b"")):
            if inflater.eof:
                inflater = zlib.decompressobj(_GZIP_WINDOW)
            yield inflater.decompress(data, _PIECE)
            data = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
        # What the window still holds comes out without any input.
        while not inflater.eof and (piece := inflater.decompress(b"", _PIECE)):
            yield piece
    except zlib.error as error:
        raise UnreadableInput(
            f"the layer {name} is not gzip: {error}", hint="pull the image again"
        ) from error
    if not inflater.eof:
        raise UnreadableInput(f"the layer {name} ends too early", hint="pull the image again")
