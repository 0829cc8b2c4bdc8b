"""Convert between byte offsets and character offsets of UTF-8 text."""

from __future__ import annotations

__all__ = ["OffsetMap"]

from bisect import bisect_right
from codecs import BOM_UTF8
from functools import cached_property
from typing import Final, Literal

_BLOCK: Final = 1 << 12

# A character has at most three bytes after its first.
_LONGEST_TAIL: Final = 3


class OffsetMap:
    """Converts offsets of one text. A byte order mark has bytes and is no character.

    ASCII costs nothing. For other text, the first conversion counts the characters of every block of 4 KiB,
    and each conversion decodes one block.
    """

    def __init__(self, text: bytes, errors: Literal["replace", "surrogateescape"]) -> None:
        self._mark = len(BOM_UTF8) if text.startswith(BOM_UTF8) else 0
        self._text = text[self._mark :]
        self._errors = errors
        self._is_ascii = text.isascii()

    def characters(self, size: int) -> int:
        """Return the number of characters in the first `size` bytes."""
        size = min(max(0, size - self._mark), len(self._text))
        if self._is_ascii:
            return size
        starts, before = self._blocks
        block = bisect_right(starts, size) - 1
        return before[block] + len(self._decode(starts[block], size))

    def bytes(self, count: int) -> int:
        """Return the byte after the first `count` characters."""
        if self._is_ascii:
            return count
        starts, before = self._blocks
        block = bisect_right(before, count) - 1
        text = self._decode(starts[block], starts[block] + 2 * _BLOCK)
        inside = len(text[: count - before[block]].encode("utf-8", self._errors))
        return self._mark + starts[block] + inside

    @cached_property
    def _blocks(self) -> tuple[list[int], list[int]]:
        """The byte at which each block starts, and the number of characters before it."""
        starts, before = [0], [0]
        for end in range(_BLOCK, len(self._text), _BLOCK):
            tail = self._text[end : end + _LONGEST_TAIL]
            start = end + next((i for i, byte in enumerate(tail) if byte & 0xC0 != 0x80), len(tail))
            before.append(before[-1] + len(self._decode(starts[-1], start)))
            starts.append(start)
        return starts, before

    def _decode(self, start: int, end: int) -> str:
        return self._text[start:end].decode("utf-8", self._errors)
