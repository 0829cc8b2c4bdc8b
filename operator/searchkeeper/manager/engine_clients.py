"""Which engine belongs to a cluster: OpenSearch behind its Service, or one in memory behind its pods."""

from __future__ import annotations

__all__ = ["EMBEDDED", "FakeEngineClient", "engine_clients"]

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final

from searchkeeper.desired.names import CREDENTIALS, client_url, labels
from searchkeeper.kubernetes.api import ApiError, KubernetesApi
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.observe import security_in_force
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import CallFailed, EngineClient
from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.redaction import missing_entries, secret_text
from searchkeeper.testing.fake_cluster import processes
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore
from searchkeeper.testing.fake_opensearch import FakeEngine, advance, execute, get_state, wipe_node

# Instead of a URL: an engine in memory, whose nodes are the pods that the API server says are running.
EMBEDDED: Final = "embedded"
_LABEL_SCHEMES: Final = (1, 4)


def engine_clients(kube: KubernetesApi, engine: str | None = None) -> Callable[[Key], EngineClient]:
    """Of each cluster the engine. `engine` is a URL that serves for all, or `embedded`."""
    if engine == EMBEDDED:
        return _stand_ins(kube)
    return lambda key: _opensearch(kube, key, engine)


class CredentialsMissing(Exception):
    """What the engine asks for cannot be shown to it."""


@dataclass(frozen=True, slots=True)
class UnreachableClient:
    """An engine that nobody can enter, and why."""

    why: str

    def get_state(self) -> Unreachable:
        return Unreachable(self.why)

    def execute(self, _: Call) -> None:
        raise CallFailed(self.why)


def _opensearch(kube: KubernetesApi, key: Key, url: str | None) -> EngineClient:
    """Raises KubeError."""
    try:
        return OpenSearchClient(_access(kube, key, url))
    except CredentialsMissing as error:
        return UnreachableClient(str(error))


def _access(kube: KubernetesApi, key: Key, url: str | None) -> Access:
    """Read afresh: whoever rotates a password need not restart the operator. Raises KubeError, NoEntry.

    An engine that is not encrypted does not ask who somebody is, and is not told where anybody may listen.
    While an upgrade is under way nodes have what it has locked, whatever is written meanwhile.
    """
    security = security_in_force(kube.get(key) or {})
    is_encrypted = security.tls_secret is not None
    where = url or client_url(key.name, key.namespace, is_encrypted=is_encrypted)
    if security.tls_secret is None:
        return Access(where)
    (authority,) = _texts(kube, key.namespace, security.tls_secret, "ca.crt")
    if security.credentials_secret is None:
        return Access(where, authority=authority)
    username, password = _texts(kube, key.namespace, security.credentials_secret, *CREDENTIALS)
    return Access(where, username, password, authority)


def _texts(kube: KubernetesApi, namespace: str, name: str, *entries: str) -> list[str]:
    """Of these entries and no others: what else is there need not be text. Raises KubeError, NoEntry."""
    secret = Key("v1", "Secret", namespace, name)
    found = kube.get(secret)
    missing = missing_entries(found or {}, entries)
    if missing:
        why = "does not exist" if found is None else f"has no text in {' and '.join(missing)}"
        raise CredentialsMissing(f"{secret}, which spec.security names, {why}")
    return [secret_text(found or {}, each) or "" for each in entries]


def _stand_ins(kube: KubernetesApi) -> Callable[[Key], EngineClient]:
    engines: dict[Key, FakeEngineClient] = {}
    lock = Lock()

    def engine_of(key: Key) -> EngineClient:
        with lock:
            return engines.setdefault(key, FakeEngineClient(kube, key))

    return engine_of


class FakeEngineClient:
    """An engine in memory behind real pods, for trying the operator on an API server without OpenSearch.

    Its time passes with every look. What it was told is forgotten when the operator ends.
    """

    def __init__(self, kube: KubernetesApi, key: Key) -> None:
        self._kube = kube
        self._key = key
        self.engine = FakeEngine()
        self._claims: dict[str, str] = {}
        self._lock = Lock()

    def get_state(self) -> EngineView | Unreachable:
        """Does not raise: an API server that cannot be asked for pods is an engine that does not answer."""
        with self._lock:
            try:
                pods, claims = self._listed("Pod"), self._listed("PersistentVolumeClaim")
            except ApiError as error:
                return Unreachable(str(error))
            self._lose_volumes({key.name: each["metadata"]["uid"] for key, each in claims.items()})
            self.engine = advance(self.engine, processes(ObjectStore(pods)))
            return get_state(self.engine)

    def execute(self, call: Call) -> None:
        with self._lock:
            self.engine = execute(self.engine, call)

    def _lose_volumes(self, claims: dict[str, str]) -> None:
        """A claim of another UID is another volume, and an empty one."""
        for node, _ in self.engine.disks:
            if claims.get(f"data-{node}") != self._claims.get(f"data-{node}"):
                self.engine = wipe_node(self.engine, node)
        self._claims = claims

    def _listed(self, kind: str) -> dict[Key, Manifest]:
        found = (
            each
            for scheme in _LABEL_SCHEMES
            for each in self._kube.list("v1", kind, self._key.namespace, labels(self._key.name, None, scheme))
        )
        return {Key.of(each): each for each in found}
