"""The CustomResourceDefinitions, generated from the types. `make generate` writes operator/config/crd."""

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

from dataclasses import dataclass
from typing import Any, Final

from searchkeeper.api.schema import Rule, Schema, openapi_schema, validations
from searchkeeper.api.spec import ClusterSpec, SearchPoolSpec
from searchkeeper.api.status import ClusterStatus, PoolStatus

_GROUP: Final = "search.everpath.dev"
NAME_RULE: Final = Rule(
    "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    "metadata.name must start with a letter, end with a letter or digit, and contain only lowercase letters, "
    "digits and hyphens, because Services have the same name",
)
# The label controller-revision-hash holds the name of the StatefulSet and a hash in 63 characters.
NAME_LENGTH_RULE: Final = Rule(
    "self.spec.pools.all(pool, size(self.metadata.name) + size(pool.name) <= 51)",
    "metadata.name and the name of each pool must have at most 51 characters together, because pods have "
    "both in their names",
)
SECRET_NAME_RULE: Final = Rule(
    "!has(self.spec.security) || !has(self.spec.security.credentialsSecret) || "
    "!(self.spec.security.credentialsSecret in "
    "[self.metadata.name + '-config', self.metadata.name + '-credentials'])",
    "spec.security.credentialsSecret must not be the name of the cluster followed by -config or "
    "-credentials, because the operator creates Secrets of these names",
)


@dataclass(frozen=True, slots=True)
class Crd:
    """A custom resource. `columns` are the printer columns of kubectl: name, type and JSON path."""

    kind: str
    short_name: str
    description: str
    spec_description: str
    status_description: str
    spec: type[Any]
    status: type[Any]
    columns: tuple[tuple[str, str, str], ...]
    categories: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()

    @property
    def plural(self) -> str:
        return f"{self.kind.lower()}s"

    @property
    def name(self) -> str:
        return f"{self.plural}.{_GROUP}"


CLUSTERS: Final = Crd(
    kind="SearchCluster",
    short_name="search",
    description="SearchCluster is an OpenSearch cluster. Its nodes are grouped in pools, which the operator "
    "upgrades one after the other.",
    spec_description="Desired state of the cluster.",
    status_description="Observed state of the cluster.",
    spec=ClusterSpec,
    status=ClusterStatus,
    columns=(
        ("Version", "string", ".status.engineVersion"),
        ("Target", "string", ".spec.version"),
        ("Phase", "string", ".status.phase"),
        ("Ready", "string", ".status.ready"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ),
    categories=("all",),
    rules=(NAME_RULE, NAME_LENGTH_RULE, SECRET_NAME_RULE),
)
POOLS: Final = Crd(
    kind="SearchPool",
    short_name="spool",
    description="SearchPool is one pool of a SearchCluster. The operator creates and updates it. Edit the "
    "SearchCluster instead.",
    spec_description="Desired state of the pool, written by the operator.",
    status_description="Observed state of the pool.",
    spec=SearchPoolSpec,
    status=PoolStatus,
    columns=(
        ("Cluster", "string", ".spec.cluster"),
        ("Version", "string", ".status.engineVersion"),
        ("Target", "string", ".spec.engineVersion"),
        ("Replicas", "integer", ".spec.replicas"),
        ("Ready", "integer", ".status.readyReplicas"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ),
)


def crds() -> dict[str, Schema]:
    """The CustomResourceDefinitions by plural name."""
    return {crd.plural: _manifest(crd) for crd in (CLUSTERS, POOLS)}


def _manifest(crd: Crd) -> Schema:
    names = {
        "kind": crd.kind,
        "listKind": f"{crd.kind}List",
        "plural": crd.plural,
        "singular": crd.kind.lower(),
        "shortNames": [crd.short_name],
        **({"categories": [*crd.categories]} if crd.categories else {}),
    }
    schema = {
        "description": crd.description,
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": {"description": crd.spec_description, **openapi_schema(crd.spec)},
            "status": {"description": crd.status_description, **openapi_schema(crd.status)},
        },
        **validations(crd.rules),
    }
    version = {
        "name": "v1alpha1",
        "served": True,
        "storage": True,
        # No scale: the operator reverts edits of a SearchPool, since a scale-in drains nodes first.
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            {"name": name, "type": column_type, "jsonPath": path} for name, column_type, path in crd.columns
        ],
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": crd.name},
        "spec": {"group": _GROUP, "names": names, "scope": "Namespaced", "versions": [version]},
    }
