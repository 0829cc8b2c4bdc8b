"""The input of all manifests of a cluster, and the metadata that they share."""

from __future__ import annotations

__all__ = ["DesiredCluster", "digest", "memoize_manifest"]

import hashlib
import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from searchkeeper.api.spec import ClusterSpec, PoolSpec
from searchkeeper.desired import names
from searchkeeper.images import Images

_CREDENTIALS_SEPARATE_SINCE: Final = 2
_PORTABLE_PODS_SINCE: Final = 5
_EXPANDABLE_VOLUMES_SINCE: Final = 5
# Decorator of functions that return manifests. Callers must not change the results.
memoize_manifest: Final = lru_cache(maxsize=1024)


@dataclass(frozen=True, slots=True)
class DesiredCluster:
    """A SearchCluster with its UID, the spec to deploy and the configuration version to deploy it in.

    `credentials` are base64-encoded entries of the user's Secret. `bootstrap_manager` is the node that
    bootstrapped a cluster that exists already. `certificates` and `ca_certificate` are digests of the TLS
    Secret and of its CA certificate, `keystore` is that of the keystore Secret. `topology_key` is the label
    of pods with the zone of their nodes, `is_zone_aware` whether managers spread shards over zones.
    """

    name: str
    namespace: str
    uid: str
    spec: ClusterSpec
    version: int
    credentials: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    bootstrap_manager: str | None = None
    images: Images = field(default_factory=Images)
    certificates: str | None = None
    ca_certificate: str | None = None
    keystore: str | None = None
    topology_key: str | None = None
    is_zone_aware: bool = False

    @property
    def has_separate_credentials(self) -> bool:
        """Whether settings are in a ConfigMap, credentials in a Secret, and pods carry a digest of both.

        Version 1 has one Secret for both, and no digest.
        """
        return self.version >= _CREDENTIALS_SEPARATE_SINCE

    @property
    def has_portable_pods(self) -> bool:
        """Whether pods run as the user of their image, and have all probes, affinity and digests of Secrets.

        Before version 5 they run as user 1000 and have a readiness probe only.
        """
        return self.version >= _PORTABLE_PODS_SINCE

    @property
    def has_expandable_volumes(self) -> bool:
        """Whether volumes grow with the size in the spec. Before version 5 storage is immutable."""
        return self.version >= _EXPANDABLE_VOLUMES_SINCE

    @property
    def tls_secret(self) -> str | None:
        """The Secret with the certificates; None if nothing is encrypted."""
        return self.spec.security.tls_secret

    @property
    def has_authentication(self) -> bool:
        """Whether OpenSearch requires a login. Never without TLS, which protects the password."""
        return self.tls_secret is not None and self.spec.security.credentials_secret is not None

    @property
    def credentials_secret(self) -> str:
        """The operator's own copy of the credentials."""
        if self.has_separate_credentials:
            return names.credentials_secret(self.name)
        return names.old_config_secret(self.name)

    def credential_variable(self, variable: str, key: str) -> dict[str, Any]:
        """An environment variable with an entry of the credentials."""
        source = {"name": self.credentials_secret, "key": key}
        return {"name": variable, "valueFrom": {"secretKeyRef": source}}

    @property
    def plugins(self) -> tuple[str, ...]:
        """Plugins that are installed before a node starts."""
        return self.spec.plugins if self.has_portable_pods else ()

    @property
    def keystore_secret(self) -> str | None:
        """The Secret with entries of the keystore; None if the image creates an empty one."""
        return self.spec.keystore_secret if self.has_portable_pods else None

    @property
    def zone_label(self) -> str | None:
        """The label of pods with the zone of their nodes; None if nodes have no zone."""
        return self.topology_key if self.has_portable_pods else None

    @property
    def has_zone_aware_managers(self) -> bool:
        """Whether managers spread the copies of a shard over zones."""
        return self.zone_label is not None and self.is_zone_aware

    def config(self, pool: PoolSpec) -> dict[str, Any]:
        """The settings of users for the nodes of a pool: those of the pool over those of the cluster."""
        if not self.has_portable_pods:
            return {}
        return {**json.loads(self.spec.config or "{}"), **json.loads(pool.config or "{}")}

    def labels(self, pool: str | None = None) -> dict[str, str]:
        return names.labels(self.name, pool, self.version)

    def manifest(self, api: str, kind: str, name: str, **parts: Any) -> dict[str, Any]:
        """An object of the cluster, owned by the SearchCluster and deleted with it."""
        owner = {
            "apiVersion": f"{names.GROUP}/v1alpha1",
            "kind": "SearchCluster",
            "name": self.name,
            "uid": self.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
        metadata = {
            "name": name,
            "namespace": self.namespace,
            "labels": {**self.labels(), "app.kubernetes.io/managed-by": "searchkeeper"},
            "annotations": {names.CONFIGURATION: str(self.version)},
            "ownerReferences": [owner],
        }
        return {"apiVersion": api, "kind": kind, "metadata": metadata, **parts}


def digest(content: Any) -> str:
    """A short SHA-256 of JSON content."""
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
