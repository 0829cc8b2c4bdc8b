"""A real cluster, through the client of the Kubernetes project. Nothing else imports it.

Objects go by their paths, as JSON: a cluster is asked for a dozen kinds, and need not be discovered first.
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
from everpath.olm.objects import ConflictError, Kind, Object, Ref, Refused, items, ref_of, text

#: Who the API server says has set a field.
FIELD_MANAGER: Final = "everpath"

_NAMESPACE_FILE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_USUAL: Final = "~/.kube/config"
_APPLY: Final = "application/apply-patch+yaml"
_MERGE: Final = "application/merge-patch+json"
#: Of one answer, in seconds: to connect, and to read on.
_PATIENCE: Final = (10, 30)
_PAGE: Final = 500


def connect(kubeconfig: str | None = None, context: str | None = None) -> KubeCluster:
    """The cluster that kubectl would speak to: by file, KUBECONFIG, the usual file, or from inside a pod."""
    files = kubeconfig or _filled(os.environ.get("KUBECONFIG", "")) or _USUAL
    settings = Configuration()
    # The client would try three times at a server that is not there; whoever waits is told and asks again.
    settings.retries = False
    try:
        if files == _USUAL and context is None and _is_inside():
            config.load_incluster_config(client_configuration=settings)  # type: ignore[no-untyped-call]
            return KubeCluster(ApiClient(settings), _NAMESPACE_FILE.read_text(encoding="utf-8").strip())
        chosen = context or _current(files)
        with _signed_in(files):
            config.load_kube_config(  # type: ignore[no-untyped-call]
                files, chosen, client_configuration=settings, persist_config=False
            )
        return KubeCluster(ApiClient(settings), _namespace(files, chosen))
    except (ConfigException, yaml.YAMLError) as error:
        raise _unconfigured(files, str(error)) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # The client takes for granted that a file has the shape of a configuration.
        raise _unconfigured(files, "it is no configuration of kubectl") from error
    except OSError as error:
        raise UsageError(f"cannot read {error.filename}: {error.strerror}") from error


def _filled(files: str) -> str:
    """Of several files those with something in them, as kubectl has it; of one, that one."""
    names = [name for name in files.split(os.pathsep) if name]
    there = [name for name in names if _size(name)]
    return os.pathsep.join(there or names[:1])


def _size(name: str) -> int:
    file = Path(name).expanduser()
    return file.stat().st_size if file.exists() else 0


@contextmanager
def _signed_in(files: str) -> Iterator[None]:
    """Raises Refused where a program that is to give credentials fails.

    The client only logs that, and goes on as nobody: the cluster would be blamed for what it then refuses.
    """
    said: list[str] = []
    heard = logging.Handler(logging.ERROR)
    heard.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    log = logging.getLogger()
    log.addHandler(heard)
    try:
        yield
    finally:
        log.removeHandler(heard)
    if said:
        hint = "sign in again, or choose another context; `kubectl auth whoami` runs the same program"
        raise Refused(f"no credentials for the cluster of {files}: {' '.join(said[0].split())}", hint=hint)


def _is_inside() -> bool:
    """In a pod, and nobody has configured anything: as client-go does it."""
    return not Path(_USUAL).expanduser().exists() and _NAMESPACE_FILE.exists()


def _current(files: str) -> str | None:
    """The current context: of several files the first that names one, as kubectl has it.

    The client itself would take the last.
    """
    for file in (Path(name).expanduser() for name in files.split(os.pathsep) if name):
        if file.is_file() and (name := text(yaml.safe_load(file.read_bytes()), "current-context")):
            return name
    return None


def _namespace(files: str, context: str | None) -> str:
    """Of the context that is used."""
    contexts, active = config.list_kube_config_contexts(files)  # type: ignore[no-untyped-call]
    chosen = next((one for one in contexts if one["name"] == context), active)
    return text(chosen, "context", "namespace") or "default"


def _unconfigured(files: str, why: str) -> UsageError:
    return UsageError(
        f"no cluster is configured in {files}: {' '.join(why.split())}",
        hint="--kubeconfig FILE and --context NAME say which; `kubectl config get-contexts` lists them",
    )


class KubeCluster:
    """Implements `Cluster`."""

    def __init__(self, client: ApiClient, namespace: str) -> None:
        self.namespace = namespace
        self._host = client.configuration.host
        # Discovery would ask for every group of the cluster first.
        self._client = DynamicClient(client, discoverer=lambda *_: None)  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """End the connections that are kept for the next request."""
        self._client.client.rest_client.close()

    def get(self, ref: Ref) -> Object | None:
        found: Object | None = self._call("get", _path(ref), absent=None)
        return found

    def serves(self, kind: Kind) -> bool:
        known = self._call("get", kind.root, absent={})
        return any(text(one, "name") == kind.plural for one in items(known, "resources"))

    def find(self, kind: Kind, namespace: str = "", selector: str = "") -> list[Object]:
        query = [("limit", str(_PAGE)), *([("labelSelector", selector)] if selector else [])]
        found: list[Object] = []
        more = ""
        while True:
            page = self._call(
                "get",
                _path(Ref(kind, namespace, "")),
                query=[*query, *([("continue", more)] if more else [])],
                absent={},
            )
            found += items(page, "items")
            more = text(page, "metadata", "continue")
            if not more:
                return found

    def apply(self, kind: Kind, thing: Object, *, force: bool = False, rehearsed: bool = False) -> Object:
        query = [("fieldManager", FIELD_MANAGER), ("force", "true" if force else "false")]
        query += [("dryRun", "All")] if rehearsed else []
        made = self._call("patch", _path(ref_of(thing, kind)), thing, _APPLY, query)
        return made or {}

    def merge(self, ref: Ref, changes: Object) -> Object:
        changed = self._call("patch", _path(ref), changes, _MERGE, [("fieldManager", FIELD_MANAGER)])
        return changed or {}

    def delete(self, kind: Kind, thing: Object) -> None:
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Background",
            "preconditions": {"uid": text(thing, "metadata", "uid")},
        }
        # A conflict: what has the name by now is another object.
        with suppress(ConflictError):
            self._call("delete", _path(ref_of(thing, kind)), options, absent={})

    def _call(
        self,
        method: str,
        path: str,
        body: Object | None = None,
        content_type: str = "application/json",
        query: list[tuple[str, str]] | None = None,
        **absent: Any,
    ) -> Any:
        """The answer; what `absent` says where the server knows no such thing, if it may be missing."""
        with self._told(f"{method} {path}"):
            try:
                answer = self._client.request(
                    method,
                    path,
                    # Only a text is sent as it is under every content type.
                    body=json.dumps(body) if content_type == _APPLY else body,
                    query_params=list(query or ()),
                    content_type=content_type,
                    serialize=False,
                    _request_timeout=_PATIENCE,
                )
                return json.loads(answer.data)
            except ApiException as error:
                if error.status == 404 and absent:
                    return absent["absent"]
                raise
        raise AssertionError

    @contextmanager
    def _told(self, request: str) -> Iterator[None]:
        """What goes wrong between here and the cluster, as errors that know their remedy."""
        try:
            yield
        except ApiException as error:
            raise _refusal(error, request, self._host) from error
        except urllib3.exceptions.HTTPError as error:
            hint = (
                "is it running, and does the context name the right one? `kubectl cluster-info` asks the same"
            )
            raise Unreachable(
                f"the cluster at {self._host} does not answer: {_reason(error)}", hint=hint
            ) from error
        except ValueError as error:
            hint = "a proxy or another server may stand at that address"
            raise Unreachable(f"what answers at {self._host} is no API server: {error}", hint=hint) from error


def _path(ref: Ref) -> str:
    where = f"/namespaces/{quote(ref.namespace)}" if ref.kind.is_namespaced and ref.namespace else ""
    which = f"/{quote(ref.name)}" if ref.name else ""
    return f"{ref.kind.root}{where}/{ref.kind.plural}{which}"


def _refusal(error: ApiException, request: str, host: str) -> Unreachable | UsageError:
    """What an API server says no with."""
    said = _message(error)
    if error.status == 401:
        hint = "sign in again, or choose another context; `kubectl auth whoami` tells as whom you ask"
        return Refused(f"the cluster at {host} does not know you: {said}", hint=hint, code=401)
    if error.status == 403:
        hint = "ask whoever runs the cluster for the right; `kubectl auth can-i --list` shows what you have"
        return Refused(f"the cluster does not allow it: {said}", hint=hint, code=403)
    if error.status == 409:
        hint = "somebody else has set these fields: --force takes them over, or leave them out"
        return ConflictError(f"another has a say in it: {said}", hint=hint)
    if error.status in (400, 404, 405, 415, 422):
        return Refused(f"the cluster refuses {request}: {said}", code=error.status)
    if not error.status:
        hint = "the certificate must be of the authority that the kubeconfig names"
        return Unreachable(f"the cluster at {host} cannot be trusted: {said}", hint=hint)
    return Unreachable(f"the cluster at {host} answers {error.status}: {said}")


def _message(error: ApiException) -> str:
    try:
        return text(json.loads(error.body or ""), "message") or str(error.reason)
    except (TypeError, ValueError):
        return " ".join(str(error.reason).split())


def _reason(error: Exception) -> str:
    cause = getattr(error, "reason", None) or error
    # Of a connection that broke off the client has the words only beside the exception that has them, too.
    if len(cause.args) > 1 and isinstance(cause.args[-1], Exception):
        cause = cause.args[-1]
    return str(cause).rpartition(": ")[2] or type(cause).__name__
