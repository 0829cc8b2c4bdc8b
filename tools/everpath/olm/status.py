"""The types of a status: the state of each object in the chain of an operator, and what it waits for."""

from __future__ import annotations

__all__ = ["ObjectStatus", "OperatorStatus", "State", "Wait", "object_status"]

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from everpath.olm.objects import Kind, Object, name_of, namespace_of


class State(StrEnum):
    """The state of an object. The values are part of the JSON contract."""

    FINE = "fine"
    WORKING = "working"  # proceeds without user action
    WAITING = "waiting"  # needs user action
    FAILED = "failed"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Wait:
    """What an object waits for, as a noun phrase after "Waiting for", and what the user can do.

    `is_final`: only user action ends the wait. `is_stale`: the cause no longer exists, but OLM does not check
    again until an object changes.
    """

    message: str
    hint: str = ""
    is_final: bool = False
    is_stale: bool = False


@dataclass(frozen=True, slots=True)
class ObjectStatus:
    """The status of an object, or of a missing one."""

    kind: str
    namespace: str
    name: str
    state: State
    summary: str
    waits: tuple[Wait, ...] = ()


def object_status(
    kind: Kind, obj: Object, state: State, summary: str, waits: Iterable[Wait] = ()
) -> ObjectStatus:
    """Return the status of an object that exists."""
    return ObjectStatus(kind.name, namespace_of(obj), name_of(obj), state, summary, tuple(waits))


@dataclass(frozen=True, slots=True)
class OperatorStatus:
    """The status of an operator; `chain` has its objects from the CatalogSource to the Deployments.

    `running_csv` is the CSV that has succeeded, `next_csv` the one that OLM installs next, `pending_plan` the
    InstallPlan that requires approval. Each may be empty.
    """

    package: str
    namespace: str
    chain: tuple[ObjectStatus, ...]
    running_csv: str = ""
    next_csv: str = ""
    pending_plan: str = ""

    @property
    def waits(self) -> tuple[Wait, ...]:
        """All waits, those nearest to the catalog first: later objects usually wait for earlier ones."""
        return tuple(wait for obj in self.chain for wait in obj.waits)

    @property
    def is_settled(self) -> bool:
        """Whether the operator is running and OLM has found no newer CSV."""
        return bool(self.running_csv) and not self.next_csv

    @property
    def is_blocked(self) -> bool:
        """Whether only user action helps."""
        return any(wait.is_final for wait in self.waits)

    @property
    def is_stale(self) -> bool:
        """Whether OLM still reports a failure whose cause no longer exists."""
        return any(wait.is_stale for wait in self.waits)

    @property
    def headline(self) -> str:
        if self.is_settled:
            return f"{self.running_csv} is running"
        if self.running_csv:
            return f"{self.running_csv} is running, upgrade to {self.next_csv} is pending"
        return f"{self.next_csv} is being installed" if self.next_csv else "nothing is installed"
