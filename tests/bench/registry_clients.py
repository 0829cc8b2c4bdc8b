"""Clients that list a registry's bundles over and over: `python -m bench.registry_clients ADDRESS N SECONDS`.

Each has a connection of its own, and takes in what it is sent without looking into it. They are a process of
their own, so that what they cost is not the server's.
"""

from __future__ import annotations

__all__ = ["Tally", "listening"]

import asyncio
import json
import subprocess
import sys
import time
from typing import Any, NamedTuple

import grpc


class Tally(NamedTuple):
    """What clients have got."""

    streams: int
    messages: int
    errors: int
    seconds: float


def listening(address: str, clients: int, seconds: float) -> Tally:
    """What so many clients get of a registry in so much time."""
    command = [sys.executable, "-m", "bench.registry_clients", address, str(clients), str(seconds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return Tally(*json.loads(done.stdout))


async def _tally(address: str, clients: int, seconds: float) -> Tally:
    deadline = time.monotonic() + seconds
    start = time.perf_counter()
    counts = await asyncio.gather(*(_client(address, deadline) for _ in range(clients)))
    streams, messages, errors = (sum(column) for column in zip(*counts, strict=True))
    return Tally(streams, messages, errors, time.perf_counter() - start)


async def _client(address: str, deadline: float) -> tuple[int, int, int]:
    streams = messages = errors = 0
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0)]
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        list_bundles: Any = channel.unary_stream("/api.Registry/ListBundles")
        while time.monotonic() < deadline:
            try:
                async for _ in list_bundles(b"", wait_for_ready=True):
                    messages += 1
                streams += 1
            except grpc.RpcError:
                errors += 1
    return streams, messages, errors


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_tally(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))))
