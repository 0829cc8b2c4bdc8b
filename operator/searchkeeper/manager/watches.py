"""kopf, of which nothing is wanted but its watches, and of which nothing is left when they fail."""

from __future__ import annotations

__all__ = ["run_watches"]

import asyncio
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Final

import kopf

from searchkeeper.desired.names import FINALIZER

_KOPF: Final = str(Path(kopf.__file__).parent)
# Seconds that its tasks have to end: some would wait for a connection that nobody makes any more.
_FAREWELL: Final = 3


async def run_watches(
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
    finally:
        noting.cancel()
        await _ended(tasks)
    if failures:
        raise failures[0]


async def _called(ready: Callable[[], None], flag: asyncio.Event) -> None:
    await flag.wait()
    ready()


async def _ended(tasks: Collection[asyncio.Task[Any]]) -> None:
    """First these, which end what they have begun themselves; then whatever of kopf's is left.

    Not by `kopf.run_tasks`: whoever was born after kopf was told to end counts as kopf's there, and a loop
    that had just begun to wait would end with the watches.
    """
    await _cancelled(tasks, _FAREWELL)
    await _waited_for(_kopfs(), 1)
    for _ in range(_FAREWELL):
        await _cancelled(_kopfs(), 1)


async def _cancelled(tasks: Collection[asyncio.Task[Any]], deadline: float) -> None:
    for task in tasks:
        task.cancel()
    await _waited_for(tasks, deadline)


async def _waited_for(tasks: Collection[asyncio.Task[Any]], deadline: float) -> None:
    if tasks:
        await asyncio.wait(tasks, timeout=deadline)


def _kopfs() -> list[asyncio.Task[Any]]:
    return [task for task in asyncio.all_tasks() if _is_kopfs(task)]


def _is_kopfs(task: asyncio.Task[Any]) -> bool:
    """Known by where its code is: others of this process go on."""
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and code.co_filename.startswith(_KOPF)


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
    # What kopf takes for the end of a process is the end of a watch here: it would kill us ten minutes later.
    settings.process.ultimate_exiting_timeout = None
    settings.queueing.exit_timeout = 0.5
    settings.queueing.idle_timeout = 0.5
    # Never used, since nothing here asks for one; if it were, it would be told apart from ours.
    settings.persistence.finalizer = f"{FINALIZER}-watch"
    return settings
