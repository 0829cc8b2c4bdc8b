"""Every sort of change of a field, and whether OLM v0 and OLM v1 refuse it: measured, and told by us.

`tests/conformance` asks OLM's own code, `tests/crds` asks ours, and docs/crds.md prints the table.
"""

from __future__ import annotations

__all__ = ["CHANGES", "SortOfChange", "definition_with", "row"]

from typing import Any, Final, NamedTuple

Schema = dict[str, Any]


class SortOfChange(NamedTuple):
    """A field before and after, a value it may have had, who refuses the upgrade, and who tells."""

    words: str
    old: Schema
    new: Schema
    value: Any
    by_v0: bool
    by_v1: bool
    rule: str


def row(change: SortOfChange) -> str:
    """The change as a line of the table in docs/crds.md."""
    v0 = "refuses it where such an object is" if change.by_v0 else "carries it out"
    v1 = "refuses it" if change.by_v1 else "carries it out"
    rule = f"[{change.rule}](rules/{change.rule}.md)" if change.rule else "none"
    return f"| {change.words} | {v0} | {v1} | {rule} |"


def definition_with(schema: Schema) -> dict[str, Any]:
    """A definition as a cluster holds it, of one version, with one field `spec.a`."""
    spec = {"type": "object", "properties": {"a": schema}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.acme.io"},
        "spec": {
            "group": "acme.io",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [version],
        },
        "status": {"storedVersions": ["v1"], "conditions": [{"type": "Established", "status": "True"}]},
    }


_TEXT: Final = {"type": "string"}
_NUMBER: Final = {"type": "integer"}
_MAP: Final = {"type": "object", "additionalProperties": _TEXT}
_LIST: Final = {"type": "array", "items": _TEXT}
_OBJECT: Final = {"type": "object"}
_FIELDS: Final = {"type": "object", "properties": {"b": _TEXT}}
_OPEN: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_EITHER: Final = {"x-kubernetes-int-or-string": True}
_PIECES: Final = {"type": "array", "items": _OBJECT}
_SHORT: Final = {"type": "string", "anyOf": [{"maxLength": 3}]}

