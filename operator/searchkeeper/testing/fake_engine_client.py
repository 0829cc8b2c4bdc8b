"""An engine client without OpenSearch: a fake engine whose nodes are the pods of a real API server.

`searchkeeper run --engine embedded` uses it to try the operator on a cluster that cannot run OpenSearch.
"""

from __future__ import annotations

__all__ = ["FakeEngineClient", "fake_engine_clients"]

from collections.abc import Callable
from threading import Lock
from typing import Final

from searchkeeper.desired.names import labels
from searchkeeper.kubernetes.api import ApiError, KubernetesApi
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import EngineClient
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.testing.fake_cluster import processes
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore
from searchkeeper.testing.fake_opensearch import (
    FakeEngine,
    advance,
    execute,
    get_details,
    get_state,
    wipe_node,
)

# The configuration versions that introduced other labels: pods may have the labels of either.
_LABEL_SCHEMES: Final = (1, 4)


def fake_engine_clients(kube: KubernetesApi) -> Callable[[Key], EngineClient]:
    """Return a function that returns the fake engine of a cluster, the same one at every call."""
    engines: dict[Key, FakeEngineClient] = {}
    lock = Lock()

    def engine_of(key: Key) -> EngineClient:
        with lock:
            return engines.setdefault(key, FakeEngineClient(kube, key))

    return engine_of


class FakeEngineClient:
    """An `EngineClient` with a fake engine in the pods of one cluster.

    Each read of the state advances the engine by one tick. Its state is lost when the process ends.
    """

    def __init__(self, kube: KubernetesApi, key: Key) -> None:
        self._kube = kube
        self._key = key
        self.engine = FakeEngine()
        self._claim_uids: dict[str, str] = {}
        self._lock = Lock()

    def get_state(self) -> EngineView | Unreachable:
        """Advance the engine and return its state; Unreachable if the API server does not list the pods."""
        with self._lock:
            try:
                pods, claims = self._list("Pod"), self._list("PersistentVolumeClaim")
            except ApiError as error:
                return Unreachable(str(error))
            uids = {key.name: claim["metadata"]["uid"] for key, claim in claims.items()}
            for node, _ in self.engine.disks:
                if uids.get(f"data-{node}") != self._claim_uids.get(f"data-{node}"):
                    self.engine = wipe_node(self.engine, node)
            self._claim_uids = uids
            self.engine = advance(self.engine, processes(ObjectStore(pods)))
            return get_state(self.engine)

    def get_details(self, request: DetailsRequest) -> EngineDetails:
        with self._lock:
            return get_details(self.engine, request)

    def execute(self, call: Call) -> None:
        with self._lock:
            self.engine = execute(self.engine, call)

    def _list(self, kind: str) -> dict[Key, Manifest]:
        return {
            Key.of(manifest): manifest
            for scheme in _LABEL_SCHEMES
            for manifest in self._kube.list(
                "v1", kind, self._key.namespace, labels(self._key.name, None, scheme)
            )
        }
