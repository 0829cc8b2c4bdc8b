"""What opm refuses to render: where it stands, why, and what to do about it."""

from __future__ import annotations

__all__ = ["Refusal", "check_depth"]

from typing import Final

from everpath.model import Place

# Whoever walks a value calls himself once or twice a level, and Python ends that at a thousand. OLM's own
# objects nest less than forty deep.
_DEEPEST: Final = 400


class Refusal(Exception):
    """Something that cannot be rendered. Not found in a file: a place without one."""

    def __init__(self, message: str, place: Place | None = None, fix: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.place = place if place is not None else Place("")
        self.fix = fix


def check_depth(value: object, place: Place) -> None:
    """Raise `Refusal` for a value that nests deeper than anybody could mean. Cost: one visit a value."""
    level = [value]
    for _ in range(_DEEPEST):
        containers = [node for node in level if isinstance(node, dict | list)]
        if not containers:
            return
        level = [
            child for node in containers for child in (node.values() if isinstance(node, dict) else node)
        ]
    raise Refusal(f"nested deeper than {_DEEPEST}", place, "take it apart")
