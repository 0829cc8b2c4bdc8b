"""The way down to one value of a YAML document, without reading the rest of it.

To index a whole document for one finding costs a millisecond, and a large catalog has thousands of both.
Here the lines on the way are followed, and nothing else is looked at. What is not laid out as tools lay it
out is declined (None), and `parsing.spans` does it the slow way. JSON has its own: `json_descent`.
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
    """A stretch of the text that is one block, with a newline in front; its byte 0 is `base` there."""

    text: bytes
    base: int


class _Spot(NamedTuple):
    """Where a step leads: behind its colon or dash, in a line that starts at `line`, up to `stop`."""

    line: int
    behind: int
    stop: int


def find_in_yaml(text: bytes, pointer: Pointer) -> Span | None:
    """The bytes of the value at a pointer; of one that goes on below, those of its first line.

    Believes the indentation: whoever breaks a quoted scalar in the middle of a document and goes on like a
    key, at its column, can lead this astray by some lines.
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
    # The dashes of a list may stand right under its key.
    end = re.compile(rb"\n(?! {%d}|\n|%b-[ \n]| *#)" % (len(indent) + 1, indent)).search(text, found.end())
    return _Spot(found.start() + 1, found.end(), end.start() if end else len(text))


def _inside(part: _Part, spot: _Spot) -> _Part | None:
    """The block below a key, or behind a dash."""
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
    """The value at a spot: on its line, or below."""
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
