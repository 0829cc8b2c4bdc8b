"""Clients that list bundles of a registry repeatedly: `python -m bench.registry_clients ADDRESS N SECONDS`.

Each has its own connection and does not parse the messages. They run in their own process, so that their
cost is not counted for the server.
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
    """The messages and errors that clients received."""

    streams: int
    messages: int
    errors: int
    seconds: float


def listening(address: str, clients: int, seconds: float) -> Tally:
    """Run so many clients for so many seconds, and return what they received."""
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
