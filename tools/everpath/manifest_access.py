"""Ways into manifests that people wrote: what has the wrong shape is as good as absent.

Nothing is lost by that: bundles are validated (`rules.bundle`), and there the shape is a finding with its
place. Where Go's decoder is to be followed, which knows no case, there is `rules._shapes.field`.
"""

from __future__ import annotations

__all__ = ["mapping", "mappings", "text"]

from collections.abc import Mapping
from typing import Any


def mapping(body: object, *way: str) -> Mapping[str, Any]:
    """The mapping at the end of a way, or an empty one."""
    found: Any = body
    for step in way:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def mappings(body: Mapping[str, Any], *way: str) -> list[Mapping[str, Any]]:
    """The mappings of the list at the end of a way."""
    found = mapping(body, *way[:-1]).get(way[-1])
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def text(body: Mapping[str, Any], key: str) -> str:
    """A string, or an empty one."""
    found = body.get(key)
    return found if isinstance(found, str) else ""
