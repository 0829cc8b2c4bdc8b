"""Starts all servers of a catalog, and stops them on a signal."""

from __future__ import annotations

__all__ = ["Frontend", "serve"]

import asyncio
import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TypeAlias, TypeVar

from everpath.server.address import Address
from everpath.server.catalog.snapshot import CatalogSnapshot, CurrentSnapshot
from everpath.server.metrics import Metrics, serve_metrics
from everpath.server.registry_api.grpc_server import Health, run_grpc_server
from everpath.server.reload import Reloader
from everpath.server.settings import ServerSettings

_T = TypeVar("_T")

#: Another server of the same catalog, such as catalogd's content API. It yields its URL, and calls the
#: function with the status code of each response, from any thread.
Frontend: TypeAlias = Callable[[CurrentSnapshot, Callable[[int], None]], AbstractAsyncContextManager[str]]


async def serve(
    snapshot: CatalogSnapshot,
    settings: ServerSettings,
    *,
    log: Callable[[str], None],
    on_ready: Callable[[Address], None],
    frontends: Sequence[Frontend] = (),
    stop: asyncio.Event | None = None,
) -> None:
    """Serve a catalog until `stop` is set or, without it, until SIGTERM, SIGINT or SIGHUP.

    `on_ready` is called once, when calls are accepted. Raises UsageError if an address is not available.
    """
    served, metrics, health = CurrentSnapshot(snapshot), Metrics(), Health()
    reloader = Reloader(served, metrics, health, log)
    stop = stop or _stop_on_signals()
    async with _ServerGroup() as servers, AsyncExitStack() as stack:
        address = await servers.start(
            run_grpc_server(served, settings.address, settings.grace, metrics, health)
        )
        if settings.metrics is not None:
            log(f"metrics on {await servers.start(serve_metrics(metrics, settings.metrics))}")
        for frontend in frontends:
            log(f"serving on {await servers.start(frontend(served, metrics.record_http_response))}")
        reloader.start_check()
        stack.push_async_callback(reloader.stop_check)
        if settings.watch:
            watch = asyncio.create_task(reloader.watch(settings.interval))
            stack.push_async_callback(_cancel, watch)
        on_ready(address)
        await stop.wait()
        log(f"shutting down: no new calls; open streams have {settings.grace:g} seconds to finish")


class _ServerGroup:
    """Servers that are stopped concurrently, so that their grace periods overlap."""

    def __init__(self) -> None:
        self._running: list[AsyncExitStack] = []

    async def start(self, server: AbstractAsyncContextManager[_T]) -> _T:
        """Start a server, and return what it yields."""
        stack = AsyncExitStack()
        value = await stack.enter_async_context(server)
        self._running.append(stack)
        return value

    async def __aenter__(self) -> _ServerGroup:
        return self

    async def __aexit__(self, *_: object) -> None:
        results = await asyncio.gather(*(stack.aclose() for stack in self._running), return_exceptions=True)
        for error in filter(None, results):
            raise error


def _stop_on_signals() -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # nohup ignores SIGHUP, and so does the server then.
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, stop.set)
    return stop


async def _cancel(task: asyncio.Task[None]) -> None:
    """Cancel a task and wait for its end."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
