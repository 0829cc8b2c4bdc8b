"""A KubernetesApi for a real API server, on top of the official Kubernetes client.

Requests use paths and JSON: the operator knows its dozen kinds and needs no discovery.
"""

from __future__ import annotations

__all__ = ["KubernetesClient", "WatchExpired", "connect", "load_kubeconfig"]

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import urllib3
import yaml
from kubernetes import config
from kubernetes.client import ApiClient, Configuration
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient

from searchkeeper.kubernetes.api import (
    ApiError,
    Conflict,
    Forbidden,
    NoSuchKind,
    NotFound,
    Rejected,
    Unauthorized,
    Unavailable,
)
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Manifest, Patch
from searchkeeper.kubernetes.rest_mapping import is_object_name, resource_kind, resource_path
from searchkeeper.manager.workers import FAST_WORKERS, SLOW_WORKERS

# Seconds to connect, and to wait for data.
_TIMEOUTS: Final = (5, 15)
_PAGE_SIZE: Final = 500
# Seconds after which the API server ends a watch, and after which the client ends one without data.
_WATCH_SECONDS: Final = 60
_WATCH_TIMEOUTS: Final = (5, 90)
# Threads that send requests besides the workers: for the Lease, for lists, at shutdown.
_OTHER_THREADS: Final = 4
_MERGE_PATCH: Final = "application/merge-patch+json"
_COMPONENT: Final = "searchkeeper"
# Part of the API server's 500 when an admission webhook is down. Nothing was stored then.
_WEBHOOK_FAILURE: Final = "failed calling webhook"


def load_kubeconfig(kubeconfig: str | None) -> Configuration:
    """The client configuration from a kubeconfig file, or from the pod's ServiceAccount.

    Raises ConfigException.
    """
    configuration = Configuration()
    # The client must not retry by itself: the first request may have been executed. The next reconcile does.
    configuration.retries = False
    # One connection a thread: more are closed after each request, with a warning.
    configuration.connection_pool_maxsize = FAST_WORKERS + SLOW_WORKERS + _OTHER_THREADS
    if kubeconfig is None:
        try:
            config.load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
            return configuration
        except config.ConfigException:
            pass
    try:
        config.load_kube_config(  # type: ignore[no-untyped-call]
            kubeconfig, client_configuration=configuration, persist_config=False
        )
    except (config.ConfigException, AttributeError, TypeError, ValueError, yaml.YAMLError) as error:
        # The client validates little: a file that is no kubeconfig fails anywhere in its loader.
        raise config.ConfigException(_kubeconfig_error(kubeconfig, error)) from error
    return configuration


def _kubeconfig_error(kubeconfig: str | None, error: Exception) -> str:
    """A message with the file's name and whether it exists; the client's own message lacks both."""
    files = kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"
    if not any(Path(file).expanduser().exists() for file in files.split(os.pathsep)):
        return f"{files}: there is no such file"
    is_client_error = isinstance(error, config.ConfigException)
    return f"{files}: {error if is_client_error else f'Invalid kube-config file. {error}'}"


class WatchExpired(NotFound):
    """410: the API server no longer has the changes since this resource version; list again."""


_ERRORS: Final[Mapping[int, type[ApiError]]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: WatchExpired,
}
_REJECTIONS: Final = frozenset({400, 405, 413, 415, 422})


def connect(configuration: Configuration, *, identity: str = _COMPONENT) -> KubernetesClient:
    return KubernetesClient(ApiClient(configuration), identity=identity)


