"""Odd catalogs, whether opm 1.73 loads them, and which problems everpath reports.

`opm` is the result of its loader. Where they differ, everpath reports a problem: opm loads such a file
without a message, and drops or changes a part of it.
"""

from __future__ import annotations

__all__ = ["STREAMS", "Stream"]

from typing import NamedTuple


class Stream(NamedTuple):
    """A text, the result of opm, and the kinds of everpath's problems in order."""

    text: bytes
    opm: bool
    kinds: tuple[str, ...] = ()


_P = b"schema: olm.package\nname: a\ndefaultChannel: s\n"
_J = b'{"schema": "olm.package", "name": "a"}'


def _ok(text: bytes) -> Stream:
    return Stream(text, opm=True)


def _bad(text: bytes, *kinds: str) -> Stream:
    return Stream(text, opm=False, kinds=kinds)


def _more(text: bytes, *kinds: str) -> Stream:
    """Return a text that opm loads and everpath reports."""
    return Stream(text, opm=True, kinds=kinds)


_SEPARATORS = {
    "one document": _ok(_P),
    "a separator at the start": _ok(b"---\n" + _P),
    "a separator at the end": _ok(_P + b"---\n"),
    "a separator at the end without a newline": _ok(_P + b"---"),
    "a blank line, then a separator": _bad(b"\n---\n" + _P, "blank-document"),
    "two separators at the start": _bad(b"---\n---\n" + _P, "blank-document"),
    "two separators at the end": _bad(_P + b"---\n---\n", "blank-document"),
    "a blank line after the last separator": _bad(_P + b"---\n\n", "blank-document"),
    "a blank document in the middle": _bad(_P + b"---\n\n---\n" + _P, "blank-document"),
    "a licence header closed by a separator": _bad(b"# licence\n---\n" + _P, "blank-document"),
    "a licence header without one": _ok(b"# licence\n" + _P),
    "a comment behind a separator": _ok(_P + b"--- # next\n" + _P),
    "white space behind a separator": _ok(_P + b"---\t \n" + _P),
    "text behind a separator": _bad(_P + b"--- x\n" + _P, "bad-separator"),
    "a separator of four dashes": _bad(_P + b"----\n" + _P, "bad-separator"),
    "a separator run into a word": _bad(_P + b"---a\n" + _P, "bad-separator"),
    "an indented separator": _more(_P + b" ---\n" + _P, *["duplicate-key"] * 3),
    "carriage returns": _ok(_P.replace(b"\n", b"\r\n") + b"---\r\n" + _P),
    "carriage returns alone": _more(_P.replace(b"\n", b"\r") + b"---\r" + _P, "bad-separator"),
    "text after the end of a document": _more(_P + b"...\ngarbage: [\n", "bad-separator"),
    "a directive": _bad(b"%YAML 1.1\n---\n" + _P, "unreadable-document"),
    "white space alone": _bad(b" \n", "blank-document"),
    "a comment alone": _bad(b"# nothing\n", "blank-document"),
    "null": _bad(b"null\n", "blank-document"),
}

