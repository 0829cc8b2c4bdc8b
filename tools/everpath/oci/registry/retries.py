"""How often, and how patiently, a registry is asked again."""

from __future__ import annotations

__all__ = ["Patience", "asked_to_wait", "is_passing"]

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Patience:
    """The pauses between attempts: twice as long each time, bounded each and in number."""

    attempts: int = 5
    first: float = 1.0
    longest: float = 30.0
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.time

    def pauses(self) -> Iterator[float]:
        """One fewer than attempts."""
        return (min(self.first * 2**number, self.longest) for number in range(self.attempts - 1))


def is_passing(status: int) -> bool:
    """Whether an answer speaks of the server's moment and not of the request."""
    return status in _PASSING


def asked_to_wait(headers: Mapping[str, str], now: float) -> float | None:
    """The seconds that Retry-After asks for, given as a number or as a date."""
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        date = parsedate_to_datetime(text)
        # HTTP's dates are in GMT, also the form that does not say so.
        return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, OverflowError):
        return None
