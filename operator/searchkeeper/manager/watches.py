"""kopf's watches, in their own thread and event loop. Of kopf the operator uses nothing else.

kopf's daemons and change handlers would add a finalizer and annotations to every resource and act on cached
objects. Raw events change nothing: they only wake the reconcile loops, which read fresh objects.
"""

from __future__ import annotations

__all__ = ["WATCHED", "WatchHandlers", "run_watches"]

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import kopf

from searchkeeper.desired.names import FINALIZER, GROUP
from searchkeeper.kubernetes.operations import Key

# Kinds whose events wake a loop besides SearchClusters: group, version, plural.
WATCHED: Final = (
    (GROUP, "v1alpha1", "searchpools"),
    ("apps", "v1", "statefulsets"),
    ("", "v1", "pods"),
)
# Seconds that kopf has to end its own tasks; it cancels those that hang after five.
_KOPF_TIMEOUT: Final = 6
_CANCELLATIONS: Final = 4
# The label with the cluster's name; which one a pod has depends on its configuration version.
_INSTANCE_LABELS: Final = ("app.kubernetes.io/instance", "app")


@dataclass(frozen=True, slots=True)
class WatchHandlers:
    """Callbacks, called in kopf's thread.

    `on_cluster` takes the SearchCluster, its resource version and whether it was deleted; `on_child` takes
    the SearchCluster that a changed object belongs to, and the object's resource version.
    """

    login: Callable[[], Awaitable[kopf.ConnectionInfo]]
    on_cluster: Callable[[Key, str, bool], None]
    on_child: Callable[[Key, str], None]


def run_watches(
    handlers: WatchHandlers, namespaces: Sequence[str], stop: threading.Event, ready: threading.Event
) -> None:
    """Watch until `stop` is set; set `ready` at the start. Raises the error of a watch that failed.

    Without namespaces all of them are watched. The end takes up to eight seconds.
    """

    async def watch() -> None:
        this = asyncio.current_task()
        assert this is not None
        tasks = await kopf.spawn_tasks(
            registry=_registry(handlers),
            settings=_settings(),
            standalone=True,
            clusterwide=not namespaces,
            namespaces=namespaces,
            ready_flag=ready,
            stop_flag=stop,
        )
        running = asyncio.create_task(kopf.run_tasks(tasks, ignored={this}))
        # The first task ends when `stop` is set or a watch fails. Then kopf ends the others and closes its
        # sessions; it waits for the flag in a thread of this event loop.
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        await asyncio.wait({running}, timeout=_KOPF_TIMEOUT)
        # kopf cancels once, but a watcher may suppress one cancellation and then wait endlessly for a login.
        for _ in range(_CANCELLATIONS):
            if not (others := asyncio.all_tasks() - {this}):
                break
            for task in others:
                task.cancel()
            await asyncio.wait(others, timeout=0.5)
        for task in tasks:
            if not task.cancelled() and (error := task.exception()):
                raise error

    asyncio.run(watch())


def _registry(handlers: WatchHandlers) -> kopf.OperatorRegistry:
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    async def login(**_: Any) -> kopf.ConnectionInfo:
        return await handlers.login()

    @kopf.on.event(GROUP, "v1alpha1", "searchclusters", registry=registry)
    async def on_cluster(namespace: str | None, name: str, meta: Any, event: Any, **_: Any) -> None:
        handlers.on_cluster(
            _cluster_key(namespace, name), _resource_version(meta), event["type"] == "DELETED"
        )

    async def on_child(namespace: str | None, meta: Any, **_: Any) -> None:
        name = _cluster_name(meta)
        if name is not None:
            handlers.on_child(_cluster_key(namespace, name), _resource_version(meta))

    for kind in WATCHED:
        kopf.on.event(*kind, registry=registry)(on_child)
    return registry


def _cluster_key(namespace: str | None, name: str) -> Key:
    return Key(f"{GROUP}/v1alpha1", "SearchCluster", namespace or "", name)


def _resource_version(meta: Mapping[str, Any]) -> str:
    return str(meta.get("resourceVersion") or "")


def _cluster_name(meta: Mapping[str, Any]) -> str | None:
    """The SearchCluster that an object belongs to, by its owner or its labels."""
    for owner in meta.get("ownerReferences") or ():
        if owner["kind"] == "SearchCluster":
            return str(owner["name"])
    labels = meta.get("labels") or {}
    return next((labels[name] for name in _INSTANCE_LABELS if name in labels), None)


def _settings() -> kopf.OperatorSettings:
    settings = kopf.OperatorSettings()
    # The operator emits its own events.
    settings.posting.enabled = False
    # Without scanning the ServiceAccount needs no permission on namespaces and CustomResourceDefinitions.
    # The manager starts the watches after the CRDs are served.
    settings.scanning.disabled = True
    settings.watching.server_timeout = 60
    settings.watching.client_timeout = 70
    settings.watching.connect_timeout = 10
    settings.networking.request_timeout = 30
    # kopf would send SIGKILL ten minutes after a watch failed; here the watches start again.
    settings.process.ultimate_exiting_timeout = None
    settings.queueing.exit_timeout = 0.5
    settings.queueing.idle_timeout = 0.5
    # No handler here makes kopf add a finalizer; if one did, it must differ from the operator's own.
    settings.persistence.finalizer = f"{FINALIZER}-watch"
    return settings
