"""Edits the text of releases.yaml in place: comments, order and formatting of the rest stay as they are.

New text is inserted at the positions of the parsed nodes. The result is parsed and compared with the intended
file; a file that cannot be edited this way is refused.
"""

from __future__ import annotations

__all__ = ["edit_releases"]

import codecs
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import yaml

from everpath.errors import ReleasesError
from everpath.loaders.releases.formatting import format_channels, format_release, format_scalar, release_lines
from everpath.loaders.releases.parser import parse_releases
from everpath.releases.release_plan import AddRelease, Edit, SetChannels, SetField, SetPins, apply_edits

_BOM: Final = codecs.BOM_UTF8
_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DASH: Final = re.compile(r"^ *-", re.MULTILINE)


class _NotEditable(Exception):
    """A value to be edited is an alias or comes from a merge key."""


class _TextEdit(NamedTuple):
    """New text in place of text[start:end]."""

    start: int
    end: int
    text: str


def edit_releases(content: bytes, edits: Sequence[Edit], file: str) -> bytes:
    """Return the content of the file after the edits. Raises ReleasesError if it cannot be edited.

    Cost: the text is parsed three times, independent of the number of edits.
    """
    intended = apply_edits(parse_releases(content, file), edits)
    text = _decode(content, file)
    bom = _BOM if content.startswith(_BOM) else b""
    try:
        found = bom + _edit_text(text, edits).encode()
        is_intended = parse_releases(found, file) == intended
    except (_NotEditable, ReleasesError):
        is_intended = False
    if not is_intended:
        hint = "write `releases:` as a list of mappings without anchors, or edit the file: "
        raise ReleasesError(
            f"{file} cannot be edited automatically", hint=hint + _describe_edits(edits), file=file
        )
    return found


def _edit_text(text: str, edits: Sequence[Edit]) -> str:
    """Apply all edits to the text. A new release comes after other edits at the same position."""
    document, parts, at = _Document(text), list[str](), 0
    ordered = sorted(edits, key=lambda edit: isinstance(edit, AddRelease))
    for text_edit in sorted(map(document.text_edit, ordered), key=lambda edit: edit.start):
        parts += (text[at : text_edit.start], text_edit.text)
        at = max(at, text_edit.end)
    return "".join((*parts, text[at:]))


