"""A cluster behind the Kubernetes client. No other module imports that client.

Requests go to the paths of the objects, without discovery: only about ten kinds are needed.
"""

from __future__ import annotations

__all__ = ["FIELD_MANAGER", "KubeCluster", "connect"]

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import urllib3
import yaml
from kubernetes import config
from kubernetes.client import ApiClient, Configuration
from kubernetes.client.exceptions import ApiException
from kubernetes.config import ConfigException
from kubernetes.dynamic import DynamicClient

from everpath.errors import Unreachable, UsageError
from everpath.olm.objects import (
    ConflictError,
    Kind,
    Object,
    ObjectRef,
    RequestDenied,
    nested_list,
    nested_str,
    normalize_whitespace,
    ref_to,
)

FIELD_MANAGER: Final = "everpath"

_NAMESPACE_FILE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_DEFAULT_KUBECONFIG: Final = "~/.kube/config"
_APPLY_PATCH: Final = "application/apply-patch+yaml"
_MERGE_PATCH: Final = "application/merge-patch+json"
#: Seconds to connect, and seconds to wait for data.
_REQUEST_TIMEOUT: Final = (10, 30)
_PAGE_SIZE: Final = 500


def connect(kubeconfig: str | None = None, context: str | None = None) -> KubeCluster:
    """Return the cluster that kubectl uses: of the file, KUBECONFIG, the default file, or the pod.

    Raises UsageError if no cluster is configured, RequestDenied if a credential plugin fails.
    """
    files = kubeconfig or _existing_files(os.environ.get("KUBECONFIG", "")) or _DEFAULT_KUBECONFIG
    settings = Configuration()
    # The commands retry themselves and report it; the client would retry three times before that.
    settings.retries = False
    try:
        has_default = Path(_DEFAULT_KUBECONFIG).expanduser().exists()
        # client-go too uses the ServiceAccount of the pod only without a kubeconfig.
        if files == _DEFAULT_KUBECONFIG and context is None and not has_default and _NAMESPACE_FILE.exists():
            config.load_incluster_config(client_configuration=settings)  # type: ignore[no-untyped-call]
            return KubeCluster(ApiClient(settings), _NAMESPACE_FILE.read_text(encoding="utf-8").strip())
        context = context or _current_context(files)
        with _credential_errors(files):
            config.load_kube_config(  # type: ignore[no-untyped-call]
                files, context, client_configuration=settings, persist_config=False
            )
        contexts, active = config.list_kube_config_contexts(files)  # type: ignore[no-untyped-call]
        chosen = next((each for each in contexts if each["name"] == context), active)
        namespace = nested_str(chosen, "context", "namespace") or "default"
        return KubeCluster(ApiClient(settings), namespace)
    except (ConfigException, yaml.YAMLError) as error:
        raise _no_cluster(files, str(error)) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # The client does not check the structure of the file.
        raise _no_cluster(files, "it is not a valid kubeconfig") from error
    except OSError as error:
        raise UsageError(f"cannot read {error.filename}: {error.strerror}") from error


def _existing_files(files: str) -> str:
    """Return the files that are not empty, like kubectl; the first one if all are."""
    names = [name for name in files.split(os.pathsep) if name]
    existing = [name for name in names if (path := Path(name).expanduser()).exists() and path.stat().st_size]
    return os.pathsep.join(existing or names[:1])


@contextmanager
def _credential_errors(files: str) -> Iterator[None]:
    """Raise RequestDenied if a credential plugin fails.

    The client only logs that and continues as an anonymous user, which the cluster then denies.
    """
    messages: list[str] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
    if messages:
        raise RequestDenied(
            f"no credentials for the cluster of {files}: {normalize_whitespace(messages[0])}",
            hint="log in again, or choose another context; `kubectl auth whoami` runs the same plugin",
        )


def _current_context(files: str) -> str | None:
    """Return the current context of the first file that has one, like kubectl; the client uses the last."""
    for path in (Path(name).expanduser() for name in files.split(os.pathsep) if name):
        if path.is_file() and (name := nested_str(yaml.safe_load(path.read_bytes()), "current-context")):
            return name
    return None


def _no_cluster(files: str, reason: str) -> UsageError:
    return UsageError(
        f"no cluster is configured in {files}: {normalize_whitespace(reason)}",
        hint="set --kubeconfig FILE or --context NAME; `kubectl config get-contexts` lists the contexts",
    )


