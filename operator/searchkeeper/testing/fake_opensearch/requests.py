"""The engine's own API, as far as the driver uses it, and the little that users do."""

from __future__ import annotations

__all__ = ["create_index", "execute", "get_state", "wipe_node"]

from dataclasses import replace

from semver import Version

from searchkeeper.opensearch.calls import (
    Call,
    ClearVotingExclusions,
    Exclude,
    ExcludeFromVoting,
    Flush,
    SetAllocation,
)
from searchkeeper.opensearch.client import CallFailed
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
from searchkeeper.testing.fake_opensearch.state import FakeEngine, FakeShardCopy, data_nodes


def get_state(engine: FakeEngine) -> EngineView | Unreachable:
    """Health, nodes, shards and settings, as an elected manager would tell them."""
    if engine.elected is None:
        return Unreachable("no cluster manager" if engine.nodes else "no node answers")
    return EngineView(
        _color(engine),
        engine.nodes,
        tuple(_shown(copy, engine) for copy in engine.copies),
        engine.indices,
        engine.allocation or Allocation.ALL,
        engine.excluded,
        frozenset(name if name in engine.names else ABSENT + name for name in engine.voters),
        engine.voting_exclusions,
    )


def _color(engine: FakeEngine) -> Color:
    missing = [c for c in engine.copies if c.state in (ShardState.UNASSIGNED, ShardState.INITIALIZING)]
    if any(copy.is_primary for copy in missing):
        return Color.RED
    return Color.YELLOW if missing else Color.GREEN


def _shown(copy: FakeShardCopy, engine: FakeEngine) -> ShardCopy:
    deciders = _why_nowhere(copy, engine) if copy.state is ShardState.UNASSIGNED else frozenset()
    return ShardCopy(copy.index, copy.shard, copy.is_primary, copy.state, copy.node, copy.to, deciders)


def _why_nowhere(copy: FakeShardCopy, engine: FakeEngine) -> frozenset[str]:
    """The deciders that keep a copy from every node; none where one of them would have it.

    Of a lost primary they are asked only about the node that has its data: no other could begin with it.
    """
    is_lost = copy.is_primary and copy.has_data
    against = [
        frozenset() if is_lost and node.name != copy.left_on else deciders_against(engine, copy, node)
        for node in data_nodes(engine)
    ]
    return frozenset[str]().union(*against) if all(against) else frozenset()


def execute(engine: FakeEngine, call: Call) -> FakeEngine:
    """After a call. Raises CallFailed where there is nobody to take it."""
    if engine.elected is None:
        raise CallFailed("no cluster manager")
    match call:
        case SetAllocation(value):
            return replace(engine, allocation=value)
        case Exclude(names):
            return replace(engine, excluded=names)
        case ExcludeFromVoting(name):
            return replace(engine, voting_exclusions=engine.voting_exclusions | {name})
        case ClearVotingExclusions():
            return replace(engine, voting_exclusions=frozenset())
        case Flush():
            return engine


def create_index(engine: FakeEngine, name: str, *, shards: int = 1, replicas: int = 1) -> FakeEngine:
    """With a new, still unassigned index, which the oldest node that counts decides the version of."""
    oldest = min(Version.parse(n.version) for n in engine.nodes if n.is_elected or "data" in n.roles)
    copies = tuple(
        FakeShardCopy(name, shard, is_primary=number == 0)
        for shard in range(shards)
        for number in range(replicas + 1)
    )
    index = Index(name, replicas, str(oldest))
    return replace(engine, indices=(*engine.indices, index), copies=(*engine.copies, *copies))


def wipe_node(engine: FakeEngine, name: str) -> FakeEngine:
    """After a node's volume is gone: nothing on it can be found again, and any version may start there."""
    return replace(
        engine,
        disks=tuple(disk for disk in engine.disks if disk[0] != name),
        copies=tuple(replace(c, left_on=None) if c.left_on == name else c for c in engine.copies),
    )
