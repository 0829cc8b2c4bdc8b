"""A line of an input, as people name it. Apart from the readers, so that views need none of them."""

from __future__ import annotations

__all__ = ["SourcePosition"]

from typing import NamedTuple


class SourcePosition(NamedTuple):
    """A place for people: line and columns count from 1, `end_column` is one past the value's end.

    A value that goes on below ends, here, with its first line. `source_line` is empty when the line is
    too long to show.
    """

    file: str
    line: int
    column: int
    end_column: int
    source_line: str
