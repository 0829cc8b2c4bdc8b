"""Serve a catalog to OLM: over gRPC to OLM v0, over HTTP to OLM v1."""

from __future__ import annotations

__all__ = ["check_catalog", "serve"]

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from everpath.app.extras import missing_extra
from everpath.app.inputs.image_inputs import is_image, pull_if_image
from everpath.errors import UsageError
from everpath.loaders.sources import STANDARD_INPUT, display_name

if TYPE_CHECKING:
    from everpath.server.address import Address
    from everpath.server.settings import ServerSettings

_EXTRA_PACKAGES: Final = ("grpc", "google", "grpc_health", "grpc_reflection")
_CATALOG_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")


def check_catalog(path: str) -> str:
    """Parse all of a catalog and return its size, such as `1 package, 2 bundles`.

    Raises CatalogRejected if opm would not serve it, UnreadableInput and Unreachable.
    """
    from everpath.server.catalog.snapshot import take_snapshot  # noqa: PLC0415 - only a server needs it

    return take_snapshot(pull_if_image(path), thorough=True).summary


def serve(
    path: str,
    settings: ServerSettings,
    *,
    thorough: bool = False,
    log: Callable[[str], None] = lambda _: None,
    on_ready: Callable[[Address, str], None] = lambda _address, _summary: None,
) -> None:
    """Serve a catalog until SIGTERM, SIGINT or SIGHUP. Must be called in the main thread.

    `thorough` parses every byte before the first call is accepted. `on_ready` receives the address and the
    size of the catalog once calls are accepted. Raises UsageError for an address that is not available or a
    path that cannot be watched, CatalogRejected, UnreadableInput and Unreachable.
    """
    if settings.watch and (path == STANDARD_INPUT or is_image(path)):
        raise UsageError(f"{display_name(path)} cannot be watched", hint="give a folder or a file")
    if _CATALOG_NAME.fullmatch(settings.catalog_name) is None:
        hint = "as for a ClusterCatalog: lower-case letters, digits, - and ."
        raise UsageError(f"{settings.catalog_name!r} is not a valid name of a catalog", hint=hint)
    try:
        import asyncio  # noqa: PLC0415 - only a server needs it

        from everpath.server.catalog.snapshot import take_snapshot  # noqa: PLC0415 - only a server needs it
        from everpath.server.content_api.frontend import content_frontend  # noqa: PLC0415 - as above
        from everpath.server.lifecycle import serve as run_servers  # noqa: PLC0415 - imports gRPC
    except ImportError as error:
        raise missing_extra(error, "serve", _EXTRA_PACKAGES) from error
    snapshot = take_snapshot(pull_if_image(path), thorough=thorough)
    frontends = []
    if settings.http is not None:
        frontends.append(content_frontend(settings.http, settings.catalog_name, settings.grace))
    asyncio.run(
        run_servers(
            snapshot,
            settings,
            log=log,
            on_ready=lambda address: on_ready(address, snapshot.summary),
            frontends=frontends,
        )
    )
