"""kopf, of which nothing is wanted but its watches, and of which nothing is left when they fail."""

from __future__ import annotations

__all__ = ["watched"]

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import kopf

from searchkeeper.configuration.names import FINALIZER

_KOPF: Final = str(Path(kopf.__file__).parent)
# Seconds that its tasks have to end: some would wait for a connection that nobody makes any more.
_FAREWELL: Final = 3


async def watched(
    registry: kopf.OperatorRegistry,
    namespaces: Sequence[str],
    over: asyncio.Event,
    ready: Callable[[], None],
) -> None:
    """Calls the handlers of the registry until it is over. Raises whatever a watch has failed with."""
    flag = asyncio.Event()
    noting = asyncio.create_task(_called(ready, flag))
    tasks = await kopf.spawn_tasks(
        registry=registry,
        settings=_settings(),
        standalone=True,
        clusterwide=not namespaces,
        namespaces=namespaces,
        ready_flag=flag,
        stop_flag=over,
    )
    try:
        first, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        failures = [error for task in first if not task.cancelled() and (error := task.exception())]
        others = [task for task in asyncio.all_tasks() if not _is_kopfs(task)]
        await asyncio.wait({asyncio.create_task(_ending(tasks, others))}, timeout=_FAREWELL)
    finally:
        noting.cancel()
        await _ended()
    if failures:
        raise failures[0]


async def _ending(tasks: Collection[asyncio.Task[Any]], others: Collection[asyncio.Task[Any]]) -> None:
    """As kopf itself would; what it fails with is known by then."""
    with suppress(Exception):
        await kopf.run_tasks(tasks, ignored=others)


async def _called(ready: Callable[[], None], flag: asyncio.Event) -> None:
    await flag.wait()
    ready()


async def _ended() -> None:
    """Its tasks are known by where their code is: others of this process go on."""
    for _ in range(_FAREWELL):
        left = [task for task in asyncio.all_tasks() if _is_kopfs(task)]
        if not left:
            return
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=1)


def _is_kopfs(task: asyncio.Task[Any]) -> bool:
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and (code is _ending.__code__ or code.co_filename.startswith(_KOPF))


def _settings() -> kopf.OperatorSettings:
    settings = kopf.OperatorSettings()
    # Events are ours to post, once each; and a watch that has gone quiet is begun again.
    settings.posting.enabled = False
    # Namespaces are named, and nobody watches before our kinds are served: no need to be allowed to look at
    # namespaces or definitions, which are everybody's.
    settings.scanning.disabled = True
    settings.watching.server_timeout = 60
    settings.watching.client_timeout = 70
    settings.watching.connect_timeout = 10
    settings.networking.request_timeout = 30
    settings.queueing.exit_timeout = 0.5
    settings.queueing.idle_timeout = 0.5
    # Never used, since nothing here asks for one; if it were, it would be told apart from ours.
    settings.persistence.finalizer = f"{FINALIZER}-watch"
    return settings
