"""The outline of block-style YAML, found in the bytes without parsing them.

Everything that writes Kubernetes manifests writes them alike: keys at the start of a line, children two
(or four) blanks further in. The keys of such a file, and the few values that matter, can be had at the
speed of a search. Whatever else YAML allows raises `Unfamiliar`, and the caller parses the text instead.

What is found is what a parser would find, given that the text is YAML at all. A line that looks like a key
is none only inside a value that began above: not in a block or plain scalar, whose lines stand further in,
but in a quoted scalar or a flow collection, which libyaml lets run on at any indentation. So no value is
passed over until it is known to have ended.
"""

from __future__ import annotations

__all__ = ["Section", "UnsupportedLayout", "mapping", "scalar", "scalars", "sections"]

import re
from functools import lru_cache
from typing import Final, NamedTuple

from everpath.parsing.yaml_scalars import resolve

_KEY: Final = rb"[A-Za-z_][A-Za-z0-9_./-]*|\"[^\"\\\n]+\"|'[^'\n]+'"

# What may stand before the first key.
_HEAD: Final = re.compile(rb"(?: *(?:#[^\n]*)?\n)*(?:---(?: +#[^\n]*| *)\n(?: *(?:#[^\n]*)?\n)*)?")
_FIRST_INDENT: Final = re.compile(rb"\n( +)[^ \n#]")
_BLANK: Final = re.compile(rb" *(?:(?<= )#[^\n]*)?(?:\n *(?:#[^\n]*)?)*")

# Most values: one word or one string on the line of its key, or a block scalar.
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

# Behind these a value may begin, and with it a quoted one; behind all else a quote is a letter or an end.
_MAY_OPEN: Final = frozenset(b"[{,:?-")

# What ends a line for libyaml, beside a line feed.
_ODD_BREAKS: Final = tuple(c.encode() for c in "\x85\u2028\u2029")

_QUOTE, _APOSTROPHE, _BACKSLASH = b"\"'\\"


class UnsupportedLayout(Exception):
    """The text has a shape that only a parser can be trusted with."""


class Section(NamedTuple):
    """A top-level key: the bytes of its value up to the first key one step further in, and those keys."""

    value: bytes
    keys: list[str]
    values: list[bytes]

    def mapping(self) -> dict[str, bytes]:
        """The keys one step further in with their values, if they are what the value consists of."""
        if not self.keys or not _BLANK.fullmatch(self.value):
            raise UnsupportedLayout
        return _named(self.keys, self.values)


def sections(data: bytes) -> dict[str, Section]:
    """The top-level keys of a text. Cost: one search over the text, and a look at each key."""
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
    """The keys of the mapping that a value is, with their values; none when there is no value."""
    first = _FIRST_INDENT.search(value)
    head, indents, keys, values = _split(value, len(first[1]) if first else 1)
    if not all(indents) or not _BLANK.fullmatch(head):
        raise UnsupportedLayout
    return _named(keys, values)


def _named(keys: list[str], values: list[bytes]) -> dict[str, bytes]:
    """Values by key; a parser decides which of two counts."""
    named = dict(zip(keys, values, strict=True))
    if len(named) < len(keys):
        raise UnsupportedLayout
    return named


def _check_text(data: bytes) -> None:
    """Only text whose lines end where they seem to."""
    if b"\r" in data or b"\0" in data:
        raise UnsupportedLayout
    if data.isascii():
        return
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise UnsupportedLayout from error
    # Looking for the last byte first is six times as fast.
    if any(mark[-1:] in data and mark in data for mark in _ODD_BREAKS):
        raise UnsupportedLayout


@lru_cache(maxsize=16)
def _keys(width: int) -> re.Pattern[bytes]:
    """Finds lines that stand at most `width` in. Without a key, where there is none."""
    # The lookahead is not needed for the meaning; it makes the search twice as fast.
    pattern = rb"\n(?! {%d})( {0,%d})(?:(%b):(?=[ \n]|\Z)|[^ \n#-]|-[^ \n])"
    return re.compile(pattern % (width + 1, width, _KEY))


def _split(data: bytes, width: int) -> tuple[bytes, list[bytes], list[str], list[bytes]]:
    """What stands before the first key; then of each key its indentation, its text and its value."""
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
    """The text of a key, if it is a string."""
    text = raw.decode()
    if raw[0] in b"\"'":
        return _printable(text[1:-1])
    if resolve(text) != text:
        raise UnsupportedLayout
    return text


def _has_ended(value: bytes) -> bool:
    """Whether a value ends where the next key begins, whatever that is."""
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
    """A block mapping or sequence (neither can stand in a flow collection) that leaves no quote open."""
    if _NESTED.match(value):
        return not _is_double_open(value) and not _is_single_open(value)
    gap = _LOWER_QUOTED.match(value)
    return _is_quoted_ended(value, gap.end()) if gap else _is_blank(value)