def _decode(content: bytes, file: str) -> str:
    """Decode UTF-8. YAML in UTF-16 is not supported."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReleasesError(
            f"{file} is not UTF-8: {error.reason}", hint="save it as UTF-8", file=file
        ) from error


def _describe_edits(edits: Sequence[Edit]) -> str:
    return "; ".join(
        f"add {format_release(edit.release)}"
        if isinstance(edit, AddRelease)
        else f"set channels: {format_channels(edit.channels)}"
        if isinstance(edit, SetChannels)
        else f"set {'pins' if isinstance(edit, SetPins) else edit.key}: {format_scalar(edit.value)}"
        for edit in edits
    )


class _Document:
    """A text with its YAML nodes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.top = _parse_nodes(text)

    def text_edit(self, edit: Edit) -> _TextEdit:
        releases = _value(self.top, "releases")
        if isinstance(edit, SetPins):
            return self._pins(edit)
        if isinstance(edit, SetField):
            return self._field(_item(releases, edit.position), edit)
        if isinstance(edit, SetChannels):
            old = _value(_item(releases, edit.position), "channels")
            return _TextEdit(old.start_mark.index, self._end(old), format_channels(edit.channels))
        return self._new_release(releases, edit)

    def _new_release(self, releases: Any, edit: AddRelease) -> _TextEdit:
        if isinstance(releases, yaml.ScalarNode) and releases.value.startswith("*"):
            raise _NotEditable
        if not isinstance(releases, yaml.SequenceNode) or not releases.value:
            return self._first_release(releases, edit)
        last = releases.value[-1]
        if releases.flow_style:
            end = self._end(last)
            return _TextEdit(end, end, f", {format_release(edit.release)}")
        column = self._dashes(releases)
        at = self._below(last, column)
        gap = [""] if self._is_spaced(releases.value) else []
        return self._lines(at, [*gap, *release_lines(edit.release, " " * column)])

    def _dashes(self, releases: Any) -> int:
        """The column of the dashes of a block sequence, which may follow an anchor."""
        start: int = releases.start_mark.index
        found = _DASH.search(self.text, start) if self.text[start] != "-" else None
        return len(found[0]) - 1 if found else int(releases.start_mark.column)

    def _pins(self, edit: SetPins) -> _TextEdit:
        """Replace the value, or insert a line after the default channel."""
        found = {key.value: value for key, value in self.top.value}
        if "pins" in found:
            return _TextEdit(
                found["pins"].start_mark.index, self._end(found["pins"]), format_scalar(edit.value)
            )
        at = self._next_line(self._end(found["defaultChannel"]))
        return self._lines(at, [f"pins: {format_scalar(edit.value)}"])

    def _first_release(self, releases: Any, edit: AddRelease) -> _TextEdit:
        """Insert the first release in place of `[]` or nothing."""
        start, end = releases.start_mark.index, releases.end_mark.index
        lines = self.newline.join(("", *release_lines(edit.release, "  ")))
        return _TextEdit(start - (self.text[start - 1] == " "), end, lines)

    def _is_spaced(self, items: Sequence[Any]) -> bool:
        """Whether a blank line precedes the last of several items."""
        lines = self.text[: items[-1].start_mark.index].splitlines()
        above = (line for line in reversed(lines[:-1]) if not line.lstrip().startswith("#"))
        return len(items) > 1 and not next(above, "").strip()

    def _field(self, release: Any, edit: SetField) -> _TextEdit:
        value = format_scalar(edit.value)
        for key, old in release.value:
            if key.value == edit.key:
                gap = "" if self.text[old.start_mark.index - 1].isspace() else " "
                return _TextEdit(old.start_mark.index, self._end(old), gap + value)
        if release.flow_style:
            end = self._end(release.value[-1][1])
            return _TextEdit(end, end, f", {edit.key}: {value}")
        start = release if self.text[release.start_mark.index] not in "&!" else release.value[0][0]
        column = start.start_mark.column
        return self._lines(self._below(release, column - 1), [f"{' ' * column}{edit.key}: {value}"])

    def _lines(self, at: int, lines: Sequence[str]) -> _TextEdit:
        """Insert whole lines at the start of a line, or after a last line without a line break."""
        block = "".join(f"{line}{self.newline}" for line in lines)
        is_open = at > 0 and self.text[at - 1] != "\n"
        return _TextEdit(at, at, f"{self.newline}{block.removesuffix(self.newline)}" if is_open else block)

    def _below(self, node: Any, column: int) -> int:
        """The start of the line below a node and its comments, which are indented deeper than a column."""
        at = self._next_line(max(self._end(node) - 1, 0))
        while at < len(self.text):
            line = self.text[at:].partition("\n")[0]
            comment = line.lstrip(" ")
            if not comment.startswith("#") or len(line) - len(comment) <= column:
                break
            at = self._next_line(at)
        return at

    def _next_line(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end + 1

    def _end(self, node: Any) -> int:
        """The end of a node's text. The end mark of a block is at the next token, after comments."""
        while not isinstance(node, yaml.ScalarNode) and not node.flow_style and node.value:
            last = node.value[-1]
            node = last[1] if isinstance(last, tuple) else last
        return int(node.end_mark.index)


def _value(mapping: Any, key: str) -> Any:
    for name, value in mapping.value:
        if name.value == key:
            return value
    raise _NotEditable


def _item(releases: Any, position: int) -> Any:
    """The node of a release."""
    item = releases.value[position] if isinstance(releases, yaml.SequenceNode) else None
    if not isinstance(item, yaml.MappingNode):
        raise _NotEditable
    return item


def _parse_nodes(text: str) -> Any:
    """Return the top node of the first document. Unlike `yaml.compose`, an alias is a scalar node.

    The composer replaces an alias by the node of its anchor, and an edit would go to the anchor.
    """
    events = yaml.parse(text, Loader=_Loader)
    starts = (yaml.StreamStartEvent, yaml.DocumentStartEvent)
    first = next(event for event in events if not isinstance(event, starts))
    return _node(first, events)


def _node(event: Any, events: Iterator[Any]) -> Any:
    start: Any = event.start_mark
    if isinstance(event, yaml.SequenceStartEvent):
        *below, end = _child_nodes(events)
        return yaml.SequenceNode("", below, start, end.end_mark, flow_style=event.flow_style)
    if isinstance(event, yaml.MappingStartEvent):
        *below, end = _child_nodes(events)
        items = list(zip(below[::2], below[1::2], strict=True))
        return yaml.MappingNode("", items, start, end.end_mark, flow_style=event.flow_style)
    value = f"*{event.anchor}" if isinstance(event, yaml.AliasEvent) else event.value
    return yaml.ScalarNode("", value, event.start_mark, event.end_mark)


def _child_nodes(events: Iterator[Any]) -> Iterator[Any]:
    """Yield the nodes of a collection, and last its end event."""
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            yield event
            return
        yield _node(event, events)
