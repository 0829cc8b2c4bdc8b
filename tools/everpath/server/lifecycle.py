"""The server: a catalog on a port, until it is told to end; reload, health, reflection, metrics."""

from __future__ import annotations

__all__ = ["Front", "Settings", "described", "serve"]

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2

from everpath.errors import UsageError
from everpath.server import registry_pb2 as api
from everpath.server.address import Address, bound
from everpath.server.catalog.snapshot import Snapshot
from everpath.server.metrics import Metrics, metrics_page
from everpath.server.registry_api.grpc_server import Health
from everpath.server.registry_api.handlers import Served, registry_handlers
from everpath.server.reload import Following, described

_T = TypeVar("_T")

#: Something else that serves the same catalog while it is open; gives where it does. It tells the code of
#: each answer, from any thread.
Front: TypeAlias = Callable[[Served, Callable[[int], None]], AbstractAsyncContextManager[str]]

_OPTIONS: Final = (
    # Else two servers would share a port, and each client would meet one of them.
    ("grpc.so_reuseport", 0),
    # A client may ask whether its connection is alive as often as OLM's do.
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
)

# Two names of one protocol: newer clients ask for the second first.
_REFLECTIONS: Final = (reflection.SERVICE_NAME, "grpc.reflection.v1.ServerReflection")


@dataclass(frozen=True, slots=True)
class Settings:
    """How to serve. `grace` is how long streams may go on once the server is told to end."""

    address: Address
    metrics: Address | None = None
    watch: bool = False
    interval: float = 1.0
    grace: float = 20.0


async def serve(
    snapshot: Snapshot,
    settings: Settings,
    *,
    say: Callable[[str], None],
    ready: Callable[[Address], None],
    fronts: Sequence[Front] = (),
    end: asyncio.Event | None = None,
) -> None:
    """Serve a snapshot, and what becomes of its path, until `end`, or else SIGTERM, SIGINT or SIGHUP.

    `ready` is called once when the first call would be answered; `say` is told what happens. Raises
    UsageError where an address cannot be had.
    """
    served, metrics, health = Served(snapshot), Metrics(), Health()
    following = Following(served, metrics, health, say)
    end = end or _end_asked_for()
    async with _Together() as servers, AsyncExitStack() as stack:
        address = await servers.opened(_grpc(served, settings, metrics, health))
        if settings.metrics is not None:
            say(f"metrics on {await servers.opened(metrics_page(metrics, settings.metrics))}")
        for front in fronts:
            say(f"serving on {await servers.opened(front(served, metrics.fetched))}")
        following.look_closer()
        stack.push_async_callback(following.end)
        if settings.watch:
            watching = asyncio.create_task(following.follow(settings.interval))
            stack.push_async_callback(_cancelled, watching)
        ready(address)
        await end.wait()
        say("ending: no further calls, streams go on for a while")


class _Together:
    """Servers that close at the same time, so that the grace they all have counts once."""

    def __init__(self) -> None:
        self._open: list[AsyncExitStack] = []

    async def opened(self, server: AbstractAsyncContextManager[_T]) -> _T:
        """What the server gives once it is open."""
        stack = AsyncExitStack()
        value = await stack.enter_async_context(server)
        self._open.append(stack)
        return value

    async def __aenter__(self) -> _Together:
        return self

    async def __aexit__(self, *_error: object) -> None:
        ends = await asyncio.gather(*(each.aclose() for each in self._open), return_exceptions=True)
        for error in filter(None, ends):
            raise error


def _end_asked_for() -> asyncio.Event:
    end = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # What nohup set aside stays so.
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, end.set)
    return end


async def _cancelled(task: asyncio.Task[None]) -> None:
    """End a task; if it has ended by itself, with what it ended with."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def _grpc(
    served: Served, settings: Settings, metrics: Metrics, health: Health
) -> AsyncIterator[Address]:
    """The gRPC server while it is open; gives where it listens."""
    server = grpc.aio.server(options=_OPTIONS)
    server.add_generic_rpc_handlers(tuple(registry_handlers(served, metrics)))
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    _add_reflection(server)
    address = bound(settings.address)
    try:
        port = server.add_insecure_port(str(address))
    except RuntimeError as error:
        # Somebody was quicker than we.
        raise UsageError(f"cannot listen on {address}: {error}", hint="choose another port") from error
    await health.start()
    await server.start()
    try:
        yield Address(address.host, port)
    finally:
        await health.end()
        await server.stop(settings.grace)


def _add_reflection(server: grpc.aio.Server) -> None:
    names = (
        *(service.full_name for service in api.DESCRIPTOR.services_by_name.values()),
        health_pb2.DESCRIPTOR.services_by_name["Health"].full_name,
        *_REFLECTIONS,
    )
    answers = grpc.stream_stream_rpc_method_handler(
        reflection.aio.ReflectionServicer(names).ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    for name in _REFLECTIONS:
        handler = grpc.method_handlers_generic_handler(name, {"ServerReflectionInfo": answers})
        server.add_generic_rpc_handlers((handler,))
