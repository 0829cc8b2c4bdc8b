"""Records the responses of a real OpenSearch for the tests in this folder.

python -m tests.searchkeeper.unit.opensearch.record     (needs Maven)
"""

from __future__ import annotations

__all__ = ["main"]

import json
import tempfile
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from searchkeeper.opensearch.calls import Exclude, ExcludeFromVoting, Flush, SetAllocation, TakeSnapshot
from searchkeeper.opensearch.details import DetailsRequest, SnapshotState, SnapshotView
from searchkeeper.opensearch.http import Access, ErrorResponse, HttpConnection
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.view import Allocation, EngineView, ShardState, Unreachable
from tests.e2e.servers.opensearch import (
    OpenSearchNode,
    default_settings,
    download_opensearch,
    opensearch_cluster,
)
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.processes import create_work_dir
from tests.support.searchkeeper.opensearch_replayed import RESPONSES, Exchange

_VERSION = "2.19.4"
_NAMES = tuple(f"logs-data-{number}" for number in range(3))


def main() -> None:
    record_cluster()
    record_details()


def record_details() -> None:
    """Start one node with a snapshot repository: disks, and a snapshot from its start to its end."""
    with tempfile.TemporaryDirectory() as logs, create_work_dir(Path(logs)) as work_dir:
        repository = work_dir.folder / "repository"
        repository.mkdir()
        repository.chmod(0o777)

        def settings(node: OpenSearchNode, members: Sequence[OpenSearchNode]) -> Mapping[str, Any]:
            return {**default_settings(node, members), "path.repo": [str(repository)]}

        members = [(_NAMES[0], ("cluster_manager", "data"))]
        with opensearch_cluster(work_dir, download_opensearch(_VERSION), members, settings) as nodes:
            nodes.start(_NAMES[0], _VERSION)
            nodes.wait_for_nodes(1)
            engine = OpenSearchClient(Access(nodes.url))
            _create(nodes.url, "books", shards=2, replicas=0)
            wait_until("shards have started", lambda: _is_at_rest(engine.get_state()))
            _record("disks", lambda: (engine.get_state(), engine.get_details(DetailsRequest(disks=True))))
            taken = DetailsRequest(repository="nightly", snapshot="first")
            _record("no-repository", lambda: engine.get_details(taken))
            fs = {"type": "fs", "settings": {"location": str(repository)}}
            _put(f"{nodes.url}/_snapshot/nightly", fs)
            _record("no-snapshot", lambda: engine.get_details(taken))
            call = TakeSnapshot("nightly", "first")

            def take_and_read() -> None:
                engine.execute(call)
                engine.get_details(taken)

            _record("take-snapshot", take_and_read)
            _record("take-snapshot-again", lambda: engine.execute(call))
            wait_until(
                "the snapshot has ended",
                lambda: engine.get_details(taken).snapshot == SnapshotView(SnapshotState.SUCCESS),
            )
            _record("snapshot", lambda: engine.get_details(taken))


def record_cluster() -> None:
    """Start three nodes, create an index and one with more replicas than nodes, then stop two nodes."""
    with tempfile.TemporaryDirectory() as logs, create_work_dir(Path(logs)) as work_dir:
        members = [(name, ("cluster_manager", "data")) for name in _NAMES]
        with opensearch_cluster(work_dir, download_opensearch(_VERSION), members) as nodes:
            for name in _NAMES:
                nodes.start(name, _VERSION)
            nodes.wait_for_nodes(3)
            engine = OpenSearchClient(Access(nodes.url))
            _create(nodes.url, "books", shards=2, replicas=1)
            _create(nodes.url, "wide", shards=1, replicas=4)
            wait_until("shards have started", lambda: _is_at_rest(engine.get_state()))
            _record("healthy", engine.get_state)
            _record("calls", lambda: _execute_calls(engine))
            wait_until("the node is drained", lambda: _is_drained(engine.get_state()))
            _record("drained", engine.get_state)
            nodes.stop(_NAMES[2])
            wait_until("the node has left", lambda: _count(engine.get_state()) == 2)
            _record("node-left", engine.get_state)
            nodes.stop(_NAMES[1])
            wait_until("the quorum is lost", lambda: isinstance(engine.get_state(), Unreachable))
            _record("no-manager", engine.get_state)


def _create(url: str, name: str, *, shards: int, replicas: int) -> None:
    _put(f"{url}/{name}", {"settings": {"number_of_shards": shards, "number_of_replicas": replicas}})


def _put(url: str, body: Any) -> None:
    request = urllib.request.Request(
        url,
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
        method="PUT",
    )
    urllib.request.urlopen(request, timeout=30).close()


def _execute_calls(engine: OpenSearchClient) -> None:
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


def _record(name: str, action: Callable[[], object]) -> None:
    exchanges: list[Exchange] = []
    call = HttpConnection.call

    def recording_call(
        http: HttpConnection,
        method: str,
        path: str,
        query: Any = None,
        body: Any = None,
        **options: Any,
    ) -> Any:
        status, response = 200, None
        try:
            response = call(http, method, path, query, body, **options)
        except ErrorResponse as error:
            status, response = error.status, {"error": {"reason": str(error).rpartition(": ")[2]}}
            raise
        finally:
            exchanges.append(
                {"method": method, "path": path, "body": body, "status": status, "response": response}
            )
        return response

    with patch.object(HttpConnection, "call", recording_call):
        action()
    text = json.dumps(exchanges, indent=1) + "\n"
    (RESPONSES / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
