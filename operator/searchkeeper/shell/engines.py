"""Which engine belongs to a cluster: OpenSearch behind its Service, or one in memory behind its pods."""

from __future__ import annotations

__all__ = ["EMBEDDED", "StandIn", "drivers"]

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final

from searchkeeper.configuration.names import CREDENTIALS, client_url, labels
from searchkeeper.embedded.cluster import Cluster
from searchkeeper.embedded.world import processes
from searchkeeper.engine.calls import Call
from searchkeeper.engine.driver import CallFailed, Driver
from searchkeeper.engine.embedded import Engine, advance, look, told, wiped
from searchkeeper.engine.http import Access
from searchkeeper.engine.opensearch import OpenSearch
from searchkeeper.engine.view import EngineView, Unreachable
from searchkeeper.kube import Kube, KubeError
from searchkeeper.observing import security_in_force
from searchkeeper.secrets import lacking, text_in
from searchkeeper.writes import Key, Manifest

# Instead of a URL: an engine in memory, whose nodes are the pods that the API server says are running.
EMBEDDED: Final = "embedded"
_LABEL_SCHEMES: Final = (1, 4)


def drivers(kube: Kube, engine: str | None = None) -> Callable[[Key], Driver]:
    """Of each cluster the engine. `engine` is a URL that serves for all, or `embedded`."""
    if engine == EMBEDDED:
        return _stand_ins(kube)
    return lambda key: _opensearch(kube, key, engine)


class NoEntry(Exception):
    """What the engine asks for cannot be shown to it."""


@dataclass(frozen=True, slots=True)
class Shut:
    """An engine that nobody can enter, and why."""

    why: str

    def look(self) -> Unreachable:
        return Unreachable(self.why)

    def tell(self, _: Call) -> None:
        raise CallFailed(self.why)


def _opensearch(kube: Kube, key: Key, url: str | None) -> Driver:
    """Raises KubeError."""
    try:
        return OpenSearch(_access(kube, key, url))
    except NoEntry as error:
        return Shut(str(error))


def _access(kube: Kube, key: Key, url: str | None) -> Access:
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


def _texts(kube: Kube, namespace: str, name: str, *entries: str) -> list[str]:
    """Of these entries and no others: what else is there need not be text. Raises KubeError, NoEntry."""
    secret = Key("v1", "Secret", namespace, name)
    found = kube.get(secret)
    missing = lacking(found or {}, entries)
    if missing:
        why = "does not exist" if found is None else f"has no text in {' and '.join(missing)}"
        raise NoEntry(f"{secret}, which spec.security names, {why}")
    return [text_in(found or {}, each) or "" for each in entries]


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
