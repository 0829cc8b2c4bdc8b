"""Shard copies: which would be lost with a node, and which other nodes can hold them."""

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

from searchkeeper.api.spec import DATA_ROLES
from searchkeeper.opensearch.view import EngineView, ShardCopy, ShardState, Unreachable
from searchkeeper.snapshot import ClusterSnapshot

_USABLE: Final = (ShardState.STARTED, ShardState.RELOCATING)


def last_copies_on(snapshot: ClusterSnapshot, engine: EngineView, node: str) -> tuple[ShardCopy, ...]:
    """Return the copies on a node that no other node has in a usable state.

    A node counts only while its pod is not terminating: the engine lists it until its process ends.
    """
    others = snapshot.present & {other.name for other in engine.nodes} - {node}
    elsewhere = {copy.id for copy in engine.shards if copy.state in _USABLE and copy.node in others}
    here = (copy for copy in engine.copies_on(node) if copy.node == node and copy.state in _USABLE)
    return tuple(copy for copy in here if copy.id not in elsewhere)


def shared_shards(engine: EngineView, node: str, others: Iterable[str]) -> frozenset[tuple[str, int]]:
    """Return the shards that a node and one of the others both hold or receive."""
    theirs = {copy.id for other in others for copy in engine.copies_on(other)}
    return frozenset(copy.id for copy in engine.copies_on(node) if copy.id in theirs)


def hold_nothing(engine: EngineView | Unreachable, nodes: Iterable[str]) -> bool:
    """Whether these nodes have neither a shard nor a vote. False if the engine does not answer.

    The vote of an absent node may belong to any of these nodes that is absent.
    """
    names = frozenset(nodes)
    if not names:
        return True
    if isinstance(engine, Unreachable):
        return False
    is_absent = any(engine.node(name) is None for name in names)
    has_vote = names & engine.voters or (is_absent and engine.absent_voters)
    return not (has_vote or any(engine.copies_on(name) for name in names))


def has_other_manager(engine: EngineView, node: str) -> bool:
    """Whether another node can take this node's vote."""
    return any("cluster_manager" in other.roles for other in engine.nodes if other.name != node)


def allocation_targets(snapshot: ClusterSnapshot, engine: EngineView, node: str) -> frozenset[str]:
    """Return the other data nodes that may receive shards. Without one, no index can be created."""
    targets = {other.name for other in engine.nodes if "data" in other.roles}
    return snapshot.present & {name for name in targets if not engine.excludes(name)} - {node}


def unmovable_shard(engine: EngineView, copies: Iterable[ShardCopy], draining: frozenset[str]) -> str | None:
    """Name the first copy that no node outside `draining` can take, and why. None if all can move.

    The engine itself retries without an error.
    """
    for copy in copies:
        if is_unmovable(engine, copy, draining):
            blockers = {blocker for blocker in _move_blockers(engine, copy, draining) if blocker}
            causes = ", ".join(sorted(blockers)) or "there is no other node with the same role"
            return f"no node may take {copy.index}[{copy.shard}] from {copy.node}: {causes}"
    return None


def is_unmovable(engine: EngineView, copy: ShardCopy, draining: frozenset[str]) -> bool:
    """Whether a copy on a draining node is not moving and no node outside `draining` can take it."""
    is_waiting = copy.node in draining and copy.to is None
    return is_waiting and None not in _move_blockers(engine, copy, draining)


def _move_blockers(engine: EngineView, copy: ShardCopy, draining: frozenset[str]) -> list[str | None]:
    """Return why each node outside `draining` cannot take the copy; None for one that can.

    Nodes of another kind, such as data and search, do not take shards of each other; they are left out.
    """
    source = engine.node(copy.node or "")
    roles = DATA_ROLES & source.roles if source is not None else frozenset({"data"})
    blockers: list[str | None] = []
    for node in engine.nodes:
        if not roles & node.roles or node.name in draining:
            continue
        if engine.excludes(node.name):
            blockers.append(f"{node.name} is excluded from allocation")
        elif any(other.id == copy.id for other in engine.copies_on(node.name)):
            blockers.append(f"{node.name} already has a copy")
        elif source is not None and Version.parse(node.version) < Version.parse(source.version):
            blockers.append(f"{node.name} runs an older version")
        else:
            blockers.append(None)
    return blockers
