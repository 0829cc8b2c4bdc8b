"""Parse the subset of YAML that tools write, without libyaml: block mappings and lists of one-line scalars.

Most lines of a catalog are like `version: 1.2.3`. This parser takes a tenth of libyaml's time for them. It
returns the same value as `yaml_parser.load`, or None for text outside the subset.
"""

from __future__ import annotations

__all__ = ["parse_simple_yaml"]

import math
import re
from typing import Any, Final

from everpath.parsing.parse_result import MAX_EXACT_INTEGER
from everpath.parsing.yaml_scalars import NUMBER_STARTS, SPECIAL_WORDS, resolve

# Indentation, at most one dash, then `key:` with or without a value, or a value alone.
_LINE: Final = re.compile(r"( *)(- )?(?:([A-Za-z][\w./-]{0,200}):(?: (.+))?|(.+))\n", re.ASCII)

# At most one space between words, so that it contains no comment; a colon only inside a word, so that it
# contains no key.
_PLAIN: Final = re.compile(r"[\w/.][\w./@+=~-]*(?::[\w./@+=~-]+| [\w./][\w./@+=~-]*)*", re.ASCII)
_QUOTED: Final = re.compile(r"'([^'\x00-\x1f\x7f]*)'|\"([^\"\\\x00-\x1f\x7f]*)\"")

# Far below yaml_parser.MAX_DEPTH; deeper documents are rare.
_DEPTH: Final = 50


class _Unsupported(Exception):
    """A line outside the subset."""


def parse_simple_yaml(text: bytes) -> Any:
    """Return the value of a document, or None if it is outside the subset."""
    if not text.isascii():
        return None
    body = text.decode("ascii").removeprefix("---\n")
    body = body if body.endswith("\n") else body + "\n"
    lines = _LINE.findall(body)
    # Every line matches unless it is blank. Blank lines are outside the subset.
    if not lines or len(lines) != body.count("\n"):
        return None
    try:
        return _build(lines)
    except (_Unsupported, IndexError):
        return None


def _build(lines: list[tuple[str, str, str, str, str]]) -> Any:
    """Build the value in one pass, with the open containers and the column of each on two stacks."""
    root: Any = [] if lines[0][1] else {}
    containers, columns = [root], [len(lines[0][0])]
    pending_key: str | None = None
    for indent, dash, key, value, alone in lines:
        column = len(indent)
        if pending_key is not None:
            _open_child(pending_key, column, containers, columns, is_item=bool(dash))
            pending_key = None
        while columns[-1] > column:
            columns.pop()
            containers.pop()
        # The dashes of a list may be in the column of its key.
        if not dash and columns[-1] == column and type(containers[-1]) is list:
            columns.pop()
            containers.pop()
        top = containers[-1]
        if columns[-1] != column or len(columns) > _DEPTH:
            raise _Unsupported
        if dash:
            if type(top) is not list:
                raise _Unsupported
            if not key:
                top.append(_scalar(alone))
                continue
            top.append({})
            top = top[-1]
            containers.append(top)
            columns.append(column + 2)
        if not key or type(top) is not dict or key in top or key in SPECIAL_WORDS:
            raise _Unsupported
        top[key] = _scalar(value) if value else None
        pending_key = None if value else key
    return root


def _open_child(key: str, column: int, containers: list[Any], columns: list[int], *, is_item: bool) -> None:
    """Open the container below the key of the previous line, if this line is part of it."""
    if column > columns[-1] or (is_item and column == columns[-1]):
        child: Any = [] if is_item else {}
        containers[-1][key] = child
        containers.append(child)
        columns.append(column)


def _scalar(text: str) -> Any:
    if _PLAIN.fullmatch(text):
        if text[0] not in NUMBER_STARTS and text not in SPECIAL_WORDS:
            return text
        value = resolve(text)
        # `yaml_parser` warns about values that a float64 does not represent exactly.
        if isinstance(value, float) and not math.isfinite(value):
            raise _Unsupported
        if isinstance(value, int) and abs(value) > MAX_EXACT_INTEGER:
            raise _Unsupported
        return value
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        return quoted[1] or quoted[2] or ""
    if text == "[]":
        return []
    if text == "{}":
        return {}
    raise _Unsupported
