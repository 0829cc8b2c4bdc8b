"""What a server does beside answering: it follows the catalog on disk, and has it looked at closely."""

from __future__ import annotations

__all__ = ["Following", "described"]

import asyncio
from collections.abc import Callable

from everpath.errors import EverpathError
from everpath.server.catalog.file_watch import changes, stamps
from everpath.server.catalog.snapshot import Snapshot
from everpath.server.check_process import closer_look
from everpath.server.metrics import Metrics
from everpath.server.registry_api.grpc_server import Health
from everpath.server.registry_api.handlers import Served


class Following:
    """Puts one snapshot in the place of another, and tells log, metrics and health of it."""

    def __init__(self, served: Served, metrics: Metrics, health: Health, say: Callable[[str], None]) -> None:
        self._served = served
        self._metrics = metrics
        self._health = health
        self._say = say
        self._looking: asyncio.Task[None] | None = None
        metrics.serving(served.snapshot.index)

    async def follow(self, interval: float) -> None:
        """Serve the catalog anew whenever it changes on disk and may be served. Never ends by itself."""
        path = self._served.snapshot.path
        async for _ in changes(path, interval, self._served.snapshot.stamps):
            try:
                snapshot = await asyncio.to_thread(self._served.snapshot.again)
            except Exception as error:  # noqa: BLE001 - whatever it is, it must not end the watch
                what = f"{path} has changed and cannot be served, the catalog before it still is"
                await self._bad(f"{what}: {_reason(error)}")
            else:
                self._served.snapshot = snapshot
                self._metrics.serving(snapshot.index)
                self._metrics.reloaded(is_done=True)
                await self._health.catalog(is_current=True)
                self._say(f"{path} has changed: serving {described(snapshot)}")
                self.look_closer()

    def look_closer(self) -> None:
        """Have all of the catalog looked at, if it was admitted at a glance; nobody waits for that."""
        if self._looking is not None:
            self._looking.cancel()
        if not self._served.snapshot.is_checked:
            self._looking = asyncio.create_task(self._closely())

    async def end(self) -> None:
        """Look no longer."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _closely(self) -> None:
        snapshot = self._served.snapshot
        try:
            words = await closer_look(snapshot.path)
        except OSError as error:
            self._say(f"{snapshot.path} could not be looked at closely, and is served: {error}")
            return
        if await asyncio.to_thread(stamps, snapshot.path) != snapshot.stamps:
            # What was looked at may be another catalog than the one that is served.
            return
        if words is None:
            snapshot.checked()
        elif self._served.snapshot is snapshot:
            await self._bad(f"a closer look found what is served all the same: {words}")

    async def _bad(self, words: str) -> None:
        self._metrics.reloaded(is_done=False)
        await self._health.catalog(is_current=False)
        self._say(words)


def _reason(error: Exception) -> str:
    return error.message if isinstance(error, EverpathError) else f"{type(error).__name__}: {error}"


def described(snapshot: Snapshot) -> str:
    """A snapshot in a few words."""
    packages = snapshot.index.packages.values()
    bundles = sum(len(package.bundles) for package in packages)
    return f"{_counted(len(packages), 'package')}, {_counted(bundles, 'bundle')}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
