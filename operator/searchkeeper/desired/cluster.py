"""Whom manifests are made for, and what all of them have."""

from __future__ import annotations

__all__ = ["DesiredCluster", "cached_manifest", "digest"]

import hashlib
import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from searchkeeper.api.spec import ClusterSpec
from searchkeeper.desired import names
from searchkeeper.images import Images

_SPLIT_IN: Final = 2
# Manifests are values: for the same spec the very same ones are handed out again.
cached_manifest: Final = lru_cache(maxsize=1024)


@dataclass(frozen=True, slots=True)
class DesiredCluster:
    """Whom the manifests are for: a cluster, its spec, the configuration version, and its owner's UID.

    `bootstrapper` is the manager that a cluster began with which has begun already.
    """

    name: str
    namespace: str
    uid: str
    spec: ClusterSpec
    version: int
    credentials: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    bootstrapper: str | None = None
    images: Images = field(default_factory=Images)

    @property
    def is_split(self) -> bool:
        """Whether settings and credentials are two objects, and pods have a digest of both."""
        return self.version >= _SPLIT_IN

    @property
    def certificates(self) -> str | None:
        """The Secret of those that nodes and clients show each other; without one nothing is encrypted."""
        return self.spec.security.tls_secret

    @property
    def has_users(self) -> bool:
        """Whether the engine asks who somebody is. It does not where it could be overheard."""
        return self.certificates is not None and self.spec.security.credentials_secret is not None

    @property
    def credentials_secret(self) -> str:
        """Our own copy of the credentials."""
        return names.credentials_secret(self.name) if self.is_split else names.old_config_secret(self.name)

    def credential(self, variable: str, key: str) -> dict[str, Any]:
        """A variable of a container that has a part of the credentials."""
        source = {"name": self.credentials_secret, "key": key}
        return {"name": variable, "valueFrom": {"secretKeyRef": source}}

    def labels(self, pool: str | None = None) -> dict[str, str]:
        return names.labels(self.name, pool, self.version)

    def manifest(self, api: str, kind: str, name: str, **parts: Any) -> dict[str, Any]:
        """An object of the cluster, which goes when the cluster goes."""
        metadata = {
            "name": name,
            "namespace": self.namespace,
            "labels": {**self.labels(), "app.kubernetes.io/managed-by": "searchkeeper"},
            "annotations": {names.CONFIGURATION: str(self.version)},
            "ownerReferences": [_owner("SearchCluster", self.name, self.uid)],
        }
        return {"apiVersion": api, "kind": kind, "metadata": metadata, **parts}


def _owner(kind: str, name: str, uid: str) -> dict[str, Any]:
    return {
        "apiVersion": f"{names.GROUP}/v1alpha1",
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
