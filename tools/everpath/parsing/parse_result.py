"""What a parser says of one document: its value, and what it accepted but should not pass in silence."""

from __future__ import annotations

__all__ = [
    "MAX_DEPTH",
    "MAX_EXACT",
    "TOO_DEEP",
    "UTF_8",
    "Parsed",
    "Pointer",
    "Remark",
    "RemarkKind",
    "TextProblem",
    "byte_offset",
]

from typing import Any, Final, Literal, NamedTuple

Pointer = tuple[str | int, ...]
RemarkKind = Literal["duplicate-key", "lossy-number", "leftover"]

# OLM's own objects nest less than forty deep, and whoever walks a value must stay clear of Python's limit.
MAX_DEPTH: Final = 500

# opm turns every number into a float64, which holds integers exactly up to here.
MAX_EXACT: Final = 2**53


#: What mends text that is nested too deep, and text in another encoding.
TOO_DEEP: Final = "nothing of a catalog nests that deep: see what made the file, and make it anew"
UTF_8: Final = "save the file as UTF-8"


class TextProblem(Exception):
    """Text opm cannot parse. Line and column count from 1, `index` from 0, in characters of that text.

    `fix` is what mends it, where that is something else than to write YAML as it should be.
    """

    def __init__(
        self, line: int, column: int, message: str, index: int = 0, *, fix: str | None = None
    ) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.line = line
        self.column = column
        self.message = message
        self.index = index
        self.fix = fix


class Remark(NamedTuple):
    """Something opm accepts in silence and an author did not mean; `at` counts characters."""

    kind: RemarkKind
    pointer: Pointer
    line: int
    column: int
    at: int = 0


class Parsed(NamedTuple):
    """The first document of a text; `is_blank` when there is nothing but comments and blanks."""

    value: Any
    remarks: tuple[Remark, ...] = ()
    is_blank: bool = False


def byte_offset(text: bytes, index: int) -> int:
    """The byte at which the character with this index starts, a byte order mark not counted."""
    mark = 3 if text.startswith(b"\xef\xbb\xbf") else 0
    if text.isascii():
        return index
    return mark + len(
        text[mark:].decode("utf-8", "surrogateescape")[:index].encode("utf-8", "surrogateescape")
    )
