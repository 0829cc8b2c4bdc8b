"""Access to manifests written by users: a value of the wrong type counts as absent.

`mapping`, `mappings` and `text` match keys exactly, as the API server does. `value_at`, `items_at` and
`string_at` ignore the case of keys if there is no exact match, as Go's JSON decoder does. `rules.bundle`
reports values of the wrong type with their location.
"""

from __future__ import annotations

__all__ = ["Pointer", "as_string", "items_at", "mapping", "mappings", "string_at", "text", "value_at"]

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

#: Keys and indices from the top of a document to a value.
Pointer: TypeAlias = tuple[str | int, ...]


def mapping(body: object, *path: str) -> Mapping[str, Any]:
    """Return the mapping at a path, or an empty one."""
    found: Any = body
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def mappings(body: Mapping[str, Any], *path: str) -> list[Mapping[str, Any]]:
    """Return the mappings in the list at a path."""
    found = mapping(body, *path[:-1]).get(path[-1])
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def text(body: Mapping[str, Any], key: str) -> str:
    """Return the string of a key, or an empty one."""
    found = body.get(key)
    return found if isinstance(found, str) else ""


def value_at(body: Any, *path: str | int) -> Any:
    """Return the value at a path, or None. An exact key wins over one that differs in case."""
    for step in path:
        if isinstance(step, int):
            body = body[step] if isinstance(body, list) and step < len(body) else None
        elif not isinstance(body, dict):
            return None
        elif step in body:
            body = body[step]
        else:
            folded = step.casefold()
            matches = (v for k, v in body.items() if isinstance(k, str) and k.casefold() == folded)
            body = next(matches, None)
    return body


def items_at(body: Any, *path: str | int) -> Iterator[tuple[int, Any]]:
    """Yield index and value of each item of the list at a path; nothing if there is no list."""
    found = value_at(body, *path)
    return iter(enumerate(found)) if isinstance(found, list) else iter(())


def string_at(body: Any, *path: str | int) -> str:
    """Return the scalar at a path as a string, or ""."""
    return as_string(value_at(body, *path))


def as_string(value: Any) -> str:
    """Return a scalar as Kubernetes' YAML decoder stores it in a string field; "" for any other value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else ""
