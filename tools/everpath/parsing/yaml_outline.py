"""Find the keys of block-style YAML without parsing it.

Tools write Kubernetes manifests alike: keys at the start of a line, children two or four spaces further in.
The keys of such a file, and the few values that matter, are found with regular expressions. Any other layout
raises `UnsupportedLayout`, and the caller parses the text.

The result is that of a parser, if the text is valid YAML. A line that looks like a key may be part of a value
that started above: not of a block or plain scalar, whose lines are indented further, but of a quoted scalar
or a flow collection, which libyaml accepts at any indentation. So every value is checked to have ended before
the next key.
"""

from __future__ import annotations

__all__ = ["Section", "UnsupportedLayout", "mapping", "scalar", "scalars", "sections"]

import re
from functools import lru_cache
from typing import Final, NamedTuple

from everpath.parsing.yaml_scalars import resolve

_KEY: Final = rb"[A-Za-z_][A-Za-z0-9_./-]*|\"[^\"\\\n]+\"|'[^'\n]+'"

# Comments and a separator before the first key.
_HEAD: Final = re.compile(rb"(?: *(?:#[^\n]*)?\n)*(?:---(?: +#[^\n]*| *)\n(?: *(?:#[^\n]*)?\n)*)?")
_FIRST_INDENT: Final = re.compile(rb"\n( +)[^ \n#]")
_BLANK: Final = re.compile(rb" *(?:(?<= )#[^\n]*)?(?:\n *(?:#[^\n]*)?)*")

# Most values: a word or string on the line of its key, or a block scalar.
_SIMPLE: Final = re.compile(
    rb" +(?:(?:[A-Za-z0-9_./<~][^\n#\"'\[\]{},]*|\"[^\"\\\n]*\"|'[^'\n]*') *\Z|[|>][-+]?\n)"
)
_BLOCK_HEADER: Final = re.compile(rb"[|>][-+0-9]* *(?:(?<= )#[^\n]*)?(?:\n|\Z)")
_NESTED: Final = re.compile(rb"(?: *(?:#[^\n]*)?\n)+ *(?:-[ \n]|(?:%b):(?:[ \n]|\Z))" % _KEY)
_LOWER_QUOTED: Final = re.compile(rb"(?: *(?:#[^\n]*)?\n)+ *(?=[\"'])")
_DOUBLE_QUOTED: Final = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SINGLE_QUOTED: Final = re.compile(rb"'(?:[^']|'')*'")
_STRINGS: Final = re.compile(rb"\"[^\"\\\n]*\"|'[^'\n]*'")
_NOT_PLAIN: Final = re.compile(rb"[][{}#]|\n[^:]*:(?:[ \n]|\Z)")
_PLAIN: Final = re.compile(rb"[A-Za-z0-9_./<~][^\n]*")
_ITEMS: Final = re.compile(rb"\n( *)- +([^\n]*)")

# A quoted scalar may start after these characters. After others, a quote is a letter or ends a scalar.
_MAY_OPEN: Final = frozenset(b"[{,:?-")

# Line breaks of libyaml other than a line feed.
_ODD_BREAKS: Final = tuple(c.encode() for c in "\x85\u2028\u2029")

_QUOTE, _APOSTROPHE, _BACKSLASH = b"\"'\\"


class UnsupportedLayout(Exception):
    """The text has a layout that only a parser can read."""


class Section(NamedTuple):
    """The value of a top-level key: its bytes up to the first nested key, and the nested keys and values."""

    value: bytes
    keys: list[str]
    values: list[bytes]

    def mapping(self) -> dict[str, bytes]:
        """Return the nested keys with their values. Raises `UnsupportedLayout` if there is anything else."""
        if not self.keys or not _BLANK.fullmatch(self.value):
            raise UnsupportedLayout
        return _unique_values_by_key(self.keys, self.values)


