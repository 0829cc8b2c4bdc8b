"""A server of ours within the test's own process, on a port of its own."""

from __future__ import annotations

__all__ = ["Running", "serving"]

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from everpath.server.address import Address
from everpath.server.catalog.snapshot import take_snapshot
from everpath.server.lifecycle import Frontend, ServerSettings, serve
from registries import reachable

_ANYWHERE = Address("127.0.0.1", 0)
# Longer than any machine that is merely busy takes.
_PATIENCE = 60


@dataclass
class Running:
    """A server that is running, what it has said, and a channel to it."""

    said: list[str] = field(default_factory=list)
    address: Address = _ANYWHERE
    channel: grpc.Channel = None  # type: ignore[assignment]
    end: Any = None
    has_ended: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serving(path: Path, frontends: Sequence[Frontend] = (), **settings: Any) -> Iterator[Running]:
    """Serve a catalog until the block is left; nothing is remembered between two of them."""
    running = Running()
    ready = threading.Event()
    end: list[Any] = []

    def listening(address: Address) -> None:
        running.address = address
        ready.set()

    async def main() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        running.end = lambda: loop.call_soon_threadsafe(stop.set)
        chosen = ServerSettings(_ANYWHERE, **{"interval": 0.05, "grace": 5.0, **settings})
        snapshot = take_snapshot(str(path), {"EVERPATH_CACHE": "off"})
        say = running.said.append
        await serve(snapshot, chosen, log=say, on_ready=listening, frontends=frontends, stop=stop)

    def run() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:  # noqa: BLE001 - raised again where the test is
            end.append(error)
            ready.set()
        running.has_ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(_PATIENCE), "the server does not start"
        if end:
            raise end[0]
        with reachable(str(running.address)) as running.channel:
            yield running
    finally:
        if running.end is not None:
            # It may have ended by itself.
            with suppress(RuntimeError):
                running.end()
        thread.join(_PATIENCE)
    assert not thread.is_alive()
    if end:
        raise end[0]
