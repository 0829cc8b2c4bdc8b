"""One tick of the engine: who is there, who leads, what moves."""

from __future__ import annotations

__all__ = ["advance"]

from collections.abc import Collection

from searchkeeper.testing.fake_opensearch.allocation import allocate, finish_moves, unassign_lost_copies
from searchkeeper.testing.fake_opensearch.membership import (
    elect_manager,
    join_nodes,
    remove_nodes,
    update_voters,
)
from searchkeeper.testing.fake_opensearch.state import FakeEngine, Process


def advance(engine: FakeEngine, running: Collection[Process]) -> FakeEngine:
    """What the cluster is one tick later, when these processes run. The same input, the same cluster."""
    keeps = frozenset(name for name, _ in engine.disks)
    engine = unassign_lost_copies(remove_nodes(engine, running), keeps)
    engine = update_voters(elect_manager(join_nodes(elect_manager(engine), running)))
    return allocate(finish_moves(engine))
