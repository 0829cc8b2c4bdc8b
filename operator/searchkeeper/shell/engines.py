"""Which engine belongs to a cluster: OpenSearch behind its Service, or one in memory behind its pods."""

from __future__ import annotations

__all__ = ["EMBEDDED", "StandIn", "drivers"]

import base64
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Final

from searchkeeper.configuration.names import labels
from searchkeeper.embedded.cluster import Cluster
from searchkeeper.embedded.world import processes
from searchkeeper.engine.calls import Call
from searchkeeper.engine.driver import Driver
from searchkeeper.engine.embedded import Engine, advance, look, told, wiped
from searchkeeper.engine.http import Access
from searchkeeper.engine.opensearch import OpenSearch
from searchkeeper.engine.view import EngineView, Unreachable
from searchkeeper.kube import Kube, KubeError
from searchkeeper.resources.codec import cluster_spec
from searchkeeper.writes import Key, Manifest

# Instead of a URL: an engine in memory, whose nodes are the pods that the API server says are running.
EMBEDDED: Final = "embedded"
_LABEL_SCHEMES: Final = (1, 4)


def drivers(kube: Kube, engine: str | None = None) -> Callable[[Key], Driver]:
    """Of each cluster the engine. `engine` is a URL that serves for all, or `embedded`."""
    if engine == EMBEDDED:
        return _stand_ins(kube)
    return lambda key: OpenSearch(_access(kube, key, engine))


def _access(kube: Kube, key: Key, url: str | None) -> Access:
    """Read afresh: whoever rotates a password need not restart the operator. Raises KubeError."""
    spec = cluster_spec((kube.get(key) or {}).get("spec") or {})
    credentials = _secret(kube, key.namespace, spec.security.credentials_secret)
    authority = _secret(kube, key.namespace, spec.security.tls_secret).get("ca.crt")
    scheme = "https" if spec.security.tls_secret else "http"
    return Access(
        url or f"{scheme}://{key.name}.{key.namespace}.svc:9200",
        credentials.get("username", ""),
        credentials.get("password", ""),
        authority,
    )


def _secret(kube: Kube, namespace: str, name: str | None) -> dict[str, str]:
    found: Mapping[str, Any] = (kube.get(Key("v1", "Secret", namespace, name)) if name else None) or {}
    return {key: base64.b64decode(text).decode() for key, text in (found.get("data") or {}).items()}


def _stand_ins(kube: Kube) -> Callable[[Key], Driver]:
    engines: dict[Key, StandIn] = {}
    lock = Lock()

    def engine_of(key: Key) -> Driver:
        with lock:
            return engines.setdefault(key, StandIn(kube, key))

    return engine_of


class StandIn:
    """An engine in memory behind real pods, for trying the operator on an API server without OpenSearch.

    Its time passes with every look. What it was told is forgotten when the operator ends.
    """

    def __init__(self, kube: Kube, key: Key) -> None:
        self._kube = kube
        self._key = key
        self.engine = Engine()
        self._claims: dict[str, str] = {}
        self._lock = Lock()

    def look(self) -> EngineView | Unreachable:
        """Does not raise: an API server that cannot be asked for pods is an engine that does not answer."""
        with self._lock:
            try:
                pods, claims = self._listed("Pod"), self._listed("PersistentVolumeClaim")
            except KubeError as error:
                return Unreachable(str(error))
            self._lose_volumes({key.name: each["metadata"]["uid"] for key, each in claims.items()})
            self.engine = advance(self.engine, processes(Cluster(pods)))
            return look(self.engine)

    def tell(self, call: Call) -> None:
        with self._lock:
            self.engine = told(self.engine, call)

    def _lose_volumes(self, claims: dict[str, str]) -> None:
        """A claim of another UID is another volume, and an empty one."""
        for node, _ in self.engine.disks:
            if claims.get(f"data-{node}") != self._claims.get(f"data-{node}"):
                self.engine = wiped(self.engine, node)
        self._claims = claims

    def _listed(self, kind: str) -> dict[Key, Manifest]:
        found = (
            each
            for scheme in _LABEL_SCHEMES
            for each in self._kube.list("v1", kind, self._key.namespace, labels(self._key.name, None, scheme))
        )
        return {Key.of(each): each for each in found}
