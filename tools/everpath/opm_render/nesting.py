"""A limit on the nesting of documents."""

from __future__ import annotations

__all__ = ["check_depth"]

from typing import Final

from everpath.model import OpmError, Place

# Recursive functions need up to two frames a level, and Python's limit is 1,000. OLM's objects have fewer
# than 40 levels.
_MAX_DEPTH: Final = 400


def check_depth(value: object, place: Place) -> None:
    """Raise `OpmError` if a value has too many levels for recursive functions. Cost: one visit a value."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        containers = [node for node in level if isinstance(node, dict | list)]
        if not containers:
            return
        level = [
            child for node in containers for child in (node.values() if isinstance(node, dict) else node)
        ]
    raise OpmError(f"nested deeper than {_MAX_DEPTH} levels", place, "reduce the nesting")
