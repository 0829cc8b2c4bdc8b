"""The terminal: whether it shows colour, and a progress line."""

from __future__ import annotations

__all__ = ["ProgressLine", "wants_colour"]

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Self, TextIO

from everpath.reporters.formatting import printable

_DELAY: Final = 0.5
_INTERVAL: Final = 0.1
_ERASE: Final = "\r\x1b[K"


def wants_colour(stream: TextIO | None, environment: Mapping[str, str]) -> bool:
    """True if output should be coloured. NO_COLOR overrides FORCE_COLOR (no-color.org)."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return _is_terminal(stream) and environment.get("TERM") != "dumb"


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


class ProgressLine:
    """A progress line on a terminal, drawn after half a second and erased at the end.

    Calls are cheap: the line is written at most ten times a second.
    """

    def __init__(
        self, stream: TextIO | None, *, wanted: bool = True, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream if wanted and _is_terminal(stream) else None
        self._clock = clock
        self._due = clock() + _DELAY
        self._is_drawn = False

    def __call__(self, done: int, total: int, what: str) -> None:
        if self._stream is None or (now := self._clock()) < self._due:
            return
        from shutil import get_terminal_size  # noqa: PLC0415 - imports three compression modules

        self._due = now + _INTERVAL
        share = f"{done:,} of {total:,}" if total else f"{done:,}"
        line = printable(f"{share}  {what}")[: get_terminal_size().columns - 1]
        self._stream.write(f"{_ERASE}{line}")
        self._stream.flush()
        self._is_drawn = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None and self._is_drawn:
            self._stream.write(_ERASE)
            self._stream.flush()
