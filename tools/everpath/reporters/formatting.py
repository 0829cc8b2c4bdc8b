"""Text from a catalog, made safe to show: a bundle's name must not be able to write to the terminal."""

from __future__ import annotations

__all__ = ["columns", "count", "display_width", "join_names", "one_line", "printable", "quote_empty"]

from collections.abc import Iterator, Sequence
from unicodedata import combining, east_asian_width


def printable(text: str) -> str:
    """The text with every character that is not plainly visible spelled out (`\\x1b`).

    That takes escape sequences, but also bidirectional marks, which reorder what a reader sees, and the
    lone surrogates of file names that are no UTF-8. Cost: one look at texts that need nothing.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def one_line(text: str) -> str:
    """The text on one line, its own line breaks become blanks."""
    return printable(" ".join(text.splitlines()))


def quote_empty(name: str) -> str:
    """A name where it stands among others: an empty one would not be seen."""
    return name or '""'


def display_width(text: str) -> int:
    """How many columns of a terminal a printable text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def count(number: int, noun: str) -> str:
    """`1 error`, `2 errors`, `3 entries`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"


def join_names(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows as aligned lines, two blanks between columns and none at the end."""
    safe = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(display_width, column)) for column in zip(*safe, strict=True)]
    for row in safe:
        padded = (cell + " " * (w - display_width(cell)) for cell, w in zip(row, widths, strict=True))
        yield "  ".join(padded).rstrip() + "\n"