_FORMATS = {
    "JSON": _ok(_J),
    "JSON on one line": _ok(_J + _J),
    "JSON on many lines": _ok(_J + b"\n" + _J + b"\n\n  " + _J + b"\n"),
    "JSON behind blank lines": _ok(b"  \n\n" + _J),
    "JSON behind more blanks than are sniffed": _ok(b" " * 4096 + _J),
    "JSON, then YAML": _ok(_J + b"\n---\n" + _P),
    "JSON, then YAML without a separator": _ok(_J + b"\n" + _P),
    "JSON, then JSON behind separators": _ok(_J + b"\n--- \n" + _J + b"\n---\n" + _J),
    "JSON twice, then YAML": _bad(_J + b"\n" + _J + b"\n---\n" + _P, "unreadable-document"),
    "JSON, a blank line, then a separator": _bad(_J + b"\n\n---\n" + _P, "unreadable-document"),
    "JSON and a word": _bad(_J + b"x", "wrong-type"),
    "JSON and a number": _bad(_J + b" 3", "wrong-type"),
    "JSON and a comment": _bad(_J + b" // c\n", "wrong-type"),
    "JSON cut short": _bad(_J[:-1], "unreadable-document"),
    "JSON with a trailing comma": _ok(b'{"schema": "olm.package", "name": "a",}'),
    "JSON with a line break in a string": _ok(b'{"schema": "x", "a": "b\nc"}'),
    "JSON with NaN": _ok(b'{"schema": "x", "a": NaN}'),
    "JSON with a number too large": _ok(b'{"schema": "x", "a": 1e999}'),
    "JSON with half a surrogate pair": _ok(b'{"schema": "x", "a": "\\ud800"}'),
    "JSON that is a list": _bad(b"[" + _J + b"]", "wrong-type"),
    "JSON and null": _bad(_J + b"\nnull", "blank-document"),
    "JSON that is not UTF-8": _more(b'{"schema": "x", "a": "\xff"}', "unreadable-document"),
    "JSON behind a byte order mark": _ok(b"\xef\xbb\xbf" + _J),
    "JSON twice behind a byte order mark": _more(b"\xef\xbb\xbf" + _J + b"\n" + _J, "bad-separator"),
    "flow YAML": _ok(b"{schema: olm.package, name: a}\n---\n{schema: olm.package, name: b}\n"),
    "YAML behind a byte order mark": _ok(b"\xef\xbb\xbf" + _P),
    "UTF-16, little end first": _bad(_P.decode().encode("utf-16"), "unreadable-document"),
    "UTF-16, big end first": _more(b"\xfe\xff" + _P.decode().encode("utf-16-be"), "unreadable-document"),
    "every byte there is": _bad(bytes(range(256)), "unreadable-document"),
    "a null byte": _bad(_P + b"\0", "unreadable-document"),
    "a tab as indentation": _bad(b"schema: olm.package\nicon:\n\tmediatype: x\n", "unreadable-document"),
    "a tab as a blank": _ok(b"schema:\tolm.package\nname: a\n"),
    "brackets nested 600 deep": _more(b"schema: x\na: " + b"[" * 600 + b"]" * 600, "unreadable-document"),
    "brackets nested 11000 deep": _bad(
        b"schema: x\na: " + b"[" * 11000 + b"]" * 11000, "unreadable-document"
    ),
}

_IDENTITY = {
    "a list": _bad(b"- schema: olm.package\n", "wrong-type"),
    "a word": _bad(b"hello\n", "wrong-type"),
    "no schema": _bad(b"name: a\n", "missing-schema"),
    "an empty schema": _bad(b'schema: ""\nname: a\n', "missing-schema"),
    "a null schema": _bad(b"schema:\nname: a\n", "non-string-name"),
    "a schema that is a number": _bad(b"schema: 1\n", "non-string-name"),
    "a schema of one's own": _ok(b"schema: foo.bar\nx: 1\n"),
    "a schema in the wrong case": _more(b"schema: OLM.package\n", "misspelled-key"),
    "keys in any case": _ok(b"SCHEMA: olm.package\nName: a\nDEFAULTCHANNEL: x\n"),
    "two keys that differ in case": _bad(b"schema: x\nname: a\nName: b\n", "case-folded-keys"),
    "two unknown keys that differ in case": _bad(b"schema: x\nfoo: 1\nFOO: 2\n", "case-folded-keys"),
    "a key twice": _more(_P + b"name: b\n", "duplicate-key"),
    "a key twice in JSON": _more(b'{"schema": "olm.package", "name": "a", "name": "b"}', "duplicate-key"),
    "a name that is a truth value": _bad(b"schema: olm.package\nname: on\n", "non-string-name"),
    "a name that is a number": _bad(b"schema: olm.package\nname: 1.0\n", "non-string-name"),
    "a name that is null": _bad(b"schema: olm.package\nname:\n", "non-string-name"),
    "no name": _ok(b"schema: olm.package\n"),
    "a package that is a number": _bad(b"schema: foo\npackage: 3\n", "non-string-name"),
    "a number that float64 does not hold": _more(b"schema: x\na: 9007199254740993\n", "lossy-number"),
    "a manifest of Kubernetes": _bad(b"apiVersion: v1\nkind: Pod\n", "missing-schema"),
}

