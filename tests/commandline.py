"""What tests of the command line share: where the project is, what a call leaves, whom it listens to."""

from __future__ import annotations

__all__ = ["ROOT", "Answer", "Everpath", "heeded"]

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Answer:
    """What a call left behind."""

    code: int
    out: str
    err: str


Everpath = Callable[..., Answer]


@contextmanager
def heeded(number: int) -> Iterator[None]:
    """Within it nobody has set this signal aside, as nohup does for all that it starts."""
    earlier = signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(number, earlier)
