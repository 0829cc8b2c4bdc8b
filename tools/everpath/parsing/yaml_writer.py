"""Write YAML byte for byte as go-yaml v2 does, which opm uses to write catalogs.

Keys are in natural order, lists have the indentation of their key, lines are folded after column 80, and a
string is quoted if YAML 1.1 would resolve it to another type.
"""

from __future__ import annotations

__all__ = ["yaml_text"]

import re
from collections.abc import Mapping
from datetime import date, time
from functools import cmp_to_key, lru_cache
from typing import Any, Final

from everpath.opm_render.go_json import format_float, number_text
from everpath.parsing.yaml_scalars import resolve

_WIDTH: Final = 80

# go-yaml writes this key without quotes, and no parser reads such a document again.
_MERGE: Final = "<<"
_LONGEST_KEY: Final = 128

# Nearly every scalar: a word without a special meaning.
_WORD: Final = re.compile(r"[A-Za-z/][A-Za-z0-9_./+=@-]*", re.ASCII)

_BREAK: Final = "\n\r\x85\u2028\u2029"
_UNPRINTABLE: Final = re.compile("[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]")
_ESCAPED: Final = re.compile('[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]|["\\\\]')
_ESCAPES: Final = {
    "\0": "0",
    "\a": "a",
    "\b": "b",
    "\t": "t",
    "\n": "n",
    "\v": "v",
    "\f": "f",
    "\r": "r",
    "\x1b": "e",
    '"': '"',
    "\\": "\\",
    "\x85": "N",
    "\xa0": "_",
    "\u2028": "L",
    "\u2029": "P",
}
# A plain scalar must not look like the start, the key or the comment of something else.
_INDICATOR: Final = re.compile(
    r"""---|\.\.\.|[#,\[\]{}&*!|>'"%@`]|[?:-](?:[ \t]|\Z)|.*?(?::(?:[ \t]|\Z)|[ \t\n\0]#)""", re.DOTALL
)
_BASE60: Final = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_CLOCK: Final = r"(\d\d?:\d\d?:\d\d?)(?:[.,]\d+)?"
_TIME: Final = re.compile(rf"(\d{{4}}-\d\d?-\d\d?)(?:[Tt]{_CLOCK}(?:Z|[+-]\d\d:\d\d)| {_CLOCK})?", re.ASCII)


def yaml_text(value: Any) -> str:
    """Return one document without a separator, with a line break at its end."""
    emitter = _Emitter()
    emitter.node(value, 0)
    emitter.end_line()
    return "".join(emitter.out)