CHANGES: Final = [
    SortOfChange("another type", _NUMBER, _TEXT, 1, True, True, "EP703"),
    SortOfChange("an integer becomes a number", _NUMBER, {"type": "number"}, 1, False, True, "EP710"),
    SortOfChange("an integer becomes an integer or string", _NUMBER, _EITHER, 1, False, True, "EP710"),
    SortOfChange("an integer or string becomes an integer", _EITHER, _NUMBER, "a", True, True, "EP703"),
    SortOfChange("a type where there was none", {}, {**_TEXT, "nullable": True}, 1, True, True, "EP704"),
    SortOfChange("a first maximum", _NUMBER, {**_NUMBER, "maximum": 3}, 4, True, True, "EP704"),
    SortOfChange(
        "a lower maximum", {**_NUMBER, "maximum": 4}, {**_NUMBER, "maximum": 3}, 4, True, True, "EP704"
    ),
    SortOfChange(
        "a higher maximum", {**_NUMBER, "maximum": 3}, {**_NUMBER, "maximum": 4}, 3, False, False, ""
    ),
    SortOfChange("a bound is given up", {**_NUMBER, "maximum": 3}, _NUMBER, 3, False, False, ""),
    SortOfChange(
        "a first minimum, also of nought", _NUMBER, {**_NUMBER, "minimum": 0}, -1, True, True, "EP704"
    ),
    SortOfChange("a first minLength of nought", _TEXT, {**_TEXT, "minLength": 0}, "", False, True, "EP710"),
    SortOfChange(
        "a bound becomes exclusive",
        {**_NUMBER, "maximum": 3},
        {**_NUMBER, "maximum": 3, "exclusiveMaximum": True},
        3,
        True,
        True,
        "EP704",
    ),
    SortOfChange("a first multipleOf", _NUMBER, {**_NUMBER, "multipleOf": 2}, 3, True, True, "EP704"),
    SortOfChange("a maximum of a string", _TEXT, {**_TEXT, "maximum": 3}, "b", False, True, "EP710"),
    SortOfChange("a first enumeration", _TEXT, {**_TEXT, "enum": ["a"]}, "b", True, True, "EP704"),
    SortOfChange(
        "an enumeration loses a value",
        {**_TEXT, "enum": ["a", "b"]},
        {**_TEXT, "enum": ["a"]},
        "b",
        True,
        True,
        "EP704",
    ),
    SortOfChange(
        "an enumeration gains a value",
        {**_TEXT, "enum": ["a"]},
        {**_TEXT, "enum": ["a", "b"]},
        "a",
        False,
        False,
        "",
    ),
    SortOfChange("an enumeration is given up", {**_TEXT, "enum": ["a"]}, _TEXT, "a", False, True, "EP710"),
    SortOfChange("a value 1 becomes true", {"enum": [1]}, {"enum": [True]}, 1, True, True, "EP704"),
    SortOfChange("another pattern", _TEXT, {**_TEXT, "pattern": "^a"}, "b", True, True, "EP704"),
    SortOfChange("a pattern is given up", {**_TEXT, "pattern": "^a"}, _TEXT, "a", False, True, "EP710"),
    SortOfChange(
        "an int64 becomes an int32",
        {**_NUMBER, "format": "int64"},
        {**_NUMBER, "format": "int32"},
        2**40,
        True,
        True,
        "EP704",
    ),
    SortOfChange(
        "an int32 becomes an int64",
        {**_NUMBER, "format": "int32"},
        {**_NUMBER, "format": "int64"},
        1,
        False,
        True,
        "EP710",
    ),
    SortOfChange("a format nobody checks", _TEXT, {**_TEXT, "format": "iri"}, "b", False, True, "EP710"),
    SortOfChange("another format", _TEXT, {**_TEXT, "format": "date-time"}, "b", True, True, "EP704"),
    SortOfChange(
        "null is not allowed any more", {**_TEXT, "nullable": True}, _TEXT, None, True, True, "EP704"
    ),
    SortOfChange("null is allowed", _TEXT, {**_TEXT, "nullable": True}, "a", False, True, "EP710"),
    SortOfChange("another `not`", _TEXT, {**_TEXT, "not": {"enum": ["a"]}}, "a", True, True, "EP704"),
    SortOfChange(
        "a first `anyOf`, `oneOf` or `allOf`",
        _TEXT,
        {**_TEXT, "anyOf": [{"maxLength": 1}]},
        "ab",
        True,
        True,
        "EP704",
    ),
    SortOfChange(
        "a constraint beside an `anyOf`", _SHORT, {**_SHORT, "minLength": 2}, "a", True, False, "EP704"
    ),
    SortOfChange(
        "a description beside an `anyOf`", _SHORT, {**_SHORT, "description": "d"}, "a", False, False, ""
    ),
    SortOfChange("a first default", _TEXT, {**_TEXT, "default": "a"}, "b", False, True, "EP710"),
    SortOfChange(
        "another default", {**_TEXT, "default": "a"}, {**_TEXT, "default": "b"}, "b", False, True, "EP708"
    ),
    SortOfChange("a default is given up", {**_TEXT, "default": "a"}, _TEXT, "b", False, True, "EP708"),
    SortOfChange(
        "another description or title", _TEXT, {**_TEXT, "description": "d"}, "b", False, True, "EP710"
    ),
    SortOfChange(
        "another rule in CEL",
        _NUMBER,
        {**_NUMBER, "x-kubernetes-validations": [{"rule": "self > 1"}]},
        1,
        False,
        True,
        "EP704",
    ),
    SortOfChange(
        "a list becomes a set",
        _LIST,
        {**_LIST, "x-kubernetes-list-type": "set"},
        ["a", "a"],
        False,
        True,
        "EP704",
    ),
    SortOfChange(
        "a map is replaced as a whole",
        _MAP,
        {**_MAP, "x-kubernetes-map-type": "atomic"},
        {"b": "x"},
        False,
        True,
        "EP710",
    ),
    SortOfChange("a field is gone", _FIELDS, _OBJECT, {"b": "x"}, False, True, "EP702"),
    SortOfChange(
        "a field is gone, and unknown ones are kept", _FIELDS, _OPEN, {"b": "x"}, False, True, "EP710"
    ),
    SortOfChange("a field more", _OBJECT, _FIELDS, {}, False, False, ""),
    SortOfChange(
        "a field more, in the items of a list",
        _PIECES,
        {**_PIECES, "items": _FIELDS},
        [{}],
        False,
        True,
        "EP710",
    ),
    SortOfChange("a field is required", _FIELDS, {**_FIELDS, "required": ["b"]}, {}, True, True, "EP704"),
    SortOfChange(
        "a field is required, and has a default",
        _OBJECT,
        {"type": "object", "properties": {"b": {**_TEXT, "default": "a"}}, "required": ["b"]},
        {},
        True,
        True,
        "EP704",
    ),
    SortOfChange(
        "a field is not required any more",
        {**_FIELDS, "required": ["b"]},
        _FIELDS,
        {"b": "x"},
        False,
        False,
        "",
    ),
    SortOfChange("unknown fields are not kept any more", _OPEN, _OBJECT, {"b": 1}, False, True, "EP704"),
    SortOfChange(
        "a field is named where unknown ones are kept",
        _OPEN,
        {**_OPEN, **_FIELDS},
        {"b": 1},
        True,
        False,
        "EP704",
    ),
    SortOfChange("a map loses its entries", _MAP, _OBJECT, {"b": "x"}, False, True, "EP702"),
    SortOfChange(
        "fields become entries of another type",
        _FIELDS,
        {**_MAP, "additionalProperties": _NUMBER},
        {"b": "x"},
        True,
        True,
        "EP703",
    ),
    SortOfChange(
        "entries become fields of another type",
        _MAP,
        {"type": "object", "properties": {"b": _NUMBER}},
        {"b": "x"},
        True,
        True,
        "EP703",
    ),
    SortOfChange(
        "a keyword that Kubernetes does not know", _TEXT, {**_TEXT, "x-acme": 1}, "b", False, False, ""
    ),
]
