"""The YAML that tools write, read without libyaml: block mappings and sequences of one-line scalars.

A catalog is mostly lines like `version: 1.2.3`, and libyaml's events cost ten times what such a line
deserves. `read` knows that part of the language and nothing else. The law: it answers what
`yaml11.load` answers, or it declines; it never guesses.
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

# One blank between words at most, so no comment can hide in it; a colon only amid a word, so no key can.
_PLAIN: Final = re.compile(r"[\w/.][\w./@+=~-]*(?::[\w./@+=~-]+| [\w./][\w./@+=~-]*)*", re.ASCII)
_QUOTED: Final = re.compile(r"'([^'\x00-\x1f\x7f]*)'|\"([^\"\\\x00-\x1f\x7f]*)\"")

# Far below yaml11.MAX_DEPTH: what nests deeper is not the common case.
_DEPTH: Final = 50


class _Declined(Exception):
    """A line beyond the part of YAML known here."""


def parse_simple_yaml(text: bytes) -> Any:
    """The value of a document, or None when anything in it is unusual. Cost: one look at each line."""
    if not text.isascii():
        return None
    body = text.decode("ascii").removeprefix("---\n")
    body = body if body.endswith("\n") else body + "\n"
    lines = _LINE.findall(body)
    # Every line that is not blank matches: fewer matches than lines means a blank one somewhere.
    if not lines or len(lines) != body.count("\n"):
        return None
    try:
        return _build(lines)
    except (_Declined, IndexError):
        return None


def _build(lines: list[tuple[str, str, str, str, str]]) -> Any:
    """One pass with two stacks: the containers open, and the column each one's keys or dashes have."""
    root: Any = [] if lines[0][1] else {}
    containers, columns = [root], [len(lines[0][0])]
    waiting: str | None = None
    for indent, dash, key, value, alone in lines:
        column = len(indent)
        if waiting is not None:
            _settle(waiting, column, containers, columns, is_item=bool(dash))
            waiting = None
        while columns[-1] > column:
            columns.pop()
            containers.pop()
        # The dashes of a sequence may stand right under the key that holds it.
        if not dash and columns[-1] == column and type(containers[-1]) is list:
            columns.pop()
            containers.pop()
        top = containers[-1]
        if columns[-1] != column or len(columns) > _DEPTH:
            raise _Declined
        if dash:
            if type(top) is not list:
                raise _Declined
            if not key:
                top.append(_scalar(alone))
                continue
            top.append({})
            top = top[-1]
            containers.append(top)
            columns.append(column + 2)
        if not key or type(top) is not dict or key in top or key in SPECIAL_WORDS:
            raise _Declined
        top[key] = _scalar(value) if value else None
        waiting = None if value else key
    return root


def _settle(key: str, column: int, containers: list[Any], columns: list[int], *, is_item: bool) -> None:
    """The key on the line before has its value on this one, or none at all."""
    if column > columns[-1] or (is_item and column == columns[-1]):
        child: Any = [] if is_item else {}
        containers[-1][key] = child
        containers.append(child)
        columns.append(column)


def _scalar(text: str) -> Any:
    if _PLAIN.fullmatch(text):
        if text[0] not in NUMBER_STARTS and text not in SPECIAL_WORDS:
            return text
        return _exact(resolve(text))
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        return quoted[1] or quoted[2] or ""
    if text == "[]":
        return []
    if text == "{}":
        return {}
    raise _Declined


def _exact(value: object) -> object:
    """A value that needs no remark: opm's float64 holds it as it is."""
    if isinstance(value, float) and not math.isfinite(value):
        raise _Declined
    if isinstance(value, int) and abs(value) > MAX_EXACT_INTEGER:
        raise _Declined
    return value
