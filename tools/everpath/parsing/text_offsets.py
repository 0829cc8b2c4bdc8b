"""Bytes and characters of one text, turned into each other as often as one likes."""

from __future__ import annotations

__all__ = ["Ruler"]

from bisect import bisect_right
from functools import cached_property
from typing import Final, Literal

_STRETCH: Final = 1 << 12

# A character has at most three bytes behind its first.
_LONGEST_TAIL: Final = 3


class Ruler:
    """The marks of a text: where every stretch of some thousand bytes begins, counted in both.

    Cost: nothing for ASCII; else one pass at the first question, and one stretch for each question.
    """

    def __init__(self, text: bytes, errors: Literal["replace", "surrogateescape"]) -> None:
        self._text = text
        self._errors = errors
        self._is_ascii = text.isascii()

    def characters(self, size: int) -> int:
        """How many characters the first bytes are."""
        size = min(max(0, size), len(self._text))
        if self._is_ascii:
            return size
        starts, before = self._marks
        stretch = bisect_right(starts, size) - 1
        return before[stretch] + len(self._decoded(starts[stretch], size))

    def bytes(self, count: int) -> int:
        """How many bytes the first characters are."""
        if self._is_ascii:
            return count
        starts, before = self._marks
        stretch = bisect_right(before, count) - 1
        text = self._decoded(starts[stretch], starts[stretch] + 2 * _STRETCH)
        return starts[stretch] + len(text[: count - before[stretch]].encode("utf-8", self._errors))

    @cached_property
    def _marks(self) -> tuple[list[int], list[int]]:
        """The byte at which each stretch begins, and the characters before it."""
        starts, before = [0], [0]
        for place in range(_STRETCH, len(self._text), _STRETCH):
            tail = self._text[place : place + _LONGEST_TAIL]
            start = place + next((i for i, byte in enumerate(tail) if byte & 0xC0 != 0x80), len(tail))
            before.append(before[-1] + len(self._decoded(starts[-1], start)))
            starts.append(start)
        return starts, before

    def _decoded(self, start: int, end: int) -> str:
        return self._text[start:end].decode("utf-8", self._errors)
