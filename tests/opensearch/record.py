"""Records what a real OpenSearch answers the driver, for the tests beside this file.

python tests/opensearch/record.py     (with tests, operator and tools on PYTHONPATH; needs Maven)
"""

from __future__ import annotations

__all__ = ["main"]

import json
import tempfile
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from e2e.stand.opensearch import opensearch_folder, opensearch_nodes
from e2e.stand.processes import workshop
from e2e.stand.waiting import until
from opensearch_replayed import ANSWERS, Exchange
from searchkeeper.opensearch.calls import Exclude, ExcludeFromVoting, Flush, SetAllocation
from searchkeeper.opensearch.http import Access, ErrorResponse, HttpConnection
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.view import Allocation, EngineView, ShardState, Unreachable

_VERSION = "2.19.4"
_NAMES = tuple(f"logs-data-{number}" for number in range(3))


def main() -> None:
    """Three nodes; one index that fits, one with more replicas than nodes; then node after node leaves."""
    with tempfile.TemporaryDirectory() as logs, workshop(Path(logs)) as place:
        members = [(name, ("cluster_manager", "data")) for name in _NAMES]
        with opensearch_nodes(place, opensearch_folder(_VERSION), members) as nodes:
            for name in _NAMES:
                nodes.start(name, _VERSION)
            nodes.joined(3)
            engine = OpenSearchClient(Access(nodes.url))
            _create(nodes.url, "books", shards=2, replicas=1)
            _create(nodes.url, "wide", shards=1, replicas=4)
            until("shards are started", lambda: _is_at_rest(engine.get_state()))
            _record("healthy", engine.get_state)
            _record("telling", lambda: _tell_everything(engine))
            until("it is drained", lambda: _is_drained(engine.get_state()))
            _record("drained", engine.get_state)
            nodes.stop(_NAMES[2])
            until("it is noticed", lambda: _count(engine.get_state()) == 2)
            _record("one-away", engine.get_state)
            nodes.stop(_NAMES[1])
            until("it is noticed", lambda: isinstance(engine.get_state(), Unreachable))
            _record("no-manager", engine.get_state)


def _create(url: str, name: str, *, shards: int, replicas: int) -> None:
    settings = {"settings": {"number_of_shards": shards, "number_of_replicas": replicas}}
    request = urllib.request.Request(
        f"{url}/{name}",
        json.dumps(settings).encode(),
        {"Content-Type": "application/json"},
        method="PUT",
    )
    urllib.request.urlopen(request, timeout=30).close()


def _tell_everything(engine: OpenSearchClient) -> None:
    engine.execute(SetAllocation(Allocation.PRIMARIES))
    engine.execute(Exclude(frozenset({_NAMES[2]})))
    engine.execute(Flush())
    engine.execute(SetAllocation(None))
    engine.execute(ExcludeFromVoting(_NAMES[2]))


def _count(view: EngineView | Unreachable) -> int:
    return 0 if isinstance(view, Unreachable) else len(view.nodes)


def _is_at_rest(view: EngineView | Unreachable) -> bool:
    return isinstance(view, EngineView) and not view.is_moving


def _is_drained(view: EngineView | Unreachable) -> bool:
    books = [c for c in view.shards if c.index == "books"] if isinstance(view, EngineView) else []
    return bool(books) and all(c.state is ShardState.STARTED and c.node != _NAMES[2] for c in books)


def _record(name: str, ask: Callable[[], object]) -> None:
    exchanges: list[Exchange] = []
    plain = HttpConnection.call

    def heard(
        http: HttpConnection,
        method: str,
        path: str,
        query: Any = None,
        body: Any = None,
        **how: Any,
    ) -> Any:
        status, answer = 200, None
        try:
            answer = plain(http, method, path, query, body, **how)
        except ErrorResponse as turned:
            status, answer = turned.status, {"error": {"reason": str(turned).rpartition(": ")[2]}}
            raise
        finally:
            exchanges.append(
                {"method": method, "path": path, "asked": body, "status": status, "answer": answer}
            )
        return answer

    with patch.object(HttpConnection, "call", heard):
        ask()
    text = json.dumps(exchanges, indent=1) + "\n"
    (ANSWERS / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
