"""What the engine can be told, as data. Every one may be repeated: the second time changes nothing.

The text of a call is in the engine's own words, as far as it has any.
"""

from __future__ import annotations

__all__ = ["Call", "ClearVotingExclusions", "Exclude", "ExcludeFromVoting", "Flush", "SetAllocation"]

from dataclasses import dataclass
from typing import TypeAlias

from searchkeeper.opensearch.view import Allocation


@dataclass(frozen=True, slots=True)
class SetAllocation:
    """`cluster.routing.allocation.enable`; `None` takes the setting away, which means all."""

    value: Allocation | None

    def __str__(self) -> str:
        return f"cluster.routing.allocation.enable = {'its default' if self.value is None else self.value}"


@dataclass(frozen=True, slots=True)
class Exclude:
    """`cluster.routing.allocation.exclude._name`: these nodes, and no others, lose their shards."""

    names: frozenset[str]

    def __str__(self) -> str:
        return f"cluster.routing.allocation.exclude._name = {','.join(sorted(self.names)) or 'nobody'}"


@dataclass(frozen=True, slots=True)
class Flush:
    """Writes what is in memory to disk, so that a restart has less to replay."""

    def __str__(self) -> str:
        return "flush"


@dataclass(frozen=True, slots=True)
class ExcludeFromVoting:
    """Moves the vote away from a manager that is about to go, or is gone: its name, or ABSENT and its id."""

    name: str

    def __str__(self) -> str:
        return f"{self.name} gives its vote away"


@dataclass(frozen=True, slots=True)
class ClearVotingExclusions:
    """Lets every manager vote again."""

    def __str__(self) -> str:
        return "every manager may vote"


Call: TypeAlias = SetAllocation | Exclude | Flush | ExcludeFromVoting | ClearVotingExclusions
