"""The CustomResourceDefinitions, made from the types: operator/config/crd is written from here."""

from __future__ import annotations

__all__ = [
    "CLUSTERS",
    "NAME_LENGTH_RULE",
    "NAME_RULE",
    "POOLS",
    "SECRET_NAME_RULE",
    "Crd",
    "crds",
]

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from searchkeeper.api.schema import Rule, Schema, rules_of, schema_of
from searchkeeper.api.spec import ClusterSpec, SearchPoolSpec
from searchkeeper.api.status import ClusterStatus, PoolStatus

_GROUP: Final = "search.everpath.dev"
# A Service's name begins with a letter; and a label has to hold the StatefulSet's name with a hash after it.
NAME_RULE: Final = Rule(
    "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    "the name begins with a letter and has only small letters, digits and hyphens: Services have it, too",
)
NAME_LENGTH_RULE: Final = Rule(
    "self.spec.pools.all(pool, size(self.metadata.name) + size(pool.name) <= 51)",
    "the names of the cluster and of each pool have at most 51 characters together: pods have both",
)
SECRET_NAME_RULE: Final = Rule(
    "!has(self.spec.security) || !has(self.spec.security.credentialsSecret) || "
    "!(self.spec.security.credentialsSecret in "
    "[self.metadata.name + '-config', self.metadata.name + '-credentials'])",
    "the Secrets of the cluster's name with -config or -credentials after it are the operator's own: "
    "call yours something else",
)
# What `kubectl get` shows: each column with its type and place, in a SearchCluster and in a SearchPool.
_COLUMNS: Final = {
    "Cluster": (None, "string .spec.cluster"),
    "Version": ("string .status.engineVersion", "string .status.engineVersion"),
    "Target": ("string .spec.version", "string .spec.engineVersion"),
    "Phase": ("string .status.phase", None),
    "Replicas": (None, "integer .spec.replicas"),
    "Ready": ("string .status.ready", "integer .status.readyReplicas"),
    "Age": ("date .metadata.creationTimestamp", "date .metadata.creationTimestamp"),
}


@dataclass(frozen=True, slots=True)
class Crd:
    """A kind of resource: what it is called, and what it holds."""

    kind: str
    short_name: str
    description: str
    wanted: str
    found: str
    spec: type[Any]
    status: type[Any]
    categories: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    is_scalable: bool = False

    @property
    def plural(self) -> str:
        return f"{self.kind.lower()}s"

    @property
    def name(self) -> str:
        return f"{self.plural}.{_GROUP}"


CLUSTERS: Final = Crd(
    kind="SearchCluster",
    short_name="search",
    description="An OpenSearch cluster whose nodes are kept in pools and upgraded pool by pool.",
    wanted="What the cluster should be.",
    found="What the cluster is.",
    spec=ClusterSpec,
    status=ClusterStatus,
    categories=("all",),
    rules=(NAME_RULE, NAME_LENGTH_RULE, SECRET_NAME_RULE),
)
POOLS: Final = Crd(
    kind="SearchPool",
    short_name="spool",
    description="One pool of a SearchCluster. The operator writes it; people read how far the pool is.",
    wanted="What the cluster wants of the pool.",
    found="What the pool is.",
    spec=SearchPoolSpec,
    status=PoolStatus,
    is_scalable=True,
)


def crds() -> dict[str, Schema]:
    """Every definition, by the plural of its kind."""
    return {each.plural: _definition(each) for each in (CLUSTERS, POOLS)}


def _definition(of: Crd) -> Schema:
    names = {
        "kind": of.kind,
        "listKind": f"{of.kind}List",
        "plural": of.plural,
        "singular": of.kind.lower(),
        "shortNames": [of.short_name],
        **({"categories": [*of.categories]} if of.categories else {}),
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": of.name},
        "spec": {"group": _GROUP, "names": names, "scope": "Namespaced", "versions": [_version(of)]},
    }


def _version(of: Crd) -> Schema:
    scale = {"scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}
    return {
        "name": "v1alpha1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}, **(scale if of.is_scalable else {})},
        "additionalPrinterColumns": [*_columns(of)],
        "schema": {"openAPIV3Schema": _schema(of)},
    }


def _columns(of: Crd) -> Iterator[Schema]:
    for name, (in_cluster, in_pool) in _COLUMNS.items():
        place = in_cluster if of is CLUSTERS else in_pool
        if place is not None:
            kind, _, path = place.partition(" ")
            yield {"name": name, "type": kind, "jsonPath": path}


def _schema(of: Crd) -> Schema:
    return {
        "description": of.description,
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": {"description": of.wanted, **schema_of(of.spec)},
            "status": {"description": of.found, **schema_of(of.status)},
        },
        **rules_of(of.rules),
    }
