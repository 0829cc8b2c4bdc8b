"""One tick of the fake engine: membership, election, shard allocation."""

from __future__ import annotations

__all__ = ["advance"]

from collections.abc import Collection
from dataclasses import replace

from searchkeeper.opensearch.details import SnapshotState
from searchkeeper.testing.fake_opensearch.allocation import allocate, finish_moves, unassign_lost_copies
from searchkeeper.testing.fake_opensearch.membership import (
    elect_manager,
    join_nodes,
    remove_nodes,
    update_voters,
)
from searchkeeper.testing.fake_opensearch.state import FakeEngine, Process


def advance(engine: FakeEngine, running: Collection[Process]) -> FakeEngine:
    """Return the engine one tick later, given the processes that run. Deterministic."""
    persistent = frozenset(name for name, _ in engine.disks)
    engine = unassign_lost_copies(remove_nodes(engine, running), persistent)
    engine = elect_manager(engine)
    engine = join_nodes(engine, running)
    engine = update_voters(elect_manager(engine))
    return allocate(finish_moves(_advance_snapshots(engine)))


def _advance_snapshots(engine: FakeEngine) -> FakeEngine:
    """Count the ticks of every snapshot in progress, and end it with the last one."""
    if engine.elected is None or not engine.snapshots:
        return engine
    snapshots = []
    for each in engine.snapshots:
        is_last = each.state is SnapshotState.IN_PROGRESS and not each.ticks
        state = engine.snapshot_result if is_last else each.state
        snapshots.append(replace(each, state=state, ticks=max(0, each.ticks - 1)))
    return replace(engine, snapshots=tuple(snapshots))
