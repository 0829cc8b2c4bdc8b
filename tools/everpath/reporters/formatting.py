"""Text of a catalog that is safe to print: a name must not control the terminal."""

from __future__ import annotations

__all__ = ["columns", "display_width", "one_line", "printable", "quote_empty"]

from collections.abc import Iterator, Sequence
from unicodedata import combining, east_asian_width

from everpath.wording import quote_empty


def printable(text: str) -> str:
    """Return a text with all characters escaped (`\\x1b`) that are not visible.

    These are escape sequences, bidirectional marks, which change the order on a screen, and lone surrogates
    of file names that are not UTF-8.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def one_line(text: str) -> str:
    """Return a printable text on one line, with spaces for line breaks."""
    return printable(" ".join(text.splitlines()))


def display_width(text: str) -> int:
    """Return the number of terminal columns of a printable text."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows as aligned lines, with two spaces between columns and none at the end."""
    safe = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(display_width, column)) for column in zip(*safe, strict=True)]
    for row in safe:
        padded = (cell + " " * (w - display_width(cell)) for cell, w in zip(row, widths, strict=True))
        yield "  ".join(padded).rstrip() + "\n"
