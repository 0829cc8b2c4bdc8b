"""REST mapping: the kinds that the operator uses, and their paths on an API server."""

from __future__ import annotations

__all__ = ["KINDS", "ResourceKind", "is_object_name", "resource_kind", "resource_path"]

from typing import Final, NamedTuple
from urllib.parse import quote

_GROUP: Final = "search.everpath.dev/v1alpha1"


class ResourceKind(NamedTuple):
    """One kind: its API version `apps/v1`, its name `StatefulSet`, its plural `statefulsets`."""

    api: str
    name: str
    plural: str
    is_namespaced: bool = True
    has_status: bool = True
    short_names: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        """The path of the group and version. The core group has a prefix of its own."""
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
    """Return the kind. Raises LookupError for a kind that the operator does not use."""
    try:
        return _BY_NAME[api, name]
    except KeyError:
        raise LookupError(f"unknown kind: {api} {name}") from None


def is_object_name(text: str) -> bool:
    """Whether this is safe as the name in a path. Any other text could lead to another object."""
    return quote(text, safe="") == text and text.strip(".") != ""


def resource_path(kind: ResourceKind, namespace: str = "", name: str = "") -> str:
    """Return the path of one object, or of all; without a namespace, of those in all namespaces."""
    where = f"/namespaces/{quote(namespace, safe='')}" if kind.is_namespaced and namespace else ""
    return f"{kind.root}{where}/{kind.plural}" + (f"/{quote(name, safe='')}" if name else "")
