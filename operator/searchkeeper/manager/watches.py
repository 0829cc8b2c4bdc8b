"""List-watches that wake the reconcile loops, one thread for each kind and namespace.

Watches only make reconciles sooner: every loop reads fresh objects, and a resync replaces missed events.
"""

from __future__ import annotations

__all__ = ["WATCHED", "WatchClient", "WatchHandlers", "Watches"]

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from searchkeeper.desired.names import GROUP
from searchkeeper.kubernetes.api import NoSuchKind
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.manager.kubernetes_client import WatchExpired
from searchkeeper.manager.logging import Log
from searchkeeper.manager.reconcile_loop import RequeueIntervals

_API: Final = f"{GROUP}/v1alpha1"
# Kinds that are watched. Secrets are not: the ServiceAccount may not list them.
WATCHED: Final = (
    (_API, "SearchCluster"),
    (_API, "SearchPool"),
    ("apps/v1", "StatefulSet"),
    ("v1", "Pod"),
)
# The label with the cluster's name; which one a pod has depends on its configuration version.
_INSTANCE_LABELS: Final = ("app.kubernetes.io/instance", "app")


class WatchClient(Protocol):
    """What a list-watch needs of the Kubernetes client."""

    def list_with_version(
        self, api: str, kind: str, namespace: str, labels: Mapping[str, str]
    ) -> tuple[Sequence[Manifest], str]: ...

    def watch(
        self, api: str, kind: str, namespace: str, resource_version: str
    ) -> Iterator[tuple[str, Manifest]]: ...


@dataclass(frozen=True, slots=True)
class WatchHandlers:
    """Callbacks, called in the threads of the watches.

    `on_cluster` takes the SearchCluster, its resource version and whether it was deleted; `on_child` takes
    the SearchCluster that a changed object belongs to, and the object's resource version.
    """

    on_cluster: Callable[[Key, str, bool], None]
    on_child: Callable[[Key, str], None]


class Watches:
    """All list-watches of one operator. `ready` is set while every kind is listed and watched.

    The threads are daemons and end at the next event after `stop` is set: no shutdown waits for them.
    """

    def __init__(
        self,
        client: WatchClient,
        handlers: WatchHandlers,
        log: Log,
        *,
        stop: threading.Event,
        ready: threading.Event,
    ) -> None:
        self._client = client
        self._handlers = handlers
        self._log = log
        self._stop = stop
        self._ready = ready
        self._unlisted: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def start(self, namespaces: Sequence[str], intervals: RequeueIntervals) -> None:
        """Start a thread for each kind in each namespace; without namespaces all of them are watched."""
        targets = [(api, kind, namespace) for api, kind in WATCHED for namespace in namespaces or ("",)]
        self._unlisted = {(kind, namespace) for _, kind, namespace in targets}
        for target in targets:
            run = partial(self._run, *target, intervals)
            threading.Thread(target=run, name=f"watch-{target[1]}", daemon=True).start()

    def _run(self, api: str, kind: str, namespace: str, intervals: RequeueIntervals) -> None:
        failures = 0
        while not self._stop.is_set():
            try:
                version = self._list(api, kind, namespace)
                while not self._stop.wait(intervals.min_backoff):
                    version = self._watch(api, kind, namespace, version)
                    failures = 0
            except WatchExpired:
                # The history of the API server is limited; the next list has the current state.
                self._stop.wait(intervals.min_backoff)
            except Exception as error:  # noqa: BLE001 - no error may end a watch
                failures += 1
                self._set_listed(kind, namespace, is_listed=False)
                self._log.warning(f"watch of {kind} failed; restarting", attempt=failures, error=str(error))
                # Missing CRDs are checked at a fixed interval, so that no user waits after installing them.
                is_missing = isinstance(error, NoSuchKind)
                self._stop.wait(intervals.waiting if is_missing else intervals.backoff(failures))

    def _list(self, api: str, kind: str, namespace: str) -> str:
        """Report all objects; return the resource version to watch from."""
        manifests, version = self._client.list_with_version(api, kind, namespace, {})
        for manifest in manifests:
            self._report(kind, "ADDED", manifest["metadata"])
        self._set_listed(kind, namespace, is_listed=True)
        return version

    def _watch(self, api: str, kind: str, namespace: str, version: str) -> str:
        """Report all changes until the API server ends the watch; return the last resource version."""
        for event, manifest in self._client.watch(api, kind, namespace, version):
            if self._stop.is_set():
                break
            metadata = manifest["metadata"]
            version = metadata.get("resourceVersion") or version
            if event != "BOOKMARK":
                self._report(kind, event, metadata)
        return version

    def _report(self, kind: str, event: str, metadata: Mapping[str, Any]) -> None:
        version = str(metadata.get("resourceVersion") or "")
        name = metadata["name"] if kind == "SearchCluster" else _cluster_name(metadata)
        if name is None:
            return
        key = Key(_API, "SearchCluster", metadata.get("namespace") or "", name)
        if kind == "SearchCluster":
            self._handlers.on_cluster(key, version, event == "DELETED")
        else:
            self._handlers.on_child(key, version)

    def _set_listed(self, kind: str, namespace: str, *, is_listed: bool) -> None:
        with self._lock:
            (self._unlisted.discard if is_listed else self._unlisted.add)((kind, namespace))
            (self._ready.clear if self._unlisted else self._ready.set)()


def _cluster_name(metadata: Mapping[str, Any]) -> str | None:
    """The SearchCluster that an object belongs to, by its owner or its labels."""
    for owner in metadata.get("ownerReferences") or ():
        if owner["kind"] == "SearchCluster":
            return str(owner["name"])
    labels = metadata.get("labels") or {}
    return next((labels[name] for name in _INSTANCE_LABELS if name in labels), None)
