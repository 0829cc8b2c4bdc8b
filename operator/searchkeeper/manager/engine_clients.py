"""Which engine belongs to a cluster: OpenSearch behind its Service."""

from __future__ import annotations

__all__ = ["engine_clients"]

from collections.abc import Callable
from dataclasses import dataclass

from searchkeeper.desired.names import CREDENTIALS, client_url
from searchkeeper.kubernetes.api import KubernetesApi
from searchkeeper.kubernetes.operations import Key
from searchkeeper.observe import security_in_force
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import CallFailed, EngineClient
from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.view import Unreachable
from searchkeeper.redaction import missing_entries, secret_text


def engine_clients(kube: KubernetesApi, url: str | None = None) -> Callable[[Key], EngineClient]:
    """Of each cluster the engine. `url` serves for all."""
    return lambda key: _opensearch(kube, key, url)


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
