"""Positions of keys in a TOML file, which the standard library's parser does not have."""

from __future__ import annotations

__all__ = ["location"]

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from everpath.manifest_access import Pointer
from everpath.model import SourcePosition

_TABLE: Final = re.compile(r"\s*\[(?P<array>\[)?\s*(?P<path>[^\[\]]+?)\s*\]{1,2}\s*(?:#.*)?")
_KEY: Final = re.compile(r"(?P<indent>\s*)(?P<key>[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')\s*=")


def location(file: str, text: str, pointer: Pointer) -> SourcePosition:
    """Return the position of a value, or of its nearest parent that starts a line.

    Tables and keys at the start of a line have positions; a value in an inline table or array has that of the
    key of the table or array.
    """
    lines = text.splitlines()
    positions = {steps: (number, column) for number, column, steps in reversed(list(_keys(lines)))}
    for length in range(len(pointer), 0, -1):
        if (at := positions.get(pointer[:length])) is not None:
            number, column = at
            return SourcePosition(
                file, number + 1, column + 1, len(lines[number].rstrip()) + 1, lines[number]
            )
    return SourcePosition(file, 0, 0, 0, "")


def _keys(lines: list[str]) -> Iterator[tuple[int, int, Pointer]]:
    """Yield each table and key: line and column from 0, and the keys from the top."""
    table: Pointer = ()
    items: Counter[Pointer] = Counter()
    for number, line in enumerate(lines):
        if header := _TABLE.fullmatch(line):
            table = tuple(part.strip().strip("\"'") for part in header["path"].split("."))
            if header["array"]:
                items[table] += 1
                table = (*table, items[table] - 1)
            yield number, 0, table
        elif key := _KEY.match(line):
            yield number, len(key["indent"]), (*table, key["key"].strip("\"'"))
