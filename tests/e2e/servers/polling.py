"""Wait for a condition by polling it."""

from __future__ import annotations

__all__ = ["WaitTimeoutError", "wait_until"]

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

# Seconds. Long enough for every condition, even if other processes keep the machine busy.
_TIMEOUT: Final = 180.0
_INTERVAL: Final = 0.05


class WaitTimeoutError(TimeoutError):
    """The condition was not true within the timeout."""


def wait_until(description: str, condition: Callable[[], T], timeout: float = _TIMEOUT) -> T:
    """Return the first true result of `condition`. The error message contains `description`."""
    deadline = time.monotonic() + timeout
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise WaitTimeoutError(f"not within {timeout:.0f} s: {description}")
        time.sleep(_INTERVAL)
    return result
