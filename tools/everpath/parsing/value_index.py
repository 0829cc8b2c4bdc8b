"""Where each value of one document starts and ends, in characters.

Two small readers turn YAML and JSON into the same four steps; one index is built from them.
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


class _Step(NamedTuple):
    """One event of a document; a scalar in the place of a key has its text in `key`."""

    kind: Literal["mapping", "sequence", "end", "scalar"]
    start: int
    end: int
    key: str = ""


@dataclass(slots=True)
class ValueIndex:
    """Values by pointer; `is_whole` when the document was read to its end."""

    by_pointer: dict[Pointer, Span] = field(default_factory=dict)
    is_whole: bool = False

    def nearest(self, pointer: Pointer) -> tuple[Pointer, Span] | None:
        """The value at a pointer, or the deepest of its parents that exists. Keys match as Go's do."""
        for length in range(len(pointer), -1, -1):
            for wanted in (pointer[:length], _folded(pointer[:length])):
                if (span := self.by_pointer.get(wanted)) is not None:
                    return pointer[:length], span
        return None


def index_yaml(text: bytes, depth: int) -> ValueIndex:
    """Spans of the first YAML document, down to a depth; up to its first error if it has one."""
    return _index(_yaml_steps(text), depth)


def index_json(text: str, depth: int) -> ValueIndex:
    """Spans of the JSON value at the start of a text, down to a depth; up to its first error."""
    return _index(_json_steps(text), depth)


def _yaml_steps(text: bytes) -> Iterator[_Step]:
    import yaml  # noqa: PLC0415 - libyaml is not free, and places in JSON need none of it

    from everpath.parsing.yaml_parser import events  # noqa: PLC0415

    for event in events(text):
        span = (event.start_mark.index, event.end_mark.index)
        match event:
            case yaml.ScalarEvent():
                yield _Step("scalar", *span, _yaml_key(event.value, is_plain=event.implicit[0]))
            case yaml.AliasEvent():
                yield _Step("scalar", *span)
            case yaml.MappingStartEvent():
                yield _Step("mapping", *span)
            case yaml.SequenceStartEvent():
                yield _Step("sequence", *span)
            case yaml.CollectionEndEvent():
                yield _Step("end", *span)


def _yaml_key(text: str, *, is_plain: bool) -> str:
    try:
        return key_text(resolve(text)) if is_plain else text
    except TagMismatch:
        return text


def _json_steps(text: str) -> Iterator[_Step]:
    position = 0
    while (found := _TOKEN.match(text, position)) is not None:
        position = found.end()
        token, span = found[1], found.span(1)
        if token in ",:":
            continue
        if token in "{[":
            yield _Step("mapping" if token == "{" else "sequence", *span)
        elif token in "}]":
            yield _Step("end", *span)
        else:
            yield _Step("scalar", *span, _json_key(token))


def _json_key(token: str) -> str:
    try:
        return str(loads(token)) if token[0] == '"' else token
    except JSONDecodeError as error:
        raise ParseError(1, error.colno, error.msg) from error


@dataclass(slots=True)
class _Open:
    """A container being read: how far it has got, and where it starts; too deep, it has no pointer."""

    is_mapping: bool
    start: int
    pointer: Pointer | None
    items: int = 0
    key: str | None = None

    def child(self, depth: int) -> Pointer | None:
        """The pointer of the value that comes now."""
        step = self.key if self.is_mapping else self.items
        if self.pointer is None or step is None or len(self.pointer) >= depth:
            return None
        return *self.pointer, step


def _index(steps: Iterator[_Step], depth: int) -> ValueIndex:
    spans, stack = ValueIndex(), list[_Open]()
    try:
        for step in steps:
            _take(step, spans, stack, depth)
            if not stack:
                spans.is_whole = True
                break
    except ParseError:
        # A broken document still has places before the break; the reader has reported the break itself.
        spans.is_whole = False
    return spans


def _take(step: _Step, spans: ValueIndex, stack: list[_Open], depth: int) -> None:
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


def _leave(step: _Step, spans: ValueIndex, stack: list[_Open]) -> None:
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
