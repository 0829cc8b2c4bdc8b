"""Which node holds which copy: what the engine's deciders allow, one step a tick."""

from __future__ import annotations

__all__ = ["allocate", "deciders_against", "finish_moves", "unassign_lost_copies"]

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from searchkeeper.opensearch.view import Allocation, Node, ShardState, is_excluded
from searchkeeper.testing.fake_opensearch.state import FakeEngine, FakeShardCopy, data_nodes, version_of

_ON_A_NODE: Final = (ShardState.STARTED, ShardState.RELOCATING)


def unassign_lost_copies(engine: FakeEngine, keeps_data: frozenset[str]) -> FakeEngine:
    """Copies on nodes that left are unassigned, and another copy takes the place of a lost primary."""
    copies = tuple(_without_nodes(copy, engine, keeps_data) for copy in engine.copies)
    for lost in [copy for copy in copies if copy.is_primary and copy.state is ShardState.UNASSIGNED]:
        copies = _promoted(copies, lost)
    return replace(engine, copies=copies)


def _without_nodes(copy: FakeShardCopy, engine: FakeEngine, keeps_data: frozenset[str]) -> FakeShardCopy:
    if copy.to is not None and copy.to not in engine.names:
        copy = replace(copy, state=ShardState.STARTED, to=None)
    if copy.node is None or copy.node in engine.names:
        return copy
    left_on = copy.node if copy.node in keeps_data and copy.state in _ON_A_NODE else copy.left_on
    return replace(copy, state=ShardState.UNASSIGNED, node=None, to=None, left_on=left_on)


def _promoted(copies: tuple[FakeShardCopy, ...], lost: FakeShardCopy) -> tuple[FakeShardCopy, ...]:
    heir = next((c for c in copies if c.id == lost.id and c.state in _ON_A_NODE), None)
    if heir is None:
        return copies
    roles = {heir: replace(heir, is_primary=True), lost: replace(lost, is_primary=False)}
    return tuple(roles.get(copy, copy) for copy in copies)


def finish_moves(engine: FakeEngine) -> FakeEngine:
    """What was on its way has arrived."""
    return replace(engine, copies=tuple(map(_arrived, engine.copies)))


def _arrived(copy: FakeShardCopy) -> FakeShardCopy:
    if copy.state is ShardState.INITIALIZING:
        return replace(copy, state=ShardState.STARTED, left_on=None, has_data=True)
    if copy.state is ShardState.RELOCATING:
        return replace(copy, state=ShardState.STARTED, node=copy.to, to=None)
    return copy


def allocate(engine: FakeEngine) -> FakeEngine:
    """Every copy that is unassigned, or where it may not stay, sets out for a node that may have it."""
    if engine.elected is None:
        return engine
    for place, copy in enumerate(engine.copies):
        moved = _set_out(copy, engine)
        if moved is not copy:
            copies = (*engine.copies[:place], moved, *engine.copies[place + 1 :])
            engine = replace(engine, copies=copies)
    return engine


def _set_out(copy: FakeShardCopy, engine: FakeEngine) -> FakeShardCopy:
    if copy.state is ShardState.UNASSIGNED:
        target = _home(copy, engine)
        return copy if target is None else replace(copy, state=ShardState.INITIALIZING, node=target.name)
    if copy.state is ShardState.STARTED and is_excluded(copy.node or "", engine.excluded):
        target = _first(engine, copy, data_nodes(engine))
        return copy if target is None else replace(copy, state=ShardState.RELOCATING, to=target.name)
    return copy


def _home(copy: FakeShardCopy, engine: FakeEngine) -> Node | None:
    """A lost primary can only come back where its data is; a replica prefers to, and may go anywhere."""
    before = [node for node in data_nodes(engine) if node.name == copy.left_on]
    if copy.is_primary and copy.has_data:
        # Whatever is excluded or held back: the engine forces it there (canForceAllocatePrimary).
        return next(iter(before), None)
    return _first(engine, copy, [*before, *_by_load(engine)])


def _by_load(engine: FakeEngine) -> list[Node]:
    """The emptiest first, so that copies spread."""
    load = {node.name: 0 for node in engine.nodes}
    for copy in engine.copies:
        for name in (copy.node, copy.to):
            if name in load:
                load[name] += 1
    return sorted(data_nodes(engine), key=lambda node: (load[node.name], node.name))


def _first(engine: FakeEngine, copy: FakeShardCopy, nodes: Iterable[Node]) -> Node | None:
    return next((node for node in nodes if not deciders_against(engine, copy, node)), None)


def deciders_against(engine: FakeEngine, copy: FakeShardCopy, node: Node) -> frozenset[str]:
    """The deciders that say no to this copy on this node."""
    siblings = [c for c in engine.copies if c.id == copy.id and c is not copy]
    holder = engine.node(next((c.node for c in siblings if c.is_primary), copy.node))
    against = {
        "enable": not _is_enabled(engine.allocation, copy),
        "filter": is_excluded(node.name, engine.excluded),
        "same_shard": any(node.name in (c.node, c.to) for c in siblings),
        "node_version": holder is not None and version_of(node) < version_of(holder),
        "replica_after_primary": not copy.is_primary and holder is None,
    }
    return frozenset(name for name, says_no in against.items() if says_no)


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
