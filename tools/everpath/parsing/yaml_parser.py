"""YAML as opm reads it: libyaml for the grammar, go-yaml v2 for the meaning.

PyYAML's own constructor differs from go-yaml where a catalog would notice: scalars (`parsing.scalars`),
repeated keys, `<<` after the keys it overwrites, how much an alias may unfold. So values are built here,
straight from libyaml's events: no recursion, no node tree, memory is what the value itself needs.
"""

from __future__ import annotations

__all__ = ["MAX_DEPTH", "Parsed", "Pointer", "Remark", "YamlProblem", "check", "events", "load", "parse"]

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

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
from everpath.parsing.yaml_scalars import Tagless, key_text, resolve, resolve_tagged

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NO_KEY: Final = object()
_MERGE: Final = "<<"


#: What mends aliases that nobody can unfold.
_ALIASES: Final = "write the value out in the place of the alias"


class YamlProblem(TextProblem):
    """Text that is not the YAML opm reads."""


def load(text: bytes) -> Any:
    """The value of the first document, as JSON would hold it. Raises `YamlProblem`."""
    return parse(text).value


def parse(text: bytes) -> Parsed:
    """The first document and what to say about it. Raises `YamlProblem`. Cost: linear in the text."""
    return _Builder().document(events(text))


def check(text: bytes) -> None:
    """Raise `YamlProblem` if libyaml refuses any of the text. Five times the speed of `parse`."""
    loader = _Loader(text)
    try:
        if hasattr(loader, "raw_parse"):
            loader.raw_parse()
        else:
            while loader.check_event():
                loader.get_event()
    except yaml.YAMLError as error:
        raise _problem(error, text) from error


def events(text: bytes) -> Iterator[Any]:
    """libyaml's events over the text, its complaints as `YamlProblem`."""
    try:
        loader = _Loader(text)
        while (event := loader.get_event()) is not None:
            yield event
    except yaml.YAMLError as error:
        raise _problem(error, text) from error


def _problem(error: yaml.YAMLError, text: bytes) -> YamlProblem:
    if isinstance(error, yaml.reader.ReaderError):
        before = text[: error.position].decode("utf-8", "surrogateescape")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        is_text = "control characters" in str(error.reason)
        fix = "remove this character, or write it as an escape in double quotes" if is_text else UTF_8
        return YamlProblem(line, column, str(error.reason), len(before), fix=fix)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    message = str(getattr(error, "problem", None) or error)
    if mark is None:
        return YamlProblem(1, 1, message)
    return YamlProblem(mark.line + 1, mark.column + 1, message, mark.index)


@dataclass(slots=True)
class _Frame:
    """A mapping or sequence still open."""

    value: Any
    anchor: str | None
    began: int
    key: Any = _NO_KEY
    merges: bool = False
    explicit: set[str] | None = None


