"""Engine clients of clusters: OpenSearch behind its Service, or a fake engine behind real pods."""

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

# Value of `--engine` for a fake engine whose nodes are the running pods.
EMBEDDED: Final = "embedded"
# Configuration versions whose label schemes differ.
_LABEL_SCHEMES: Final = (1, 4)


def engine_clients(kube: KubernetesApi, engine: str | None = None) -> Callable[[Key], EngineClient]:
    """A function from SearchCluster to engine client. `engine` is one URL for all clusters, or `embedded`.

    The function raises ApiError.
    """
    if engine != EMBEDDED:
        return lambda cluster: _opensearch_client(kube, cluster, engine)
    fakes: dict[Key, FakeEngineClient] = {}
    lock = Lock()

    def fake_engine_client(cluster: Key) -> EngineClient:
        with lock:
            return fakes.setdefault(cluster, FakeEngineClient(kube, cluster))

    return fake_engine_client


class CredentialsMissing(Exception):
    """A Secret that spec.security names, or an entry of it, is missing."""


@dataclass(frozen=True, slots=True)
class UnreachableClient:
    """The client of an engine for which the credentials are missing."""

    cause: str

    def get_state(self) -> Unreachable:
        return Unreachable(self.cause)

    def execute(self, _: Call) -> None:
        raise CallFailed(self.cause)


def _opensearch_client(kube: KubernetesApi, cluster: Key, url: str | None) -> EngineClient:
    try:
        return OpenSearchClient(_access(kube, cluster, url))
    except CredentialsMissing as error:
        return UnreachableClient(str(error))


def _access(kube: KubernetesApi, cluster: Key, url: str | None) -> Access:
    """URL and credentials, read for every reconcile: a rotated password needs no restart.

    An unencrypted engine gets no password, which anyone on the network could read. During an upgrade the
    security of the lock applies, because nodes still run with it. Raises ApiError, CredentialsMissing.
    """
    security = security_in_force(kube.get(cluster) or {})
    is_encrypted = security.tls_secret is not None
    url = url or client_url(cluster.name, cluster.namespace, is_encrypted=is_encrypted)
    if security.tls_secret is None:
        return Access(url)
    (authority,) = _secret_entries(kube, cluster.namespace, security.tls_secret, "ca.crt")
    if security.credentials_secret is None:
        return Access(url, authority=authority)
    username, password = _secret_entries(kube, cluster.namespace, security.credentials_secret, *CREDENTIALS)
    return Access(url, username, password, authority)


def _secret_entries(kube: KubernetesApi, namespace: str, name: str, *entries: str) -> list[str]:
    """These entries as text; other entries may be binary. Raises ApiError, CredentialsMissing."""
    key = Key("v1", "Secret", namespace, name)
    secret = kube.get(key)
    missing = missing_entries(secret or {}, entries)
    if missing:
        cause = "does not exist" if secret is None else f"has no text in {' and '.join(missing)}"
        raise CredentialsMissing(f"{key}, which spec.security names, {cause}")
    return [secret_text(secret or {}, entry) or "" for entry in entries]


class FakeEngineClient:
    """A fake engine behind real pods, to try the operator on an API server without OpenSearch.

    Its time advances with every read. Its settings are lost when the operator ends.
    """

    def __init__(self, kube: KubernetesApi, cluster: Key) -> None:
        self._kube = kube
        self._cluster = cluster
        self.engine = FakeEngine()
        self._claims: dict[str, str] = {}
        self._lock = Lock()

    def get_state(self) -> EngineView | Unreachable:
        """The state for the current pods; Unreachable when they cannot be listed."""
        with self._lock:
            try:
                pods, claims = self._objects("Pod"), self._objects("PersistentVolumeClaim")
            except ApiError as error:
                return Unreachable(str(error))
            self._wipe_replaced_volumes({key.name: claim["metadata"]["uid"] for key, claim in claims.items()})
            self.engine = advance(self.engine, processes(ObjectStore(pods)))
            return get_state(self.engine)

    def execute(self, call: Call) -> None:
        with self._lock:
            self.engine = execute(self.engine, call)

    def _wipe_replaced_volumes(self, claims: dict[str, str]) -> None:
        """Empty the disk of every node whose claim has another UID: it is a new volume."""
        for node, _ in self.engine.disks:
            if claims.get(f"data-{node}") != self._claims.get(f"data-{node}"):
                self.engine = wipe_node(self.engine, node)
        self._claims = claims

    def _objects(self, kind: str) -> dict[Key, Manifest]:
        return {
            Key.of(manifest): manifest
            for scheme in _LABEL_SCHEMES
            for manifest in self._kube.list(
                "v1", kind, self._cluster.namespace, labels(self._cluster.name, None, scheme)
            )
        }