class KubernetesClient:
    """Implements KubernetesApi. Safe to use from several threads."""

    def __init__(
        self,
        client: ApiClient,
        *,
        identity: str = _COMPONENT,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._identity = identity
        self._clock = clock
        # Without a discoverer the client requests no API groups at the start.
        self._client = DynamicClient(client, discoverer=lambda *_: None)  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Close the pooled connections."""
        self._client.client.rest_client.close()

    def get(self, key: Key) -> Manifest | None:
        """The object, or None. Names from a spec may be invalid; they must not form another object's path."""
        if not is_object_name(key.name):
            return None
        try:
            manifest: Manifest = self._call("get", _path(key))
        except NotFound:
            return None
        return manifest

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        """All objects of a kind with these labels, sorted by name; all namespaces when none is given.

        Raises NoSuchKind, NotFound when the continue token has expired, and ApiError.
        """
        manifests, _ = self.list_with_version(api, kind, namespace, labels)
        return sorted(manifests, key=lambda manifest: Key.of(manifest)[2:])

    def list_with_version(
        self, api: str, kind: str, namespace: str, labels: Mapping[str, str]
    ) -> tuple[Sequence[Manifest], str]:
        """All objects as `list` returns them, unsorted, and the resource version to watch from."""
        resource = resource_kind(api, kind)
        selector = ",".join(f"{name}={value}" for name, value in labels.items())
        query = [("limit", str(_PAGE_SIZE)), *([("labelSelector", selector)] if selector else [])]
        manifests: list[Manifest] = []
        token: list[tuple[str, str]] = []
        while True:
            try:
                page = self._call("get", resource_path(resource, namespace), query=[*query, *token])
            except NotFound as error:
                if getattr(error.__cause__, "status", None) == HTTPStatus.NOT_FOUND:
                    raise NoSuchKind(str(error), resource.name) from error
                raise
            # The items of a list have neither apiVersion nor kind.
            manifests += [{**item, "apiVersion": api, "kind": kind} for item in page["items"]]
            metadata = page.get("metadata") or {}
            if not metadata.get("continue"):
                return manifests, str(metadata.get("resourceVersion") or "")
            token = [("continue", metadata["continue"])]

    def watch(
        self, api: str, kind: str, namespace: str, resource_version: str
    ) -> Iterator[tuple[str, Manifest]]:
        """Type and object of every change since a resource version, until the API server ends the watch.

        Bookmarks are included. Raises WatchExpired, ApiError.
        """
        path = resource_path(resource_kind(api, kind), namespace)
        query = [
            ("watch", "true"),
            ("allowWatchBookmarks", "true"),
            ("resourceVersion", resource_version),
            ("timeoutSeconds", str(_WATCH_SECONDS)),
        ]
        with _api_errors(f"WATCH {path}"):
            response = self._request("get", path, query=query, timeouts=_WATCH_TIMEOUTS)
            try:
                for line in response:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        status = event["object"]
                        raise ApiException(status.get("code"), status.get("message"))
                    yield event["type"], event["object"]
            finally:
                response.close()

    def create(self, manifest: Manifest) -> Manifest:
        key = Key.of(manifest)
        path = resource_path(resource_kind(key.api, key.kind), key.namespace)
        created: Manifest = self._call("post", path, manifest)
        return created

    def patch(self, patch: Patch) -> Manifest:
        return self._patch(_path(patch.key), patch)

    def patch_status(self, patch: Patch) -> Manifest:
        return self._patch(f"{_path(patch.key)}/status", patch)

    def delete(self, delete: Delete) -> None:
        preconditions = {"uid": delete.uid, "resourceVersion": delete.resource_version}
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Orphan" if delete.orphan else "Background",
            "preconditions": {name: value for name, value in preconditions.items() if value},
        }
        self._call("delete", _path(delete.key), options)

    def record(self, event: EmitEvent) -> None:
        """Create the event, or increase the count of an equal one."""
        involved = self.get(event.about) or {}
        time = self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        manifest = _event(event, involved, self._identity, time)
        try:
            self.create(manifest)
        except Conflict:
            key = Key.of(manifest)
            existing = self.get(key) or {}
            changes = {"count": int(existing.get("count", 1)) + 1, "lastTimestamp": manifest["lastTimestamp"]}
            self.patch(Patch(key, changes, ""))

    def _patch(self, path: str, patch: Patch) -> Manifest:
        """Send a merge patch. The API server answers 409 when its resource version is outdated."""
        changes: Manifest = patch.changes
        if patch.resource_version:
            metadata = {**(changes.get("metadata") or {}), "resourceVersion": patch.resource_version}
            changes = {**changes, "metadata": metadata}
        patched: Manifest = self._call("patch", path, changes, _MERGE_PATCH)
        return patched

    def _call(
        self,
        method: str,
        path: str,
        body: Any = None,
        content_type: str = "application/json",
        query: Sequence[tuple[str, str]] = (),
    ) -> Any:
        with _api_errors(f"{method.upper()} {path}"):
            return json.loads(self._request(method, path, body, content_type, query).data)

    def _request(
        self,
        method: str,
        path: str,
        body: Any = None,
        content_type: str = "application/json",
        query: Sequence[tuple[str, str]] = (),
        *,
        timeouts: tuple[float, float] = _TIMEOUTS,
    ) -> urllib3.BaseHTTPResponse:
        response: urllib3.BaseHTTPResponse = self._client.request(
            method,
            path,
            body=body,
            query_params=[*query],
            content_type=content_type,
            serialize=False,
            _request_timeout=timeouts,
        )
        return response


@contextmanager
def _api_errors(request: str) -> Iterator[None]:
    """Raise every error of the client as an ApiError."""
    try:
        yield
    except ApiException as error:
        raise _api_error(error, request) from error
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise Unavailable(f"{request}: {error}") from error
    except ValueError as error:
        raise Unavailable(f"{request}: the response is not JSON") from error


def _path(key: Key) -> str:
    return resource_path(resource_kind(key.api, key.kind), key.namespace, key.name)


def _api_error(error: ApiException, request: str) -> ApiError:
    try:
        message = str(json.loads(error.body or "")["message"])
    except (KeyError, TypeError, ValueError):
        message = " ".join(str(error.reason).split())
    text = f"{request}: {error.status} {message}"
    is_rejected = error.status in _REJECTIONS or _WEBHOOK_FAILURE in message
    return _ERRORS.get(error.status or 0, Rejected if is_rejected else Unavailable)(text)


def _event(event: EmitEvent, involved: Manifest, identity: str, time: str) -> dict[str, Any]:
    """The Event object. Its name is a digest of its content, so that an equal event is a conflict."""
    key, uid = event.about, (involved.get("metadata") or {}).get("uid", "")
    content = "\n".join((*key, uid, event.reason, event.message))
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{key.name}.{digest}", "namespace": key.namespace},
        "involvedObject": {
            "apiVersion": key.api,
            "kind": key.kind,
            "namespace": key.namespace,
            "name": key.name,
            **({"uid": uid} if uid else {}),
        },
        "type": str(event.type),
        "reason": event.reason,
        "message": event.message[:1024],
        "count": 1,
        "firstTimestamp": time,
        "lastTimestamp": time,
        "source": {"component": _COMPONENT},
        "reportingComponent": _COMPONENT,
        "reportingInstance": identity,
    }
