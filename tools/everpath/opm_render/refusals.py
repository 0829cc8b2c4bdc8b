"""The error for input that opm refuses."""

from __future__ import annotations

__all__ = ["Refusal", "check_depth"]

from typing import Final

from everpath.model import Place

# Recursive functions need up to two frames a level, and Python's limit is 1,000. OLM's objects have fewer
# than 40 levels.
_MAX_DEPTH: Final = 400


class Refusal(Exception):
    """Input that opm refuses: the reason, the place, and a fix. Input from no file has an empty place."""

    def __init__(self, message: str, place: Place | None = None, fix: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.place = place if place is not None else Place("")
        self.fix = fix


def check_depth(value: object, place: Place) -> None:
    """Raise `Refusal` if a value has too many levels for recursive functions. Cost: one visit a value."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        containers = [node for node in level if isinstance(node, dict | list)]
        if not containers:
            return
        level = [
            child for node in containers for child in (node.values() if isinstance(node, dict) else node)
        ]
    raise Refusal(f"nested deeper than {_MAX_DEPTH} levels", place, "reduce the nesting")
