"""Index the start and end of each value of a document, in characters.

YAML and JSON are converted to the same events, from which one index is built.
"""

from __future__ import annotations

__all__ = ["Pointer", "Span", "ValueIndex", "index_json", "index_yaml"]

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from json import JSONDecodeError, loads
from typing import Final, Literal, NamedTuple

from everpath.parsing.parse_result import ParseError, Pointer
from everpath.parsing.yaml_scalars import TagMismatch, key_text, resolve

Span = tuple[int, int]

_TOKEN: Final = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+)')


class _Event(NamedTuple):
    """One event of a document; a scalar that may be a key has its text in `key`."""

    kind: Literal["mapping", "sequence", "end", "scalar"]
    start: int
    end: int
    key: str = ""


@dataclass(slots=True)
class ValueIndex:
    """Spans of values by pointer; `is_whole` if the document has no syntax error."""

    by_pointer: dict[Pointer, Span] = field(default_factory=dict)
    is_whole: bool = False

    def nearest(self, pointer: Pointer) -> tuple[Pointer, Span] | None:
        """Return the value at a pointer or its deepest existing parent. Keys match in any case, as in Go."""
        for length in range(len(pointer), -1, -1):
            for wanted in (pointer[:length], _folded(pointer[:length])):
                if (span := self.by_pointer.get(wanted)) is not None:
                    return pointer[:length], span
        return None


def index_yaml(text: bytes, depth: int) -> ValueIndex:
    """Index the first YAML document down to a depth, up to its first syntax error."""
    return _index(_yaml_events(text), depth)


def index_json(text: str, depth: int) -> ValueIndex:
    """Index the JSON value at the start of a text down to a depth, up to its first syntax error."""
    return _index(_json_events(text), depth)


def _yaml_events(text: bytes) -> Iterator[_Event]:
    import yaml  # noqa: PLC0415 - JSON needs no libyaml

    from everpath.parsing.yaml_parser import events  # noqa: PLC0415

    for event in events(text):
        span = (event.start_mark.index, event.end_mark.index)
        match event:
            case yaml.ScalarEvent():
                yield _Event("scalar", *span, _yaml_key(event.value, is_plain=event.implicit[0]))
            case yaml.AliasEvent():
                yield _Event("scalar", *span)
            case yaml.MappingStartEvent():
                yield _Event("mapping", *span)
            case yaml.SequenceStartEvent():
                yield _Event("sequence", *span)
            case yaml.CollectionEndEvent():
                yield _Event("end", *span)


def _yaml_key(text: str, *, is_plain: bool) -> str:
    try:
        return key_text(resolve(text)) if is_plain else text
    except TagMismatch:
        return text


def _json_events(text: str) -> Iterator[_Event]:
    position = 0
    while (found := _TOKEN.match(text, position)) is not None:
        position = found.end()
        token, span = found[1], found.span(1)
        if token in ",:":
            continue
        if token in "{[":
            yield _Event("mapping" if token == "{" else "sequence", *span)
        elif token in "}]":
            yield _Event("end", *span)
        else:
            yield _Event("scalar", *span, _json_key(token))


def _json_key(token: str) -> str:
    try:
        return str(loads(token)) if token[0] == '"' else token
    except JSONDecodeError as error:
        raise ParseError(1, error.colno, error.msg) from error


@dataclass(slots=True)
class _Open:
    """A container that is not closed yet. It has no pointer if it is deeper than the index."""

    is_mapping: bool
    start: int
    pointer: Pointer | None
    items: int = 0
    key: str | None = None

    def child(self, depth: int) -> Pointer | None:
        """Return the pointer of the next value."""
        step = self.key if self.is_mapping else self.items
        if self.pointer is None or step is None or len(self.pointer) >= depth:
            return None
        return *self.pointer, step


def _index(steps: Iterator[_Event], depth: int) -> ValueIndex:
    spans, stack = ValueIndex(), list[_Open]()
    try:
        for step in steps:
            _take(step, spans, stack, depth)
            if not stack:
                spans.is_whole = True
                break
    except ParseError:
        # Values before the error have positions; the loader has reported the error.
        spans.is_whole = False
    return spans


def _take(step: _Event, spans: ValueIndex, stack: list[_Open], depth: int) -> None:
    top = stack[-1] if stack else None
    if step.kind == "end":
        _leave(step, spans, stack)
        return
    if step.kind == "scalar" and top is not None and top.is_mapping and top.key is None:
        top.key = step.key
        return
    pointer = () if top is None else top.child(depth)
    if pointer is not None:
        _note(spans, pointer, (step.start, step.end))
    if step.kind == "scalar":
        _advance(stack)
    else:
        stack.append(_Open(step.kind == "mapping", step.start, pointer))


def _leave(step: _Event, spans: ValueIndex, stack: list[_Open]) -> None:
    closed = stack.pop()
    if closed.pointer is not None:
        _note(spans, closed.pointer, (closed.start, step.end))
    _advance(stack)


def _advance(stack: list[_Open]) -> None:
    if stack:
        stack[-1].items += 1
        stack[-1].key = None


def _note(spans: ValueIndex, pointer: Pointer, span: Span) -> None:
    spans.by_pointer[pointer] = span
    if (folded := _folded(pointer)) != pointer:
        spans.by_pointer.setdefault(folded, span)


def _folded(pointer: Pointer) -> Pointer:
    return tuple(step.casefold() if isinstance(step, str) else step for step in pointer)
