"""Runs `everpath catalog serve` in a thread of the test process, on a free port."""

from __future__ import annotations

__all__ = ["RunningServer", "run_server"]

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from everpath.server.address import Address
from everpath.server.catalog.snapshot import take_snapshot
from everpath.server.lifecycle import Frontend, serve
from everpath.server.settings import ServerSettings
from tests.support.everpath.registry_api_client import connect

_FREE_ADDRESS = Address("127.0.0.1", 0)
# Long enough for a machine under load.
_TIMEOUT = 60


@dataclass
class RunningServer:
    """A running server, its log, and a channel to it."""

    log: list[str] = field(default_factory=list)
    address: Address = _FREE_ADDRESS
    channel: grpc.Channel = None  # type: ignore[assignment]
    stop: Callable[[], object] = lambda: None
    has_stopped: threading.Event = field(default_factory=threading.Event)


@contextmanager
def run_server(path: Path, frontends: Sequence[Frontend] = (), **settings: Any) -> Iterator[RunningServer]:
    """Serve a catalog within the block, without a cache."""
    running = RunningServer()
    ready = threading.Event()
    errors: list[BaseException] = []

    def on_ready(address: Address) -> None:
        running.address = address
        ready.set()

    async def main() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        running.stop = lambda: loop.call_soon_threadsafe(stop.set)
        await serve(
            take_snapshot(str(path), {"EVERPATH_CACHE": "off"}),
            ServerSettings(_FREE_ADDRESS, **{"interval": 0.05, "grace": 5.0, **settings}),
            log=running.log.append,
            on_ready=on_ready,
            frontends=frontends,
            stop=stop,
        )

    def run() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:  # noqa: BLE001 - raised in the thread of the test
            errors.append(error)
            ready.set()
        running.has_stopped.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(_TIMEOUT), "the server does not start"
        if errors:
            raise errors[0]
        with connect(str(running.address)) as running.channel:
            yield running
    finally:
        # The event loop is closed if the server has stopped.
        with suppress(RuntimeError):
            running.stop()
        thread.join(_TIMEOUT)
    assert not thread.is_alive()
    if errors:
        raise errors[0]
