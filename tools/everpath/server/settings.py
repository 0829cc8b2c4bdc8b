"""Options of the server, without the modules that it needs."""

from __future__ import annotations

__all__ = ["ServerSettings"]

from dataclasses import dataclass

from everpath.server.address import Address


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Options of the server.

    `address` is that of OLM's registry API over gRPC, `metrics` that of the metrics, and `http` that of the
    API of OLM v1's catalogd, where the catalog has the name `catalog_name`. `interval` is the time between
    two polls of the files, `grace` the time that open streams have to finish, both in seconds.
    """

    address: Address
    metrics: Address | None = None
    http: Address | None = None
    catalog_name: str = "catalog"
    watch: bool = False
    interval: float = 1.0
    grace: float = 20.0
