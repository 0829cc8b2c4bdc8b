"""What the terminal is and wants: colour, and a line that shows long work going on."""

from __future__ import annotations

__all__ = ["ProgressLine", "wants_colour"]

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Self, TextIO

from everpath.reporters.formatting import printable

_PATIENCE: Final = 0.5
_PAUSE: Final = 0.1
_ERASE: Final = "\r\x1b[K"


def wants_colour(stream: TextIO | None, environment: Mapping[str, str]) -> bool:
    """NO_COLOR wins over FORCE_COLOR, and either over what the stream is (no-color.org)."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return _is_terminal(stream) and environment.get("TERM") != "dumb"


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


class ProgressLine:
    """One line on a terminal, drawn only when work takes longer than people wait, and erased after it.

    Call it as often as you like: it looks at the clock and seldom writes.
    """

    def __init__(
        self, stream: TextIO | None, *, wanted: bool = True, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream if wanted and _is_terminal(stream) else None
        self._clock = clock
        self._due = clock() + _PATIENCE
        self._is_drawn = False

    def __call__(self, done: int, total: int, what: str) -> None:
        if self._stream is None or (now := self._clock()) < self._due:
            return
        from shutil import get_terminal_size  # noqa: PLC0415 - it brings three compressors along

        self._due = now + _PAUSE
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
