"""Apply a structural schema as an API server does: which fields it prunes, and which it rejects."""

from __future__ import annotations

__all__ = ["invalid_fields", "pruned_fields"]

import re
from collections.abc import Iterator, Mapping
from typing import Any

_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": Mapping,
    "array": (list, tuple),
    "string": str,
    "integer": int,
    "boolean": bool,
}


def pruned_fields(schema: Mapping[str, Any], value: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of the fields that an API server prunes."""
    if isinstance(value, list | tuple):
        for number, each in enumerate(value):
            yield from pruned_fields(schema.get("items", {}), each, f"{path}[{number}]")
    if not isinstance(value, Mapping):
        return
    for name, each in value.items():
        inner = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
        if inner is not None:
            yield from pruned_fields(inner, each, f"{path}.{name}")
        elif not schema.get("x-kubernetes-preserve-unknown-fields"):
            yield f"{path}.{name}"


def invalid_fields(schema: Mapping[str, Any], value: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of fields that are missing, or violate their type, enum, limit or pattern."""
    if not _is_valid(schema, value):
        yield path
        return
    if isinstance(value, list | tuple):
        for number, each in enumerate(value):
            yield from invalid_fields(schema["items"], each, f"{path}[{number}]")
    if isinstance(value, Mapping):
        yield from (f"{path}.{name}" for name in schema.get("required", ()) if name not in value)
        for name, each in value.items():
            inner = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
            if inner is not None:
                yield from invalid_fields(inner, each, f"{path}.{name}")


def _is_valid(schema: Mapping[str, Any], value: Any) -> bool:
    if "type" not in schema:
        return bool(schema["x-kubernetes-preserve-unknown-fields"])
    kind = schema["type"]
    if not _has_type(kind, value) or value not in schema.get("enum", [value]):
        return False
    if kind == "integer":
        return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
    if kind == "string":
        return bool(len(value) >= schema.get("minLength", 0) and re.search(schema.get("pattern", ""), value))
    return bool(kind != "array" or len(value) >= schema.get("minItems", 0))


def _has_type(kind: str, value: object) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
