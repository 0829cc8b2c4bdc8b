"""The gRPC server: registry API, health (`grpc.health.v1`) and reflection."""

from __future__ import annotations

__all__ = ["CATALOG_SERVICE", "Health", "run_grpc_server"]

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2

from everpath.errors import UsageError
from everpath.server import registry_pb2 as api
from everpath.server.address import Address, find_free_address
from everpath.server.catalog.snapshot import CurrentSnapshot
from everpath.server.registry_api.handlers import CallObserver, registry_handlers

#: The health of this service says whether the served catalog is the one on disk.
CATALOG_SERVICE: Final = "everpath.catalog"

_SERVING: Final = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING: Final = health_pb2.HealthCheckResponse.NOT_SERVING

_SERVER_OPTIONS: Final = (
    # Otherwise two servers could listen on one port, and clients would reach either of them.
    ("grpc.so_reuseport", 0),
    # Clients of OLM send keepalive pings at this interval.
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
)

# Newer clients try the second name of the same protocol first.
_REFLECTION_SERVICES: Final = (reflection.SERVICE_NAME, "grpc.reflection.v1.ServerReflection")


class Health(health.aio.HealthServicer):
    """Health of the server and of its catalog.

    Like opm, it is SERVING for every service name, except for `everpath.catalog` while the catalog on disk
    cannot be served. A kubelet asks without a name, and must not restart a pod that serves the last valid
    catalog.
    """

    def __init__(self) -> None:
        super().__init__()
        self._is_shutting_down = False
        self._is_catalog_current = True

    async def start(self) -> None:
        """Report SERVING to clients that watch."""
        await self.set("", _SERVING)
        await self.set(CATALOG_SERVICE, _SERVING)

    async def set_catalog_current(self, *, is_current: bool) -> None:
        """Report whether the served catalog is the one on disk."""
        self._is_catalog_current = is_current
        await self.set(CATALOG_SERVICE, _SERVING if is_current else _NOT_SERVING)

    async def shut_down(self) -> None:
        """Report NOT_SERVING for every service from now on."""
        self._is_shutting_down = True
        await self.enter_graceful_shutdown()

    async def Check(  # noqa: N802 - gRPC's name
        self,
        request: health_pb2.HealthCheckRequest,
        context: Any,  # noqa: ARG002 - gRPC's signature
    ) -> health_pb2.HealthCheckResponse:
        is_current = self._is_catalog_current or request.service != CATALOG_SERVICE
        is_serving = is_current and not self._is_shutting_down
        return health_pb2.HealthCheckResponse(status=_SERVING if is_serving else _NOT_SERVING)


@asynccontextmanager
async def run_grpc_server(
    served: CurrentSnapshot, address: Address, grace: float, observer: CallObserver, health: Health
) -> AsyncIterator[Address]:
    """Run the server within the block, and yield its address. Raises UsageError.

    At the end, streams have `grace` seconds to finish.
    """
    server = grpc.aio.server(options=_SERVER_OPTIONS)
    server.add_generic_rpc_handlers(tuple(registry_handlers(served, observer)))
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    _add_reflection(server)
    free_address = find_free_address(address)
    try:
        port = server.add_insecure_port(str(free_address))
    except RuntimeError as error:
        # Another process has taken the port in the meantime.
        raise UsageError(f"cannot listen on {free_address}: {error}", hint="choose another port") from error
    await health.start()
    await server.start()
    try:
        yield Address(free_address.host, port)
    finally:
        await health.shut_down()
        await server.stop(grace)


def _add_reflection(server: grpc.aio.Server) -> None:
    services = (
        *(service.full_name for service in api.DESCRIPTOR.services_by_name.values()),
        health_pb2.DESCRIPTOR.services_by_name["Health"].full_name,
        *_REFLECTION_SERVICES,
    )
    method_handler = grpc.stream_stream_rpc_method_handler(
        reflection.aio.ReflectionServicer(services).ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    for name in _REFLECTION_SERVICES:
        handler = grpc.method_handlers_generic_handler(name, {"ServerReflectionInfo": method_handler})
        server.add_generic_rpc_handlers((handler,))
