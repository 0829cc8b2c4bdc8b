"""A fake API server: Kubernetes API requests on a `FakeCluster`, without HTTP."""

from __future__ import annotations

__all__ = [
    "ApiRequest",
    "FakeApiServer",
    "Response",
    "Watch",
    "WatchProgress",
    "bookmark_line",
    "event_line",
    "expired_line",
]

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from searchkeeper.kubernetes.api import ApiError, Conflict, NotFound, Rejected
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.kubernetes.rest_mapping import KINDS, ResourceKind
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.discovery import discovery_response
from searchkeeper.testing.fake_kubernetes.json_patch import apply_json_patch
from searchkeeper.testing.fake_kubernetes.manifests import has_labels, with_value
from searchkeeper.testing.fake_kubernetes.object_store import replace_object
from searchkeeper.testing.fake_kubernetes.watch_history import Compacted, WatchEvent, WatchHistory

_REASONS: Final = {
    400: "BadRequest",
    404: "NotFound",
    405: "MethodNotAllowed",
    409: "Conflict",
    410: "Expired",
}
_MERGE_PATCH: Final = "application/merge-patch+json"
_JSON_PATCH: Final = "application/json-patch+json"


@dataclass(frozen=True, slots=True)
class ApiRequest:
    method: str
    path: str
    query: Mapping[str, str]
    content_type: str = ""
    body: Any = None


@dataclass(frozen=True, slots=True)
class Response:
    code: int
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Watch:
    """An accepted watch request. The caller streams `start` and then `changes`."""

    kind: ResourceKind
    namespace: str
    selects: Callable[[Manifest], bool]
    resource_version: str
    seconds: float


class WatchProgress(NamedTuple):
    """The events to send, the position to continue from, and the revision at that position."""

    events: list[WatchEvent]
    position: int
    revision: int


@dataclass(frozen=True, slots=True)
class _Target:
    """The kind, object or subresource that a path names. `name` is empty for a collection."""

    kind: ResourceKind
    namespace: str
    name: str
    subresource: str

    @property
    def key(self) -> Key:
        return Key(self.kind.api, self.kind.name, self.namespace, self.name)


