"""Shard allocation of the fake engine: one step of every copy a tick, where the deciders allow it."""

from __future__ import annotations

__all__ = ["allocate", "deciders_against", "finish_moves", "unassign_lost_copies"]

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from searchkeeper.opensearch.view import Allocation, Node, ShardState, is_excluded
from searchkeeper.testing.fake_opensearch.state import (
    FakeEngine,
    FakeShardCopy,
    data_nodes,
    disk_of,
    version_of,
)

_LOW_WATERMARK: Final = 0.85
_HIGH_WATERMARK: Final = 0.9
_STARTED: Final = (ShardState.STARTED, ShardState.RELOCATING)


def unassign_lost_copies(engine: FakeEngine, persistent: frozenset[str]) -> FakeEngine:
    """Unassign copies on nodes that left, and promote a replica for every lost primary.

    `persistent` are the nodes with a persistent volume: their copies are found again on their disk.
    """
    copies = tuple(_without_absent_nodes(copy, engine.names, persistent) for copy in engine.copies)
    for lost in [copy for copy in copies if copy.is_primary and copy.state is ShardState.UNASSIGNED]:
        promoted = next((c for c in copies if c.id == lost.id and c.state in _STARTED), None)
        if promoted is not None:
            changes = {promoted: replace(promoted, is_primary=True), lost: replace(lost, is_primary=False)}
            copies = tuple(changes.get(copy, copy) for copy in copies)
    return replace(engine, copies=copies)


def _without_absent_nodes(
    copy: FakeShardCopy, present: frozenset[str], persistent: frozenset[str]
) -> FakeShardCopy:
    if copy.to is not None and copy.to not in present:
        copy = replace(copy, state=ShardState.STARTED, to=None)
    if copy.node is None or copy.node in present:
        return copy
    left_on = copy.node if copy.node in persistent and copy.state in _STARTED else copy.left_on
    return replace(copy, state=ShardState.UNASSIGNED, node=None, to=None, left_on=left_on)


def finish_moves(engine: FakeEngine) -> FakeEngine:
    """Start every initializing copy, and end every relocation at its target."""
    return replace(engine, copies=tuple(map(_finish_move, engine.copies)))


def _finish_move(copy: FakeShardCopy) -> FakeShardCopy:
    match copy.state:
        case ShardState.INITIALIZING:
            return replace(copy, state=ShardState.STARTED, left_on=None, has_data=True)
        case ShardState.RELOCATING:
            return replace(copy, state=ShardState.STARTED, node=copy.to, to=None)
        case _:
            return copy


def allocate(engine: FakeEngine) -> FakeEngine:
    """Assign every unassigned copy, and relocate every copy on an excluded node, where a node may take it."""
    if engine.elected is None:
        return engine
    for place, copy in enumerate(engine.copies):
        moved = copy
        if copy.state is ShardState.UNASSIGNED:
            target = _assignment(engine, copy)
            if target is not None:
                moved = replace(copy, state=ShardState.INITIALIZING, node=target.name)
        elif copy.state is ShardState.STARTED and is_excluded(copy.node or "", engine.excluded):
            target = _first_allowed(engine, copy, data_nodes(engine))
            if target is not None:
                moved = replace(copy, state=ShardState.RELOCATING, to=target.name)
        if moved is not copy:
            copies = (*engine.copies[:place], moved, *engine.copies[place + 1 :])
            engine = replace(engine, copies=copies)
    return engine


def _assignment(engine: FakeEngine, copy: FakeShardCopy) -> Node | None:
    """Return the node for an unassigned copy: the one with its data, or the one with the fewest copies."""
    holder = [node for node in data_nodes(engine) if node.name == copy.left_on]
    if copy.is_primary and copy.has_data:
        # Deciders do not apply: the engine forces a lost primary onto its data (canForceAllocatePrimary).
        return next(iter(holder), None)
    load = Counter(name for each in engine.copies for name in (each.node, each.to))
    by_load = sorted(data_nodes(engine), key=lambda node: (load[node.name], node.name))
    return _first_allowed(engine, copy, [*holder, *by_load])


def _first_allowed(engine: FakeEngine, copy: FakeShardCopy, nodes: Iterable[Node]) -> Node | None:
    return next((node for node in nodes if not deciders_against(engine, copy, node)), None)


def deciders_against(engine: FakeEngine, copy: FakeShardCopy, node: Node) -> frozenset[str]:
    """Return the names of the allocation deciders that refuse this copy on this node."""
    siblings = [c for c in engine.copies if c.id == copy.id and c is not copy]
    primary = engine.node(next((c.node for c in siblings if c.is_primary), copy.node))
    refuses = {
        "enable": not _is_enabled(engine.allocation, copy),
        "filter": is_excluded(node.name, engine.excluded),
        "same_shard": any(node.name in (c.node, c.to) for c in siblings),
        "node_version": primary is not None and version_of(node) < version_of(primary),
        "replica_after_primary": not copy.is_primary and primary is None,
        "disk_threshold": bool(engine.shard_sizes) and not _has_disk_space(engine, copy, node),
    }
    return frozenset(name for name, is_refused in refuses.items() if is_refused)


def _has_disk_space(engine: FakeEngine, copy: FakeShardCopy, node: Node) -> bool:
    """Whether the node is below the low watermark, and not above the high one with the copy.

    Mirrors `DiskThresholdDecider.canAllocate` with the default watermarks.
    """
    disk, size = disk_of(engine, node.name), dict(engine.shard_sizes).get(copy.index, 0)
    used = disk.total - disk.available
    return used < _LOW_WATERMARK * disk.total and used + size <= _HIGH_WATERMARK * disk.total


def _is_enabled(allocation: Allocation | None, copy: FakeShardCopy) -> bool:
    if copy.node is not None and copy.state is ShardState.STARTED:
        return True
    match allocation or Allocation.ALL:
        case Allocation.ALL:
            return True
        case Allocation.PRIMARIES:
            return copy.is_primary
        case _:
            return False
