"""Edits of releases.yaml made in its text: what is not edited keeps every byte, comments and order included.

The parser says where the values stand, and new text is put between them. To write the document anew from its
nodes would be shorter, but costs the author's indentation, alignment and line breaks. The result is read
again and must say what was meant: a file that is too unusual to be edited is refused, never spoiled.
"""

from __future__ import annotations

__all__ = ["edit_releases"]

import codecs
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import yaml

from everpath.errors import ReleasesError
from everpath.loaders.releases.formatting import format_channels, format_release, format_scalar, release_lines
from everpath.loaders.releases.nodes import written_nodes
from everpath.loaders.releases.parser import parse_releases
from everpath.releases.release_plan import AddRelease, Edit, SetChannels, SetField, SetPins, apply_edits

_BOM: Final = codecs.BOM_UTF8
_DASH: Final = re.compile(r"^ *-", re.MULTILINE)


class _Unusual(Exception):
    """A value is not where it would be edited, but behind an alias or a merge."""


class _Insertion(NamedTuple):
    """New text in the place of text[start:end]."""

    start: int
    end: int
    text: str


def edit_releases(content: bytes, edits: Sequence[Edit], file: str) -> bytes:
    """The text after the edits. Raises ReleasesError if it cannot be made to say that.

    Cost: the text is parsed three times, however many edits there are.
    """
    wanted = apply_edits(parse_releases(content, file), edits)
    text = _decoded(content, file)
    mark = _BOM if content.startswith(_BOM) else b""
    try:
        found = mark + _inserted(text, edits).encode()
        is_meant = parse_releases(found, file) == wanted
    except (_Unusual, ReleasesError):
        is_meant = False
    if not is_meant:
        hint = "write `releases:` as a list of mappings without anchors, or make the edit by hand: "
        raise ReleasesError(
            f"{file} is written in a way that cannot be edited", hint=hint + _by_hand(edits), file=file
        )
    return found


def _inserted(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits in it; of those at one place a new release comes last."""
    page, parts, at = _Page(text), list[str](), 0
    ordered = sorted(edits, key=lambda edit: isinstance(edit, AddRelease))
    for insertion in sorted(map(page.insertion, ordered), key=lambda insertion: insertion.start):
        parts += (text[at : insertion.start], insertion.text)
        at = max(at, insertion.end)
    return "".join((*parts, text[at:]))


def _decoded(content: bytes, file: str) -> str:
    """YAML may also be UTF-16; nobody's editor writes that today."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReleasesError(
            f"{file} is not UTF-8: {error.reason}", hint="save it as UTF-8", file=file
        ) from error


def _by_hand(edits: Sequence[Edit]) -> str:
    return "; ".join(
        f"add {format_release(edit.release)}"
        if isinstance(edit, AddRelease)
        else f"set channels: {format_channels(edit.channels)}"
        if isinstance(edit, SetChannels)
        else f"set {'pins' if isinstance(edit, SetPins) else edit.key}: {format_scalar(edit.value)}"
        for edit in edits
    )


class _Page:
    """A text with its nodes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.top = written_nodes(text)

    def insertion(self, edit: Edit) -> _Insertion:
        releases = _value(self.top, "releases")
        if isinstance(edit, SetPins):
            return self._pins(edit)
        if isinstance(edit, SetField):
            return self._field(_item(releases, edit.position), edit)
        if isinstance(edit, SetChannels):
            old = _value(_item(releases, edit.position), "channels")
            return _Insertion(old.start_mark.index, self._end(old), format_channels(edit.channels))
        return self._release(releases, edit)

    def _release(self, releases: Any, edit: AddRelease) -> _Insertion:
        if isinstance(releases, yaml.ScalarNode) and releases.value.startswith("*"):
            raise _Unusual
        if not isinstance(releases, yaml.SequenceNode) or not releases.value:
            return self._first(releases, edit)
        last = releases.value[-1]
        if releases.flow_style:
            end = self._end(last)
            return _Insertion(end, end, f", {format_release(edit.release)}")
        column = self._dashes(releases)
        at = self._below(last, column)
        gap = [""] if self._is_spaced(releases.value) else []
        return self._lines(at, [*gap, *release_lines(edit.release, " " * column)])

    def _dashes(self, releases: Any) -> int:
        """The column of a block sequence's dashes, also where an anchor stands before them."""
        start: int = releases.start_mark.index
        found = _DASH.search(self.text, start) if self.text[start] != "-" else None
        return len(found[0]) - 1 if found else int(releases.start_mark.column)

    def _pins(self, edit: SetPins) -> _Insertion:
        """In the place of the old name, or on a line of its own behind the default channel."""
        found = {key.value: value for key, value in self.top.value}
        if "pins" in found:
            return _Insertion(
                found["pins"].start_mark.index, self._end(found["pins"]), format_scalar(edit.value)
            )
        at = self._next_line(self._end(found["defaultChannel"]))
        return self._lines(at, [f"pins: {format_scalar(edit.value)}"])

    def _first(self, releases: Any, edit: AddRelease) -> _Insertion:
        """In the place of `[]`, or of nothing."""
        start, end = releases.start_mark.index, releases.end_mark.index
        lines = self.newline.join(("", *release_lines(edit.release, "  ")))
        return _Insertion(start - (self.text[start - 1] == " "), end, lines)

    def _is_spaced(self, items: Sequence[Any]) -> bool:
        """Whether a blank line stands before the last of several items."""
        lines = self.text[: items[-1].start_mark.index].splitlines()
        above = (line for line in reversed(lines[:-1]) if not line.lstrip().startswith("#"))
        return len(items) > 1 and not next(above, "").strip()

    def _field(self, release: Any, edit: SetField) -> _Insertion:
        value = format_scalar(edit.value)
        for key, old in release.value:
            if key.value == edit.key:
                gap = "" if self.text[old.start_mark.index - 1].isspace() else " "
                return _Insertion(old.start_mark.index, self._end(old), gap + value)
        if release.flow_style:
            end = self._end(release.value[-1][1])
            return _Insertion(end, end, f", {edit.key}: {value}")
        start = release if self.text[release.start_mark.index] not in "&!" else release.value[0][0]
        column = start.start_mark.column
        return self._lines(self._below(release, column - 1), [f"{' ' * column}{edit.key}: {value}"])

    def _lines(self, at: int, lines: Sequence[str]) -> _Insertion:
        """Whole lines at the start of a line, or behind an unfinished last one."""
        block = "".join(f"{line}{self.newline}" for line in lines)
        is_open = at > 0 and self.text[at - 1] != "\n"
        return _Insertion(at, at, f"{self.newline}{block.removesuffix(self.newline)}" if is_open else block)

    def _below(self, node: Any, column: int) -> int:
        """The start of the line below a node, and below comments that are indented deeper than a column."""
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
        """Where a node's own text ends. The parser lets blocks reach to the next token, past comments."""
        while not isinstance(node, yaml.ScalarNode) and not node.flow_style and node.value:
            last = node.value[-1]
            node = last[1] if isinstance(last, tuple) else last
        return int(node.end_mark.index)


def _value(mapping: Any, key: str) -> Any:
    for name, value in mapping.value:
        if name.value == key:
            return value
    raise _Unusual


def _item(releases: Any, position: int) -> Any:
    """The mapping of a release."""
    item = releases.value[position] if isinstance(releases, yaml.SequenceNode) else None
    if not isinstance(item, yaml.MappingNode):
        raise _Unusual
    return item
