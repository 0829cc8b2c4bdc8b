"""Find one value of a YAML document by its pointer, without parsing the rest.

Indexing a whole document takes a millisecond, and a large catalog has thousands of documents with findings.
This search follows only the lines on the way to the value. It returns None for layouts that tools do not
write, and `value_index` finds the value. `json_descent` does the same for JSON.
"""

from __future__ import annotations

__all__ = ["find_in_yaml"]

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from everpath.parsing.parse_result import Pointer

Span = tuple[int, int]

_START: Final = re.compile(rb"(?:---[ \t]*(?:#[^\n]*)?\n)?")
_FIRST_LINE: Final = re.compile(rb"\n( *)([^ \n#])")
_REST_OF_LINE: Final = re.compile(rb" *(?:(?<= )#[^\n]*)?(?=\n|\Z)")
_BLANKS: Final = re.compile(rb" +")
_KEY: Final = re.compile(rb"[A-Za-z_][\w./-]*:(?: |\n|\Z)")
_SCALAR: Final = re.compile(
    rb"\"(?:[^\"\\\n]|\\[^\n])*\"|'(?:[^'\n]|'')*'"
    rb"|[\w./<>=~(^*+](?:[^\s#:]|(?<=\S)#|:(?=\S)| +(?=[^\s#]))*"
)
_SIMPLE: Final = re.compile(r"[A-Za-z_][\w./-]*", re.ASCII)


class _Part(NamedTuple):
    """One block of the text, with a newline before it; byte 0 of `text` is byte `base` of the document."""

    text: bytes
    base: int


class _Spot(NamedTuple):
    """A value: it starts after the colon or dash at `behind`, in the line at `line`, and ends at `stop`."""

    line: int
    behind: int
    stop: int


def find_in_yaml(text: bytes, pointer: Pointer) -> Span | None:
    """Return the bytes of the value at a pointer; for a value of several lines, those of its first line.

    Relies on the indentation: a quoted scalar with a line that looks like a key in the same column gives a
    position some lines off.
    """
    start = _start(text)
    part: _Part | None = _Part(b"\n" + text[start:], start - 1)
    for i, step in enumerate(pointer):
        spot = _spot(part, step) if part is not None else None
        if part is None or spot is None:
            return None
        if i == len(pointer) - 1:
            return _span(part, spot)
        part = _inside(part, spot)
    return None


def _start(text: bytes) -> int:
    found = _START.match(text)
    return found.end() if found else 0


def _spot(part: _Part, step: str | int) -> _Spot | None:
    first = _FIRST_LINE.search(part.text)
    if first is None:
        return None
    if isinstance(step, int):
        return _item(part.text, first[1], step) if first[2] == b"-" else None
    return _key(part.text, first[1], step) if _SIMPLE.fullmatch(step) else None


def _item(text: bytes, indent: bytes, index: int) -> _Spot | None:
    dashes: Iterator[re.Match[bytes]] = re.finditer(rb"\n%b-(?=[ \n]|\Z)" % indent, text)
    found = next(islice(dashes, index, None), None)
    if found is None:
        return None
    following = next(dashes, None)
    return _Spot(found.start() + 1, found.end(), following.start() if following else len(text))


def _key(text: bytes, indent: bytes, key: str) -> _Spot | None:
    pattern = re.compile(rb"\n%b%b:(?=[ \n]|\Z)" % (indent, re.escape(key.encode())))
    found = pattern.search(text)
    if found is None or pattern.search(text, found.end()):
        return None
    # The dashes of a list may be in the column of its key.
    end = re.compile(rb"\n(?! {%d}|\n|%b-[ \n]| *#)" % (len(indent) + 1, indent)).search(text, found.end())
    return _Spot(found.start() + 1, found.end(), end.start() if end else len(text))


def _inside(part: _Part, spot: _Spot) -> _Part | None:
    """Return the block below a key or after a dash."""
    text = part.text
    if (rest := _REST_OF_LINE.match(text, spot.behind)) is not None:
        return _Part(text[rest.end() : spot.stop], part.base + rest.end())
    blanks = _BLANKS.match(text, spot.behind)
    if text[spot.behind - 1 : spot.behind] != b"-" or blanks is None or not _KEY.match(text, blanks.end()):
        return None
    column = blanks.end() - spot.line
    return _Part(
        b"\n" + b" " * column + text[blanks.end() : spot.stop], part.base + blanks.end() - column - 1
    )


def _span(part: _Part, spot: _Spot) -> Span | None:
    """Return the bytes of a value, on its line or below."""
    text = part.text
    if (rest := _REST_OF_LINE.match(text, spot.behind)) is not None:
        first = _FIRST_LINE.search(text, rest.end(), spot.stop)
        return (part.base + first.start(2), part.base + _end_of_line(text, first.start(2))) if first else None
    blanks = _BLANKS.match(text, spot.behind)
    if blanks is None:
        return None
    start = blanks.end()
    if text[start : start + 1] in (b"|", b">") or _KEY.match(text, start):
        return part.base + start, part.base + _end_of_line(text, start)
    scalar = _SCALAR.match(text, start)
    if scalar is None or not _REST_OF_LINE.match(text, scalar.end()):
        return None
    return part.base + start, part.base + scalar.end()


def _end_of_line(text: bytes, start: int) -> int:
    end = text.find(b"\n", start)
    return end if end >= 0 else len(text)
