"""The position of a place in its file."""

from __future__ import annotations

__all__ = ["SourcePosition"]

from typing import NamedTuple


class SourcePosition(NamedTuple):
    """A position in a file: line and columns count from 1, `end_column` is one past the end of the value.

    Line 0: the file cannot be read again. The end of a value of several lines is that of its first line.
    `source_line` is empty if it is too long to show.
    """

    file: str
    line: int
    column: int
    end_column: int
    source_line: str