def sections(data: bytes) -> dict[str, Section]:
    """Return the top-level keys of a text. Raises `UnsupportedLayout`."""
    _check_text(data)
    start = _HEAD.match(data)
    data = b"\n" + data[start.end() if start else 0 :]
    first = _FIRST_INDENT.search(data)
    head, indents, keys, values = _split(data, len(first[1]) if first else 1)
    if head or (indents and indents[0]):
        raise UnsupportedLayout
    tops = [at for at, indent in enumerate(indents) if not indent]
    ends = [*tops[1:], len(keys)]
    found = {
        keys[at]: Section(values[at], keys[at + 1 : end], values[at + 1 : end])
        for at, end in zip(tops, ends, strict=True)
    }
    if len(found) < len(tops):
        raise UnsupportedLayout
    return found


def mapping(value: bytes) -> dict[str, bytes]:
    """Return the keys of a mapping with their values; none if the value is empty."""
    first = _FIRST_INDENT.search(value)
    head, indents, keys, values = _split(value, len(first[1]) if first else 1)
    if not all(indents) or not _BLANK.fullmatch(head):
        raise UnsupportedLayout
    return _unique_values_by_key(keys, values)


def _unique_values_by_key(keys: list[str], values: list[bytes]) -> dict[str, bytes]:
    """Return values by key. A parser decides which of two equal keys counts."""
    named = dict(zip(keys, values, strict=True))
    if len(named) < len(keys):
        raise UnsupportedLayout
    return named


def _check_text(data: bytes) -> None:
    """Raise `UnsupportedLayout` unless the text is UTF-8 and only line feeds end its lines."""
    if b"\r" in data or b"\0" in data:
        raise UnsupportedLayout
    if data.isascii():
        return
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise UnsupportedLayout from error
    # Searching for the last byte first is six times as fast.
    if any(mark[-1:] in data and mark in data for mark in _ODD_BREAKS):
        raise UnsupportedLayout


@lru_cache(maxsize=16)
def _keys(width: int) -> re.Pattern[bytes]:
    """Return a pattern for lines with an indentation of at most `width`, with their key if they have one."""
    # The lookahead only makes the search twice as fast.
    pattern = rb"\n(?! {%d})( {0,%d})(?:(%b):(?=[ \n]|\Z)|[^ \n#-]|-[^ \n])"
    return re.compile(pattern % (width + 1, width, _KEY))


def _split(data: bytes, width: int) -> tuple[bytes, list[bytes], list[str], list[bytes]]:
    """Return the text before the first key, and the indentations, names and values of the keys."""
    head, *parts = _keys(width).split(data)
    indents, keys, values = parts[::3], parts[1::3], parts[2::3]
    if None in keys or set(indents) - {b"", b" " * width}:
        raise UnsupportedLayout
    is_simple = _SIMPLE.match
    if not all(is_simple(value) or _has_ended(value) for value in values):
        raise UnsupportedLayout
    return head, indents, [_key(key) for key in keys], values


@lru_cache(maxsize=4096)
def _key(raw: bytes) -> str:
    """Return the name of a key. Raises `UnsupportedLayout` if it is not a string."""
    text = raw.decode()
    if raw[0] in b"\"'":
        return _printable(text[1:-1])
    if resolve(text) != text:
        raise UnsupportedLayout
    return text


def _has_ended(value: bytes) -> bool:
    """Return whether a value certainly ends before the next key."""
    if value[:1] != b"\n":
        value = value.lstrip(b" ")
    first = value[:1]
    if first in (b"\n", b"#", b""):
        return _is_nested_ended(value)
    if first in b"|>":
        return _BLOCK_HEADER.match(value) is not None
    if first in b"\"'":
        return _is_quoted_ended(value, 0)
    if first in b"[{":
        return _is_flow_ended(value)
    return first not in b"&!" and _is_plain_ended(value)


def _is_nested_ended(value: bytes) -> bool:
    """Check a block collection, which is never inside a flow collection: no quote may be open."""
    if _NESTED.match(value):
        return not _is_double_open(value) and not _is_single_open(value)
    gap = _LOWER_QUOTED.match(value)
    return _is_quoted_ended(value, gap.end()) if gap else _is_blank(value)


def _is_quoted_ended(value: bytes, start: int) -> bool:
    quoted = (_DOUBLE_QUOTED if value[start] == _QUOTE else _SINGLE_QUOTED).match(value, start)
    return quoted is not None and _is_blank(value, quoted.end())


