"""Calls to OpenSearch as data. Every call is idempotent. Its text is what plans and logs print."""

from __future__ import annotations

__all__ = [
    "Call",
    "ClearVotingExclusions",
    "Exclude",
    "ExcludeFromVoting",
    "Flush",
    "SetAllocation",
    "TakeSnapshot",
]

from dataclasses import dataclass
from typing import TypeAlias

from searchkeeper.opensearch.view import Allocation


@dataclass(frozen=True, slots=True)
class SetAllocation:
    """Sets `cluster.routing.allocation.enable`. None removes the setting; the default is `all`."""

    value: Allocation | None

    def __str__(self) -> str:
        if self.value is None:
            return "reset cluster.routing.allocation.enable to its default"
        return f"set cluster.routing.allocation.enable to {self.value}"


@dataclass(frozen=True, slots=True)
class Exclude:
    """Sets `cluster.routing.allocation.exclude._name` to these nodes, whose shards OpenSearch moves."""

    names: frozenset[str]

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
    """Adds a voting exclusion. `name` is a node name, or ABSENT and the node id of a node that has left."""

    name: str

    def __str__(self) -> str:
        return f"exclude {self.name} from voting"


@dataclass(frozen=True, slots=True)
class ClearVotingExclusions:
    """Removes every voting exclusion."""

    def __str__(self) -> str:
        return "clear voting exclusions"


@dataclass(frozen=True, slots=True)
class TakeSnapshot:
    """Verifies a repository and starts a snapshot of all indices and the cluster state in it.

    A snapshot of this name that exists already, in whatever state, counts as started.
    """

    repository: str
    name: str

    def __str__(self) -> str:
        return f"take snapshot {self.repository}/{self.name}"


Call: TypeAlias = SetAllocation | Exclude | Flush | ExcludeFromVoting | ClearVotingExclusions | TakeSnapshot
