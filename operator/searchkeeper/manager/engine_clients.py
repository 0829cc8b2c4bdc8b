"""Engine clients of clusters: OpenSearch behind its Service."""

from __future__ import annotations

__all__ = ["engine_clients"]

from collections.abc import Callable
from dataclasses import dataclass

from searchkeeper.api.spec import CA_CERTIFICATE
from searchkeeper.desired.names import CREDENTIALS, client_url
from searchkeeper.kubernetes.api import KubernetesApi
from searchkeeper.kubernetes.operations import Key
from searchkeeper.observe import security_in_force
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import CallFailed, EngineClient
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails
from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.view import Unreachable
from searchkeeper.redaction import missing_entries, secret_text


def engine_clients(kube: KubernetesApi, url: str | None = None) -> Callable[[Key], EngineClient]:
    """A function from SearchCluster to engine client. `url` is one URL for all clusters.

    The function raises ApiError.
    """
    return lambda cluster: _opensearch_client(kube, cluster, url)


class CredentialsMissing(Exception):
    """A Secret that spec.security names, or an entry of it, is missing."""


@dataclass(frozen=True, slots=True)
class UnreachableClient:
    """The client of an engine for which the credentials are missing."""

    cause: str

    def get_state(self) -> Unreachable:
        return Unreachable(self.cause)

    def get_details(self, _: DetailsRequest) -> EngineDetails:
        return EngineDetails()

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
    (authority,) = _secret_entries(kube, cluster.namespace, security.tls_secret, CA_CERTIFICATE)
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