class FakeApiServer:
    """Serves one `FakeCluster` to several threads. Requests, ticks and engine calls are serialized.

    It is also an `EngineClient`, for an operator that runs in the same process. `remembers` limits the number
    of events that watches can resume from.
    """

    def __init__(self, world: FakeCluster, *, remembers: int = 10_000) -> None:
        self.world = world
        self.history = WatchHistory(world.state.cluster, limit=remembers)
        self.changed = threading.Condition(threading.RLock())

    @contextmanager
    def alone(self) -> Iterator[FakeCluster]:
        """Lock the cluster for a change. Watches receive the change when the lock is released."""
        with self.changed:
            before = self.world.state.cluster
            try:
                yield self.world
            finally:
                if self.world.state.cluster is not before:
                    self.history.append_changes(before, self.world.state.cluster)
                    self.changed.notify_all()

    def tick(self, seconds: int = 10) -> None:
        with self.alone() as world:
            world.tick(seconds)

    def now(self) -> int:
        return self.world.state.now

    def get_state(self) -> EngineView | Unreachable:
        with self.alone() as world:
            return world.get_state()

    def get_details(self, request: DetailsRequest) -> EngineDetails:
        with self.alone() as world:
            return world.get_details(request)

    def execute(self, call: Call) -> None:
        with self.alone() as world:
            world.execute(call)

    def answer(self, request: ApiRequest) -> Response | Watch:
        """Handle a request. Errors are responses too."""
        discovery = discovery_response(request.path) if request.method == "GET" else None
        if discovery is not None:
            return Response(200, discovery)
        target = _parse_path(request.path)
        if target is None:
            return _failure(404, f"the server could not find {request.path}")
        try:
            with self.alone():
                return self._handle_object(request, target) if target.name else self._handle(request, target)
        except ApiError as error:
            return _error_response(error, request)

    def start(self, watch: Watch) -> WatchProgress:
        """Start a watch at its resource version, or with all objects. Raises Compacted."""
        with self.changed:
            if watch.resource_version not in ("", "0"):
                position = self.history.position_after(int(watch.resource_version))
                return WatchProgress([], position, self.revision)
            objects = self._select(watch.kind, watch.namespace, watch.selects)
            events = [WatchEvent("ADDED", 0, Key.of(manifest), manifest) for manifest in objects]
            return WatchProgress(events, self.history.end, self.revision)

    def changes(self, watch: Watch, position: int) -> WatchProgress:
        """Return the events of a watch since a position. Raises Compacted."""
        with self.changed:
            events = [
                event
                for event in self.history.since(position)
                if (event.key.api, event.key.kind) == (watch.kind.api, watch.kind.name)
                and watch.namespace in ("", event.key.namespace)
                and watch.selects(event.manifest)
            ]
            return WatchProgress(events, self.history.end, self.revision)

    @property
    def revision(self) -> int:
        return self.world.state.cluster.revision

    def _handle(self, request: ApiRequest, target: _Target) -> Response | Watch:
        """Handle a request for a collection."""
        match request.method:
            case "GET":
                return self._list_or_watch(request, target)
            case "POST":
                return Response(201, self.world.create(_complete(request.body, target)))
            case _:
                return _failure(405, f"{request.method} is not supported on a collection")

    def _handle_object(self, request: ApiRequest, target: _Target) -> Response:
        match request.method:
            case "GET":
                return Response(200, self._existing(target))
            case "PATCH":
                return self._patch(request, target)
            case "PUT":
                return Response(200, self._replace(_complete(request.body, target), target))
            case "DELETE":
                return self._delete(request.body or {}, target)
            case _:
                return _failure(405, f"{request.method} is not supported on an object")

    def _list_or_watch(self, request: ApiRequest, target: _Target) -> Response | Watch:
        selects = _selector(request.query)
        if request.query.get("watch") in ("1", "true", "True"):
            seconds = float(request.query.get("timeoutSeconds", 3600))
            version = request.query.get("resourceVersion", "")
            return Watch(target.kind, target.namespace, selects, version, seconds)
        return Response(
            200,
            {
                "apiVersion": target.kind.api,
                "kind": f"{target.kind.name}List",
                "metadata": {"resourceVersion": str(self.revision)},
                "items": self._select(target.kind, target.namespace, selects),
            },
        )

    def _select(
        self, kind: ResourceKind, namespace: str, selects: Callable[[Manifest], bool]
    ) -> list[Manifest]:
        """Return the selected objects of a kind; the namespace "" is all namespaces."""
        return [
            manifest
            for key, manifest in sorted(self.world.state.cluster.objects.items(), key=lambda item: item[0])
            if (key.api, key.kind) == (kind.api, kind.name)
            and namespace in ("", key.namespace)
            and selects(manifest)
        ]

    def _existing(self, target: _Target) -> Manifest:
        manifest = self.world.get(target.key)
        if manifest is None:
            raise NotFound(f'{target.kind.plural} "{target.name}" not found')
        return manifest

    def _patch(self, request: ApiRequest, target: _Target) -> Response:
        if request.content_type == _JSON_PATCH:
            patched = apply_json_patch(self._existing(target), request.body)
            return Response(200, self._replace(patched, target))
        if request.content_type != _MERGE_PATCH:
            return _failure(415, f"{request.content_type} is not one of {_MERGE_PATCH}, {_JSON_PATCH}")
        version = (request.body.get("metadata") or {}).get("resourceVersion") or ""
        patch = Patch(target.key, request.body, version)
        is_status = target.subresource == "status"
        return Response(200, self.world.patch_status(patch) if is_status else self.world.patch(patch))

    def _replace(self, new: Manifest, target: _Target) -> Manifest:
        """Replace an object and keep its status, or replace its status alone."""
        old = self._existing(target)
        version = new["metadata"].get("resourceVersion")
        if version and version != old["metadata"]["resourceVersion"]:
            raise Conflict(f"{target.key} was modified")
        if target.subresource == "status":
            new = with_value(old, "status", to=new.get("status"))
        elif target.kind.has_status:
            new = with_value(new, "status", to=old.get("status"))
        cluster, stored = replace_object(self.world.state.cluster, new)
        self.world.state = replace(self.world.state, cluster=cluster)
        return stored

    def _delete(self, options: Mapping[str, Any], target: _Target) -> Response:
        preconditions = options.get("preconditions") or {}
        self.world.delete(
            Delete(
                target.key,
                preconditions.get("uid", ""),
                preconditions.get("resourceVersion", ""),
                orphan=options.get("propagationPolicy") == "Orphan",
            )
        )
        return Response(200, self.world.get(target.key) or _status(200, "Success", ""))


