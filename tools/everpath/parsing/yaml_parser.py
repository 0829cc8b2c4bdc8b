"""Parse YAML as opm does: libyaml for the grammar, go-yaml v2 for the meaning.

PyYAML's constructor differs from go-yaml in scalars (`parsing.yaml_scalars`), repeated keys, the effect of
`<<` on keys before it, and the limit on aliases. So values are built here from libyaml's events, without
recursion and without a node tree.
"""

from __future__ import annotations

__all__ = ["MAX_DEPTH", "ParseError", "ParseWarning", "ParsedDocument", "check", "events", "load", "parse"]

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from everpath.manifest_access import Pointer
from everpath.parsing.parse_result import (
    MAX_DEPTH,
    MAX_EXACT_INTEGER,
    TOO_DEEP_FIX,
    UTF_8_FIX,
    ParsedDocument,
    ParseError,
    ParseWarning,
    ParseWarningKind,
)
from everpath.parsing.text_offsets import OffsetMap
from everpath.parsing.yaml_scalars import TagMismatch, key_text, resolve, resolve_tagged

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NO_KEY: Final = object()
_MERGE: Final = "<<"
_ALIAS_FIX: Final = "write the value in place of the alias"


def load(text: bytes) -> Any:
    """Return the value of the first document, in JSON's types. Raises `ParseError`."""
    return parse(text).value


def parse(text: bytes) -> ParsedDocument:
    """Parse the first document. Raises `ParseError`."""
    return _Builder(text).document(events(text))


def check(text: bytes) -> None:
    """Raise `ParseError` if libyaml rejects any of the text. Five times faster than `parse`."""
    loader = _Loader(text)
    try:
        if hasattr(loader, "raw_parse"):
            loader.raw_parse()
        else:
            while loader.check_event():
                loader.get_event()
    except yaml.YAMLError as error:
        raise _parse_error(error, text) from error


def events(text: bytes) -> Iterator[Any]:
    """Yield libyaml's events. Raises `ParseError`."""
    try:
        loader = _Loader(text)
        while (event := loader.get_event()) is not None:
            yield event
    except yaml.YAMLError as error:
        raise _parse_error(error, text) from error


def _parse_error(error: yaml.YAMLError, text: bytes) -> ParseError:
    if isinstance(error, yaml.reader.ReaderError):
        before = text[: error.position].decode("utf-8", "surrogateescape")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        is_text = "control characters" in str(error.reason)
        fix = "remove this character, or write it as an escape in double quotes" if is_text else UTF_8_FIX
        return ParseError(line, column, str(error.reason), _offset(text, len(before)), fix=fix)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    message = str(getattr(error, "problem", None) or error)
    if mark is None:
        return ParseError(1, 1, message)
    return ParseError(mark.line + 1, mark.column + 1, message, _offset(text, mark.index))


def _offset(text: bytes, index: int) -> int:
    return min(OffsetMap(text, "surrogateescape").bytes(index), len(text))


@dataclass(slots=True)
class _Frame:
    """A mapping or sequence that is not closed yet."""

    value: Any
    anchor: str | None
    began: int
    key: Any = _NO_KEY
    merges: bool = False
    explicit: set[str] | None = None


