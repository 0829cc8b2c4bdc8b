"""Clients that behave badly, and many at once."""

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

from catalogs import large_catalog, write_fbc
from everpath.server.catalog.snapshot import ServedCatalog
from registries import Ask, asked, reachable
from serving_here import Running, serving

_ENTRIES = 300
# Else gRPC's own client takes in all there is, whether anybody wants it or not.
_TAKING_LITTLE = (("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_536))


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog whose stream is larger than any buffer between two processes."""
    return large_catalog(tmp_path_factory.mktemp("big"), _ENTRIES)


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _listed(running: Running) -> Any:
    stream: Any = running.channel.unary_stream("/api.Registry/ListBundles")
    return stream(b"", timeout=60)


def test_who_never_reads_its_stream_costs_nothing_and_hinders_nobody(big: Path) -> None:
    with serving(big, grace=0.2) as running:
        assert sum(1 for _ in _listed(running)) == _ENTRIES
        before = _megabytes()
        sleepers = []
        with reachable(str(running.address), *_TAKING_LITTLE) as other:
            stream: Any = other.unary_stream("/api.Registry/ListBundles")
            sleepers = [stream(b"") for _ in range(50)]
            for sleeper in sleepers:
                next(sleeper)
            assert len(asked(running.channel, Ask("ListPackages"))) == 1
            assert sum(1 for _ in _listed(running)) == _ENTRIES
            # Both sides of fifty streams are in this process; all they would send is fifty times 3 MB.
            assert _megabytes() - before < 60
            for sleeper in sleepers:
                sleeper.cancel()


def test_who_goes_away_in_the_middle_is_forgotten(big: Path) -> None:
    with serving(big) as running:
        for _ in range(20):
            call = _listed(running)
            next(call)
            call.cancel()
        assert sum(1 for _ in _listed(running)) == _ENTRIES


def test_many_at_once_get_all_of_it(big: Path) -> None:
    with serving(big) as running, ThreadPoolExecutor(16) as pool:
        counts = set(pool.map(lambda _: sum(1 for _ in _listed(running)), range(16)))
    assert counts == {_ENTRIES}


def test_streams_under_way_end_well_when_the_server_ends(big: Path) -> None:
    with serving(big, grace=30.0) as running:
        call = _listed(running)
        first = next(call)
        running.end()
        time.sleep(0.3)
        assert len([first, *call]) == _ENTRIES
    assert running.said[-1].startswith("shutting down")


def test_who_does_not_end_is_ended_after_the_grace(big: Path) -> None:
    with serving(big, grace=0.3) as running, reachable(str(running.address), *_TAKING_LITTLE) as other:
        stream: Any = other.unary_stream("/api.Registry/ListBundles")
        call = stream(b"")
        next(call)
        running.end()
        assert running.has_ended.wait(60)
        call.cancel()


def test_all_servers_end_at_the_same_time_so_that_the_grace_counts_once(tmp_path: Path) -> None:
    met = asyncio.Barrier(2)
    closed = []

    @asynccontextmanager
    async def front(_served: ServedCatalog, _heard: Callable[[int], None]) -> AsyncIterator[str]:
        yield "somewhere"
        # One that is closed before the other begins to waits for it in vain.
        await asyncio.wait_for(met.wait(), 10)
        closed.append(front)

    with serving(write_fbc(tmp_path, "a"), frontends=[front, front]):
        pass
    assert len(closed) == 2
