"""Health over gRPC (`grpc.health.v1`), for kubelets and for whoever wants to know more.

opm answers SERVING to whatever is asked. So does this, for every name but one: `everpath.catalog` is
NOT_SERVING while the catalog on disk is not the one that is served, because it became invalid. A kubelet
asks without a name, and must not end a pod that serves the last good catalog.
"""

from __future__ import annotations

__all__ = ["CATALOG", "Health"]

from typing import Any, Final

from grpc_health.v1 import health, health_pb2

#: The name to ask for whether what is served is what is on disk.
CATALOG: Final = "everpath.catalog"

_SERVING: Final = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING: Final = health_pb2.HealthCheckResponse.NOT_SERVING


class Health(health.aio.HealthServicer):
    """Every service is as well as the server, the catalog by itself."""

    def __init__(self) -> None:
        super().__init__()
        self._is_ending = False
        self._is_current = True

    async def start(self) -> None:
        """Everything is well."""
        await self.set("", _SERVING)
        await self.set(CATALOG, _SERVING)

    async def catalog(self, *, is_current: bool) -> None:
        """Say whether the catalog on disk is the one that is served."""
        self._is_current = is_current
        await self.set(CATALOG, _SERVING if is_current else _NOT_SERVING)

    async def end(self) -> None:
        """Nothing will be served much longer."""
        self._is_ending = True
        await self.enter_graceful_shutdown()

    async def Check(  # noqa: N802 - gRPC's name
        self,
        request: health_pb2.HealthCheckRequest,
        context: Any,  # noqa: ARG002 - gRPC's signature
    ) -> health_pb2.HealthCheckResponse:
        is_well = not self._is_ending and (request.service != CATALOG or self._is_current)
        return health_pb2.HealthCheckResponse(status=_SERVING if is_well else _NOT_SERVING)