class KubeCluster:
    """Implements `Cluster`."""

    def __init__(self, client: ApiClient, namespace: str) -> None:
        self.namespace = namespace
        self._host = client.configuration.host
        # Discovery would request every API group of the cluster.
        self._client = DynamicClient(client, discoverer=lambda *_: None)  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Close the connection pool."""
        self._client.client.rest_client.close()

    def get(self, ref: ObjectRef) -> Object | None:
        obj: Object | None = self._request("get", _path(ref), if_missing=None)
        return obj

    def serves(self, kind: Kind) -> bool:
        resources = self._request("get", kind.api_path, if_missing={})
        return any(nested_str(each, "name") == kind.plural for each in nested_list(resources, "resources"))

    def list_objects(self, kind: Kind, namespace: str = "", selector: str = "") -> list[Object]:
        path = _path(ObjectRef(kind, namespace, ""))
        query = [("limit", str(_PAGE_SIZE)), *([("labelSelector", selector)] if selector else [])]
        page = self._request("get", path, query=query, if_missing={})
        objects: list[Object] = nested_list(page, "items")
        while token := nested_str(page, "metadata", "continue"):
            page = self._request("get", path, query=[*query, ("continue", token)], if_missing={})
            objects += nested_list(page, "items")
        return objects

    def apply(self, kind: Kind, obj: Object, *, force: bool = False, dry_run: bool = False) -> Object:
        query = [("fieldManager", FIELD_MANAGER), ("force", "true" if force else "false")]
        query += [("dryRun", "All")] if dry_run else []
        return self._request("patch", _path(ref_to(obj, kind)), obj, _APPLY_PATCH, query) or {}

    def patch(self, ref: ObjectRef, changes: Object) -> Object:
        query = [("fieldManager", FIELD_MANAGER)]
        return self._request("patch", _path(ref), changes, _MERGE_PATCH, query) or {}

    def delete(self, kind: Kind, obj: Object) -> None:
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Background",
            "preconditions": {"uid": nested_str(obj, "metadata", "uid")},
        }
        # A conflict means that the object is deleted and another one has its name.
        with suppress(ConflictError):
            self._request("delete", _path(ref_to(obj, kind)), options, if_missing={})

    def _request(
        self,
        method: str,
        path: str,
        body: Object | None = None,
        content_type: str = "application/json",
        query: list[tuple[str, str]] | None = None,
        **if_missing: Any,
    ) -> Any:
        """Send a request and return the JSON of the response; `if_missing`, if given, for status 404."""
        try:
            response = self._client.request(
                method,
                path,
                # The client sends only a string unchanged with every content type.
                body=json.dumps(body) if content_type == _APPLY_PATCH else body,
                query_params=list(query or ()),
                content_type=content_type,
                serialize=False,
                _request_timeout=_REQUEST_TIMEOUT,
            )
            return json.loads(response.data)
        except ApiException as error:
            if error.status == 404 and if_missing:
                return if_missing["if_missing"]
            raise _api_error(error, f"{method} {path}", self._host) from error
        except urllib3.exceptions.HTTPError as error:
            raise Unreachable(
                f"the cluster at {self._host} does not respond: {_connection_error(error)}",
                hint="check that it is running and that the context is right; `kubectl cluster-info` "
                "sends a request to the same server",
            ) from error
        except ValueError as error:
            raise Unreachable(
                f"the server at {self._host} is not a Kubernetes API server: {error}",
                hint="a proxy or another server may use this address",
            ) from error


def _path(ref: ObjectRef) -> str:
    namespace = f"/namespaces/{quote(ref.namespace)}" if ref.kind.is_namespaced and ref.namespace else ""
    name = f"/{quote(ref.name)}" if ref.name else ""
    return f"{ref.kind.api_path}{namespace}/{ref.kind.plural}{name}"


def _api_error(error: ApiException, request: str, host: str) -> Unreachable | UsageError:
    """Return the error for a response with an error status."""
    message = _status_message(error)
    if error.status == 401:
        hint = "log in again, or choose another context; `kubectl auth whoami` shows the user"
        return RequestDenied(f"the cluster at {host} rejects the credentials: {message}", hint=hint, code=401)
    if error.status == 403:
        hint = "ask an administrator for the permission; `kubectl auth can-i --list` shows yours"
        return RequestDenied(f"permission denied by the cluster: {message}", hint=hint, code=403)
    if error.status == 409:
        hint = "another field manager has set these fields: --force overwrites them, or leave them out"
        return ConflictError(f"conflict: {message}", hint=hint)
    if error.status in (400, 404, 405, 415, 422):
        return RequestDenied(f"the cluster rejects {request}: {message}", code=error.status)
    if not error.status:
        hint = "the certificate must be signed by the certificate authority in the kubeconfig"
        return Unreachable(f"TLS connection to the cluster at {host} failed: {message}", hint=hint)
    return Unreachable(f"the cluster at {host} responds with status {error.status}: {message}")


def _status_message(error: ApiException) -> str:
    """Return the message of the Status object in the response, else the reason phrase."""
    try:
        return nested_str(json.loads(error.body or ""), "message") or str(error.reason)
    except (TypeError, ValueError):
        return normalize_whitespace(str(error.reason))


def _connection_error(error: Exception) -> str:
    cause = getattr(error, "reason", None) or error
    # urllib3 wraps the error of a broken connection as the last argument.
    if len(cause.args) > 1 and isinstance(cause.args[-1], Exception):
        cause = cause.args[-1]
    return str(cause).rpartition(": ")[2] or type(cause).__name__
