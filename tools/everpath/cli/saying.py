"""What is said beside an answer: on standard error, a line at a time."""

from __future__ import annotations

__all__ = ["say"]

import sys


def say(text: str) -> None:
    """A line that is there at once; nothing where standard error is closed."""
    if sys.stderr is not None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
