"""What an action says: True, False or Unknown, why, and what it wants written."""

from __future__ import annotations

__all__ = ["LedgerChange", "Operation", "Result", "Status", "done", "in_progress", "unknown", "wait"]

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from searchkeeper.planner.ledger import Entry

# In seconds. Who would wait for a year waits for a person: until then nobody is late.
_PERSONS: Final = 365 * 24 * 3600


class Status(StrEnum):
    """The three values of a Kubernetes condition."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Operation(Protocol):
    """A change to the world, as data. The shell carries it out; the kernel only counts those that destroy."""

    @property
    def is_destructive(self) -> bool:
        """Whether it takes something away: a pod, a volume, a copy of a shard."""


@dataclass(frozen=True, slots=True)
class LedgerChange:
    """What must be in the ledger before the writes of the same answer; `None` strikes it out."""

    key: str
    value: Entry | None


@dataclass(frozen=True, slots=True)
class Result:
    """True only when the goal holds and nothing was written for it; False while there is work or waiting.

    `patience` is how many seconds the same reason may last before it counts as a stall.
    """

    status: Status
    reason: str
    message: str
    operations: tuple[Operation, ...] = ()
    ledger_changes: tuple[LedgerChange, ...] = ()
    deadline: int | None = None

    def __post_init__(self) -> None:
        if self.operations and self.status is Status.TRUE:
            raise ValueError(f"{self.reason}: an action that writes is not done in the same cycle")
        if len(self.operations) > 1 and sum(write.is_destructive for write in self.operations) > 1:
            raise ValueError(f"{self.reason}: one thing is taken away at a time")
        if (
            self.status is Status.FALSE
            and not (self.operations or self.ledger_changes)
            and self.deadline is None
        ):
            raise ValueError(f"{self.reason}: waiting needs a deadline")

    @property
    def is_true(self) -> bool:
        return self.status is Status.TRUE

    @property
    def is_destructive_result(self) -> bool:
        return bool(self.operations) and any(write.is_destructive for write in self.operations)

    @property
    def waits_for_user(self) -> bool:
        """Only a person can let it go on, and nobody is late for that."""
        return (self.deadline or 0) >= _PERSONS

    @property
    def makes_progress(self) -> bool:
        """The goal holds, or something is done that is not undone again by whatever it waits for."""
        return self.is_true or (self.deadline is None and bool(self.operations or self.ledger_changes))


def done(message: str = "", *, reason: str = "Done", ledger_changes: tuple[LedgerChange, ...] = ()) -> Result:
    """The goal holds. Notes may still be struck out: what they stood for is over."""
    return Result(Status.TRUE, reason, message, ledger_changes=ledger_changes)


def in_progress(
    reason: str,
    message: str,
    *operations: Operation,
    ledger_changes: tuple[LedgerChange, ...] = (),
    deadline: int | None = None,
) -> Result:
    """The goal does not hold yet; this cycle does something about it.

    With a patience it comes no further by that: what is only prepared, or taken back, may go to and fro.
    """
    return Result(Status.FALSE, reason, message, operations, ledger_changes, deadline)


def wait(
    reason: str, message: str, *, deadline: int, ledger_changes: tuple[LedgerChange, ...] = ()
) -> Result:
    """The goal does not hold yet, and it is somebody else's turn."""
    return Result(Status.FALSE, reason, message, ledger_changes=ledger_changes, deadline=deadline)


def unknown(reason: str, message: str, *, deadline: int | None = None) -> Result:
    """Whether the goal holds cannot be told, so nothing is done.

    Without a patience it is somebody else's affair, who has one.
    """
    return Result(Status.UNKNOWN, reason, message, deadline=deadline)
