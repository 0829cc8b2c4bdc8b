"""What the engine says of itself, at one moment, as values."""

from __future__ import annotations

__all__ = [
    "ABSENT",
    "Allocation",
    "Color",
    "EngineView",
    "Index",
    "Node",
    "ShardCopy",
    "ShardState",
    "Unreachable",
    "is_excluded",
]

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

# Before the id of a voter that is away: its name went with it, and no pod is called like that.
ABSENT: Final = "@"


def is_excluded(name: str, excluded: Collection[str]) -> bool:
    """Whether a node is among those that are excluded by name: `*` stands for any text, all else for itself.

    As `Regex.simpleMatch` of OpenSearch has it.
    """
    return name in excluded or any(_pattern(each).fullmatch(name) for each in excluded if "*" in each)


@lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, text.split("*"))), re.DOTALL)


class Color(StrEnum):
    """Green: every copy is started. Yellow: every primary is. Red: not even those."""

    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"


class Allocation(StrEnum):
    """Which copies the engine may place, `cluster.routing.allocation.enable`."""

    ALL = "all"
    PRIMARIES = "primaries"
    NEW_PRIMARIES = "new_primaries"
    NONE = "none"


class ShardState(StrEnum):
    STARTED = "STARTED"
    INITIALIZING = "INITIALIZING"
    RELOCATING = "RELOCATING"
    UNASSIGNED = "UNASSIGNED"


@dataclass(frozen=True, slots=True)
class Node:
    """One node that has joined, by the name of its pod."""

    name: str
    version: str
    roles: frozenset[str]
    is_elected: bool = False


@dataclass(frozen=True, slots=True)
class ShardCopy:
    """One copy of a shard. `node` is where it is or leaves from, `to` where it goes.

    An unassigned copy has the deciders that keep it so: why no node may take it.
    """

    index: str
    shard: int
    is_primary: bool
    state: ShardState
    node: str | None = None
    to: str | None = None
    deciders: frozenset[str] = frozenset()

    @property
    def id(self) -> tuple[str, int]:
        return (self.index, self.shard)


@dataclass(frozen=True, slots=True)
class Index:
    """What decides whether an older node may ever hold it again."""

    name: str
    replicas: int
    created_by: str
    segment_replication: bool = False


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The engine gave no answer, or none in time: nothing is known, which is not the same as bad."""

    cause: str


@dataclass(frozen=True, slots=True)
class EngineView:
    """One look at a reachable engine. `excluded` and `allocation` are the settings in force, as written.

    Voters, and those who are to have no vote, are called by their names, or by ABSENT and their id.
    """

    color: Color
    nodes: tuple[Node, ...]
    shards: tuple[ShardCopy, ...] = ()
    indices: tuple[Index, ...] = ()
    allocation: Allocation = Allocation.ALL
    excluded: frozenset[str] = frozenset()
    voters: frozenset[str] = frozenset()
    voting_exclusions: frozenset[str] = frozenset()
    delayed: int = 0
    fetching: int = 0

    @property
    def elected(self) -> Node | None:
        return next((node for node in self.nodes if node.is_elected), None)

    @property
    def absent_voters(self) -> frozenset[str]:
        """Those who have a vote and are not there. The engine does not know any more who they were."""
        return frozenset(each for each in self.voters if each.startswith(ABSENT))

    @property
    def is_moving(self) -> bool:
        """Copies are on their way, or about to be: what is green now may not be in a moment."""
        busy = (ShardState.INITIALIZING, ShardState.RELOCATING)
        return bool(self.delayed or self.fetching) or any(copy.state in busy for copy in self.shards)

    def node(self, name: str) -> Node | None:
        return next((node for node in self.nodes if node.name == name), None)

    def excludes(self, name: str) -> bool:
        """Whether no shard may be there, whoever has said so, and in whatever words."""
        return is_excluded(name, self.excluded)

    def copies_on(self, name: str) -> tuple[ShardCopy, ...]:
        """Also those that are only on their way there."""
        return tuple(copy for copy in self.shards if name in (copy.node, copy.to))
