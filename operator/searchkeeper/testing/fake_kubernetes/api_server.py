"""Requests of the Kubernetes API on the world in memory, answered as an API server would."""

from __future__ import annotations

__all__ = [
    "ApiRequest",
    "FakeApiServer",
    "Progress",
    "Response",
    "Watch",
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
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes import object_store as verbs
from searchkeeper.testing.fake_kubernetes.discovery import discovery_response
from searchkeeper.testing.fake_kubernetes.json_patch import apply_json_patch
from searchkeeper.testing.fake_kubernetes.manifests import has_labels, with_value
from searchkeeper.testing.fake_kubernetes.watch_history import Compacted, WatchEvent, WatchHistory

_REASONS: Final = {
    400: "BadRequest",
    404: "NotFound",
    405: "MethodNotAllowed",
    409: "Conflict",
    410: "Expired",
}
_MERGE: Final = "application/merge-patch+json"
_JSON_PATCH: Final = "application/json-patch+json"


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """What was asked: verb, path, query, the body's type and the body."""

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
    """Not one answer but many: a watch on a kind."""

    kind: ResourceKind
    namespace: str
    selects: Callable[[Manifest], bool]
    resource_version: str
    seconds: float


class Progress(NamedTuple):
    """What a watcher is told, where it goes on, and the revision that it has seen by then."""

    found: list[WatchEvent]
    place: int
    revision: int


@dataclass(frozen=True, slots=True)
class _Target:
    kind: ResourceKind
    namespace: str
    name: str
    subresource: str

    @property
    def key(self) -> Key:
        return Key(self.kind.api, self.kind.name, self.namespace, self.name)


class FakeApiServer:
    """One API server over one world. Every request, tick and call to the engine happens alone.

    Implements `Driver` too, for an operator that has its engine in the same process.
    """

    def __init__(self, world: FakeCluster, *, remembers: int = 10_000) -> None:
        self.world = world
        self.history = WatchHistory(world.state.cluster, limit=remembers)
        self.changed = threading.Condition(threading.RLock())

    @contextmanager
    def alone(self) -> Iterator[FakeCluster]:
        """The world, with nobody else at it; whoever watches is told what became of it."""
        with self.changed:
            before = self.world.state.cluster
            try:
                yield self.world
            finally:
                if self.world.state.cluster is not before:
                    self.history.note(before, self.world.state.cluster)
                    self.changed.notify_all()

    def tick(self, seconds: int = 10) -> None:
        with self.alone() as world:
            world.tick(seconds)

    def now(self) -> int:
        return self.world.state.now

    def get_state(self) -> EngineView | Unreachable:
        with self.alone() as world:
            return world.get_state()

    def execute(self, call: Call) -> None:
        with self.alone() as world:
            world.execute(call)

    def answer(self, request: ApiRequest) -> Response | Watch:
        """Refusals are answers too."""
        found = discovery_response(request.path) if request.method == "GET" else None
        if found is not None:
            return Response(200, found)
        target = _target(request.path)
        if target is None:
            return _failure(404, f"the server could not find {request.path}")
        try:
            with self.alone():
                return self._answer(request, target)
        except ApiError as error:
            return _refusal(error, request)

    def changes(self, watch: Watch, place: int) -> Progress:
        """What happened since to the objects that are watched. Raises Compacted."""
        with self.changed:
            found = [each for each in self.history.since(place) if _concerns(each, watch)]
            return Progress(found, self.history.end, self.revision)

    def start(self, watch: Watch) -> Progress:
        """Where a watch begins: at its version, or with all that is there. Raises Compacted."""
        with self.changed:
            if watch.resource_version not in ("", "0"):
                return Progress([], self.history.place_of(int(watch.resource_version)), self.revision)
            there = self._listed(watch.kind, watch.namespace, watch.selects)
            found = [WatchEvent("ADDED", 0, Key.of(each), each) for each in there]
            return Progress(found, self.history.end, self.revision)

    @property
    def revision(self) -> int:
        return self.world.state.cluster.revision

    def _answer(self, request: ApiRequest, target: _Target) -> Response | Watch:
        if not target.name:
            return self._answer_on_all(request, target)
        match request.method:
            case "GET":
                return Response(200, self._existing(target))
            case "PATCH":
                return self._patch(request, target)
            case "PUT":
                return Response(200, self._replaced(_whole(request.body, target), target))
            case "DELETE":
                return self._delete(request.body or {}, target)
            case _:
                return _failure(405, f"{request.method} is not possible on one object")

    def _answer_on_all(self, request: ApiRequest, target: _Target) -> Response | Watch:
        match request.method:
            case "GET":
                return self._list_or_watch(request, target)
            case "POST":
                return Response(201, self.world.create(_whole(request.body, target)))
            case _:
                return _failure(405, f"{request.method} is not possible on a kind")

    def _list_or_watch(self, request: ApiRequest, target: _Target) -> Response | Watch:
        selects = _selector(request.query)
        if request.query.get("watch") in ("1", "true", "True"):
            seconds = float(request.query.get("timeoutSeconds", 3600))
            version = request.query.get("resourceVersion", "")
            return Watch(target.kind, target.namespace, selects, version, seconds)
        found = self._listed(target.kind, target.namespace, selects)
        return Response(
            200,
            {
                "apiVersion": target.kind.api,
                "kind": f"{target.kind.name}List",
                "metadata": {"resourceVersion": str(self.revision)},
                "items": found,
            },
        )

    def _listed(
        self, kind: ResourceKind, namespace: str, selects: Callable[[Manifest], bool]
    ) -> list[Manifest]:
        objects = self.world.state.cluster.objects
        kin = [key for key in objects if (key.api, key.kind) == (kind.api, kind.name)]
        found = (objects[key] for key in sorted(kin) if namespace in ("", key.namespace))
        return [each for each in found if selects(each)]

    def _existing(self, target: _Target) -> Manifest:
        found = self.world.get(target.key)
        if found is None:
            raise NotFound(f'{target.kind.plural} "{target.name}" not found')
        return found

    def _patch(self, request: ApiRequest, target: _Target) -> Response:
        is_status = target.subresource == "status"
        if request.content_type == _JSON_PATCH:
            return Response(
                200, self._replaced(apply_json_patch(self._existing(target), request.body), target)
            )
        if request.content_type != _MERGE:
            return _failure(415, f"{request.content_type} is not among {_MERGE}, {_JSON_PATCH}")
        version = (request.body.get("metadata") or {}).get("resourceVersion") or ""
        patch = Patch(target.key, request.body, version)
        return Response(200, self.world.patch_status(patch) if is_status else self.world.patch(patch))

    def _replaced(self, new: Manifest, target: _Target) -> Manifest:
        """The whole object, or only its status; the other one stays."""
        old = self._existing(target)
        version = new["metadata"].get("resourceVersion")
        if version and version != old["metadata"]["resourceVersion"]:
            raise Conflict(f"{target.key} was changed meanwhile")
        if target.subresource == "status":
            new = with_value(old, "status", to=new.get("status"))
        elif target.kind.has_status:
            new = with_value(new, "status", to=old.get("status"))
        cluster, stored = verbs.replace_object(self.world.state.cluster, new)
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


def _target(path: str) -> _Target | None:
    """`/apis/apps/v1/namespaces/search/statefulsets/logs-data/status`, taken apart."""
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


def _whole(body: Any, target: _Target) -> dict[str, Any]:
    """An object as it is stored: what the path says need not be in the body."""
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
    """Labels by equality, and the one field that everything has."""
    pairs = [
        each.replace("==", "=").partition("=") for each in query.get("labelSelector", "").split(",") if each
    ]
    wanted = {name: text for name, _, text in pairs}
    _, _, name = query.get("fieldSelector", "").partition("metadata.name=")
    return lambda each: has_labels(each, wanted) and name in ("", each["metadata"]["name"])


def _concerns(change: WatchEvent, watch: Watch) -> bool:
    key = change.key
    return (
        (key.api, key.kind) == (watch.kind.api, watch.kind.name)
        and watch.namespace in ("", key.namespace)
        and watch.selects(change.manifest)
    )


def _refusal(error: ApiError, request: ApiRequest) -> Response:
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


def event_line(change: WatchEvent) -> bytes:
    """One line of a watch."""
    return json.dumps({"type": change.type, "object": change.manifest}).encode() + b"\n"


def bookmark_line(watch: Watch, revision: int) -> bytes:
    """How far the watcher is, though nothing that concerns it has happened."""
    manifest = {
        "apiVersion": watch.kind.api,
        "kind": watch.kind.name,
        "metadata": {"resourceVersion": str(revision), "creationTimestamp": None},
    }
    return json.dumps({"type": "BOOKMARK", "object": manifest}).encode() + b"\n"


def expired_line(error: Compacted) -> bytes:
    return json.dumps({"type": "ERROR", "object": _status(410, "Failure", str(error))}).encode() + b"\n"
