"""The API of the fake engine: what the operator's client calls, and what tests do as users."""

from __future__ import annotations

__all__ = ["create_index", "execute", "get_details", "get_state", "wipe_node"]

from dataclasses import replace

from semver import Version

from searchkeeper.opensearch.calls import (
    Call,
    ChangeRecord,
    ClearVotingExclusions,
    Exclude,
    ExcludeFromVoting,
    Flush,
    SetAllocation,
    TakeSnapshot,
)
from searchkeeper.opensearch.client import CallFailed, CallRejected
from searchkeeper.opensearch.details import (
    DetailsRequest,
    Disks,
    EngineDetails,
    SnapshotState,
    SnapshotView,
)
from searchkeeper.opensearch.view import (
    ABSENT,
    Allocation,
    Color,
    EngineView,
    Index,
    ShardCopy,
    ShardState,
    Unreachable,
)
from searchkeeper.testing.fake_opensearch.allocation import deciders_against
from searchkeeper.testing.fake_opensearch.state import (
    FakeEngine,
    FakeShardCopy,
    FakeSnapshot,
    data_nodes,
    disk_of,
)


def get_state(engine: FakeEngine) -> EngineView | Unreachable:
    """Return health, nodes, shards and settings as the elected manager reports them."""
    if engine.elected is None:
        return Unreachable("no cluster manager" if engine.nodes else "no node answers")
    return EngineView(
        _color(engine),
        engine.nodes,
        tuple(_shard_copy(copy, engine) for copy in engine.copies),
        engine.indices,
        engine.allocation or Allocation.ALL,
        engine.excluded,
        frozenset(name if name in engine.names else ABSENT + name for name in engine.voters),
        engine.voting_exclusions,
        record=engine.record,
    )


def _color(engine: FakeEngine) -> Color:
    missing = [c for c in engine.copies if c.state in (ShardState.UNASSIGNED, ShardState.INITIALIZING)]
    if any(copy.is_primary for copy in missing):
        return Color.RED
    return Color.YELLOW if missing else Color.GREEN


def _shard_copy(copy: FakeShardCopy, engine: FakeEngine) -> ShardCopy:
    """Report a copy with the deciders that keep it unassigned; none if some node may take it.

    For a lost primary the deciders are those of the node that has its data: no other node can start it.
    """
    deciders: frozenset[str] = frozenset()
    if copy.state is ShardState.UNASSIGNED:
        is_lost = copy.is_primary and copy.has_data
        by_node = [
            frozenset() if is_lost and node.name != copy.left_on else deciders_against(engine, copy, node)
            for node in data_nodes(engine)
        ]
        deciders = deciders.union(*by_node) if all(by_node) else deciders
    return ShardCopy(copy.index, copy.shard, copy.is_primary, copy.state, copy.node, copy.to, deciders)


def execute(engine: FakeEngine, call: Call) -> FakeEngine:
    """Apply an API call. Raises CallFailed without an elected manager."""
    if engine.elected is None:
        raise CallFailed("no cluster manager")
    if not isinstance(call, Flush | TakeSnapshot):
        changed = {**dict(engine.record), **dict(call.record)}
        record = tuple(sorted((name, text) for name, text in changed.items() if text is not None))
        engine = replace(engine, record=record)
    match call:
        case SetAllocation(value):
            return replace(engine, allocation=value)
        case Exclude(names):
            return replace(engine, excluded=names)
        case ExcludeFromVoting(name):
            return replace(engine, voting_exclusions=engine.voting_exclusions | {name})
        case ClearVotingExclusions():
            return replace(engine, voting_exclusions=frozenset())
        case Flush() | ChangeRecord():
            return engine
        case TakeSnapshot(repository, name):
            return _take_snapshot(engine, repository, name)


def _take_snapshot(engine: FakeEngine, repository: str, name: str) -> FakeEngine:
    if repository not in engine.repositories:
        raise CallRejected(f"404 POST /_snapshot/{repository}/_verify: [{repository}] missing")
    if any((each.repository, each.name) == (repository, name) for each in engine.snapshots):
        return engine
    return replace(engine, snapshots=(*engine.snapshots, FakeSnapshot(repository, name)))


def get_details(engine: FakeEngine, request: DetailsRequest) -> EngineDetails:
    """Return disk usage and the state of a snapshot, as far as they are requested."""
    disks = snapshot = None
    if request.disks:
        sizes = dict(engine.shard_sizes)
        disks = Disks(
            {node.name: disk_of(engine, node.name) for node in engine.nodes},
            {(c.node, c.index, c.shard): sizes.get(c.index, 0) for c in engine.copies if c.node is not None},
        )
    if request.repository is not None:
        snapshot = _snapshot(engine, request.repository, request.snapshot)
    return EngineDetails(disks, snapshot)


def _snapshot(engine: FakeEngine, repository: str, name: str | None) -> SnapshotView:
    if engine.elected is None:
        return SnapshotView(SnapshotState.UNKNOWN, "no cluster manager")
    if repository not in engine.repositories:
        return SnapshotView(SnapshotState.REPOSITORY_MISSING)
    found = (each for each in engine.snapshots if (each.repository, each.name) == (repository, name))
    state = next((each.state for each in found), SnapshotState.MISSING)
    has_failed = state in (SnapshotState.FAILED, SnapshotState.PARTIAL)
    return SnapshotView(state, "1 shards failed" if has_failed else "")


def create_index(engine: FakeEngine, name: str, *, shards: int = 1, replicas: int = 1) -> FakeEngine:
    """Add an index, still unassigned. The oldest data node or the manager determines its version."""
    oldest = min(Version.parse(n.version) for n in engine.nodes if n.is_elected or "data" in n.roles)
    copies = tuple(
        FakeShardCopy(name, shard, is_primary=number == 0)
        for shard in range(shards)
        for number in range(replicas + 1)
    )
    index = Index(name, replicas, str(oldest))
    return replace(engine, indices=(*engine.indices, index), copies=(*engine.copies, *copies))


def wipe_node(engine: FakeEngine, name: str) -> FakeEngine:
    """Erase a node's disk: its copies are lost, and any version can start on it."""
    return replace(
        engine,
        disks=tuple(disk for disk in engine.disks if disk[0] != name),
        copies=tuple(replace(c, left_on=None) if c.left_on == name else c for c in engine.copies),
    )
