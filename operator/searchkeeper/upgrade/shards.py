"""What would be missing if a node were gone."""

from __future__ import annotations

__all__ = [
    "allocation_targets",
    "has_other_manager",
    "hold_nothing",
    "is_unmovable",
    "last_copies_on",
    "shared_shards",
    "unmovable_shard",
]

from collections.abc import Iterable
from typing import Final

from semver import Version

from searchkeeper.opensearch.view import EngineView, Node, ShardCopy, ShardState, Unreachable
from searchkeeper.snapshot import ClusterSnapshot

_USABLE: Final = (ShardState.STARTED, ShardState.RELOCATING)


def last_copies_on(snapshot: ClusterSnapshot, engine: EngineView, node: str) -> tuple[ShardCopy, ...]:
    """The copies on this node that nobody else has a usable copy of: joined, and not on its way out.

    The engine counts a node for as long as its process runs, whoever has sent its pod away.
    """
    others = snapshot.present & {each.name for each in engine.nodes} - {node}
    elsewhere = {copy.id for copy in engine.shards if copy.state in _USABLE and copy.node in others}
    here = (copy for copy in engine.copies_on(node) if copy.node == node and copy.state in _USABLE)
    return tuple(copy for copy in here if copy.id not in elsewhere)


def shared_shards(engine: EngineView, node: str, others: Iterable[str]) -> frozenset[tuple[str, int]]:
    """The shards of which this node and one of the others both have a copy, or are getting one."""
    theirs = {copy.id for other in others for copy in engine.copies_on(other)}
    return frozenset(copy.id for copy in engine.copies_on(node) if copy.id in theirs)


def hold_nothing(engine: EngineView | Unreachable, nodes: Iterable[str]) -> bool:
    """Whether these nodes have neither a copy of a shard nor a vote. Of an engine that is silent: no.

    A vote of somebody who is away may be that of any of them who is.
    """
    names = frozenset(nodes)
    if not names:
        return True
    if isinstance(engine, Unreachable):
        return False
    is_away = any(engine.node(name) is None for name in names)
    has_vote = names & engine.voters or (is_away and engine.absent_voters)
    return not (has_vote or any(engine.copies_on(name) for name in names))


def has_other_manager(engine: EngineView, node: str) -> bool:
    """Whether somebody else could have its vote."""
    return any("cluster_manager" in each.roles for each in engine.nodes if each.name != node)


def allocation_targets(snapshot: ClusterSnapshot, engine: EngineView, node: str) -> frozenset[str]:
    """The other data nodes that may have shards. With none of them left no index could be made any more."""
    holders = {each.name for each in engine.nodes if "data" in each.roles and not engine.excludes(each.name)}
    return snapshot.present & holders - {node}


def unmovable_shard(engine: EngineView, copies: Iterable[ShardCopy], leaving: frozenset[str]) -> str | None:
    """Of copies on nodes to be emptied: the first that no other node may ever have; None if all can go.

    The engine goes on trying without a word, so whoever drains has to know.
    """
    for copy in copies:
        if is_unmovable(engine, copy, leaving):
            against = _objections(engine, copy, leaving)
            reasons = ", ".join(sorted({each for each in against if each})) or "there is no other data node"
            return f"no node may take {copy.index}[{copy.shard}] from {copy.node}: {reasons}"
    return None


def is_unmovable(engine: EngineView, copy: ShardCopy, leaving: frozenset[str]) -> bool:
    """A copy on a node to be emptied that no other one may ever have."""
    return copy.node in leaving and copy.to is None and None not in _objections(engine, copy, leaving)


def _objections(engine: EngineView, copy: ShardCopy, leaving: frozenset[str]) -> list[str | None]:
    others = [each for each in engine.nodes if "data" in each.roles and each.name not in leaving]
    return [_objection(engine, copy, other) for other in others]


def _objection(engine: EngineView, copy: ShardCopy, other: Node) -> str | None:
    if engine.excludes(other.name):
        return f"{other.name} is excluded"
    if any(each.id == copy.id for each in engine.copies_on(other.name)):
        return f"{other.name} has a copy already"
    here = engine.node(copy.node or "")
    if here is not None and Version.parse(other.version) < Version.parse(here.version):
        return f"{other.name} is older"
    return None
