"""A real API server behind the port `Kube`, through the client of the Kubernetes project.

Objects go by their paths, as JSON: the operator knows its dozen kinds, and need not discover any.
"""

from __future__ import annotations

__all__ = ["KubernetesClient", "connect", "load_kubeconfig"]

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
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
from searchkeeper.kubernetes.rest_mapping import ResourceKind, is_object_name, resource_kind, resource_path
from searchkeeper.manager.workers import FAST_WORKERS, SLOW_WORKERS

# Of one answer, in seconds: to connect, and to read on.
_PATIENCE: Final = (5, 15)
_PAGE: Final = 500
# Those who ask beside the cycles: for the lease, and for who is there.
_OTHERS: Final = 4
_MERGE: Final = "application/merge-patch+json"
_COMPONENT: Final = "searchkeeper"
# What an API server says where nobody is there to admit a write. It asks before it stores anything.
_UNADMITTED: Final = "failed calling webhook"


def load_kubeconfig(kubeconfig: str | None) -> Configuration:
    """How to reach the cluster: by a file, or as a pod of it. Raises ConfigException."""
    settings = Configuration()
    # A request that was sent twice unseen may have been carried out twice; the next cycle looks again.
    settings.retries = False
    # As many as ask at once: a connection beyond that is thrown away after its request, with a warning.
    settings.connection_pool_maxsize = FAST_WORKERS + SLOW_WORKERS + _OTHERS
    if kubeconfig is None:
        try:
            config.load_incluster_config(client_configuration=settings)  # type: ignore[no-untyped-call]
            return settings
        except config.ConfigException:
            pass
    try:
        config.load_kube_config(  # type: ignore[no-untyped-call]
            kubeconfig, client_configuration=settings, persist_config=False
        )
    except (config.ConfigException, AttributeError, TypeError, ValueError, yaml.YAMLError) as error:
        # What is no kubeconfig at all is read as far as it goes.
        raise config.ConfigException(_flaw(kubeconfig, error)) from error
    return settings


def _flaw(kubeconfig: str | None, error: Exception) -> str:
    """Of which file, and whether there is any: the client only says that it found no configuration."""
    name = kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"
    if not any(Path(each).expanduser().exists() for each in name.split(os.pathsep)):
        return f"{name}: there is no such file"
    is_told = isinstance(error, config.ConfigException)
    return f"{name}: {error if is_told else f'Invalid kube-config file. {error}'}"


def connect(settings: Configuration, *, identity: str = _COMPONENT) -> KubernetesClient:
    return KubernetesClient(ApiClient(settings), identity=identity)


