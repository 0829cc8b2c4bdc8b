"""A fake OpenSearch cluster: voting, joining and shard allocation follow the rules of the real one.

The state is a `FakeEngine`. `advance` returns the state one tick later for the processes that run; `execute`
applies an API call; `get_state` and `get_details` return what the operator's client would return.
`tests/e2e/test_opensearch.py` runs the same steps on real nodes and compares.
"""

from __future__ import annotations

__all__ = [
    "FakeEngine",
    "Process",
    "advance",
    "create_index",
    "execute",
    "get_details",
    "get_state",
    "wipe_node",
]

from searchkeeper.testing.fake_opensearch.requests import (
    create_index,
    execute,
    get_details,
    get_state,
    wipe_node,
)
from searchkeeper.testing.fake_opensearch.state import FakeEngine, Process
from searchkeeper.testing.fake_opensearch.ticks import advance
