"""The catalog that a server serves over gRPC, also as catalogd's content API."""

from __future__ import annotations

__all__ = ["content_front", "content_of"]

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from everpath.loaders.fbc.blobs import documents_of
from everpath.opm_render.refusals import Refusal
from everpath.server.address import Address, listening
from everpath.server.catalog.snapshot import Refused, Snapshot
from everpath.server.content_api.content import Content, meta_of
from everpath.server.content_api.http_server import ContentServer
from everpath.server.registry_api.handlers import Served


def content_of(snapshot: Snapshot, modified: int) -> Content:
    """What catalogd would serve of a snapshot. Raises `Refused`. Cost: all of it is read and written anew."""
    try:
        return Content(map(meta_of, documents_of(snapshot.files, snapshot.sources)), modified)
    except Refusal as refusal:
        where = f"{refusal.place.file}: " if refusal.place.file else ""
        raise Refused(
            f"catalogd would not serve this catalog: {where}{refusal.message}", hint=refusal.fix
        ) from refusal


def content_front(
    address: Address, name: str, grace: float
) -> Callable[[Served, Callable[[int], None]], AbstractAsyncContextManager[str]]:
    """A front that serves the catalog under a name, there; it gives the address of the whole catalog.

    Raises `UsageError` where the address cannot be had, `Refused` for a catalog that cannot be served so.
    """

    @asynccontextmanager
    async def front(served: Served, heard: Callable[[int], None]) -> AsyncIterator[str]:
        shelf = _Shelf(name, served)
        await asyncio.to_thread(shelf.catalogs)
        socket = listening(address)
        here = Address(*socket.getsockname()[:2])
        server = ContentServer(socket, shelf.catalogs, heard=heard)
        try:
            yield f"http://{here}/catalogs/{name}/api/v1/all"
        finally:
            await asyncio.to_thread(server.close, grace)

    return front


class _Shelf:
    """One catalog by its name; made anew by the first request that finds another snapshot in its place."""

    def __init__(self, name: str, served: Served) -> None:
        self._name = name
        self._served = served
        self._making = threading.Lock()
        self._made: tuple[Snapshot, Content] | None = None

    def catalogs(self) -> Mapping[str, Content]:
        snapshot = self._served.snapshot
        with self._making:
            if self._made is None or self._made[0] is not snapshot:
                self._made = snapshot, self._content(snapshot)
            return {self._name: self._made[1]}

    def _content(self, snapshot: Snapshot) -> Content:
        """Of large catalogs not everything is looked at when they are taken: one that turns out to be none
        leaves the one before it where it is.
        """
        try:
            return content_of(snapshot, int(time.time()))
        except Refused:
            if self._made is None:
                raise
            return self._made[1]
