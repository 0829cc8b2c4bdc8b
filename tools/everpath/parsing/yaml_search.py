"""Find one value of a YAML document by its pointer, without parsing the rest (`positions` uses it).

libyaml takes a millisecond or more for a document, and a large catalog has thousands of documents with one
finding. This search follows only the indentation on the path to the value. It returns None for layouts that
tools do not write.
"""

from __future__ import annotations

__all__ = ["find_in_yaml"]

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from everpath.manifest_access import Pointer
from everpath.parsing.positions import Span

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


class _Block(NamedTuple):
    """A block of the text, with a newline before it. Byte 0 of `text` is byte `base` of the document."""

    text: bytes
    base: int


class _Value(NamedTuple):
    """A value of a block, from the end of its colon or dash to `end`. `line` is the start of its line."""

    line: int
    start: int
    end: int


def find_in_yaml(text: bytes, pointer: Pointer) -> Span | None:
    """Return the bytes of the value at a pointer; for a value of several lines, those of its first line.

    Relies on the indentation: a quoted scalar with a line that looks like a key in the same column gives a
    position some lines off.
    """
    found = _START.match(text)
    start = found.end() if found else 0
    block: _Block | None = _Block(b"\n" + text[start:], start - 1)
    for i, step in enumerate(pointer):
        value = _child(block.text, step) if block is not None else None
        if block is None or value is None:
            return None
        if i == len(pointer) - 1:
            return _span(block, value)
        block = _nested_block(block, value)
    return None


def _child(text: bytes, step: str | int) -> _Value | None:
    """Return the item of a block sequence, or the value of a key that is written once in a block mapping."""
    first = _FIRST_LINE.search(text)
    if first is None:
        return None
    indent = first[1]
    if isinstance(step, int):
        dashes: Iterator[re.Match[bytes]] = re.finditer(rb"\n%b-(?=[ \n]|\Z)" % indent, text)
        found = next(islice(dashes, step, None), None) if first[2] == b"-" else None
        end = next(dashes, None)
    elif _SIMPLE.fullmatch(step):
        key = re.compile(rb"\n%b%b:(?=[ \n]|\Z)" % (indent, re.escape(step.encode())))
        found = key.search(text)
        if found is None or key.search(text, found.end()):
            return None
        # The dashes of a list may be in the column of its key.
        below = rb"\n(?! {%d}|\n|%b-[ \n]| *#)" % (len(indent) + 1, indent)
        end = re.compile(below).search(text, found.end())
    else:
        return None
    return found and _Value(found.start() + 1, found.end(), end.start() if end else len(text))


def _nested_block(block: _Block, value: _Value) -> _Block | None:
    """Return the block below a key or after a dash."""
    text = block.text
    if (rest := _REST_OF_LINE.match(text, value.start)) is not None:
        return _Block(text[rest.end() : value.end], block.base + rest.end())
    blanks = _BLANKS.match(text, value.start)
    if text[value.start - 1 : value.start] != b"-" or blanks is None or not _KEY.match(text, blanks.end()):
        return None
    column = blanks.end() - value.line
    indented = b"\n" + b" " * column + text[blanks.end() : value.end]
    return _Block(indented, block.base + blanks.end() - column - 1)


def _span(block: _Block, value: _Value) -> Span | None:
    """Return the bytes of a value, on its line or below."""
    text, base = block
    if (rest := _REST_OF_LINE.match(text, value.start)) is not None:
        first = _FIRST_LINE.search(text, rest.end(), value.end)
        return (base + first.start(2), base + _end_of_line(text, first.start(2))) if first else None
    blanks = _BLANKS.match(text, value.start)
    if blanks is None:
        return None
    start = blanks.end()
    if text[start : start + 1] in (b"|", b">") or _KEY.match(text, start):
        return base + start, base + _end_of_line(text, start)
    scalar = _SCALAR.match(text, start)
    if scalar is None or not _REST_OF_LINE.match(text, scalar.end()):
        return None
    return base + start, base + scalar.end()


def _end_of_line(text: bytes, start: int) -> int:
    end = text.find(b"\n", start)
    return end if end >= 0 else len(text)
