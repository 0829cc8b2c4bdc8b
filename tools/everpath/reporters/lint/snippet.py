"""A line of the input with a caret below a value."""

from __future__ import annotations

__all__ = ["Snippet", "snippet"]

from typing import Final, NamedTuple

from everpath.model import SourcePosition
from everpath.reporters.formatting import display_width, printable

#: Characters that are shown around the caret: a catalog in JSON is often one line of megabytes.
_BEFORE: Final = 60
_AFTER: Final = 90
_CUT: Final = "…"
_TAB: Final = "    "


class Snippet(NamedTuple):
    """The part of a line that is shown, and the caret: its indent and its length in columns of a terminal."""

    line: str
    indent: int
    length: int


def snippet(position: SourcePosition) -> Snippet | None:
    """Return the snippet of a position; None if it has no line, or the line is blank."""
    source = position.source_line
    if not position.line or not source or not source.strip():
        return None
    start = max(0, min((position.column or 1) - 1, len(source)))
    end = max(start + 1, (position.end_column or 0) - 1)
    first = start - _BEFORE if start > _BEFORE + len(_CUT) else 0
    last = first + _BEFORE + _AFTER
    before = (_CUT if first else "") + _printable_with_tabs(source[first:start])
    marked = _printable_with_tabs(source[start : min(end, last)])
    after = _printable_with_tabs(source[min(end, last) : last].rstrip())
    after += _CUT if len(source) > last else ""
    return Snippet(before + marked + after, display_width(before), max(1, display_width(marked)))


def _printable_with_tabs(text: str) -> str:
    return printable(text.replace("\t", _TAB))
