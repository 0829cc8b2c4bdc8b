"""What an action returns: a status, a reason, a message and the operations it requests."""

from __future__ import annotations

__all__ = [
    "DONE",
    "NO_DEADLINE",
    "USER_DEADLINE",
    "LedgerChange",
    "Operation",
    "Result",
    "Status",
    "done",
    "in_progress",
    "unknown",
    "wait",
]

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from searchkeeper.planner.ledger import Entry

# The reason of an action whose goal holds.
DONE: Final = "Done"
# In seconds. A wait that never stalls: only a user can end it, and knows about it.
NO_DEADLINE: Final = 2**31
# In seconds. A wait that only a user can end, who is to learn of it soon.
USER_DEADLINE: Final = 60


class Status(StrEnum):
    """The three values of a Kubernetes condition."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Operation(Protocol):
    """A requested change to the cluster or the engine, as data. The planner only counts destructive ones."""

    @property
    def is_destructive(self) -> bool:
        """Whether it removes a pod, a volume or a shard copy."""


@dataclass(frozen=True, slots=True)
class LedgerChange:
    """A ledger entry that is persisted before the operations of the same result; None removes the entry."""

    key: str
    value: Entry | None


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one action in one reconcile.

    True only when the goal holds and no operation is requested; False while there is work or a wait.
    `deadline` is how many seconds the action may keep the same reason before it counts as stalled.
    """

    status: Status
    reason: str
    message: str
    operations: tuple[Operation, ...] = ()
    ledger_changes: tuple[LedgerChange, ...] = ()
    deadline: int | None = None

    def __post_init__(self) -> None:
        if self.operations and self.status is Status.TRUE:
            raise ValueError(f"{self.reason}: a result with operations cannot be True")
        if len(self.operations) > 1 and sum(each.is_destructive for each in self.operations) > 1:
            raise ValueError(f"{self.reason}: an action requests at most one destructive operation")
        is_idle = self.status is Status.FALSE and not (self.operations or self.ledger_changes)
        if is_idle and self.deadline is None:
            raise ValueError(f"{self.reason}: a wait needs a deadline")

    @property
    def is_true(self) -> bool:
        return self.status is Status.TRUE

    @property
    def is_destructive(self) -> bool:
        # Most results have no operations; this runs for every action of every reconcile.
        return bool(self.operations) and any(each.is_destructive for each in self.operations)

    @property
    def waits_for_user(self) -> bool:
        """Whether only a user can end the wait. Such a wait never stalls."""
        return self.deadline == NO_DEADLINE

    @property
    def makes_progress(self) -> bool:
        """Whether the goal holds, or the action does something that a later reconcile does not undo."""
        return self.is_true or (self.deadline is None and bool(self.operations or self.ledger_changes))


def done(message: str = "", *, reason: str = DONE, ledger_changes: tuple[LedgerChange, ...] = ()) -> Result:
    """Return True: the goal holds. Ledger entries that are no longer needed may be removed."""
    return Result(Status.TRUE, reason, message, ledger_changes=ledger_changes)


def in_progress(
    reason: str,
    message: str,
    *operations: Operation,
    ledger_changes: tuple[LedgerChange, ...] = (),
    deadline: int | None = None,
) -> Result:
    """Return False: the goal does not hold yet, and this reconcile works on it.

    Pass a deadline for work that is no progress by itself, such as a preparation that may be undone again.
    """
    return Result(Status.FALSE, reason, message, operations, ledger_changes, deadline)


def wait(
    reason: str, message: str, *, deadline: int, ledger_changes: tuple[LedgerChange, ...] = ()
) -> Result:
    """Return False: the goal does not hold yet, and this action has nothing to do."""
    return Result(Status.FALSE, reason, message, ledger_changes=ledger_changes, deadline=deadline)


def unknown(reason: str, message: str, *, deadline: int | None = None) -> Result:
    """Return Unknown: the action cannot determine whether the goal holds.

    Without a deadline the action waits for another action, whose own deadline counts.
    """
    return Result(Status.UNKNOWN, reason, message, deadline=deadline)
