"""Find one value of a JSON text by its pointer (see `value_search`)."""

from __future__ import annotations

__all__ = ["find_in_json"]

from json import JSONDecodeError, JSONDecoder
from typing import Final

from everpath.parsing.parse_result import Pointer

Span = tuple[int, int]

_DECODER: Final = JSONDecoder()


def find_in_json(text: str, pointer: Pointer) -> Span | None:
    """Return the characters of the value at a pointer; of a repeated key the last one."""
    try:
        index: int | None = _skip_whitespace(text, 0)
        for step in pointer:
            index = _child(text, index, step) if index is not None else None
        return (index, _DECODER.raw_decode(text, index)[1]) if index is not None else None
    except (JSONDecodeError, IndexError, RecursionError):
        return None


def _child(text: str, index: int, step: str | int) -> int | None:
    """Return where the value at one step starts, in the mapping or list at an index."""
    is_mapping = isinstance(step, str)
    if text[index] != ("{" if is_mapping else "["):
        return None
    position, count, found = _skip_whitespace(text, index + 1), 0, None
    while text[position] not in "}]":
        key: str | int = count
        if is_mapping:
            key, position = _DECODER.raw_decode(text, position)
            position = _skip_whitespace(text, _skip_whitespace(text, position) + 1)
        if key == step:
            found = position
        position = _skip_whitespace(text, _DECODER.raw_decode(text, position)[1])
        position = _skip_whitespace(text, position + 1) if text[position] == "," else position
        count += 1
    return found


def _skip_whitespace(text: str, index: int) -> int:
    while text[index] in " \t\r\n":
        index += 1
    return index
