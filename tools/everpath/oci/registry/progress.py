"""What is told of a transfer while it goes on."""

from __future__ import annotations

__all__ = ["Hear", "Outcome", "Step", "unheard"]

from collections.abc import Callable
from typing import Literal, NamedTuple

Outcome = Literal["sending", "sent", "there", "mounted", "receiving", "received"]


class Step(NamedTuple):
    """How far one blob or manifest has come."""

    what: Literal["blob", "manifest"]
    digest: str
    size: int
    outcome: Outcome
    done: int = 0


Hear = Callable[[Step], None]


def unheard(_step: Step) -> None:
    """For who does not want to know."""
