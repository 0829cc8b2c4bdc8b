"""Find where the values of a YAML or JSON document are in its text.

This is the only reader of positions. `PositionedDocument.span` returns the bytes of one value; findings and
configuration errors get their lines from it (`loaders.source_positions`). `yaml_nodes` returns all values of
a YAML document as nodes, for edits of its text (`loaders.releases.editing`).
"""

from __future__ import annotations

__all__ = ["JsonNode", "PositionedDocument", "Span", "YamlNode", "yaml_nodes"]

import re
from dataclasses import dataclass, field
from functools import cached_property
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final, Literal

from everpath.manifest_access import Pointer
from everpath.parsing.json_parser import skip_whitespace
from everpath.parsing.parse_result import ParseError
from everpath.parsing.text_offsets import OffsetMap
from everpath.parsing.yaml_scalars import TagMismatch, key_text, resolve

#: The start of a value in a text and the end after it.
Span = tuple[int, int]

# From this number of look-ups in a YAML document on, its nodes are faster than searches.
_NODES_FROM: Final = 6

# How far before its value a key is searched for; a colon, white space and a comment may be between them.
_NEAR: Final = 1 << 12

# A key at the end of a text, up to the start of its value.
_NAMED: Final = rb"(?<![^\s\"'{,])(%b)[\"']?\s*:\s*(?:#[^\n]*\s*)?\Z"

# Numbers become floats, because Python refuses to convert integers of thousands of digits.
_DECODER: Final = JSONDecoder(parse_int=float)


class PositionedDocument:
    """The bytes of one document: YAML up to its first syntax error, or JSON."""

    def __init__(self, text: bytes, json: JsonNode | None = None) -> None:
        self._text = text
        self._json = json
        self._lookups = 0
        self._offsets = OffsetMap(text, "surrogateescape")

    @classmethod
    def from_json(cls, content: bytes) -> PositionedDocument | None:
        """Return the JSON mapping at the start of some bytes, or None if there is no complete one."""
        if not content.lstrip().startswith(b"{"):
            return None
        text = content.decode("utf-8", "surrogateescape")
        start = len(text) - len(text.lstrip())
        try:
            end = _DECODER.raw_decode(text, start)[1]
        except (JSONDecodeError, RecursionError):
            return None
        text = text[:end]
        return cls(text.encode("utf-8", "surrogateescape"), JsonNode(text, start, end))

    def span(self, pointer: Pointer) -> Span | None:
        """Return the bytes of a value or of its nearest parent; None if that is the document.

        A key matches in any case, as in Go. The end of a YAML value of several lines may be that of its first
        line.
        """
        self._lookups += 1
        if self._json is None and self._lookups < _NODES_FROM:
            from everpath.parsing.yaml_search import find_in_yaml  # noqa: PLC0415 - JSON does not need it

            if (found := find_in_yaml(self._text, pointer)) is not None:
                return found
        node = self._root
        for step in pointer:
            child = _child(node, step) if node else None
            if child is None:
                break
            node = child
        if node is None or node is self._root:
            return None
        return self._offsets.bytes(node.start), self._offsets.bytes(node.end)

    @cached_property
    def _root(self) -> JsonNode | YamlNode | None:
        return self._json or yaml_nodes(self._text)

    def key_before(self, value: int, key: str) -> Span | None:
        """Return the bytes of the key before the value at a byte, without quotes."""
        near = max(0, value - _NEAR)
        found = re.compile(_NAMED % re.escape(key.encode())).search(self._text, near, value)
        return found.span(1) if found else None


def _child(node: JsonNode | YamlNode, step: str | int) -> JsonNode | YamlNode | None:
    children = node.children
    if (found := children.get(step)) is not None or isinstance(step, int):
        return found
    folded = step.casefold()
    same = [key for key in children if isinstance(key, str) and key.casefold() == folded]
    return children[folded if folded in same else same[0]] if same else None


@dataclass(slots=True)
class JsonNode:
    """A JSON value from character `start` to `end` of a text."""

    text: str
    start: int
    end: int
    _children: dict[str | int, JsonNode] | None = None

    @property
    def children(self) -> dict[str | int, JsonNode]:
        """The values in a mapping by key, and in a list by index; of a repeated key the last one.

        Cost: the decoder, which is written in C, runs over the value once, at the first call.
        """
        if self._children is None:
            self._children = {}
            text, position = self.text, self.start + 1
            is_mapping = text[self.start] == "{"
            if not is_mapping and text[self.start] != "[":
                return self._children
            while text[position := skip_whitespace(text, position)] not in "}]":
                key: str | int = len(self._children)
                if is_mapping:
                    key, position = _DECODER.raw_decode(text, position)
                    # The colon.
                    position = skip_whitespace(text, skip_whitespace(text, position) + 1)
                end = _DECODER.raw_decode(text, position)[1]
                self._children[key] = JsonNode(text, position, end)
                position = skip_whitespace(text, end)
                position += text[position] == ","
        return self._children


@dataclass(slots=True)
class YamlNode:
    """A YAML value from character `start` to `end`, which of a block is after the comments below it.

    `key_start` is where its key starts, or the value itself if it has none. A merge key is a key like others.
    """

    kind: Literal["mapping", "sequence", "scalar", "alias"]
    start: int
    end: int
    key_start: int
    is_flow: bool = False
    children: dict[str | int, YamlNode] = field(default_factory=dict)
    _key: tuple[str, int] | None = None

    @property
    def expects_key(self) -> bool:
        """Whether the next node is a key of this mapping."""
        return self.kind == "mapping" and self._key is None

    def add_key(self, text: str, start: int) -> None:
        self._key = text, start

    def add_value(self, value: YamlNode) -> None:
        """Add the value of the last key, or the next item."""
        if self._key is None:
            self.children[len(self.children)] = value
        else:
            key, value.key_start = self._key
            self.children[key] = value
            self._key = None


def yaml_nodes(text: bytes) -> YamlNode | None:
    """Return the top node of the first document, with all nodes before the first syntax error."""
    import yaml  # noqa: PLC0415 - JSON needs no libyaml

    from everpath.parsing.yaml_parser import events  # noqa: PLC0415

    top: YamlNode | None = None
    stack: list[YamlNode] = []
    kinds: dict[type, Any] = {
        yaml.MappingStartEvent: "mapping",
        yaml.SequenceStartEvent: "sequence",
        yaml.ScalarEvent: "scalar",
        yaml.AliasEvent: "alias",
    }
    try:
        for event in events(text):
            if kind := kinds.get(type(event)):
                start = event.start_mark.index
                node = YamlNode(kind, start, event.end_mark.index, start)
                if not stack:
                    top = node
                elif stack[-1].expects_key:
                    stack[-1].add_key(_resolved_key(event) if kind == "scalar" else "", start)
                else:
                    stack[-1].add_value(node)
                if kind in ("mapping", "sequence"):
                    node.is_flow = bool(event.flow_style)
                    stack.append(node)
            elif isinstance(event, yaml.CollectionEndEvent):
                mark: Any = event.end_mark
                stack.pop().end = mark.index
            if top and not stack:
                break
    except ParseError:
        # The loader has reported the error.
        pass
    return top


def _resolved_key(event: Any) -> str:
    try:
        return key_text(resolve(event.value)) if event.implicit[0] else str(event.value)
    except TagMismatch:
        return str(event.value)
