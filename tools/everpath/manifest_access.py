"""Access to manifests written by users: a value of the wrong type counts as absent.

`rules.bundle` reports such values with their location. `rules._shapes.field` finds keys regardless of case,
as Go's JSON decoder does.
"""

from __future__ import annotations

__all__ = ["mapping", "mappings", "text"]

from collections.abc import Mapping
from typing import Any


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
