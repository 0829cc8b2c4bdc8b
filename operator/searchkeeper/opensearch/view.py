"""The state of an OpenSearch cluster at one moment, as values."""

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

# Prefix of the id of a voter that has left: OpenSearch no longer knows its name. No pod name starts with it.
ABSENT: Final = "@"


def is_excluded(name: str, excluded: Collection[str]) -> bool:
    """Whether a node name matches an exclusion, in which only `*` is special (`Regex.simpleMatch`)."""
    return name in excluded or any(
        _wildcard(pattern).fullmatch(name) for pattern in excluded if "*" in pattern
    )


@lru_cache(maxsize=256)
def _wildcard(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


class Color(StrEnum):
    """Cluster health. Green: every copy is started. Yellow: every primary is. Red: a primary is not."""

    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"


class Allocation(StrEnum):
    """Values of `cluster.routing.allocation.enable`: which copies OpenSearch may allocate."""

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
    """A node that has joined the cluster. Its name is the name of its pod."""

    name: str
    version: str
    roles: frozenset[str]
    is_elected: bool = False


@dataclass(frozen=True, slots=True)
class ShardCopy:
    """A primary or replica. A relocating copy is on `node` and moves to the node `to`.

    `deciders` are the allocation deciders that keep an unassigned copy off every node.
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
    """An index. `created_by` is the version that created it, which limits the versions that can open it.

    It is 0.MAJOR.MINOR for an index created by Elasticsearch, for example 0.7.10.
    """

    name: str
    replicas: int
    created_by: str
    segment_replication: bool = False


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The cluster sent no valid response in time, so its state is unknown."""

    cause: str


@dataclass(frozen=True, slots=True)
class EngineView:
    """The state of a reachable cluster. `allocation` and `excluded` are the settings in force.

    `voters` and `voting_exclusions` hold node names, or ABSENT and the id of a node that has left. `delayed`
    counts unassigned shards with delayed allocation, `fetching` the shard fetches in flight. `low_watermark`
    is the disk usage from which a node gets no more shards: 85%, 0.85 or 50gb (free); None if disabled.
    `record` is what the operator has recorded in the engine about its own settings: names and texts, sorted.
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
    low_watermark: str | None = "85%"
    record: tuple[tuple[str, str], ...] = ()

    @property
    def elected(self) -> Node | None:
        """The elected cluster manager."""
        return next((node for node in self.nodes if node.is_elected), None)

    @property
    def absent_voters(self) -> frozenset[str]:
        """Voters that have left the cluster."""
        return frozenset(voter for voter in self.voters if voter.startswith(ABSENT))

    @property
    def is_moving(self) -> bool:
        """Whether copies initialize or relocate, or are about to: the color may change soon."""
        busy = (ShardState.INITIALIZING, ShardState.RELOCATING)
        return bool(self.delayed or self.fetching) or any(copy.state in busy for copy in self.shards)

    def node(self, name: str) -> Node | None:
        return next((node for node in self.nodes if node.name == name), None)

    def excludes(self, name: str) -> bool:
        """Whether the node is excluded from allocation, by name or by pattern, by the operator or a user."""
        return is_excluded(name, self.excluded)

    def copies_on(self, name: str) -> tuple[ShardCopy, ...]:
        """Copies on a node, with those that relocate to it."""
        return tuple(copy for copy in self.shards if name in (copy.node, copy.to))
