"""The kinds of objects that the operator meets, and where an API server keeps them."""

from __future__ import annotations

__all__ = ["KINDS", "ResourceKind", "is_object_name", "resource_kind", "resource_path"]

from typing import Final, NamedTuple
from urllib.parse import quote

_GROUP: Final = "search.everpath.dev/v1alpha1"


class ResourceKind(NamedTuple):
    """One kind: `apps/v1`, `StatefulSet`, `statefulsets`."""

    api: str
    name: str
    plural: str
    is_namespaced: bool = True
    has_status: bool = True
    short_names: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        """The path of its group and version: the core group has a place of its own."""
        return f"/apis/{self.api}" if "/" in self.api else f"/api/{self.api}"


KINDS: Final = (
    ResourceKind("v1", "Namespace", "namespaces", is_namespaced=False),
    ResourceKind("v1", "Pod", "pods"),
    ResourceKind("v1", "Service", "services"),
    ResourceKind("v1", "ConfigMap", "configmaps", has_status=False),
    ResourceKind("v1", "Secret", "secrets", has_status=False),
    ResourceKind("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
    ResourceKind("v1", "Event", "events", has_status=False),
    ResourceKind("apps/v1", "StatefulSet", "statefulsets"),
    ResourceKind("apps/v1", "Deployment", "deployments"),
    ResourceKind("apps/v1", "ReplicaSet", "replicasets"),
    ResourceKind("apps/v1", "ControllerRevision", "controllerrevisions", has_status=False),
    ResourceKind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
    ResourceKind("coordination.k8s.io/v1", "Lease", "leases", has_status=False),
    ResourceKind(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        is_namespaced=False,
    ),
    ResourceKind("operators.coreos.com/v2", "OperatorCondition", "operatorconditions"),
    ResourceKind(_GROUP, "SearchCluster", "searchclusters", short_names=("search",)),
    ResourceKind(_GROUP, "SearchPool", "searchpools", short_names=("spool",)),
)
_BY_NAME: Final = {(kind.api, kind.name): kind for kind in KINDS}


def resource_kind(api: str, name: str) -> ResourceKind:
    """Raises LookupError for a kind that the operator has no business with."""
    try:
        return _BY_NAME[api, name]
    except KeyError:
        raise LookupError(f"{api} {name} is none of the kinds that this operator knows") from None


def is_object_name(text: str) -> bool:
    """Whether an object may have it. Whatever else stands in a path leads to another object than is meant."""
    return quote(text, safe="") == text and text.strip(".") != ""


def resource_path(kind: ResourceKind, namespace: str = "", name: str = "") -> str:
    """Of one object, or of all; without a namespace of those in every one."""
    where = f"/namespaces/{quote(namespace, safe='')}" if kind.is_namespaced and namespace else ""
    return f"{kind.root}{where}/{kind.plural}" + (f"/{quote(name, safe='')}" if name else "")
