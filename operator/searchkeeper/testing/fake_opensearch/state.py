"""The state of the fake engine between two ticks."""

from __future__ import annotations

__all__ = [
    "FakeEngine",
    "FakeShardCopy",
    "FakeSnapshot",
    "Process",
    "data_nodes",
    "disk_of",
    "version_of",
]

from dataclasses import dataclass
from typing import Final

from semver import Version

from searchkeeper.opensearch.details import NodeDisk, SnapshotState
from searchkeeper.opensearch.view import Allocation, Index, Node, ShardState

_DATA: Final = "data"
# Bytes of a disk that `disk_totals` does not list.
_LARGE: Final = 2**50


@dataclass(frozen=True, slots=True, order=True)
class Process:
    """An OpenSearch process in a pod. It becomes a node when it joins.

    `keeps_data` is False for a process without a persistent volume.
    """

    name: str
    version: str
    roles: frozenset[str]
    keeps_data: bool = True


@dataclass(frozen=True, slots=True)
class FakeShardCopy:
    """One copy of a shard.

    `to` is the target node of a relocation. `left_on` is the node whose disk still has an unassigned copy.
    `has_data` is True once the copy was started: from then on a new, empty copy cannot replace the last one.
    """

    index: str
    shard: int
    is_primary: bool
    state: ShardState = ShardState.UNASSIGNED
    node: str | None = None
    to: str | None = None
    left_on: str | None = None
    has_data: bool = False

    @property
    def id(self) -> tuple[str, int]:
        return (self.index, self.shard)


@dataclass(frozen=True, slots=True)
class FakeSnapshot:
    """A snapshot. It is in progress for this number of ticks."""

    repository: str
    name: str
    state: SnapshotState = SnapshotState.IN_PROGRESS
    ticks: int = 2


@dataclass(frozen=True, slots=True)
class FakeEngine:
    """The cluster state of the engine.

    `disks` maps a node name to the newest version that wrote to its disk. `voters` is the committed voting
    configuration. `disk_totals` has the disks that are not large, by node; `shard_sizes` the size of each
    shard copy that is not empty, by index. Snapshots end with `snapshot_result`. `record` is what the
    operator has recorded about its own settings.
    """

    nodes: tuple[Node, ...] = ()
    indices: tuple[Index, ...] = ()
    copies: tuple[FakeShardCopy, ...] = ()
    disks: tuple[tuple[str, str], ...] = ()
    voters: frozenset[str] = frozenset()
    voting_exclusions: frozenset[str] = frozenset()
    allocation: Allocation | None = None
    excluded: frozenset[str] = frozenset()
    disk_totals: tuple[tuple[str, int], ...] = ()
    shard_sizes: tuple[tuple[str, int], ...] = ()
    repositories: frozenset[str] = frozenset()
    snapshots: tuple[FakeSnapshot, ...] = ()
    snapshot_result: SnapshotState = SnapshotState.SUCCESS
    record: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The names of the nodes that have joined."""
        return frozenset(node.name for node in self.nodes)

    @property
    def elected(self) -> Node | None:
        return next((node for node in self.nodes if node.is_elected), None)

    def node(self, name: str | None) -> Node | None:
        return next((node for node in self.nodes if node.name == name), None)


def data_nodes(engine: FakeEngine) -> tuple[Node, ...]:
    return tuple(node for node in engine.nodes if _DATA in node.roles)


def version_of(node: Node) -> Version:
    return Version.parse(node.version)


def disk_of(engine: FakeEngine, node: str) -> NodeDisk:
    """Return the disk of a node. A copy that moves takes space at its source and at its target."""
    total, sizes = dict(engine.disk_totals).get(node, _LARGE), dict(engine.shard_sizes)
    used = sum(sizes.get(copy.index, 0) for copy in engine.copies if sizes and node in (copy.node, copy.to))
    return NodeDisk(total, total - used)
