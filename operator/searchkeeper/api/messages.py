"""Messages of bounded length: a status and an event hold only so much."""

from __future__ import annotations

__all__ = ["MAX_MESSAGE", "join", "shorten"]

from collections.abc import Sequence
from typing import Final

# Characters of a summary condition, and of an event: the limit of `note` in events.k8s.io/v1.
MAX_MESSAGE: Final = 1024
_MAX_ITEMS: Final = 5


def shorten(message: str) -> str:
    return message if len(message) <= MAX_MESSAGE else f"{message[: MAX_MESSAGE - 1]}…"


def join(items: Sequence[str], separator: str = ", ") -> str:
    """The first items in one text, and how many more there are."""
    shown = separator.join(items[:_MAX_ITEMS])
    more = len(items) - _MAX_ITEMS
    return f"{shown} and {more} more" if more > 0 else shown
