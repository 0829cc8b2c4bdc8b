"""A line of the input with a caret under what is meant, however long or strange the line is."""

from __future__ import annotations

__all__ = ["Snippet", "snippet"]

from typing import Final, NamedTuple

from everpath.loaders.location import SourcePosition
from everpath.reporters.formatting import display_width, printable

# Catalogs in JSON are often one line of megabytes: only what stands around the caret is of use.
_BEFORE: Final = 60
_AFTER: Final = 90
_CUT: Final = "…"
_TAB: Final = "    "


class Snippet(NamedTuple):
    """The shown part of a line, and where in it the caret goes (in columns of a terminal)."""

    line: str
    indent: int
    length: int


def snippet(location: SourcePosition) -> Snippet | None:
    """What to show of a location; None when it has no line, or the line is blank."""
    source = location.source_line
    if not location.line or not source or not source.strip():
        return None
    start = max(0, min((location.column or 1) - 1, len(source)))
    end = max(start + 1, (location.end_column or 0) - 1)
    first = start - _BEFORE if start > _BEFORE + len(_CUT) else 0
    last = first + _BEFORE + _AFTER
    before = (_CUT if first else "") + _visible(source[first:start])
    marked = _visible(source[start : min(end, last)])
    after = _visible(source[min(end, last) : last].rstrip()) + (_CUT if len(source) > last else "")
    return Snippet(before + marked + after, display_width(before), max(1, display_width(marked)))


def _visible(text: str) -> str:
    return printable(text.replace("\t", _TAB))
