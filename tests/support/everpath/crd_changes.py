"""Changes of a field, whether OLM v0 and OLM v1 refuse each of them, and the rule that reports it.

`tests/everpath/conformance` compares the table with OLM, `unit/crd_upgrade_safety` with everpath;
docs/crds.md contains it.
"""

from __future__ import annotations

__all__ = ["CHANGES", "FieldChange", "crd_with", "table_row"]

from typing import Any, Final, NamedTuple

Schema = dict[str, Any]


class FieldChange(NamedTuple):
    """A schema before and after, a value that is valid before, and the expected results."""

    title: str
    old: Schema
    new: Schema
    value: Any
    is_refused_by_v0: bool
    is_refused_by_v1: bool
    rule: str


def table_row(change: FieldChange) -> str:
    """The row of the table in docs/crds.md."""
    v0 = "refuses it if an object is invalid" if change.is_refused_by_v0 else "carries it out"
    v1 = "refuses it" if change.is_refused_by_v1 else "carries it out"
    rule = f"[{change.rule}](rules/{change.rule}.md)" if change.rule else "none"
    return f"| {change.title} | {v0} | {v1} | {rule} |"


def crd_with(schema: Schema) -> dict[str, Any]:
    """An installed CRD with one version and one field, `spec.a`."""
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


_STRING: Final = {"type": "string"}
_INTEGER: Final = {"type": "integer"}
_MAP: Final = {"type": "object", "additionalProperties": _STRING}
_LIST: Final = {"type": "array", "items": _STRING}
_OBJECT: Final = {"type": "object"}
_FIELDS: Final = {"type": "object", "properties": {"b": _STRING}}
_OPEN: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_INT_OR_STRING: Final = {"x-kubernetes-int-or-string": True}
_OBJECT_LIST: Final = {"type": "array", "items": _OBJECT}
_SHORT: Final = {"type": "string", "anyOf": [{"maxLength": 3}]}