def _is_flow_ended(value: bytes) -> bool:
    """Check a flow collection: on one line, with as many closing as opening brackets."""
    line, newline, below = value.partition(b"\n")
    flow = _STRINGS.sub(b"", line)
    is_plain = not any(mark in flow for mark in (b'"', b"'", b"#"))
    opened, closed = (sum(flow.count(b) for b in brackets) for brackets in ((b"{", b"["), (b"}", b"]")))
    return is_plain and opened == closed and _is_blank(newline + below)


def _is_plain_ended(value: bytes) -> bool:
    """Check a plain scalar. Inside a flow collection, a comma or bracket would precede the next key."""
    line, newline, below = value.partition(b"\n")
    if _is_blank(newline + below):
        return line.partition(b" #")[0].rstrip()[-1:] not in (b",", b"]", b"}")
    return not _NOT_PLAIN.search(value)


def _is_double_open(value: bytes) -> bool:
    """Return whether the last quote of a value may open a double-quoted scalar that continues after it."""
    at = value.rfind(b'"')
    while at >= 0 and _run(value, at, _BACKSLASH) % 2:
        at = value.rfind(b'"', 0, at)
    return at >= 0 and _may_open(value, at)


def _is_single_open(value: bytes) -> bool:
    """Return the same for single quotes. An even run of them opens nothing."""
    at = value.rfind(b"'")
    while at >= 0:
        before = _run(value, at, _APOSTROPHE)
        if before % 2 == 0:
            return _may_open(value, at - before)
        at = value.rfind(b"'", 0, at - before)
    return False


def _run(value: bytes, at: int, byte: int) -> int:
    """Return how many equal bytes are right before an index."""
    first = at
    while first and value[first - 1] == byte:
        first -= 1
    return at - first


def _may_open(value: bytes, at: int) -> bool:
    """Return whether a scalar may start at an index: after an indicator, tag, anchor or comment line."""
    word = value[:at].rstrip(b" \t\n")
    if not word or word[-1] in _MAY_OPEN:
        return True
    if len(word) == at:
        return False
    last = word[word.rfind(b"\n") + 1 :]
    return last[last.rfind(b" ") + 1] in b"&!" or (b"#" in last and b"\n" in value[len(word) : at])


def _is_blank(value: bytes, start: int = 0) -> bool:
    """Return whether there is only white space and comments."""
    return _BLANK.fullmatch(value, start) is not None


def scalar(value: bytes) -> str | None:
    """Return a string of one line; None for null."""
    line, newline, below = value.partition(b"\n")
    if newline and not _is_blank(newline + below):
        raise UnsupportedLayout
    raw = line.strip(b" ")
    if not raw or raw.startswith(b"#"):
        return None
    return _string(raw)


def scalars(value: bytes) -> tuple[str, ...]:
    """Return the strings of a block sequence, or of `[]`."""
    if value.strip() == b"[]":
        return ()
    head, *parts = _ITEMS.split(value)
    indents, items, gaps = parts[::3], parts[1::3], parts[2::3]
    if len(set(indents)) > 1 or not all(map(_is_blank, (head, *gaps))):
        raise UnsupportedLayout
    return tuple(_string(item.strip(b" ")) for item in items)


def _string(raw: bytes) -> str:
    """Return a plain or quoted string. Raises `UnsupportedLayout`."""
    if raw[:1] in (b'"', b"'"):
        quoted = (_DOUBLE_QUOTED if raw[0] == _QUOTE else _SINGLE_QUOTED).match(raw)
        if quoted is None or b"\\" in raw or not _is_blank(raw, quoted.end()):
            raise UnsupportedLayout
        text = quoted[0][1:-1].decode()
        return _printable(text.replace("''", "'") if raw[0] == _APOSTROPHE else text)
    plain = raw.partition(b" #")[0].rstrip(b" ")
    if not _PLAIN.fullmatch(plain) or b": " in plain or plain.endswith(b":"):
        raise UnsupportedLayout
    text = plain.decode()
    if resolve(text) != text:
        raise UnsupportedLayout
    return _printable(text)


def _printable(text: str) -> str:
    """Return the text, unless a parser might reject one of its characters."""
    if not text.isprintable():
        raise UnsupportedLayout
    return text
