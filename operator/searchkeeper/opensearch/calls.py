"""Calls to OpenSearch as data. Every call is idempotent. Its text is what plans and logs print.

A call that changes a setting also changes the operator's record of it in the engine: `record` has the names
and the texts to set; None removes one.
"""

from __future__ import annotations

__all__ = [
    "Call",
    "ChangeRecord",
    "ClearVotingExclusions",
    "Exclude",
    "ExcludeFromVoting",
    "Flush",
    "RecordChanges",
    "SetAllocation",
    "TakeSnapshot",
]

from dataclasses import dataclass
from typing import TypeAlias

from searchkeeper.opensearch.view import Allocation

RecordChanges: TypeAlias = tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class SetAllocation:
    """Sets `cluster.routing.allocation.enable`. None removes the setting; the default is `all`."""

    value: Allocation | None
    record: RecordChanges = ()

    def __str__(self) -> str:
        if self.value is None:
            return "reset cluster.routing.allocation.enable to its default"
        return f"set cluster.routing.allocation.enable to {self.value}"


@dataclass(frozen=True, slots=True)
class Exclude:
    """Sets `cluster.routing.allocation.exclude._name` to these nodes, whose shards OpenSearch moves."""

    names: frozenset[str]
    record: RecordChanges = ()

    def __str__(self) -> str:
        if not self.names:
            return "clear cluster.routing.allocation.exclude._name"
        return f"set cluster.routing.allocation.exclude._name to {','.join(sorted(self.names))}"


@dataclass(frozen=True, slots=True)
class Flush:
    """Flushes all indices, so that a restarted node replays less of its translog."""

    def __str__(self) -> str:
        return "flush all indices"


@dataclass(frozen=True, slots=True)
class ExcludeFromVoting:
    """Adds a voting exclusion. `name` is a node name, or ABSENT and the node id of a node that has left.

    The record is changed first: no request changes both.
    """

    name: str
    record: RecordChanges = ()

    def __str__(self) -> str:
        return f"exclude {self.name} from voting"


@dataclass(frozen=True, slots=True)
class ClearVotingExclusions:
    """Removes every voting exclusion. The record is changed first: no request changes both."""

    record: RecordChanges = ()

    def __str__(self) -> str:
        return "clear voting exclusions"


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """Changes only the record."""

    record: RecordChanges

    def __str__(self) -> str:
        return f"change the record of {', '.join(sorted(name for name, _ in self.record))}"


@dataclass(frozen=True, slots=True)
class TakeSnapshot:
    """Verifies a repository and starts a snapshot of all indices and the cluster state in it.

    A snapshot of this name that exists already, in whatever state, counts as started.
    """

    repository: str
    name: str

    def __str__(self) -> str:
        return f"take snapshot {self.repository}/{self.name}"


Call: TypeAlias = (
    SetAllocation | Exclude | Flush | ExcludeFromVoting | ClearVotingExclusions | ChangeRecord | TakeSnapshot
)