@dataclass(slots=True)
class _Builder:
    """Builds one value. `nodes` counts as go-yaml does, aliases unfolded; `unfolded` is their share."""

    remarks: list[Remark] = field(default_factory=list)
    frames: list[_Frame] = field(default_factory=list)
    anchors: dict[str, tuple[Any, int] | None] = field(default_factory=dict)
    nodes: int = 0
    unfolded: int = 0
    root: Any = None

    def document(self, stream: Iterator[Any]) -> Parsed:
        is_blank = True
        for event in stream:
            if isinstance(event, yaml.NodeEvent):
                is_blank = is_blank and _is_nothing(event)
                self._node(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._close(event)
            elif isinstance(event, yaml.DocumentEndEvent):
                self._look_behind(stream)
                break
        return Parsed(self.root, tuple(self.remarks), is_blank)

    def _look_behind(self, stream: Iterator[Any]) -> None:
        """go-yaml stops after one document and never reads what follows it."""
        try:
            event = next(stream, None)
        except YamlProblem as problem:
            self.remarks.append(Remark("leftover", (), problem.line, problem.column, problem.index))
            return
        if isinstance(event, yaml.DocumentStartEvent):
            self._remark("leftover", (), event)

    def _node(self, event: Any) -> None:
        self.nodes += 1
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
            if event.anchor is not None:
                self.anchors[event.anchor] = (value, 1)
            self._put(value, event)
        elif isinstance(event, yaml.AliasEvent):
            self._put(self._unfold(event), event)
        else:
            self._open({} if isinstance(event, yaml.MappingStartEvent) else [], event)

    def _scalar(self, event: Any) -> Any:
        if event.tag is None:
            return resolve(event.value) if event.implicit[0] else event.value
        try:
            return resolve_tagged(event.tag, event.value)
        except Tagless as error:
            raise _at(event, str(error)) from error

    def _unfold(self, event: Any) -> Any:
        if event.anchor not in self.anchors:
            raise _at(event, f"unknown anchor {event.anchor!r}")
        known = self.anchors[event.anchor]
        if known is None:
            raise _at(event, f"anchor {event.anchor!r} contains itself", _ALIASES)
        value, size = known
        self.nodes += size
        self.unfolded += size
        if self.unfolded > 100 and self.nodes > 1000 and self.unfolded > _allowed(self.nodes) * self.nodes:
            raise _at(event, "aliases unfold to too much (an alias bomb?)", _ALIASES)
        return value

    def _open(self, value: Any, event: Any) -> None:
        if len(self.frames) >= MAX_DEPTH:
            raise _at(event, f"nested deeper than {MAX_DEPTH}", TOO_DEEP)
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        self.frames.append(_Frame(value, event.anchor, self.nodes))

    def _close(self, event: Any) -> None:
        frame = self.frames.pop()
        if frame.anchor is not None:
            self.anchors[frame.anchor] = (frame.value, self.nodes - frame.began + 1)
        self._put(frame.value, event)

    def _put(self, value: Any, event: Any) -> None:
        if not self.frames:
            self.root = value
            return
        frame = self.frames[-1]
        if isinstance(frame.value, dict) and frame.key is _NO_KEY:
            self._put_key(frame, value, event)
            return
        if isinstance(value, int | float):
            self._weigh(value, event)
        if isinstance(frame.value, list):
            frame.value.append(value)
        else:
            self._put_value(frame, value, event)

    def _weigh(self, number: float, event: Any) -> None:
        """opm holds every number as a float64 of JSON."""
        if not math.isfinite(number):
            raise _at(event, f"{number} is not a number JSON knows")
        if isinstance(number, int) and abs(number) > MAX_EXACT:
            self._remark("lossy-number", self._pointer(), event)

    def _put_key(self, frame: _Frame, value: Any, event: Any) -> None:
        frame.merges = value == _MERGE and isinstance(event, yaml.ScalarEvent) and event.implicit[0]
        try:
            frame.key = key_text(value)
        except Tagless as error:
            raise _at(event, str(error)) from error
        if not frame.merges and frame.key in (frame.value if frame.explicit is None else frame.explicit):
            self._remark("duplicate-key", self._pointer(), event)

    def _put_value(self, frame: _Frame, value: Any, event: Any) -> None:
        if frame.merges:
            self._merge(frame, value, event)
        else:
            frame.value[frame.key] = value
            if frame.explicit is not None:
                frame.explicit.add(frame.key)
        frame.key = _NO_KEY

    def _merge(self, frame: _Frame, value: Any, event: Any) -> None:
        """`<<` overwrites what stands before it; of several mappings the first wins."""
        if frame.explicit is None:
            frame.explicit = set(frame.value)
        sources = value[::-1] if isinstance(value, list) else [value]
        for source in sources:
            if not isinstance(source, dict):
                raise _at(event, "<< needs a mapping or a sequence of mappings")
            frame.value.update(source)

    def _pointer(self) -> Pointer:
        """The way to where the open frames stand."""
        steps = ((len(f.value) if isinstance(f.value, list) else f.key) for f in self.frames)
        return tuple(step for step in steps if step is not _NO_KEY)

    def _remark(self, kind: RemarkKind, pointer: Pointer, event: Any) -> None:
        mark = event.start_mark
        self.remarks.append(Remark(kind, pointer, mark.line + 1, mark.column + 1, mark.index))


def _is_nothing(event: Any) -> bool:
    return isinstance(event, yaml.ScalarEvent) and event.value == "" and bool(event.implicit[0])


def _at(event: Any, message: str, fix: str | None = None) -> YamlProblem:
    mark = event.start_mark
    return YamlProblem(mark.line + 1, mark.column + 1, message, mark.index, fix=fix)


def _allowed(nodes: int) -> float:
    """go-yaml's bound: 99 % of a small document may come out of aliases, 10 % of a large one."""
    low, high = 400_000, 4_000_000
    share = (min(max(nodes, low), high) - low) / (high - low)
    return 0.99 - 0.89 * share
