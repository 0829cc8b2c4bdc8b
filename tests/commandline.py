"""What tests of the command line share: where the project is, and what a call leaves behind."""

from __future__ import annotations

__all__ = ["ROOT", "Answer", "Everpath"]

from collections.abc import Callable
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
