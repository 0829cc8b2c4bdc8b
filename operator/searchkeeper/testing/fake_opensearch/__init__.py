"""An engine in memory, with the rules of the real one: votes, joins, and who may hold which copy."""

from __future__ import annotations

__all__ = ["FakeEngine", "Process", "advance", "create_index", "execute", "get_state", "wipe_node"]

from searchkeeper.testing.fake_opensearch.requests import create_index, execute, get_state, wipe_node
from searchkeeper.testing.fake_opensearch.state import FakeEngine, Process
from searchkeeper.testing.fake_opensearch.ticks import advance
