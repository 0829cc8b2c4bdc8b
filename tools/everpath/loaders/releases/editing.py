"""Edits the text of releases.yaml in place: comments, order and formatting of the rest stay as they are.

New text is inserted at the positions of the parsed nodes. The result is parsed and compared with the intended
file; a file that cannot be edited this way is refused.
"""

from __future__ import annotations

__all__ = ["edit_releases"]

import codecs
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from everpath.errors import ReleasesError
from everpath.loaders.releases.formatting import format_channels, format_release, format_scalar, release_lines
from everpath.loaders.releases.parser import parse_releases
from everpath.parsing.positions import YamlNode, yaml_nodes
from everpath.releases.release_plan import (
    AddRelease,
    ReleasesEdit,
    SetChannels,
    SetField,
    SetPins,
    apply_edits,
)

_BOM: Final = codecs.BOM_UTF8
_DASH: Final = re.compile(r"^ *-", re.MULTILINE)


class _NotEditable(Exception):
    """A value to be edited is an alias or comes from a merge key."""


class _TextEdit(NamedTuple):
    """New text in place of text[start:end]."""

    start: int
    end: int
    text: str


def edit_releases(content: bytes, edits: Sequence[ReleasesEdit], file: str) -> bytes:
    """Return the content of the file after the edits. Raises ReleasesError if it cannot be edited.

    Cost: the text is parsed three times, independent of the number of edits.
    """
    intended = apply_edits(parse_releases(content, file), edits)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{file} is not UTF-8: {error.reason}"
        raise ReleasesError(message, hint="save it as UTF-8", file=file) from error
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


def _edit_text(text: str, edits: Sequence[ReleasesEdit]) -> str:
    """Apply all edits to the text. A new release comes after other edits at the same position."""
    document, parts, at = _Document(text), list[str](), 0
    ordered = sorted(edits, key=lambda edit: isinstance(edit, AddRelease))
    for text_edit in sorted(map(document.text_edit, ordered), key=lambda edit: edit.start):
        parts += (text[at : text_edit.start], text_edit.text)
        at = max(at, text_edit.end)
    return "".join((*parts, text[at:]))


def _describe_edits(edits: Sequence[ReleasesEdit]) -> str:
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
        self.top = yaml_nodes(text.encode())

    def text_edit(self, edit: ReleasesEdit) -> _TextEdit:
        releases = _child(self.top, "releases")
        if isinstance(edit, SetPins):
            return self._pins(edit)
        if isinstance(edit, SetField):
            return self._field(_child(releases, edit.position), edit)
        if isinstance(edit, SetChannels):
            old = _child(_child(releases, edit.position), "channels")
            return _TextEdit(old.start, _end(old), format_channels(edit.channels))
        return self._new_release(releases, edit)

    def _new_release(self, releases: YamlNode, edit: AddRelease) -> _TextEdit:
        if releases.kind == "alias":
            raise _NotEditable
        if not releases.children:
            # In place of `[]` or nothing.
            start = releases.start - (self.text[releases.start - 1] == " ")
            lines = self.newline.join(("", *release_lines(edit.release, "  ")))
            return _TextEdit(start, releases.end, lines)
        items = list(releases.children.values())
        if releases.is_flow:
            end = _end(items[-1])
            return _TextEdit(end, end, f", {format_release(edit.release)}")
        column = self._dash_column(releases)
        at = self._below(items[-1], column)
        lines_above = self.text[: items[-1].start].splitlines()[:-1]
        above = (line for line in reversed(lines_above) if not line.lstrip().startswith("#"))
        gap = [""] if len(items) > 1 and not next(above, "").strip() else []
        return self._lines(at, [*gap, *release_lines(edit.release, " " * column)])

    def _dash_column(self, releases: YamlNode) -> int:
        """The column of the dashes of a block sequence, which may follow an anchor."""
        start = releases.start
        found = _DASH.search(self.text, start) if self.text[start] != "-" else None
        return len(found[0]) - 1 if found else self._column(start)

    def _pins(self, edit: SetPins) -> _TextEdit:
        """Replace the value, or insert a line after the default channel."""
        if self.top and (old := self.top.children.get("pins")):
            return _TextEdit(old.start, _end(old), format_scalar(edit.value))
        at = self._next_line(_end(_child(self.top, "defaultChannel")))
        return self._lines(at, [f"pins: {format_scalar(edit.value)}"])

    def _field(self, release: YamlNode, edit: SetField) -> _TextEdit:
        if release.kind != "mapping":
            raise _NotEditable
        value = format_scalar(edit.value)
        if old := release.children.get(edit.key):
            gap = "" if self.text[old.start - 1].isspace() else " "
            return _TextEdit(old.start, _end(old), gap + value)
        fields = list(release.children.values())
        if release.is_flow:
            end = _end(fields[-1])
            return _TextEdit(end, end, f", {edit.key}: {value}")
        # The node starts at its anchor or tag, if it has one.
        column = self._column(fields[0].key_start if self.text[release.start] in "&!" else release.start)
        return self._lines(self._below(release, column - 1), [f"{' ' * column}{edit.key}: {value}"])

    def _column(self, at: int) -> int:
        return at - self.text.rfind("\n", 0, at) - 1

    def _lines(self, at: int, lines: Sequence[str]) -> _TextEdit:
        """Insert whole lines at the start of a line, or after a last line without a line break."""
        block = "".join(f"{line}{self.newline}" for line in lines)
        is_open = at > 0 and self.text[at - 1] != "\n"
        return _TextEdit(at, at, f"{self.newline}{block.removesuffix(self.newline)}" if is_open else block)

    def _below(self, node: YamlNode, column: int) -> int:
        """The start of the line below a node and its comments, which are indented deeper than a column."""
        at = self._next_line(max(_end(node) - 1, 0))
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


def _end(node: YamlNode) -> int:
    """The end of a node's text, without the comments below a block."""
    while node.children and not node.is_flow:
        node = next(reversed(node.children.values()))
    return node.end


def _child(node: YamlNode | None, step: str | int) -> YamlNode:
    """The value of a key or the item of a list. Raises `_NotEditable` if an alias or a merge key has it."""
    child = node.children.get(step) if node else None
    if child is None:
        raise _NotEditable
    return child
