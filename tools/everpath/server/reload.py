"""Reloads the catalog when it changes on disk, and checks a large catalog while it is served."""

from __future__ import annotations

__all__ = ["Reloader"]

import asyncio
from collections.abc import Callable

from everpath.errors import EverpathError
from everpath.server.catalog.check_process import check_in_subprocess
from everpath.server.catalog.file_watch import file_state, watch_changes
from everpath.server.catalog.snapshot import CurrentSnapshot
from everpath.server.metrics import Metrics
from everpath.server.registry_api.grpc_server import Health


class Reloader:
    """Replaces the served snapshot, and reports each reload to log, metrics and health."""

    def __init__(
        self, served: CurrentSnapshot, metrics: Metrics, health: Health, log: Callable[[str], None]
    ) -> None:
        self._served = served
        self._metrics = metrics
        self._health = health
        self._log = log
        self._check: asyncio.Task[None] | None = None
        metrics.record_catalog(served.snapshot.index)

    async def watch(self, interval: float) -> None:
        """Reload the catalog whenever it changes on disk. Runs until it is cancelled."""
        path = self._served.snapshot.path
        async for _ in watch_changes(path, interval, self._served.snapshot.file_state):
            try:
                snapshot = await asyncio.to_thread(self._served.snapshot.retake)
            except Exception as error:  # noqa: BLE001 - no error may end the watch
                reason = (
                    error.message if isinstance(error, EverpathError) else f"{type(error).__name__}: {error}"
                )
                await self._report_failure(
                    f"{path} has changed and cannot be served; the previous catalog is still served: {reason}"
                )
            else:
                self._served.snapshot = snapshot
                self._metrics.record_catalog(snapshot.index)
                self._metrics.record_reload(succeeded=True)
                await self._health.set_catalog_current(is_current=True)
                self._log(f"{path} has changed: serving {snapshot.summary}")
                self.start_check()

    def start_check(self) -> None:
        """Check the served catalog in the background unless it was parsed completely."""
        if self._check is not None:
            self._check.cancel()
        if not self._served.snapshot.is_fully_parsed:
            self._check = asyncio.create_task(self._check_snapshot())

    async def stop_check(self) -> None:
        """Cancel the check, and wait until its process has ended."""
        if self._check is not None:
            self._check.cancel()
            await asyncio.gather(self._check, return_exceptions=True)

    async def _check_snapshot(self) -> None:
        snapshot = self._served.snapshot
        try:
            problem = await check_in_subprocess(snapshot.path)
        except OSError as error:
            self._log(f"the check of {snapshot.path} did not complete; the catalog is still served: {error}")
            return
        if await asyncio.to_thread(file_state, snapshot.path) != snapshot.file_state:
            # The check may have read another catalog than the one that is served.
            return
        if problem is None:
            snapshot.mark_fully_parsed()
        elif self._served.snapshot is snapshot:
            await self._report_failure(f"the catalog has a problem and is still served: {problem}")

    async def _report_failure(self, message: str) -> None:
        self._metrics.record_reload(succeeded=False)
        await self._health.set_catalog_current(is_current=False)
        self._log(message)