class KubernetesClient:
    """Implements `Kube`. Safe to use from several threads."""

    def __init__(
        self,
        client: ApiClient,
        *,
        identity: str = _COMPONENT,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._identity = identity
        self._clock = clock
        # Discovery would ask for every group of the cluster first.
        self._client = DynamicClient(client, discoverer=lambda *_: None)  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Ends the connections that are kept for the next request."""
        self._client.client.rest_client.close()

    def get(self, key: Key) -> Manifest | None:
        """People write some names: one that no object can have must not lead to what is another's."""
        if not is_object_name(key.name):
            return None
        try:
            found: Manifest = self._call("get", _path(key))
        except NotFound:
            return None
        return found

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        """Without a namespace: those of all. Page by page; a list that changes meanwhile is begun again."""
        selector = ",".join(f"{name}={text}" for name, text in labels.items())
        query = [("limit", str(_PAGE)), *([("labelSelector", selector)] if selector else [])]
        found: list[Manifest] = []
        more = ""
        while True:
            page = self._page(resource_kind(api, kind), namespace, query, more)
            # The items of a list do not say what they are.
            found += [{**each, "apiVersion": api, "kind": kind} for each in page["items"]]
            more = (page.get("metadata") or {}).get("continue") or ""
            if not more:
                return sorted(found, key=lambda each: Key.of(each)[2:])

    def _page(self, kind: ResourceKind, namespace: str, query: Sequence[tuple[str, str]], more: str) -> Any:
        """Raises NoSuchKind, Gone for a page that is asked for too late, KubeError."""
        pages = [("continue", more)] if more else []
        try:
            return self._call("get", resource_path(kind, namespace), query=[*query, *pages])
        except NotFound as error:
            if getattr(error.__cause__, "status", None) == HTTPStatus.NOT_FOUND:
                raise NoSuchKind(str(error), kind.name) from error
            raise

    def create(self, manifest: Manifest) -> Manifest:
        key = Key.of(manifest)
        made: Manifest = self._call(
            "post", resource_path(resource_kind(key.api, key.kind), key.namespace), manifest
        )
        return made

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
            "preconditions": {name: text for name, text in preconditions.items() if text},
        }
        self._call("delete", _path(delete.key), options)

    def record(self, event: EmitEvent) -> None:
        """The same event again only counts: a cluster that is refused a thousand times has one line of it."""
        about = self.get(event.about)
        manifest = _event(event, about or {}, self._identity, _moment(self._clock()))
        try:
            self.create(manifest)
        except Conflict:
            key = Key.of(manifest)
            before = self.get(key) or {}
            changes = {"count": int(before.get("count", 1)) + 1, "lastTimestamp": manifest["lastTimestamp"]}
            self.patch(Patch(key, changes, ""))

    def _patch(self, where: str, patch: Patch) -> Manifest:
        """A merge patch that names a resource version is refused where the object has another one."""
        changes: Manifest = patch.changes
        if patch.resource_version:
            metadata = {**(changes.get("metadata") or {}), "resourceVersion": patch.resource_version}
            changes = {**changes, "metadata": metadata}
        changed: Manifest = self._call("patch", where, changes, _MERGE)
        return changed

    def _call(
        self,
        method: str,
        where: str,
        body: Any = None,
        content_type: str = "application/json",
        query: Sequence[tuple[str, str]] = (),
    ) -> Any:
        try:
            answer = self._client.request(
                method,
                where,
                body=body,
                query_params=[*query],
                content_type=content_type,
                serialize=False,
                _request_timeout=_PATIENCE,
            )
            return json.loads(answer.data)
        except ApiException as error:
            raise _refusal(error, f"{method.upper()} {where}") from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise Unavailable(f"{method.upper()} {where}: {error}") from error
        except ValueError as error:
            raise Unavailable(f"{method.upper()} {where}: what answers is no API server") from error


def _path(key: Key) -> str:
    return resource_path(resource_kind(key.api, key.kind), key.namespace, key.name)


def _refusal(error: ApiException, request: str) -> ApiError:
    said = f"{request}: {error.status} {_message(error)}"
    match error.status:
        case 409:
            return Conflict(said)
        case 404 | 410:
            return NotFound(said)
        case 401:
            return Unauthorized(said)
        case 403:
            return Forbidden(said)
        case 400 | 405 | 413 | 415 | 422:
            return Rejected(said)
        case _:
            return Rejected(said) if _UNADMITTED in said else Unavailable(said)


def _message(error: ApiException) -> str:
    try:
        return str(json.loads(error.body or "")["message"])
    except (KeyError, TypeError, ValueError):
        return " ".join(str(error.reason).split())


def _event(event: EmitEvent, about: Manifest, identity: str, moment: str) -> dict[str, Any]:
    """Its name follows from what it says, so that saying it twice is a conflict."""
    key, uid = event.about, (about.get("metadata") or {}).get("uid", "")
    words = "\n".join((*key, uid, event.reason, event.message))
    digest = hashlib.sha256(words.encode()).hexdigest()[:16]
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
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "source": {"component": _COMPONENT},
        "reportingComponent": _COMPONENT,
        "reportingInstance": identity,
    }


def _moment(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