CHANGES: Final = [
    FieldChange("another type", _INTEGER, _STRING, 1, True, True, "EP703"),
    FieldChange("an integer becomes a number", _INTEGER, {"type": "number"}, 1, False, True, "EP710"),
    FieldChange("an integer becomes an integer or string", _INTEGER, _INT_OR_STRING, 1, False, True, "EP710"),
    FieldChange(
        "an integer or string becomes an integer", _INT_OR_STRING, _INTEGER, "a", True, True, "EP703"
    ),
    FieldChange("a first type", {}, {**_STRING, "nullable": True}, 1, True, True, "EP704"),
    FieldChange("a first maximum", _INTEGER, {**_INTEGER, "maximum": 3}, 4, True, True, "EP704"),
    FieldChange(
        "a lower maximum", {**_INTEGER, "maximum": 4}, {**_INTEGER, "maximum": 3}, 4, True, True, "EP704"
    ),
    FieldChange(
        "a higher maximum", {**_INTEGER, "maximum": 3}, {**_INTEGER, "maximum": 4}, 3, False, False, ""
    ),
    FieldChange("a bound is removed", {**_INTEGER, "maximum": 3}, _INTEGER, 3, False, False, ""),
    FieldChange("a first minimum, also 0", _INTEGER, {**_INTEGER, "minimum": 0}, -1, True, True, "EP704"),
    FieldChange("a first minLength of 0", _STRING, {**_STRING, "minLength": 0}, "", False, True, "EP710"),
    FieldChange(
        "a bound becomes exclusive",
        {**_INTEGER, "maximum": 3},
        {**_INTEGER, "maximum": 3, "exclusiveMaximum": True},
        3,
        True,
        True,
        "EP704",
    ),
    FieldChange("a first multipleOf", _INTEGER, {**_INTEGER, "multipleOf": 2}, 3, True, True, "EP704"),
    FieldChange("a maximum on a string", _STRING, {**_STRING, "maximum": 3}, "b", False, True, "EP710"),
    FieldChange("a first enum", _STRING, {**_STRING, "enum": ["a"]}, "b", True, True, "EP704"),
    FieldChange(
        "an enum value is removed",
        {**_STRING, "enum": ["a", "b"]},
        {**_STRING, "enum": ["a"]},
        "b",
        True,
        True,
        "EP704",
    ),
    FieldChange(
        "an enum value is added",
        {**_STRING, "enum": ["a"]},
        {**_STRING, "enum": ["a", "b"]},
        "a",
        False,
        False,
        "",
    ),
    FieldChange("an enum is removed", {**_STRING, "enum": ["a"]}, _STRING, "a", False, True, "EP710"),
    FieldChange(
        "an enum value changes from 1 to true", {"enum": [1]}, {"enum": [True]}, 1, True, True, "EP704"
    ),
    FieldChange("another pattern", _STRING, {**_STRING, "pattern": "^a"}, "b", True, True, "EP704"),
    FieldChange("a pattern is removed", {**_STRING, "pattern": "^a"}, _STRING, "a", False, True, "EP710"),
    FieldChange(
        "an int64 becomes an int32",
        {**_INTEGER, "format": "int64"},
        {**_INTEGER, "format": "int32"},
        2**40,
        True,
        True,
        "EP704",
    ),
    FieldChange(
        "an int32 becomes an int64",
        {**_INTEGER, "format": "int32"},
        {**_INTEGER, "format": "int64"},
        1,
        False,
        True,
        "EP710",
    ),
    FieldChange(
        "a format that is not validated", _STRING, {**_STRING, "format": "iri"}, "b", False, True, "EP710"
    ),
    FieldChange("another format", _STRING, {**_STRING, "format": "date-time"}, "b", True, True, "EP704"),
    FieldChange(
        "null is no longer allowed", {**_STRING, "nullable": True}, _STRING, None, True, True, "EP704"
    ),
    FieldChange("null is allowed", _STRING, {**_STRING, "nullable": True}, "a", False, True, "EP710"),
    FieldChange("another `not`", _STRING, {**_STRING, "not": {"enum": ["a"]}}, "a", True, True, "EP704"),
    FieldChange(
        "a first `anyOf`, `oneOf` or `allOf`",
        _STRING,
        {**_STRING, "anyOf": [{"maxLength": 1}]},
        "ab",
        True,
        True,
        "EP704",
    ),
    FieldChange(
        "a constraint next to an `anyOf`", _SHORT, {**_SHORT, "minLength": 2}, "a", True, False, "EP704"
    ),
    FieldChange(
        "a description next to an `anyOf`", _SHORT, {**_SHORT, "description": "d"}, "a", False, False, ""
    ),
    FieldChange("a first default", _STRING, {**_STRING, "default": "a"}, "b", False, True, "EP710"),
    FieldChange(
        "another default", {**_STRING, "default": "a"}, {**_STRING, "default": "b"}, "b", False, True, "EP708"
    ),
    FieldChange("a default is removed", {**_STRING, "default": "a"}, _STRING, "b", False, True, "EP708"),
    FieldChange(
        "another description or title", _STRING, {**_STRING, "description": "d"}, "b", False, True, "EP710"
    ),
    FieldChange(
        "a new CEL rule",
        _INTEGER,
        {**_INTEGER, "x-kubernetes-validations": [{"rule": "self > 1"}]},
        1,
        False,
        True,
        "EP704",
    ),
    FieldChange(
        "a list becomes a set",
        _LIST,
        {**_LIST, "x-kubernetes-list-type": "set"},
        ["a", "a"],
        False,
        True,
        "EP704",
    ),
    FieldChange(
        "a map becomes atomic",
        _MAP,
        {**_MAP, "x-kubernetes-map-type": "atomic"},
        {"b": "x"},
        False,
        True,
        "EP710",
    ),
    FieldChange("a field is removed", _FIELDS, _OBJECT, {"b": "x"}, False, True, "EP702"),
    FieldChange(
        "a field is removed, and unknown fields are preserved",
        _FIELDS,
        _OPEN,
        {"b": "x"},
        False,
        True,
        "EP710",
    ),
    FieldChange("a field is added", _OBJECT, _FIELDS, {}, False, False, ""),
    FieldChange(
        "a field is added to the items of a list",
        _OBJECT_LIST,
        {**_OBJECT_LIST, "items": _FIELDS},
        [{}],
        False,
        True,
        "EP710",
    ),
    FieldChange("a field becomes required", _FIELDS, {**_FIELDS, "required": ["b"]}, {}, True, True, "EP704"),
    FieldChange(
        "a field becomes required and has a default",
        _OBJECT,
        {"type": "object", "properties": {"b": {**_STRING, "default": "a"}}, "required": ["b"]},
        {},
        True,
        True,
        "EP704",
    ),
    FieldChange(
        "a field is no longer required",
        {**_FIELDS, "required": ["b"]},
        _FIELDS,
        {"b": "x"},
        False,
        False,
        "",
    ),
    FieldChange("unknown fields are no longer preserved", _OPEN, _OBJECT, {"b": 1}, False, True, "EP704"),
    FieldChange(
        "a field is declared where unknown fields are preserved",
        _OPEN,
        {**_OPEN, **_FIELDS},
        {"b": 1},
        True,
        False,
        "EP704",
    ),
    FieldChange("a map becomes an object without fields", _MAP, _OBJECT, {"b": "x"}, False, True, "EP702"),
    FieldChange(
        "fields become map entries of another type",
        _FIELDS,
        {**_MAP, "additionalProperties": _INTEGER},
        {"b": "x"},
        True,
        True,
        "EP703",
    ),
    FieldChange(
        "map entries become fields of another type",
        _MAP,
        {"type": "object", "properties": {"b": _INTEGER}},
        {"b": "x"},
        True,
        True,
        "EP703",
    ),
    FieldChange("an unknown keyword", _STRING, {**_STRING, "x-acme": 1}, "b", False, False, ""),
]
