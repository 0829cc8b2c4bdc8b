"""Slow, disconnecting and many concurrent clients."""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from everpath.server.catalog.snapshot import CurrentSnapshot
from tests.support.everpath.catalogs import large_catalog, write_fbc
from tests.support.everpath.in_process_server import RunningServer, run_server
from tests.support.everpath.registry_api_client import Call, connect, send_call

_ENTRIES = 300
# Without these options the client reads the whole stream into its buffers.
_SMALL_BUFFERS = (("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_536))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog whose stream is larger than any buffer between two processes."""
    return large_catalog(tmp_path_factory.mktemp("large"), _ENTRIES)


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _list_bundles(running: RunningServer) -> Any:
    stream: Any = running.channel.unary_stream("/api.Registry/ListBundles")
    return stream(b"", timeout=60)


def test_clients_that_do_not_read_their_streams_cost_little_memory_and_block_no_calls(large: Path) -> None:
    with run_server(large, grace=0.2) as running:
        assert sum(1 for _ in _list_bundles(running)) == _ENTRIES
        before = _megabytes()
        with connect(str(running.address), *_SMALL_BUFFERS) as other:
            stream: Any = other.unary_stream("/api.Registry/ListBundles")
            stalled_calls = [stream(b"") for _ in range(50)]
            for stalled_call in stalled_calls:
                next(stalled_call)
            assert len(send_call(running.channel, Call("ListPackages"))) == 1
            assert sum(1 for _ in _list_bundles(running)) == _ENTRIES
            # Clients and server are in this process. All fifty streams would be 150 MB.
            assert _megabytes() - before < 60
            for stalled_call in stalled_calls:
                stalled_call.cancel()


def test_a_client_may_cancel_its_stream(large: Path) -> None:
    with run_server(large) as running:
        for _ in range(20):
            call = _list_bundles(running)
            next(call)
            call.cancel()
        assert sum(1 for _ in _list_bundles(running)) == _ENTRIES


def test_concurrent_clients_get_all_bundles(large: Path) -> None:
    with run_server(large) as running, ThreadPoolExecutor(16) as pool:
        counts = set(pool.map(lambda _: sum(1 for _ in _list_bundles(running)), range(16)))
    assert counts == {_ENTRIES}


def test_open_streams_are_completed_when_the_server_stops(large: Path) -> None:
    with run_server(large, grace=30.0) as running:
        call = _list_bundles(running)
        first = next(call)
        running.stop()
        time.sleep(0.3)
        assert len([first, *call]) == _ENTRIES
    assert running.log[-1].startswith("shutting down")


def test_open_streams_are_aborted_after_the_grace_period(large: Path) -> None:
    with run_server(large, grace=0.3) as running, connect(str(running.address), *_SMALL_BUFFERS) as other:
        stream: Any = other.unary_stream("/api.Registry/ListBundles")
        call = stream(b"")
        next(call)
        running.stop()
        assert running.has_stopped.wait(60)
        call.cancel()


def test_all_servers_are_stopped_concurrently(tmp_path: Path) -> None:
    both_closing = asyncio.Barrier(2)
    closed = []

    @asynccontextmanager
    async def frontend(_served: CurrentSnapshot, _on_response: Callable[[int], None]) -> AsyncIterator[str]:
        yield "a URL"
        # Times out if the servers are stopped one after the other.
        await asyncio.wait_for(both_closing.wait(), 10)
        closed.append(frontend)

    with run_server(write_fbc(tmp_path, "a"), frontends=[frontend, frontend]):
        pass
    assert len(closed) == 2
