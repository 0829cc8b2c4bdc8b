"""Waiting for what must come true: by looking at it, never by guessing how long it takes."""

from __future__ import annotations

__all__ = ["NotInTimeError", "until"]

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

# Longer than anything takes that will come at all, also where others keep the machine busy.
_PATIENCE: Final = 180.0
_LOOK_AGAIN: Final = 0.05


class NotInTimeError(TimeoutError):
    """What was waited for did not come."""


def until(what: str, look: Callable[[], T], within: float = _PATIENCE) -> T:
    """What `look` returns as soon as that is true. `what` is the sentence that did not become so."""
    deadline = time.monotonic() + within
    while not (found := look()):
        if time.monotonic() > deadline:
            raise NotInTimeError(f"not within {within:.0f} s: {what}")
        time.sleep(_LOOK_AGAIN)
    return found
