"""One tick of the engine: who is there, who leads, what moves."""

from __future__ import annotations

__all__ = ["advance"]

from collections.abc import Collection

from searchkeeper.engine.embedded.allocation import allocated, finished, orphaned
from searchkeeper.engine.embedded.membership import joined, left, reelected, with_votes
from searchkeeper.engine.embedded.state import Engine, Process


def advance(engine: Engine, running: Collection[Process]) -> Engine:
    """What the cluster is one tick later, when these processes run. The same input, the same cluster."""
    keeps = frozenset(name for name, _ in engine.disks)
    engine = orphaned(left(engine, running), keeps)
    engine = with_votes(reelected(joined(reelected(engine), running)))
    return allocated(finished(engine))
