"""Serves the catalog of the gRPC server over catalogd's content API too."""

from __future__ import annotations

__all__ = ["build_content", "content_frontend"]

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from everpath.loaders.fbc.blobs import load_files
from everpath.model import OpmError
from everpath.server.address import Address, listen
from everpath.server.catalog.snapshot import CatalogSnapshot, CurrentSnapshot
from everpath.server.content_api.content import CatalogContent, meta_from_document
from everpath.server.content_api.http_server import ContentServer
from everpath.server.errors import CatalogRejected


def build_content(snapshot: CatalogSnapshot, modified: int) -> CatalogContent:
    """Encode all documents of a snapshot as catalogd does. Raises `CatalogRejected`.

    Cost: every document is parsed and encoded.
    """
    try:
        return CatalogContent(map(meta_from_document, load_files(snapshot.files, snapshot.sources)), modified)
    except OpmError as error:
        location = f"{error.place.file}: " if error.place.file else ""
        raise CatalogRejected(
            f"catalogd would not serve this catalog: {location}{error.message}", hint=error.fix
        ) from error


def content_frontend(
    address: Address, name: str, grace: float
) -> Callable[[CurrentSnapshot, Callable[[int], None]], AbstractAsyncContextManager[str]]:
    """Return a frontend that serves the catalog under a name and yields the URL of the whole catalog.

    The frontend raises `UsageError` if it cannot listen, and `CatalogRejected`.
    """

    @asynccontextmanager
    async def frontend(served: CurrentSnapshot, on_response: Callable[[int], None]) -> AsyncIterator[str]:
        cache = _ContentCache(name, served)
        await asyncio.to_thread(cache.catalogs)
        socket = listen(address)
        server = ContentServer(socket, cache.catalogs, on_response=on_response)
        try:
            yield f"http://{Address(*socket.getsockname()[:2])}/catalogs/{name}/api/v1/all"
        finally:
            await asyncio.to_thread(server.close, grace)

    return frontend


class _ContentCache:
    """The content of the served snapshot. The first request after a reload rebuilds it."""

    def __init__(self, name: str, served: CurrentSnapshot) -> None:
        self._name = name
        self._served = served
        self._lock = threading.Lock()
        self._snapshot: CatalogSnapshot | None = None
        self._content: CatalogContent | None = None

    def catalogs(self) -> Mapping[str, CatalogContent]:
        """Return the content by the name of the catalog. Raises CatalogRejected for the first snapshot only.

        A large snapshot may turn out to be invalid, because it was not parsed completely. Then the content of
        the previous one is served.
        """
        snapshot = self._served.snapshot
        with self._lock:
            if self._content is None or self._snapshot is not snapshot:
                try:
                    self._content = build_content(snapshot, int(time.time()))
                except CatalogRejected:
                    if self._content is None:
                        raise
                self._snapshot = snapshot
            return {self._name: self._content}