def _is_quoted_ended(value: bytes, start: int) -> bool:
    quoted = (_DOUBLE_QUOTED if value[start] == _QUOTE else _SINGLE_QUOTED).match(value, start)
    return quoted is not None and _is_blank(value, quoted.end())


def _is_flow_ended(value: bytes) -> bool:
    """A flow collection on one line, with as many ends as beginnings."""
    line, newline, below = value.partition(b"\n")
    flow = _STRINGS.sub(b"", line)
    is_plain = not any(mark in flow for mark in (b'"', b"'", b"#"))
    opened, closed = (sum(flow.count(b) for b in brackets) for brackets in ((b"{", b"["), (b"}", b"]")))
    return is_plain and opened == closed and _is_blank(newline + below)


def _is_plain_ended(value: bytes) -> bool:
    """Inside a flow collection a comma or a bracket would have to come before the next key."""
    line, newline, below = value.partition(b"\n")
    if _is_blank(newline + below):
        return line.partition(b" #")[0].rstrip()[-1:] not in (b",", b"]", b"}")
    return not _NOT_PLAIN.search(value)


def _is_double_open(value: bytes) -> bool:
    """Whether a double-quoted scalar may run on behind a value: its last quote would have opened it."""
    at = value.rfind(b'"')
    while at >= 0 and _run(value, at, _BACKSLASH) % 2:
        at = value.rfind(b'"', 0, at)
    return at >= 0 and _may_open(value, at)


def _is_single_open(value: bytes) -> bool:
    """The same for single quotes. An even run of them changes nothing, be it '' or an escape."""
    at = value.rfind(b"'")
    while at >= 0:
        before = _run(value, at, _APOSTROPHE)
        if before % 2 == 0:
            return _may_open(value, at - before)
        at = value.rfind(b"'", 0, at - before)
    return False


def _run(value: bytes, at: int, byte: int) -> int:
    """How many of one byte stand right before an index."""
    first = at
    while first and value[first - 1] == byte:
        first -= 1
    return at - first


def _may_open(value: bytes, at: int) -> bool:
    """Whether a scalar may begin at an index: behind an indicator, a tag, an anchor, or a comment line."""
    word = value[:at].rstrip(b" \t\n")
    if not word or word[-1] in _MAY_OPEN:
        return True
    if len(word) == at:
        return False
    last = word[word.rfind(b"\n") + 1 :]
    return last[last.rfind(b" ") + 1] in b"&!" or (b"#" in last and b"\n" in value[len(word) : at])


def _is_blank(value: bytes, start: int = 0) -> bool:
    """Whether there is nothing but blanks and comments."""
    return _BLANK.fullmatch(value, start) is not None


def scalar(value: bytes) -> str | None:
    """The string a value is, None for null. Strings on one line only, and nothing below them."""
    line, newline, below = value.partition(b"\n")
    if newline and not _is_blank(newline + below):
        raise UnsupportedLayout
    raw = line.strip(b" ")
    if not raw or raw.startswith(b"#"):
        return None
    return _string(raw)


def scalars(value: bytes) -> tuple[str, ...]:
    """The strings of a block sequence, or of an empty flow one."""
    if value.strip() == b"[]":
        return ()
    head, *parts = _ITEMS.split(value)
    indents, items, gaps = parts[::3], parts[1::3], parts[2::3]
    if len(set(indents)) > 1 or not all(map(_is_blank, (head, *gaps))):
        raise UnsupportedLayout
    return tuple(_string(item.strip(b" ")) for item in items)


def _string(raw: bytes) -> str:
    """What one line of YAML says, if it is a string in one of the three common styles."""
    if raw[:1] in (b'"', b"'"):
        return _quoted(raw)
    plain = raw.partition(b" #")[0].rstrip(b" ")
    if not _PLAIN.fullmatch(plain) or b": " in plain or plain.endswith(b":"):
        raise UnsupportedLayout
    text = plain.decode()
    if resolve(text) != text:
        raise UnsupportedLayout
    return _printable(text)


def _quoted(raw: bytes) -> str:
    quoted = (_DOUBLE_QUOTED if raw[0] == _QUOTE else _SINGLE_QUOTED).match(raw)
    if quoted is None or b"\\" in raw or not _is_blank(raw, quoted.end()):
        raise UnsupportedLayout
    text = quoted[0][1:-1].decode()
    return _printable(text.replace("''", "'") if raw[0] == _APOSTROPHE else text)


def _printable(text: str) -> str:
    """The text, unless it has a character that a parser might refuse."""
    if not text.isprintable():
        raise UnsupportedLayout
    return text
