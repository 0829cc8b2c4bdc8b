"""Structural schemas, as an API server uses them: what is dropped, what is refused, what is filled in."""

from __future__ import annotations

__all__ = ["dropped", "refused"]

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


def dropped(schema: Mapping[str, Any], thing: Any, path: str = "") -> Iterator[str]:
    """The paths of what an API server would leave out without a word."""
    if isinstance(thing, list | tuple):
        for number, each in enumerate(thing):
            yield from dropped(schema.get("items", {}), each, f"{path}[{number}]")
    if not isinstance(thing, Mapping):
        return
    for name, each in thing.items():
        inner = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
        if inner is not None:
            yield from dropped(inner, each, f"{path}.{name}")
        elif not schema.get("x-kubernetes-preserve-unknown-fields"):
            yield f"{path}.{name}"


def refused(schema: Mapping[str, Any], thing: Any, path: str = "") -> Iterator[str]:
    """The paths of what breaks a type, an enumeration, a limit, a pattern, or is missing."""
    if not _fits(schema, thing):
        yield path
        return
    if isinstance(thing, list | tuple):
        for number, each in enumerate(thing):
            yield from refused(schema["items"], each, f"{path}[{number}]")
    if isinstance(thing, Mapping):
        yield from (f"{path}.{name}" for name in schema.get("required", ()) if name not in thing)
        for name, each in thing.items():
            inner = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
            if inner is not None:
                yield from refused(inner, each, f"{path}.{name}")


def _fits(schema: Mapping[str, Any], thing: Any) -> bool:
    if "type" not in schema:
        return bool(schema["x-kubernetes-preserve-unknown-fields"])
    kind = schema["type"]
    if not _is_a(kind, thing) or thing not in schema.get("enum", [thing]):
        return False
    if kind == "integer":
        return bool(schema.get("minimum", thing) <= thing <= schema.get("maximum", thing))
    if kind == "string":
        return bool(len(thing) >= schema.get("minLength", 0) and re.search(schema.get("pattern", ""), thing))
    return bool(kind != "array" or len(thing) >= schema.get("minItems", 0))


def _is_a(kind: str, thing: object) -> bool:
    return isinstance(thing, _TYPES[kind]) and (kind == "boolean" or not isinstance(thing, bool))
