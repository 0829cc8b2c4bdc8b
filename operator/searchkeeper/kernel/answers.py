"""What an action says: True, False or Unknown, why, and what it wants written."""

from __future__ import annotations

__all__ = ["Answer", "Note", "Status", "Write", "done", "unknown", "waiting", "working"]

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from searchkeeper.kernel.ledger import Entry

# In seconds. Who would wait for a year waits for a person: until then nobody is late.
_PERSONS: Final = 365 * 24 * 3600


class Status(StrEnum):
    """The three values of a Kubernetes condition."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Write(Protocol):
    """A change to the world, as data. The shell carries it out; the kernel only counts those that destroy."""

    @property
    def is_destructive(self) -> bool:
        """Whether it takes something away: a pod, a volume, a copy of a shard."""


@dataclass(frozen=True, slots=True)
class Note:
    """What must be in the ledger before the writes of the same answer; `None` strikes it out."""

    key: str
    value: Entry | None


@dataclass(frozen=True, slots=True)
class Answer:
    """True only when the goal holds and nothing was written for it; False while there is work or waiting.

    `patience` is how many seconds the same reason may last before it counts as a stall.
    """

    status: Status
    reason: str
    message: str
    writes: tuple[Write, ...] = ()
    notes: tuple[Note, ...] = ()
    patience: int | None = None

    def __post_init__(self) -> None:
        if self.writes and self.status is Status.TRUE:
            raise ValueError(f"{self.reason}: an action that writes is not done in the same cycle")
        if len(self.writes) > 1 and sum(write.is_destructive for write in self.writes) > 1:
            raise ValueError(f"{self.reason}: one thing is taken away at a time")
        if self.status is Status.FALSE and not (self.writes or self.notes) and self.patience is None:
            raise ValueError(f"{self.reason}: waiting needs a deadline")

    @property
    def is_true(self) -> bool:
        return self.status is Status.TRUE

    @property
    def destroys(self) -> bool:
        return bool(self.writes) and any(write.is_destructive for write in self.writes)

    @property
    def is_stopped(self) -> bool:
        """Only a person can let it go on, and nobody is late for that."""
        return (self.patience or 0) >= _PERSONS

    @property
    def comes_further(self) -> bool:
        """The goal holds, or something is done that is not undone again by whatever it waits for."""
        return self.is_true or (self.patience is None and bool(self.writes or self.notes))


def done(message: str = "", *, reason: str = "Done", notes: tuple[Note, ...] = ()) -> Answer:
    """The goal holds. Notes may still be struck out: what they stood for is over."""
    return Answer(Status.TRUE, reason, message, notes=notes)


def working(
    reason: str, message: str, *writes: Write, notes: tuple[Note, ...] = (), patience: int | None = None
) -> Answer:
    """The goal does not hold yet; this cycle does something about it.

    With a patience it comes no further by that: what is only prepared, or taken back, may go to and fro.
    """
    return Answer(Status.FALSE, reason, message, writes, notes, patience)


def waiting(reason: str, message: str, *, patience: int, notes: tuple[Note, ...] = ()) -> Answer:
    """The goal does not hold yet, and it is somebody else's turn."""
    return Answer(Status.FALSE, reason, message, notes=notes, patience=patience)


def unknown(reason: str, message: str, *, patience: int | None = None) -> Answer:
    """Whether the goal holds cannot be told, so nothing is done.

    Without a patience it is somebody else's affair, who has one.
    """
    return Answer(Status.UNKNOWN, reason, message, patience=patience)