class _Emitter:
    """Writes nodes and tracks the column, to fold lines."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.column = 0

    def put(self, text: str) -> None:
        """Write part of a line."""
        self.out.append(text)
        self.column += len(text)

    def line(self, indent: int) -> None:
        """Start a line with an indentation."""
        self.end_line()
        self.put(" " * indent)

    def end_line(self) -> None:
        if self.column:
            self.break_line()

    def break_line(self, character: str = "\n") -> None:
        self.out.append(character)
        self.column = 0

    def node(self, value: Any, indent: int) -> None:
        """Write a node at the start of a document or after an indicator."""
        if isinstance(value, dict) and value:
            self._mapping(value, indent)
        elif isinstance(value, list) and value:
            self._list(value, indent)
        else:
            self.scalar(value, indent)

    def _mapping(self, value: Mapping[str, Any], indent: int) -> None:
        is_first = True
        for key in sorted(value, key=_NATURAL):
            if not is_first:
                self.line(indent)
            is_first = False
            if len(key.encode()) > _LONGEST_KEY or any(c in key for c in _BREAK):
                # The key needs lines of its own.
                self.put("? ")
                self.scalar(key, indent + 2)
                self.line(indent)
                self.put(": ")
                self.node(value[key], indent + 2)
            else:
                self.scalar(key, indent, is_key=True)
                self.put(":")
                self._value(value[key], indent)

    def _value(self, value: Any, indent: int) -> None:
        if isinstance(value, dict) and value:
            self.line(indent + 2)
            self._mapping(value, indent + 2)
        elif isinstance(value, list) and value:
            self.line(indent)
            self._list(value, indent)
        else:
            self.put(" ")
            self.scalar(value, indent + 2)

    def _list(self, value: list[Any], indent: int) -> None:
        for index, item in enumerate(value):
            if index:
                self.line(indent)
            self.put("- ")
            self.node(item, indent + 2)

    def scalar(self, value: Any, indent: int, *, is_key: bool = False) -> None:
        """Write a scalar; folded lines continue at the indentation."""
        if not isinstance(value, str):
            self.put(_plain(value))
        elif _WORD.fullmatch(value) and isinstance(resolve(value), str):
            self.put(value)
        else:
            self._text(value, indent, is_key=is_key)

    def _text(self, value: str, indent: int, *, is_key: bool) -> None:
        is_special = _UNPRINTABLE.search(value) is not None or re.search(f" [{_BREAK}]", value) is not None
        if "\n" in value and not is_key and not is_special and not value.endswith(" "):
            self._literal(value, indent)
        elif "\n" in value or is_special or not _is_string(value) or (is_key and value == _MERGE):
            self._double_quoted(value, indent, folds=not is_key)
        elif _is_plain(value):
            self._flow(value, indent, folds=not is_key)
        elif re.search(f"[{_BREAK}] ", value):
            self._double_quoted(value, indent, folds=not is_key)
        else:
            self.put("'")
            self._flow(value, indent, folds=not is_key, quoted=True)
            self.put("'")

    def _literal(self, value: str, indent: int) -> None:
        hint = "2" if value[0] in " " + _BREAK else ""
        end = value[-2:].lstrip("".join(set(value[-2:]) - set(_BREAK)))
        chomping = "-" if value[-1] not in _BREAK else "+" if len(end) == 2 or len(value) == 1 else ""
        self.put(f"|{hint}{chomping}")
        self.break_line()
        is_new = True
        for part in re.split(f"([{_BREAK}])", value):
            if part and part in _BREAK:
                self.break_line(part)
                is_new = True
            elif part:
                self.put(" " * indent + part if is_new else part)
                is_new = False

    def _flow(self, value: str, indent: int, *, folds: bool, quoted: bool = False) -> None:
        """Write a plain or single-quoted scalar, folded at single spaces."""
        if self.column + len(value) <= _WIDTH and not any(c in value for c in _BREAK):
            self.put(value.replace("'", "''") if quoted else value)
            return
        was_space = was_break = False
        last = len(value) - 1
        for index, character in enumerate(value):
            if character == " ":
                may_fold = folds and not was_space and self.column > _WIDTH and 0 < index < last
                if may_fold and value[index + 1] != " ":
                    self.line(indent)
                else:
                    self.put(character)
                was_space = True
            elif character in _BREAK:
                if not was_break and character == "\n":
                    self.break_line()
                self.break_line(character)
                was_break = True
            else:
                if was_break:
                    self.line(indent)
                self.put("''" if quoted and character == "'" else character)
                was_space = was_break = False

    def _double_quoted(self, value: str, indent: int, *, folds: bool) -> None:
        self.put('"')
        if value[:1] == "\ufeff":
            # go-yaml tests the first character for a byte order mark at every character.
            self.put("".join(map(_escape, value)) + '"')
            return
        was_space = False
        last = len(value) - 1
        for index, character in enumerate(value):
            if character == " ":
                if folds and not was_space and self.column > _WIDTH and 0 < index < last:
                    self.line(indent)
                    if value[index + 1] == " ":
                        self.put("\\")
                else:
                    self.put(character)
                was_space = True
            else:
                self.put(_escape(character) if _ESCAPED.match(character) else character)
                was_space = False
        self.put('"')


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return "\\" + _ESCAPES[character]
    code = ord(character)
    return f"\\x{code:02X}" if code <= 0xFF else f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def _plain(value: Any) -> str:
    """Return the text of a value that is no string. Numbers are resolved from their JSON text."""
    match value:
        case None:
            return "null"
        case dict():
            return "{}"
        case list():
            return "[]"
        case bool():
            return "true" if value else "false"
        case _:
            number = resolve(number_text(value))
            return format_float(number) if isinstance(number, float) else str(number)


def _is_plain(value: str) -> bool:
    """Return whether a string of one line needs no quotes."""
    return not (value[0] == " " or value[-1] == " " or any(c in value for c in _BREAK)) and (
        _INDICATOR.match(value) is None
    )


def _is_string(value: str) -> bool:
    """Return whether a plain scalar is a string, also for parsers with sexagesimal numbers."""
    if _is_timestamp(value):
        return False
    return isinstance(resolve(value), str) and _BASE60.fullmatch(value) is None


def _is_timestamp(value: str) -> bool:
    found = _TIME.fullmatch(value)
    if found is None:
        return False
    clock = found[2] or found[3] or "0:0:0"
    try:
        date(*_numbers(found[1]))
        time(*_numbers(clock))
    except ValueError:
        return False
    return True


def _numbers(text: str) -> tuple[int, int, int]:
    one, two, three = map(int, re.split("[-:]", text))
    return one, two, three


def _natural(one: str, other: str) -> int:
    """Compare keys as go-yaml does: letters after other characters, numbers by value."""
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a == b:
            continue
        if a.isalpha() and b.isalpha():
            return -1 if a < b else 1
        if a.isalpha() or b.isalpha():
            return 1 if a.isalpha() else -1
        return _compare_numbers(one, other, index)
    return len(one) - len(other)


def _compare_numbers(one: str, other: str, index: int) -> int:
    start = int("0" in (one[index], other[index]) and _has_nonzero_digits_before(one, index))
    a, a_end = _digits(one, index, start)
    b, b_end = _digits(other, index, start)
    for first, second in ((a, b), (a_end, b_end)):
        if first != second:
            return -1 if first < second else 1
    return -1 if one[index] < other[index] else 1


def _has_nonzero_digits_before(text: str, index: int) -> bool:
    """Return whether the digits before an index are not all zero."""
    digits = re.search(r"\d*$", text[:index])
    return digits is not None and digits[0].strip("0") != ""


def _digits(text: str, index: int, number: int) -> tuple[int, int]:
    while index < len(text) and text[index].isdecimal():
        number = number * 10 + ord(text[index]) - ord("0")
        index += 1
    return number, index


_NATURAL: Final = lru_cache(maxsize=1 << 12)(cmp_to_key(_natural))
