"""Parse JSON as opm does, and warn of repeated keys and inexact numbers, which Go accepts silently."""

from __future__ import annotations

__all__ = ["ParseError", "decode_utf8", "parse", "parse_at", "skip_whitespace"]

import math
import re
from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final, NoReturn

from everpath.manifest_access import Pointer
from everpath.parsing.parse_result import (
    MAX_DEPTH,
    MAX_EXACT_INTEGER,
    TOO_DEEP_FIX,
    UTF_8_FIX,
    ParsedDocument,
    ParseError,
    ParseWarning,
)

# An escape of a surrogate, alone or in a pair.
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_WHITESPACE: Final = re.compile(r"[ \t\r\n]*")


_SYNTAX_FIX: Final = "correct the JSON here: commas between values, none after the last, double quotes"
_TRUNCATED_FIX: Final = "the JSON is incomplete: generate the file again, or close the open brackets"


class _NeedsWarning(Exception):
    """The fast decoder met a repeated key or an inexact number."""


class _NotGoJson(ValueError):
    """Text that is JSON for Python and not for Go."""


def parse(text: bytes) -> ParsedDocument:
    """Parse a text that is one value. Raises `ParseError`, also if text follows the value."""
    decoded = decode_utf8(text)
    parsed, end = parse_at(decoded, 0)
    if (rest := skip_whitespace(decoded, end)) < len(decoded):
        raise _error(decoded, rest, "more text after the end of the value")
    return parsed


def decode_utf8(text: bytes) -> str:
    """Decode a text. Raises `ParseError`."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        before = text[: error.start].decode("utf-8")
        raise _error(before, len(before), "not UTF-8", UTF_8_FIX) from error


def parse_at(text: str, start: int) -> tuple[ParsedDocument, int]:
    """Parse the value at an index; return it and the index of its end. Raises `ParseError`."""
    begin = skip_whitespace(text, start)
    warnings: tuple[ParseWarning, ...] = ()
    try:
        try:
            value, end = _FAST_DECODER.raw_decode(text, begin)
        except _NeedsWarning:
            value, end, warnings = _decode_with_warnings(text, begin)
    except JSONDecodeError as error:
        is_truncated = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        raise _error(text, error.pos, error.msg, _TRUNCATED_FIX if is_truncated else _SYNTAX_FIX) from error
    except _NotGoJson as error:
        raise _error(text, begin, str(error)) from error
    except RecursionError as error:
        raise _too_deep(text, begin) from error
    if text.count("[", begin, end) + text.count("{", begin, end) > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise _too_deep(text, begin)
    if _SURROGATE_ESCAPE.search(text, begin, end):
        value = _replace_lone_surrogates(value)
    return ParsedDocument(value, warnings), end


def _replace_lone_surrogates(value: Any) -> Any:
    """Return the value with U+FFFD for each half of a surrogate pair, as Go decodes it."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_replace_lone_surrogates(key): _replace_lone_surrogates(item) for key, item in value.items()}
    return [_replace_lone_surrogates(item) for item in value] if isinstance(value, list) else value


def skip_whitespace(text: str, start: int) -> int:
    """Return the index of the first character that is not white space."""
    found = _WHITESPACE.match(text, start)
    return found.end() if found else start


def _error(text: str, index: int, message: str, fix: str = _SYNTAX_FIX) -> ParseError:
    line, column = text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)
    return ParseError(line, column, message, len(text[:index].encode("utf-8", "surrogatepass")), fix=fix)


def _too_deep(text: str, index: int) -> ParseError:
    return _error(text, index, f"nested deeper than {MAX_DEPTH}", TOO_DEEP_FIX)


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while containers := [node for node in level if isinstance(node, dict | list)]:
        depth += 1
        level = [
            child for node in containers for child in (node.values() if isinstance(node, dict) else node)
        ]
    return depth


def _reject_constant(constant: str) -> NoReturn:
    raise _NotGoJson(f"{constant} is not JSON")


def _finite_float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _NotGoJson(f"{digits} is too large for a number")
    return number


def _integer(digits: str) -> int | float:
    # Python refuses to convert thousands of digits.
    return int(digits) if len(digits) <= 300 else _finite_float(digits)


def _exact_integer(digits: str) -> int | float:
    number = _integer(digits)
    if abs(number) > MAX_EXACT_INTEGER:
        raise _NeedsWarning
    return number


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise _NeedsWarning
    return mapping


_FAST_DECODER: Final = JSONDecoder(
    object_pairs_hook=_unique_keys,
    parse_int=_exact_integer,
    parse_float=_finite_float,
    parse_constant=_reject_constant,
)


def _decode_with_warnings(text: str, begin: int) -> tuple[Any, int, tuple[ParseWarning, ...]]:
    """Decode a value that needs warnings: collect mappings with repeated keys, then find their pointers."""
    repeated: dict[int, list[str]] = {}
    alive: list[dict[str, Any]] = []  # Keeps mappings alive, so that no two have the same id.

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) != len(pairs):
            alive.append(mapping)
            keys = [key for key, _ in pairs]
            repeated[id(mapping)] = sorted({key for key in keys if keys.count(key) > 1})
        return mapping

    decoder = JSONDecoder(
        object_pairs_hook=collect,
        parse_int=_integer,
        parse_float=_finite_float,
        parse_constant=_reject_constant,
    )
    value, end = decoder.raw_decode(text, begin)
    return value, end, tuple(_warnings(value, repeated))


def _warnings(root: Any, repeated: dict[int, list[str]]) -> Iterator[ParseWarning]:
    """Yield the warnings of a value, without lines: `loaders.source_positions` finds them by pointer."""
    stack: list[tuple[Pointer, Any]] = [((), root)]
    while stack:
        pointer, node = stack.pop()
        if isinstance(node, dict):
            for key in repeated.get(id(node), ()):
                yield ParseWarning("duplicate-key", (*pointer, key), 1, 1)
            stack.extend(((*pointer, key), child) for key, child in reversed(node.items()))
        elif isinstance(node, list):
            stack.extend(((*pointer, i), node[i]) for i in reversed(range(len(node))))
        elif isinstance(node, int) and abs(node) > MAX_EXACT_INTEGER:
            yield ParseWarning("lossy-number", pointer, 1, 1)