_C = b"schema: olm.channel\nname: s\npackage: a\nentries: "
_PACKAGE = {
    "a default channel that is a number": _bad(
        b"schema: olm.package\nname: a\ndefaultChannel: 1.0\n", "non-string-name"
    ),
    "a description that is a number": _bad(_P + b"description: 3\n", "non-string-name"),
    "an icon": _ok(_P + b"icon: {base64data: aGVsbG8=, mediatype: image/png}\n"),
    "an icon with line breaks": _ok(_P + b'icon: {base64data: "aGVs\\nbG8=", mediatype: x}\n'),
    "no icon": _ok(_P + b"icon:\n"),
    "an icon that is not base64": _bad(_P + b'icon: {base64data: "!", mediatype: x}\n', "wrong-type"),
    "an icon without padding": _bad(_P + b"icon: {base64data: aGVsbG8, mediatype: x}\n", "wrong-type"),
    "an icon that is a word": _bad(_P + b"icon: x\n", "wrong-type"),
    "an icon that is a number": _bad(_P + b"icon: {base64data: 3}\n", "wrong-type"),
    "an icon of numbers": _ok(_P + b"icon: {base64data: [104]}\n"),
}

_CHANNEL = {
    "entries": _ok(_C + b"[{name: a, replaces: b, skips: [c], skipRange: <1.0.0}]\n"),
    "no entries": _ok(_C + b"\n"),
    "entries that are a word": _bad(_C + b"x\n", "wrong-type"),
    "an entry that is a word": _bad(_C + b"[x]\n", "wrong-type"),
    "an entry that is null": _ok(_C + b"[null]\n"),
    "an entry with two keys that differ in case": _more(_C + b"[{name: a, Name: b}]\n", "duplicate-key"),
    "an entry with a misspelled key": _more(_C + b"[{name: a, skipsRange: <1.0.0}]\n", "misspelled-key"),
    "replaces that is a number": _bad(_C + b"[{name: a, replaces: 1.0}]\n", "non-string-name"),
    "replaces that is null": _ok(_C + b"[{name: a, replaces: null}]\n"),
    "replaces that is a list": _bad(_C + b"[{name: a, replaces: [b]}]\n", "wrong-type"),
    "skips that are a word": _bad(_C + b"[{name: a, skips: b}]\n", "wrong-type"),
    "skips with a number": _bad(_C + b"[{name: a, skips: [1.0]}]\n", "non-string-name"),
    "skips with null": _ok(_C + b"[{name: a, skips: [null]}]\n"),
    "a range that is a truth value": _bad(_C + b"[{name: a, skipRange: yes}]\n", "non-string-name"),
}

_B = b"schema: olm.bundle\nname: a.v1\npackage: a\n"
_O = _B + b"properties: [{type: olm.bundle.object, value: "
_BUNDLE = {
    "properties that are a mapping": _bad(_B + b"properties: {a: b}\n", "wrong-type"),
    "a property that is a word": _bad(_B + b"properties: [a]\n", "wrong-type", "wrong-type"),
    "a type that is a number": _bad(_B + b"properties: [{type: 3, value: 1}]\n", "non-string-name"),
    "an image that is a number": _bad(_B + b"image: 3\n", "non-string-name"),
    "a related image that is a word": _bad(_B + b"relatedImages: [x]\n", "wrong-type"),
    "a related image without a name": _ok(_B + b"relatedImages: [{image: x}]\n"),
    "an object": _ok(_O + b"{data: e30=}}]\n"),
    "an object without data": _ok(_O + b"{}}]\n"),
    "an object that is a word": _bad(_O + b"x}]\n", "wrong-type"),
    "an object that is not base64": _bad(_O + b'{data: "?"}}]\n', "wrong-type"),
    "an object whose data is a number": _bad(_O + b"{data: 3}}]\n", "wrong-type"),
    "an object without a value": _bad(_B + b"properties: [{type: olm.bundle.object}]\n", "wrong-type"),
}

_D = b"schema: olm.deprecations\npackage: a\nentries: "
_DEPRECATIONS = {
    "deprecations": _ok(_D + b"[{reference: {schema: olm.bundle, name: x}, message: m}]\n"),
    "a message that is a number": _bad(
        _D + b"[{reference: {schema: olm.package}, message: 3}]\n", "non-string-name"
    ),
    "a reference that is a word": _bad(_D + b"[{reference: x, message: m}]\n", "wrong-type"),
}

#: The streams by description.
STREAMS = _SEPARATORS | _FORMATS | _IDENTITY | _PACKAGE | _CHANNEL | _BUNDLE | _DEPRECATIONS