@dataclass(slots=True)
class _Builder:
    """Builds the value of one document.

    `nodes` counts nodes as go-yaml does, those of expanded aliases included; `expanded` counts only the
    latter.
    """

    text: bytes
    warnings: list[ParseWarning] = field(default_factory=list)
    frames: list[_Frame] = field(default_factory=list)
    anchors: dict[str, tuple[Any, int] | None] = field(default_factory=dict)
    nodes: int = 0
    expanded: int = 0
    root: Any = None

    def document(self, stream: Iterator[Any]) -> ParsedDocument:
        is_blank = True
        for event in stream:
            if isinstance(event, yaml.NodeEvent):
                if is_blank:
                    is_empty = isinstance(event, yaml.ScalarEvent) and not event.value and event.implicit[0]
                    is_blank = bool(is_empty)
                self._add_node(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._close(event)
            elif isinstance(event, yaml.DocumentEndEvent):
                self._check_leftover(stream)
                break
        return ParsedDocument(self.root, tuple(self.warnings), is_blank)

    def _check_leftover(self, stream: Iterator[Any]) -> None:
        """Warn of text after the document, which go-yaml never reads."""
        try:
            event = next(stream, None)
        except ParseError as error:
            self.warnings.append(ParseWarning("leftover", (), error.line, error.column, error.offset))
            return
        if isinstance(event, yaml.DocumentStartEvent):
            mark: Any = event.start_mark
            offset = _offset(self.text, mark.index)
            self.warnings.append(ParseWarning("leftover", (), mark.line + 1, mark.column + 1, offset))

    def _add_node(self, event: Any) -> None:
        self.nodes += 1
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
            if event.anchor is not None:
                self.anchors[event.anchor] = (value, 1)
            self._add_value(value, event)
        elif isinstance(event, yaml.AliasEvent):
            self._add_value(self._expand(event), event)
        else:
            self._open({} if isinstance(event, yaml.MappingStartEvent) else [], event)

    def _scalar(self, event: Any) -> Any:
        if event.tag is None:
            return resolve(event.value) if event.implicit[0] else event.value
        try:
            return resolve_tagged(event.tag, event.value)
        except TagMismatch as error:
            raise self._error(event, str(error)) from error

    def _expand(self, event: Any) -> Any:
        """Return the value of an alias, unless aliases expand beyond go-yaml's limit."""
        if event.anchor not in self.anchors:
            raise self._error(event, f"unknown anchor {event.anchor!r}")
        known = self.anchors[event.anchor]
        if known is None:
            raise self._error(event, f"anchor {event.anchor!r} contains itself", _ALIAS_FIX)
        value, size = known
        self.nodes += size
        self.expanded += size
        is_large = self.expanded > 100 and self.nodes > 1000
        if is_large and self.expanded > _max_alias_ratio(self.nodes) * self.nodes:
            raise self._error(event, "aliases expand to too many nodes (an alias bomb?)", _ALIAS_FIX)
        return value

    def _open(self, value: Any, event: Any) -> None:
        if len(self.frames) >= MAX_DEPTH:
            raise self._error(event, f"nested deeper than {MAX_DEPTH}", TOO_DEEP_FIX)
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        self.frames.append(_Frame(value, event.anchor, self.nodes))

    def _close(self, event: Any) -> None:
        frame = self.frames.pop()
        if frame.anchor is not None:
            self.anchors[frame.anchor] = (frame.value, self.nodes - frame.began + 1)
        self._add_value(frame.value, event)

    def _add_value(self, value: Any, event: Any) -> None:
        """Put a value, or a key, where the innermost open frame expects it."""
        if not self.frames:
            self.root = value
            return
        frame = self.frames[-1]
        if isinstance(frame.value, dict) and frame.key is _NO_KEY:
            self._start_pair(frame, value, event)
            return
        if isinstance(value, int | float):
            # opm stores every number as a float64 of JSON.
            if not math.isfinite(value):
                raise self._error(event, f"JSON has no number {value}")
            if isinstance(value, int) and abs(value) > MAX_EXACT_INTEGER:
                self._warn("lossy-number", event)
        if isinstance(frame.value, list):
            frame.value.append(value)
        else:
            self._end_pair(frame, value, event)

    def _start_pair(self, frame: _Frame, value: Any, event: Any) -> None:
        frame.merges = value == _MERGE and isinstance(event, yaml.ScalarEvent) and event.implicit[0]
        try:
            frame.key = key_text(value)
        except TagMismatch as error:
            raise self._error(event, str(error)) from error
        if not frame.merges and frame.key in (frame.value if frame.explicit is None else frame.explicit):
            self._warn("duplicate-key", event)

    def _end_pair(self, frame: _Frame, value: Any, event: Any) -> None:
        if frame.merges:
            self._merge(frame, value, event)
        else:
            frame.value[frame.key] = value
            if frame.explicit is not None:
                frame.explicit.add(frame.key)
        frame.key = _NO_KEY

    def _merge(self, frame: _Frame, value: Any, event: Any) -> None:
        """Apply `<<`: it overwrites the keys before it, and of several mappings the first has precedence."""
        if frame.explicit is None:
            frame.explicit = set(frame.value)
        for source in value[::-1] if isinstance(value, list) else [value]:
            if not isinstance(source, dict):
                raise self._error(event, "<< needs a mapping or a sequence of mappings")
            frame.value.update(source)

    def _warn(self, kind: ParseWarningKind, event: Any) -> None:
        """Record a warning about the value or key that the open frames point to."""
        steps = ((len(f.value) if isinstance(f.value, list) else f.key) for f in self.frames)
        pointer: Pointer = tuple(step for step in steps if step is not _NO_KEY)
        mark = event.start_mark
        self.warnings.append(ParseWarning(kind, pointer, mark.line + 1, mark.column + 1))

    def _error(self, event: Any, message: str, fix: str | None = None) -> ParseError:
        mark = event.start_mark
        offset = _offset(self.text, mark.index)
        return ParseError(mark.line + 1, mark.column + 1, message, offset, fix=fix)


def _max_alias_ratio(nodes: int) -> float:
    """Return go-yaml's limit: aliases may make 99 % of a small document, and 10 % of a large one."""
    low, high = 400_000, 4_000_000
    ratio = (min(max(nodes, low), high) - low) / (high - low)
    return 0.99 - 0.89 * ratio