def _parse_path(path: str) -> _Target | None:
    """Parse `/apis/apps/v1/namespaces/search/statefulsets/logs-data/status`."""
    for kind in KINDS:
        if not path.startswith(f"{kind.root}/"):
            continue
        parts = path.removeprefix(f"{kind.root}/").split("/")
        namespace = ""
        if kind.is_namespaced and parts[0] == "namespaces" and len(parts) > 2:
            _, namespace, *parts = parts
        name, subresource = (*parts[1:], "", "")[:2]
        if parts[0] == kind.plural and len(parts) <= 3 and subresource in ("", "status"):
            return _Target(kind, namespace, name, subresource)
    return None


def _complete(body: Any, target: _Target) -> dict[str, Any]:
    """Add what the path says to the object in a body. Raises Rejected if it has no name."""
    metadata = dict(body.get("metadata") or {})
    if target.kind.is_namespaced:
        metadata["namespace"] = target.namespace
    if "name" not in metadata and not target.name:
        raise Rejected("metadata.name: required")
    return {
        **body,
        "apiVersion": target.kind.api,
        "kind": target.kind.name,
        "metadata": {"name": target.name, **metadata},
    }


def _selector(query: Mapping[str, str]) -> Callable[[Manifest], bool]:
    """Parse the equality-based `labelSelector`, and `metadata.name` of the `fieldSelector`."""
    terms = [term for term in query.get("labelSelector", "").split(",") if term]
    pairs = [term.replace("==", "=").partition("=") for term in terms]
    labels = {name: text for name, _, text in pairs}
    _, _, name = query.get("fieldSelector", "").partition("metadata.name=")
    return lambda manifest: has_labels(manifest, labels) and name in ("", manifest["metadata"]["name"])


def _error_response(error: ApiError, request: ApiRequest) -> Response:
    match error:
        case Conflict():
            return _failure(409, str(error), "AlreadyExists" if request.method == "POST" else "Conflict")
        case NotFound():
            return _failure(404, str(error))
        case _:
            return _failure(422, str(error), "Invalid")


def _failure(code: int, message: str, reason: str = "") -> Response:
    return Response(code, _status(code, "Failure", message, reason))


def _status(code: int, outcome: str, message: str, reason: str = "") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Status",
        "metadata": {},
        "status": outcome,
        "message": message,
        "reason": reason or _REASONS.get(code, ""),
        "code": code,
    }


def event_line(event: WatchEvent) -> bytes:
    """Encode an event as a line of a watch stream."""
    return json.dumps({"type": event.type, "object": event.manifest}).encode() + b"\n"


def bookmark_line(watch: Watch, revision: int) -> bytes:
    """Encode a bookmark: the client has seen every event up to the revision."""
    manifest = {
        "apiVersion": watch.kind.api,
        "kind": watch.kind.name,
        "metadata": {"resourceVersion": str(revision), "creationTimestamp": None},
    }
    return json.dumps({"type": "BOOKMARK", "object": manifest}).encode() + b"\n"


def expired_line(error: Compacted) -> bytes:
    """Encode the error that ends a watch on dropped events."""
    return json.dumps({"type": "ERROR", "object": _status(410, "Failure", str(error))}).encode() + b"\n"
