"""Helpers for tests of the command line."""

from __future__ import annotations

__all__ = ["ROOT", "Answer", "Everpath", "heeded"]

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Answer:
    """The exit code and the output of a call."""

    code: int
    out: str
    err: str


Everpath = Callable[..., Answer]


@contextmanager
def heeded(number: int) -> Iterator[None]:
    """Restore the default handling of a signal within the block; nohup makes processes ignore it."""
    earlier = signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(number, earlier)
