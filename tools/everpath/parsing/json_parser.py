"""JSON as opm reads it, with a word on what Go's decoder swallows: repeated keys and inexact numbers."""

from __future__ import annotations

__all__ = ["JsonProblem", "behind_blanks", "characters", "parse", "parse_at"]

import math
import re
from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final, NoReturn

from everpath.parsing.parse_result import (
    MAX_DEPTH,
    MAX_EXACT,
    TOO_DEEP,
    UTF_8,
    Parsed,
    Pointer,
    Remark,
    RemarkKind,
    TextProblem,
)

# An escape that is half of a pair of surrogates, or both halves.
_HALF_PAIR: Final = re.compile(r"\\u[dD][89a-fA-F]")
_BLANKS: Final = re.compile(r"[ \t\r\n]*")


#: What mends text that is not JSON, and text that stops before it ends.
_SYNTAX: Final = "correct the JSON here: commas between values and none after the last, double quotes"
_CUT: Final = "the JSON ends too soon: write the file anew, or close what is open"


class JsonProblem(TextProblem):
    """Text that is not JSON."""


class _Remarkable(Exception):
    """The quick decoder met something that deserves a remark."""


class _Refused(ValueError):
    """Something Python calls JSON and Go does not."""


def parse(text: bytes) -> Parsed:
    """The one value of a text. Raises `JsonProblem`, also when anything follows the value."""
    decoded = characters(text)
    parsed, end = parse_at(decoded, 0)
    if (behind := behind_blanks(decoded, end)) < len(decoded):
        raise _problem(decoded, behind, "more text after the end of the value")
    return parsed


def characters(text: bytes) -> str:
    """The text decoded; JSON is UTF-8, and nothing else will do."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        before = text[: error.start].decode("utf-8")
        raise _problem(before, len(before), "not UTF-8", UTF_8) from error


def parse_at(text: str, start: int) -> tuple[Parsed, int]:
    """The value that starts at an index, behind blanks, and the index after it. Raises `JsonProblem`."""
    begin = behind_blanks(text, start)
    try:
        value, end, remarks = _decoded(text, begin)
    except JSONDecodeError as error:
        is_cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        raise _problem(text, error.pos, error.msg, _CUT if is_cut else _SYNTAX) from error
    except _Refused as error:
        raise _problem(text, begin, str(error)) from error
    except RecursionError as error:
        raise _too_deep(text, begin) from error
    if text.count("[", begin, end) + text.count("{", begin, end) > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise _too_deep(text, begin)
    if _HALF_PAIR.search(text, begin, end):
        value = _whole_characters(value)
    return Parsed(value, remarks), end


def _decoded(text: str, begin: int) -> tuple[Any, int, tuple[Remark, ...]]:
    try:
        value, end = _QUICK.raw_decode(text, begin)
    except _Remarkable:
        return _remarking(text, begin)
    return value, end, ()


def _whole_characters(value: Any) -> Any:
    """A value in which half a surrogate pair is U+FFFD, as Go reads it: no such character exists."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_whole_characters(key): _whole_characters(item) for key, item in value.items()}
    return [_whole_characters(item) for item in value] if isinstance(value, list) else value


def behind_blanks(text: str, start: int) -> int:
    """The index of the first character that is no white space."""
    found = _BLANKS.match(text, start)
    return found.end() if found else start


def _problem(text: str, index: int, message: str, fix: str | None = None) -> JsonProblem:
    line, column = text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)
    return JsonProblem(line, column, message, index, fix=fix or _SYNTAX)


def _too_deep(text: str, index: int) -> JsonProblem:
    return _problem(text, index, f"nested deeper than {MAX_DEPTH}", TOO_DEEP)


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while containers := [node for node in level if isinstance(node, dict | list)]:
        depth += 1
        level = [
            child for node in containers for child in (node.values() if isinstance(node, dict) else node)
        ]
    return depth


def _refuse(constant: str) -> NoReturn:
    raise _Refused(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _Refused(f"{digits} is more than a number can be")
    return number


def _any_integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= 300 else _finite(digits)


def _exact(digits: str) -> int | float:
    """An integer; one that float64 does not hold exactly is worth a remark."""
    number = _any_integer(digits)
    if abs(number) > MAX_EXACT:
        raise _Remarkable
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise _Remarkable
    return mapping


_QUICK: Final = JSONDecoder(
    object_pairs_hook=_unique, parse_int=_exact, parse_float=_finite, parse_constant=_refuse
)


def _remarking(text: str, begin: int) -> tuple[Any, int, tuple[Remark, ...]]:
    """The slow way: repeated keys are noted by the mapping they are in, and found again by walking."""
    repeated: dict[int, list[str]] = {}
    kept: list[dict[str, Any]] = []

    def mapping_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) != len(pairs):
            kept.append(mapping)
            keys = [key for key, _ in pairs]
            repeated[id(mapping)] = sorted({key for key in keys if keys.count(key) > 1})
        return mapping

    decoder = JSONDecoder(
        object_pairs_hook=mapping_of, parse_int=_any_integer, parse_float=_finite, parse_constant=_refuse
    )
    value, end = decoder.raw_decode(text, begin)
    return value, end, tuple(_remarks(value, repeated))


def _remarks(root: Any, repeated: dict[int, list[str]]) -> Iterator[Remark]:
    stack: list[tuple[Pointer, Any]] = [((), root)]
    while stack:
        pointer, node = stack.pop()
        if isinstance(node, dict):
            for key in repeated.get(id(node), ()):
                yield _remark("duplicate-key", (*pointer, key))
            stack.extend(((*pointer, key), child) for key, child in reversed(node.items()))
        elif isinstance(node, list):
            stack.extend(((*pointer, i), node[i]) for i in reversed(range(len(node))))
        elif isinstance(node, int) and abs(node) > MAX_EXACT:
            yield _remark("lossy-number", pointer)


def _remark(kind: RemarkKind, pointer: Pointer) -> Remark:
    """JSON decoders forget lines; `loaders.positions` finds them again by the pointer."""
    return Remark(kind, pointer, 1, 1)
